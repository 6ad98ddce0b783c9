# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from stewart_kinematics.control.admission import (
    Admission,
    at_rest,
    SetpointArbiter,
    SourceRefused,
)
from stewart_kinematics.errors import ConfigurationError, StewartError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion, Pose

RESTING = Motion.at_rest(Pose.identity())
MOVING = RESTING.replaced(linear_velocity=np.array([0.0, 0.0, 0.01]))
TURNING_BACK = RESTING.replaced(angular_acceleration=np.array([0.1, 0.0, 0.0]))


@pytest.fixture
def arbiter() -> SetpointArbiter:
    return SetpointArbiter(silence=0.25)


def execute(arbiter: SetpointArbiter, source: str, motion: Motion, stamp: float) -> None:
    arbiter.require(source, motion, stamp)
    arbiter.latch(source, motion, stamp)


def test_first_source_may_even_begin_in_motion(arbiter: SetpointArbiter) -> None:
    execute(arbiter, 'ocean', MOVING, 1.0)

    assert arbiter.source == 'ocean'


def test_another_source_waits_while_the_platform_moves(arbiter: SetpointArbiter) -> None:
    execute(arbiter, 'ocean', MOVING, 1.0)

    with pytest.raises(SourceRefused, match='move must wait: ocean is moving the platform'):
        arbiter.require('move', RESTING, 9.0)


def test_turning_point_of_a_wave_is_no_rest(arbiter: SetpointArbiter) -> None:
    execute(arbiter, 'ocean', TURNING_BACK, 1.0)

    with pytest.raises(SourceRefused, match='ocean is moving'):
        arbiter.require('move', RESTING, 9.0)


def test_another_source_waits_for_silence(arbiter: SetpointArbiter) -> None:
    execute(arbiter, 'ocean', RESTING, 1.0)

    with pytest.raises(SourceRefused, match=r'silent for 0\.200 s, needed are 0\.25 s'):
        arbiter.require('move', RESTING, 1.2)
    execute(arbiter, 'move', RESTING, 1.3)
    assert arbiter.source == 'move'


def test_another_source_has_to_begin_at_rest(arbiter: SetpointArbiter) -> None:
    execute(arbiter, 'ocean', RESTING, 1.0)

    with pytest.raises(SourceRefused, match='move must begin at rest'):
        arbiter.require('move', MOVING, 2.0)


def test_refused_source_does_not_disturb_the_present_one(arbiter: SetpointArbiter) -> None:
    execute(arbiter, 'ocean', RESTING, 1.0)
    with pytest.raises(SourceRefused):
        arbiter.require('move', RESTING, 1.1)
    execute(arbiter, 'ocean', MOVING, 1.15)

    assert arbiter.source == 'ocean'


def test_stamp_from_the_past_is_no_silence(arbiter: SetpointArbiter) -> None:
    execute(arbiter, 'ocean', RESTING, 10.0)

    with pytest.raises(SourceRefused):
        arbiter.require('move', RESTING, 2.0)
    with pytest.raises(SourceRefused):
        arbiter.require('move', RESTING, float('nan'))


def test_release_opens_the_platform_to_everyone(arbiter: SetpointArbiter) -> None:
    execute(arbiter, 'ocean', MOVING, 1.0)
    arbiter.release()
    execute(arbiter, 'move', RESTING, 1.01)

    assert arbiter.source == 'move'


def test_motion_that_is_not_a_number_is_no_rest() -> None:
    assert at_rest(RESTING)
    assert not at_rest(RESTING.replaced(linear_velocity=np.array([0.0, np.nan, 0.0])))


def test_silence_must_last() -> None:
    with pytest.raises(ConfigurationError, match='silence: expected a time greater than 0 s'):
        SetpointArbiter(silence=0.0)


def test_a_clock_that_was_set_back_locks_nobody_out_of_a_resting_platform() -> None:
    platform = Platform.from_yaml('vigo')
    admission = Admission(platform, silence=0.25)
    home = Motion.at_rest(platform.geometry.neutral_pose)
    admission.admit('ocean', home, 5000.0)

    with pytest.raises(StewartError, match=r'time step is -0\.1'):
        admission.admit('ocean', home, 4999.9)
    admission.admit('move', home, 1400.0)


def test_a_clock_that_was_set_back_ends_a_motion() -> None:
    platform = Platform.from_yaml('vigo')
    admission = Admission(platform, silence=0.25)
    moving = Motion.at_rest(platform.geometry.neutral_pose).replaced(
        linear_velocity=np.array([0.0, 0.0, 1e-3])
    )
    admission.admit('ocean', moving, 5000.0)

    with pytest.raises(StewartError, match='time step is -3600'):
        admission.admit('ocean', moving, 1400.0)
