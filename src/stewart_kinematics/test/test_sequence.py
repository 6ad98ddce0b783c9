# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of composition: approach, wave, return, without a jump."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Pose
from stewart_kinematics.trajectories import (
    Circle,
    Cycloidal,
    Faded,
    Jonswap,
    OrbitalWave,
    Rest,
    Sequence,
)

HOME = Pose.from_rpy([0.0, 0.0, 1.374], [0.0, 0.0, 0.0])
CENTRE = Pose.from_rpy([0.0, 0.0, 1.674], [0.0, 0.0, 0.2])
LIMITS = SimpleNamespace(
    linear_velocity=0.3,
    linear_acceleration=2.0,
    linear_jerk=30.0,
    angular_velocity=0.5,
    angular_acceleration=3.0,
    angular_jerk=50.0,
)
_move = partial(Cycloidal.fastest, limits=LIMITS)
WAVE = Faded(OrbitalWave(Jonswap(0.2, 2.5).components(30, 2), CENTRE), CENTRE, 2.0, 2.0, 8.0)
EXCURSION = Sequence((_move(HOME, CENTRE), WAVE, _move(CENTRE, HOME)))


def test_excursion_approaches_plays_and_goes_home() -> None:
    run = EXCURSION
    begin, approach, wave = run.starts
    first, last = run.sample(0.0), run.sample(run.duration)
    np.testing.assert_allclose(first.position, HOME.position, atol=1e-15)
    np.testing.assert_allclose(last.position, HOME.position, atol=1e-15)
    assert begin == 0.0
    assert wave - approach == pytest.approx(8.0)
    assert [run.part_at(t) for t in (0.0, approach, wave, run.duration)] == [0, 1, 2, 2]


def test_no_setpoint_jumps_in_pose_velocity_or_acceleration() -> None:
    run = EXCURSION
    # Around every junction the differences over 1 µs are what the velocity allows.
    step = 1e-6
    for time in [*run.starts[1:], run.duration]:
        before, after = run.sample(time - step), run.sample(time + step)
        np.testing.assert_allclose(after.position, before.position, atol=1e-9)
        np.testing.assert_allclose(after.twist, before.twist, atol=1e-8)
        np.testing.assert_allclose(after.acceleration, before.acceleration, atol=1e-3)
    # At 500 Hz no step of the acceleration exceeds what the largest jerk in between allows.
    grid = np.arange(0.0, run.duration, 0.002)
    fine = run.sample(np.arange(0.0, run.duration, 0.0002)).acceleration
    jerk = np.abs(np.diff(fine, axis=0)).max(axis=0) / 0.0002
    step_500 = np.abs(np.diff(run.sample(grid).acceleration, axis=0)).max(axis=0)
    assert np.all(step_500 <= 1.01 * jerk * 0.002)
    assert np.all(jerk < 100.0)


def test_last_part_may_be_endless() -> None:
    run = Sequence((_move(HOME, CENTRE), Faded(WAVE.trajectory, CENTRE, 2.0)))
    assert np.isinf(run.duration)
    assert len(run.parts) == 2
    assert run.sample(1000.0).shape == ()


def test_rest_lies_between() -> None:
    move = Cycloidal(HOME, CENTRE, 1.0)
    run = Sequence((move, Rest(CENTRE, 0.5), Cycloidal(CENTRE, HOME, 1.0)))
    assert run.duration == 2.5
    np.testing.assert_array_equal(run.sample([1.1, 1.4]).twist, 0.0)


@pytest.mark.parametrize(
    ('after', 'message'),
    [
        (Rest(HOME, 1.0), 'position jumps by 0.3 m between part 1 and part 2'),
        (
            Rest(Pose.from_rpy(CENTRE.position, [0.0, 0.0, 0.0]), 1.0),
            'quaternion_xyzw jumps by 0.0998',
        ),
        (
            Circle(Pose(CENTRE.position - [0.05, 0, 0], CENTRE.quaternion_xyzw), 0.05, 1.0),
            'linear_velocity jumps by 0.05 m/s',
        ),
    ],
)
def test_jumps_are_refused(after: object, message: str) -> None:
    with pytest.raises(TrajectoryError, match=message):
        Sequence((Cycloidal(HOME, CENTRE, 1.0), after))  # type: ignore[arg-type]


def test_jump_of_the_acceleration_alone_is_refused() -> None:
    # From the end of a circle with a slow beginning the velocity is alike, its change is not.
    slow = Circle(CENTRE, 0.1, 1.0, duration=np.pi)
    shift = np.array([0.05, 0.0, 0.0])
    centre = Pose(slow.sample(np.pi).position + shift, CENTRE.quaternion_xyzw)
    with pytest.raises(TrajectoryError, match=r'linear_acceleration jumps by 0.1 m/s²'):
        Sequence((slow, Circle(centre, 0.05, 2.0, np.pi)))


def test_sign_of_a_quaternion_is_no_jump() -> None:
    target = Pose(CENTRE.position, -CENTRE.quaternion_xyzw)
    run = Sequence((Cycloidal(HOME, target, 1.0), Rest(CENTRE, 1.0), Rest(target, 1.0)))
    assert run.duration == 3.0


def test_unusable_sequences_are_refused() -> None:
    with pytest.raises(TrajectoryError, match='at least 1 part'):
        Sequence(())
    with pytest.raises(TrajectoryError, match='part 1 of 2 never ends'):
        Sequence((Rest(HOME), Rest(HOME)))
