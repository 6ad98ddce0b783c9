# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from stewart_kinematics.control.tracking import PoseTracking
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.trajectories import Cycloidal

GEOMETRY = Platform.from_yaml('vigo').geometry
MOVE = Cycloidal(
    Pose.from_rpy([0.0, 0.0, 1.6], [0.0, 0.0, 0.0]),
    Pose.from_rpy([0.05, -0.02, 1.7], [0.1, -0.05, 0.2]),
    1.0,
)
ELSEWHERE = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])


@pytest.fixture
def history() -> PoseTracking:
    filled = PoseTracking(GEOMETRY)
    filled.begin_anew(0.0)
    for stamp in np.arange(0.0, 0.9, 0.005):
        filled.commanded(float(stamp), *MOVE.sample(stamp).parts())
    return filled


def test_pose_between_two_setpoints_is_that_of_the_motion(history: PoseTracking) -> None:
    for stamp in np.random.default_rng(1).uniform(0.0, 0.895, 50):
        commanded = history.compare(float(stamp), ELSEWHERE)
        expected = MOVE.sample(stamp)

        assert commanded is not None
        np.testing.assert_allclose(commanded[:3], expected.position, rtol=0, atol=1e-7)
        aligned = abs(float(commanded[3:7] @ expected.quaternion_xyzw))
        assert aligned == pytest.approx(1.0, abs=1e-13)


def test_moving_command_is_continued_for_a_moment_only(history: PoseTracking) -> None:
    assert history.compare(0.95, ELSEWHERE) is not None
    assert history.compare(1.05, ELSEWHERE) is None


def test_gap_after_a_moving_command_is_not_bridged(history: PoseTracking) -> None:
    history.commanded(9.0, *MOVE.sample(1.0).parts())

    assert history.compare(0.98, ELSEWHERE) is not None
    assert history.compare(5.0, ELSEWHERE) is None
    assert history.compare(9.0, ELSEWHERE) is not None


def test_command_at_rest_holds_for_good(history: PoseTracking) -> None:
    history.commanded(1.0, *MOVE.sample(1.0).parts())
    commanded = history.compare(500.0, ELSEWHERE)

    assert commanded is not None
    np.testing.assert_array_equal(commanded[:3], MOVE.target.position)


def test_nothing_is_commanded_before_the_first_setpoint_or_anew(
    history: PoseTracking,
) -> None:
    assert history.compare(-0.1, ELSEWHERE) is None
    history.begin_anew(0.0)
    assert history.compare(0.5, ELSEWHERE) is None


def test_stamp_that_goes_back_begins_a_new_history(history: PoseTracking) -> None:
    history.commanded(0.1, *MOVE.sample(0.0).parts())

    assert history.compare(0.05, ELSEWHERE) is None
    assert history.compare(0.1, ELSEWHERE) is not None
