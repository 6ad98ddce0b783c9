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
VIGO = Platform.from_yaml('vigo')
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
    admission = Admission(VIGO, silence=0.25)
    home = Motion.at_rest(VIGO.geometry.neutral_pose)
    admission.admit('ocean', home, 5000.0)

    with pytest.raises(StewartError, match=r'time step is -0\.1'):
        admission.admit('ocean', home, 4999.9)
    admission.admit('move', home, 1400.0)


def test_a_clock_that_was_set_back_ends_a_motion() -> None:
    admission = Admission(VIGO, silence=0.25)
    moving = Motion.at_rest(VIGO.geometry.neutral_pose).replaced(
        linear_velocity=np.array([0.0, 0.0, 1e-3])
    )
    admission.admit('ocean', moving, 5000.0)

    with pytest.raises(StewartError, match='time step is -3600'):
        admission.admit('ocean', moving, 1400.0)


@pytest.fixture
def admission() -> Admission:
    return Admission(VIGO, silence=0.25)


@pytest.mark.parametrize('source', ['cycloidal_trajectory', 'teleop'])
def test_a_platform_that_was_jogged_meanwhile_is_moved_from_there(
    admission: Admission, source: str
) -> None:
    home = VIGO.geometry.neutral_pose
    jogged = Motion.at_rest(Pose(np.add(home.position, [0.0, 0.0, 0.02]), home.quaternion_xyzw))
    admission.admit('cycloidal_trajectory', Motion.at_rest(home), 100.0)

    with pytest.raises(StewartError, match=r'position jump is 0\.02'):
        admission.admit('cycloidal_trajectory', jogged, 100.5)
    admission.admit(source, jogged, 101.6)


@pytest.mark.parametrize('ahead', [0.0, 0.9])
def test_a_source_that_died_in_motion_keeps_the_platform_for_a_second(
    admission: Admission, ahead: float
) -> None:
    home = Motion.at_rest(VIGO.geometry.neutral_pose)
    moving = home.replaced(linear_velocity=np.array([0.0, 0.0, 0.01]))
    admission.admit('ocean', moving, 100.0 + ahead, heard=100.0)

    with pytest.raises(SourceRefused, match='ocean is moving'):
        admission.admit('move', home, 101.0, heard=101.0)
    with pytest.raises(SourceRefused, match='ocean is moving'):
        admission.admit('move', moving, 102.0, heard=102.0)
    admission.admit('move', home, 102.1, heard=102.0)


def test_what_no_driver_executes_moves_nothing(admission: Admission) -> None:
    home = Motion.at_rest(VIGO.geometry.neutral_pose)
    refused = r'stamp ahead of the clock is 3600 s, allowed is at most 1 s'
    with pytest.raises(StewartError, match=refused):
        admission.admit('ocean', home, 3700.0, heard=100.0)
    admission.admit('move', home, 100.1, heard=100.0)
