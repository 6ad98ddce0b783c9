# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is checked of recorded motions before they are played."""

from __future__ import annotations

import math

import numpy as np
import pytest
from stewart_kinematics.errors import MotionRefused
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import check
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array
from stewart_kinematics.nodes.parameters import ExcursionParameters
from stewart_kinematics.trajectories import Circle, Sampled

VIGO = load_platform('vigo')
NEUTRAL = VIGO.geometry.neutral_pose


@pytest.fixture
def guard() -> MotionGuard:
    return MotionGuard(VIGO)


def recorded(time: Array, z: Array) -> Sampled:
    """Return a motion along z about the neutral pose, from rest to rest [s], [m]."""
    position = np.tile(NEUTRAL.position, (time.size, 1))
    position[:, 2] += z
    return Sampled(time, position, np.tile(NEUTRAL.quaternion_xyzw, (time.size, 1)))


def excursion_at(time: Array, begin: float, lasts: float, height: float) -> Array:
    """Return a smooth way up and down again."""
    share = np.clip((time - begin) / lasts, 0.0, 1.0)
    return height * np.sin(math.pi * share) ** 4


@pytest.mark.parametrize('begin', [20.0, 140.0, 190.0])
def test_recorded_motion_is_checked_to_its_end(guard: MotionGuard, begin: float) -> None:
    time = np.arange(0.0, 230.0, 0.05)
    parameters = ExcursionParameters(fade_in=1.0, fade_out=1.0)
    fits = recorded(time, excursion_at(time, begin, 20.0, 0.2))
    beyond = recorded(time, excursion_at(time, begin, 20.0, 0.6))

    assert parameters.faded(fits, NEUTRAL, guard).duration == fits.duration
    with pytest.raises(MotionRefused, match='stroke of leg') as caught:
        parameters.faded(beyond, NEUTRAL, guard)
    # The instants are a hundredth of a second apart; 0.6 m are too much near the top only.
    assert caught.value.violation.index is not None
    assert begin + 5.0 < 0.01 * caught.value.violation.index < begin + 10.0


def test_endless_motion_is_checked_for_the_horizon(guard: MotionGuard) -> None:
    endless = Circle(NEUTRAL, 0.05, 3.0)
    parameters = ExcursionParameters(fade_in=2.0, horizon=10.0)

    assert math.isinf(parameters.faded(endless, NEUTRAL, guard).duration)


@pytest.mark.parametrize('place', [19_999, 20_000, 20_001, 30_000])
def test_pieces_of_a_long_check_leave_nothing_out(guard: MotionGuard, place: int) -> None:
    # A jump of acceleration between two instants, wherever a piece of the check ends.
    time = 0.01 * np.arange(40_001)
    acceleration = np.zeros((time.size, 6))
    acceleration[place, 0] = 5.0
    still = np.zeros_like(acceleration)
    position = np.tile(NEUTRAL.position, (time.size, 1))
    attitude = np.tile(NEUTRAL.quaternion_xyzw, (time.size, 1))
    with pytest.raises(MotionRefused, match=f'linear jerk at sample {place} is 500 m/s³'):
        check(Sampled(time, position, attitude, still, acceleration), guard)
