# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of what all trajectories have in common."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Pose
from stewart_kinematics.trajectories import (
    AiryWave,
    Circle,
    Cycloidal,
    DeceleratedAlongPath,
    Faded,
    Jonswap,
    MultiSine,
    OrbitalWave,
    Sampled,
    Sequence,
    Trajectory,
)

START = Pose.from_rpy([0.02, -0.05, 1.6], [0.05, -0.1, 0.2])
TARGET = Pose.from_rpy([-0.06, 0.04, 1.72], [-0.2, 0.15, -0.3])
TURNED = Pose.from_rpy([0.0, 0.0, 1.674], [0.02, -0.03, 0.4])


def _wave() -> OrbitalWave:
    sea = Jonswap(0.2, 2.5).components(40, 3)
    return OrbitalWave(sea, TURNED, attack_angle=0.7, position=1.3)


def _steep_wave() -> OrbitalWave:
    return OrbitalWave((AiryWave(0.06, 1.1, 0.9, 0.4),), TURNED, attack_angle=-2.0)


def _multi_sine() -> MultiSine:
    rng = np.random.default_rng(1)
    return MultiSine(
        TURNED,
        'ZXY',
        rng.uniform(-0.1, 0.1, (6, 3)),
        rng.uniform(0.5, 6.0, (6, 3)),
        rng.uniform(-3.0, 3.0, (6, 3)),
        rng.uniform(-0.2, 0.2, 6),
    )


def _sampled(parts: int) -> Sampled:
    stamps = np.cumsum(np.random.default_rng(2).uniform(0.04, 0.06, 80))
    motion = _multi_sine().sample(stamps)
    given = (motion.twist, motion.acceleration)[:parts]
    return Sampled(stamps, motion.position, motion.quaternion_xyzw, *given)


def _sequence() -> Sequence:
    faded = Faded(_wave(), TARGET, 1.0, 1.5, 4.0)
    return Sequence((Cycloidal(START, TARGET, 1.0), faded, Cycloidal(TARGET, START, 0.8)))


KINDS: dict[str, Callable[[], Trajectory]] = {
    'cycloidal': lambda: Cycloidal(START, TARGET, 1.3),
    'stopping': lambda: DeceleratedAlongPath(Cycloidal(START, TARGET, 1.3), 0.5, 0.6),
    'stopping a wave': lambda: DeceleratedAlongPath(_wave(), 2.5, 2.0),
    'circle': lambda: Circle(TURNED, 0.05, -1.2566, 0.3),
    'wave': _wave,
    'steep wave': _steep_wave,
    'multi-sine': _multi_sine,
    'sampled poses': lambda: _sampled(0),
    'sampled twists': lambda: _sampled(1),
    'sampled motion': lambda: _sampled(2),
    'faded': lambda: Faded(_multi_sine(), TARGET, 1.0, 2.0, 5.0),
    'overlapping fades': lambda: Faded(_steep_wave(), TURNED, 3.0, 2.0, 2.5),
    'sequence': _sequence,
}


@pytest.fixture(params=KINDS)
def trajectory(request: pytest.FixtureRequest) -> Trajectory:
    return KINDS[request.param]()


def _inside(trajectory: Trajectory, count: int = 60) -> np.ndarray:
    end = min(trajectory.duration, 6.0)
    return np.random.default_rng(5).uniform(1e-3, end - 1e-3, count)


def test_velocities_are_derivatives_of_the_pose(trajectory: Trajectory) -> None:
    time, step = _inside(trajectory), 1e-5
    before, here, after = (trajectory.sample(time + d) for d in (-step, 0.0, step))
    linear = (after.position - before.position) / (2.0 * step)
    turn = (
        Rotation.from_quat(after.quaternion_xyzw)
        * Rotation.from_quat(before.quaternion_xyzw).inv()
    )
    # Central differences of 1e-5 s: the truncation is below 1e-7 here, the rounding about 1e-11.
    np.testing.assert_allclose(here.linear_velocity, linear, atol=1e-7)
    np.testing.assert_allclose(here.angular_velocity, turn.as_rotvec() / (2.0 * step), atol=1e-7)


def test_accelerations_are_derivatives_of_the_velocities(trajectory: Trajectory) -> None:
    time, step = _inside(trajectory), 1e-5
    before, here, after = (trajectory.sample(time + d) for d in (-step, 0.0, step))
    difference = (after.twist - before.twist) / (2.0 * step)
    # A jump of the jerk at the end of a piece leaves half of its size times the step: 1e-3.
    np.testing.assert_allclose(here.acceleration, difference, atol=2e-3, rtol=1e-6)
    assert np.median(np.abs(here.acceleration - difference)) < 1e-7


def test_quaternions_have_unit_norm(trajectory: Trajectory) -> None:
    norm = np.linalg.norm(trajectory.sample(_inside(trajectory)).quaternion_xyzw, axis=-1)
    np.testing.assert_allclose(norm, 1.0, atol=1e-12)


def test_many_samples_equal_single_ones(trajectory: Trajectory) -> None:
    time = _inside(trajectory, 12).reshape(3, 4)
    many = trajectory.sample(time)
    assert many.shape == (3, 4)
    for index in np.ndindex(3, 4):
        single = trajectory.sample(time[index])
        assert single.shape == ()
        np.testing.assert_allclose(many[index].twist, single.twist, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(many[index].position, single.position, atol=1e-14)
        np.testing.assert_allclose(many[index].quaternion_xyzw, single.quaternion_xyzw, atol=1e-14)
        np.testing.assert_allclose(many[index].acceleration, single.acceleration, atol=1e-11)


def test_time_is_clamped(trajectory: Trajectory) -> None:
    first, early = trajectory.sample(0.0), trajectory.sample(-3.0)
    np.testing.assert_array_equal(first.position, early.position)
    if np.isfinite(trajectory.duration):
        last, late = (trajectory.sample(trajectory.duration + d) for d in (0.0, 9.0))
        np.testing.assert_array_equal(last.position, late.position)
        np.testing.assert_array_equal(last.quaternion_xyzw, late.quaternion_xyzw)


def test_time_that_is_no_number_is_refused(trajectory: Trajectory) -> None:
    with pytest.raises(TrajectoryError, match='got nan'):
        trajectory.sample([0.1, np.nan])


def test_acceleration_does_not_jump(trajectory: Trajectory) -> None:
    end = min(trajectory.duration, 6.0)
    jumps = []
    for count in (4001, 16001):
        acceleration = trajectory.sample(np.linspace(0.0, end, count)).acceleration
        jumps.append(np.abs(np.diff(acceleration, axis=0)).max())
    # Continuous: the greatest difference of neighbours shrinks with the step.
    assert jumps[1] <= 0.3 * jumps[0] + 1e-9


def test_one_sample_is_cheap_enough_for_500_hz(trajectory: Trajectory) -> None:
    best = np.inf
    for _ in range(5):
        begin = thread_time()
        for number in range(20):
            trajectory.sample(0.1 * number)
        best = min(best, (thread_time() - begin) / 20)
    # 200 µs are asked for on an idle machine. The processor's time counts, not that of others;
    # on a busy machine it is longer, too.
    assert best < 1e-3
