# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from stewart_kinematics.control.tracking import CommandHistory
from stewart_kinematics.motion import Pose
from stewart_kinematics.trajectories import Cycloidal

MOVE = Cycloidal(
    Pose.from_rpy([0.0, 0.0, 1.6], [0.0, 0.0, 0.0]),
    Pose.from_rpy([0.05, -0.02, 1.7], [0.1, -0.05, 0.2]),
    1.0,
)


@pytest.fixture
def history() -> CommandHistory:
    filled = CommandHistory()
    for stamp in np.arange(0.0, 0.9, 0.005):
        filled.add(float(stamp), *MOVE.sample(stamp).parts())
    return filled


def test_pose_between_two_setpoints_is_that_of_the_motion(history: CommandHistory) -> None:
    for stamp in np.random.default_rng(1).uniform(0.0, 0.895, 50):
        commanded = history.at(float(stamp))
        expected = MOVE.sample(stamp)

        assert commanded is not None
        np.testing.assert_allclose(commanded[0], expected.position, rtol=0, atol=1e-7)
        aligned = abs(float(commanded[1] @ expected.quaternion_xyzw))
        assert aligned == pytest.approx(1.0, abs=1e-13)


def test_moving_command_is_continued_for_a_moment_only(history: CommandHistory) -> None:
    assert history.at(0.95) is not None
    assert history.at(1.05) is None


def test_gap_after_a_moving_command_is_not_bridged(history: CommandHistory) -> None:
    history.add(9.0, *MOVE.sample(1.0).parts())

    assert history.at(0.98) is not None
    assert history.at(5.0) is None
    assert history.at(9.0) is not None


def test_command_at_rest_holds_for_good(history: CommandHistory) -> None:
    history.add(1.0, *MOVE.sample(1.0).parts())
    commanded = history.at(500.0)

    assert commanded is not None
    np.testing.assert_array_equal(commanded[0], MOVE.target.position)


def test_nothing_is_commanded_before_the_first_setpoint_or_after_clearing(
    history: CommandHistory,
) -> None:
    assert history.at(-0.1) is None
    history.clear()
    assert history.at(0.5) is None


def test_stamp_that_goes_back_begins_a_new_history(history: CommandHistory) -> None:
    history.add(0.1, *MOVE.sample(0.0).parts())

    assert history.at(0.05) is None
    assert history.at(0.1) is not None
