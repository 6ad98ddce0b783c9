# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is checked of recorded motions before they are played."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
import pytest
from stewart_kinematics.errors import MotionRefused
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import check, plan_fades
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.nodes.parameters import ExcursionParameters
from stewart_kinematics.trajectories import Circle, Sampled, Trajectory

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


class Hit:
    """A rest with a push to and fro between two instants of the check, back where it was."""

    duration, shortest_period = 10.0, math.inf

    def __init__(self, height: float) -> None:
        self._height = height

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s]; after the push it stands a little higher."""
        moment = np.asarray(time, dtype=float)
        position = np.tile(NEUTRAL.position, (*moment.shape, 1))
        position[..., 2] += self._height * (moment > 5.0)
        still = np.zeros((*moment.shape, 6))
        return Motion(position, np.tile(NEUTRAL.quaternion_xyzw, (*moment.shape, 1)), still, still)


def test_change_of_place_between_two_instants_is_refused(guard: MotionGuard) -> None:
    # 6 m/s2 to and fro within 0.01 s are 0.15 mm.
    check(Hit(1.4e-4), guard)
    with pytest.raises(MotionRefused, match=r'position jump at sample 501 is 0.0002 m'):
        check(Hit(2e-4), guard)


def bumped(most: float) -> Sampled:
    """Return 10 s of rest at 1 kHz with a push of 6 ms to and fro amid two instants [m/s²]."""
    time = 1e-3 * np.arange(10_001)
    push = np.sin(2.0 * math.pi * (time - 5.002) / 6e-3) * (time > 5.002) * (time < 5.008)
    acceleration, twist = np.zeros((time.size, 6)), np.zeros((time.size, 6))
    acceleration[:, 0] = most * push
    twist[1:, 0] = np.cumsum(0.5 * 1e-3 * (acceleration[1:, 0] + acceleration[:-1, 0]))
    position = np.tile(NEUTRAL.position, (time.size, 1))
    position[1:, 0] += np.cumsum(0.5 * 1e-3 * (twist[1:, 0] + twist[:-1, 0]))
    attitude = np.tile(NEUTRAL.quaternion_xyzw, (time.size, 1))
    return Sampled(time, position, attitude, twist, acceleration)


def test_every_sample_of_a_fast_recording_is_checked(guard: MotionGuard) -> None:
    def faded(motion: Trajectory) -> None:
        plan_fades(motion, NEUTRAL, guard, fade_in=1.0, fade_out=1.0)

    # At 6 ms a push of 0.04 m/s2 has a jerk of 42 m/s3, of which 60 are allowed.
    faded(bumped(0.04))
    with pytest.raises(MotionRefused, match=r'leg acceleration of leg . at sample 5003'):
        faded(bumped(60.0))
    with pytest.raises(MotionRefused, match=r'linear jerk at sample .*, allowed is at most 60'):
        faded(bumped(0.08))


def test_samples_are_checked_where_a_check_begins_late(guard: MotionGuard) -> None:
    motion = bumped(60.0)
    later = Sampled(7.0 + motion.time, *motion.sample(motion.time).parts())
    check(later, guard, begin=5.1)
    check(later, guard, horizon=4.9)
    for options in ({'begin': 4.9}, {'horizon': 5.1}, {'begin': 4.9, 'horizon': 0.2}):
        with pytest.raises(MotionRefused, match='leg acceleration'):
            check(later, guard, **options)


def test_samples_next_to_an_instant_are_no_division_by_rounding(guard: MotionGuard) -> None:
    rng = np.random.default_rng(20261127)
    time = 1e-3 * np.arange(10_001) + rng.uniform(-1e-12, 1e-12, 10_001)
    circle = Circle(NEUTRAL, 0.02, 3.0).sample(time - time[0])
    check(Sampled(time, *circle.parts()), guard)
