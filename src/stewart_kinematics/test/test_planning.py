# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import math
import re

import numpy as np
import pytest
from stewart_kinematics.errors import MotionRefused, TrajectoryError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import (
    check,
    plan_fade_out,
    plan_fades,
    plan_move,
    plan_stop,
)
from stewart_kinematics.model.platform import Limits, Platform
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.trajectories import (
    AiryWave,
    Circle,
    Cycloidal,
    Faded,
    MultiSine,
    OrbitalWave,
    Rest,
    Trajectory,
)

VIGO = load_platform('vigo')
NEUTRAL = VIGO.geometry.neutral_pose
DIAGONAL = Pose.from_rpy(NEUTRAL.position + np.array([0.08, 0.08, 0.08]), [0.1, 0.1, 0.1])


@pytest.fixture
def guard() -> MotionGuard:
    return MotionGuard(VIGO)


def test_move_along_one_axis_is_the_fastest_profile(guard: MotionGuard) -> None:
    target = Pose(NEUTRAL.position + np.array([0.0, 0.0, 0.1]), NEUTRAL.quaternion_xyzw)
    slow = plan_move(NEUTRAL, target, guard, scale=0.2)

    assert slow.duration == Cycloidal.fastest(NEUTRAL, target, VIGO.limits, 0.2).duration


def test_move_along_several_axes_is_stretched_until_it_passes(guard: MotionGuard) -> None:
    profile = Cycloidal.fastest(NEUTRAL, DIAGONAL, VIGO.limits)
    with pytest.raises(MotionRefused):
        check(profile, guard)
    move = plan_move(NEUTRAL, DIAGONAL, guard)

    guard.check(move.sample(np.linspace(0.0, move.duration, 3001)))
    assert move.duration > profile.duration
    # Not slower than needed: 1 % less time is refused.
    with pytest.raises(MotionRefused):
        check(replace(move, duration=0.99 * move.duration), guard)


@pytest.mark.parametrize('way', [1e-4, 1e-3, 0.02])
def test_move_keeps_the_smaller_of_two_scales(way: float) -> None:
    """A short move ran into the guard's jerk, which no stretching had looked at."""
    target = Pose(NEUTRAL.position + np.array([0.0, 0.0, way]), NEUTRAL.quaternion_xyzw)
    move = plan_move(NEUTRAL, target, MotionGuard(VIGO, scale=0.1), scale=0.5)

    fastest = Cycloidal.fastest(NEUTRAL, target, VIGO.limits, 0.1)
    assert fastest.duration <= move.duration < 1.002 * fastest.duration


def test_way_out_of_the_workspace_is_refused_however_slow(guard: MotionGuard) -> None:
    target = Pose(NEUTRAL.position + np.array([0.0, 0.0, 0.9]), NEUTRAL.quaternion_xyzw)

    with pytest.raises(MotionRefused, match='stroke of leg'):
        plan_move(NEUTRAL, target, guard)
    with pytest.raises(MotionRefused, match='stroke of leg'):
        plan_move(NEUTRAL, target, guard, duration=60.0)


def test_duration_asked_for_is_kept_or_refused_with_the_shortest(guard: MotionGuard) -> None:
    shortest = plan_move(NEUTRAL, DIAGONAL, guard).duration

    assert plan_move(NEUTRAL, DIAGONAL, guard, duration=5.0).duration == 5.0
    with pytest.raises(TrajectoryError, match=rf'too short.* at least {shortest:.4f} s'):
        plan_move(NEUTRAL, DIAGONAL, guard, duration=0.9 * shortest)
    with pytest.raises(TrajectoryError, match='inf s is too short'):
        plan_move(NEUTRAL, DIAGONAL, guard, duration=math.inf)


def test_endless_trajectory_is_checked_up_to_the_horizon(guard: MotionGuard) -> None:
    check(Rest(NEUTRAL), guard, horizon=2.0)


@pytest.mark.parametrize('share', [0.0, 0.1, 0.4, 0.5, 0.8, 0.99])
def test_stop_stays_on_the_path_and_within_every_limit(guard: MotionGuard, share: float) -> None:
    move = plan_move(NEUTRAL, DIAGONAL, guard)
    stop = plan_stop(move, share * move.duration, guard)
    time = np.linspace(0.0, stop.duration, 2001)
    motion = stop.sample(time)
    guard.check(motion)
    way = DIAGONAL.position - NEUTRAL.position
    travelled = (motion.position - NEUTRAL.position) @ way / (way @ way)

    np.testing.assert_allclose(
        motion.position, NEUTRAL.position + travelled[:, None] * way, atol=1e-12
    )
    assert np.all(np.diff(travelled) >= -1e-15)
    np.testing.assert_allclose(motion.twist[-1], 0.0, atol=1e-12)


def random_pose(platform: Platform, rng: np.random.Generator) -> Pose:
    """Return a pose about neutral; not every one can be reached."""
    neutral, stroke = platform.geometry.neutral_pose, platform.limits.stroke[0, 1]
    shift = rng.uniform(-0.35, 0.35, 3) * stroke
    return Pose.from_rpy(neutral.position + shift, rng.uniform(-0.25, 0.25, 3))


def greatest_shares(stop: Trajectory, limits: Limits) -> np.ndarray:
    """Return velocity, acceleration and jerk over their limits, linear then angular, (6,)."""
    time = np.linspace(0.0, stop.duration, 2001)
    motion = stop.sample(time)
    jerk = np.diff(motion.acceleration, axis=0) / time[1]
    shares = []
    for kind, part in (('linear', slice(0, 3)), ('angular', slice(3, 6))):
        values = {'velocity': motion.twist, 'acceleration': motion.acceleration, 'jerk': jerk}
        shares += [
            np.linalg.norm(value[:, part], axis=1).max() / getattr(limits, f'{kind}_{name}')
            for name, value in values.items()
        ]
    np.testing.assert_allclose(motion.twist[-1], 0.0, atol=1e-12)
    return np.array(shares)


@pytest.mark.parametrize(
    'count', [25, pytest.param(2500, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])]
)
@pytest.mark.parametrize(
    'name',
    [
        'vigo',
        *(pytest.param(name, marks=pytest.mark.slow) for name in ('ex800', 'ps6tl_1500', 'srs')),
    ],
)
def test_cancelled_moves_keep_velocity_acceleration_and_jerk_limits(name: str, count: int) -> None:
    platform, rng = load_platform(name), np.random.default_rng(20261123)
    guard, cancelled, worst = MotionGuard(platform), 0, np.zeros(6)
    while cancelled < count:
        start, target = random_pose(platform, rng), random_pose(platform, rng)
        try:
            # Half of the moves use the limits to the full.
            move = plan_move(start, target, guard, scale=min(1.0, rng.uniform(0.2, 1.8)))
        except MotionRefused:
            continue
        stop = plan_stop(move, rng.uniform(0.0, move.duration), guard)
        worst = np.maximum(worst, greatest_shares(stop, platform.limits))
        cancelled += 1

    assert worst.max() <= 1.0


def test_where_only_legs_bind_a_move_that_ends_soon_is_followed_to_its_end() -> None:
    # All that slow down earlier keep the platform's limits, of which the search knows.
    ample = {name: 30.0 * getattr(VIGO.limits, name) for name in ('linear_jerk', 'angular_jerk')}
    limits = replace(VIGO.limits, acceleration=0.25 * VIGO.limits.acceleration, **ample)
    platform, rng = replace(VIGO, limits=limits), np.random.default_rng(0)
    guard, cancelled, followed = MotionGuard(platform), 0, 0
    while cancelled < 40:
        try:
            move = plan_move(random_pose(platform, rng), random_pose(platform, rng), guard)
        except MotionRefused:
            continue
        time = rng.uniform(0.0, move.duration)
        stop = plan_stop(move, time, guard)
        cancelled += 1
        followed += time + stop.lead == pytest.approx(move.duration)

    assert followed > 5


def heave(amplitude: float, period: float) -> MultiSine:
    sine = np.array([[0.0], [0.0], [amplitude], [0.0], [0.0], [0.0]])
    frequency = np.array([2.0 * math.pi / period])
    return MultiSine(NEUTRAL, 'XYZ', sine, frequency, np.zeros((6, 1)))


def wave(amplitude: float, period: float) -> OrbitalWave:
    # So long that its slope does not count.
    return OrbitalWave((AiryWave(amplitude, period, 100.0),), NEUTRAL)


def circle(radius: float, period: float) -> Circle:
    return Circle(NEUTRAL, radius, -2.0 * math.pi / period)


@pytest.mark.parametrize(
    ('made', 'period'), [(wave, 0.3), (wave, 0.123), (wave, 0.1), (circle, 0.1), (heave, 0.1)]
)
def test_no_instant_of_an_oscillation_at_the_limit_is_beyond_it(
    guard: MotionGuard, made: Callable[[float, float], Trajectory], period: float
) -> None:
    fade, until = 10.0 * period, 17.0 * period

    def faded(amplitude: float) -> Faded:
        return plan_fades(made(amplitude, period), NEUTRAL, guard, fade_in=fade, horizon=until)

    # The jerk of an oscillation alone is its amplitude by the third power of its frequency.
    alone = VIGO.limits.linear_jerk * (0.5 * period / math.pi) ** 3
    fits, fails = 0.8 * alone, 1.2 * alone
    faded(fits)
    for _ in range(12):
        middle = math.sqrt(fits * fails)
        try:
            faded(middle)
            fits = middle
        except (MotionRefused, TrajectoryError):
            fails = middle
    ended = plan_fade_out(faded(fits), until, fade, guard)
    time = np.arange(0.0, ended.duration, 2e-5)
    jerk = np.diff(ended.sample(time).acceleration[:, :3], axis=0) / 2e-5

    assert 0.99 < np.linalg.norm(jerk, axis=1).max() / VIGO.limits.linear_jerk <= 1.0


CIRCLE = Circle(NEUTRAL, 0.05, 3.0)


@pytest.mark.parametrize('name', ['fade_in', 'fade_out'])
@pytest.mark.parametrize('fade', [0.0, 0.05, 0.3])
def test_short_fade_is_refused_with_one_that_is_long_enough(
    guard: MotionGuard, name: str, fade: float
) -> None:
    fades = {'fade_in': 2.0, 'fade_out': 2.0}
    with pytest.raises(TrajectoryError, match=f'{name} of {fade:g} s is too short') as caught:
        plan_fades(CIRCLE, NEUTRAL, guard, **{**fades, name: fade}, duration=10.0)
    found = re.search(r', (\d+\.\d\d) s are long enough', str(caught.value))
    assert found
    enough = float(found[1])
    wave = plan_fades(CIRCLE, NEUTRAL, guard, **{**fades, name: enough}, duration=10.0)

    assert greatest_shares(wave, VIGO.limits).max() <= 1.0
    with pytest.raises(TrajectoryError, match='too short'):
        plan_fades(CIRCLE, NEUTRAL, guard, **{**fades, name: 0.75 * enough}, duration=10.0)


def test_motion_that_no_fade_helps_is_refused_for_its_own_sake(guard: MotionGuard) -> None:
    with pytest.raises(MotionRefused, match='linear velocity'):
        plan_fades(Circle(NEUTRAL, 0.3, 3.0), NEUTRAL, guard, fade_in=3.0, horizon=10.0)


@pytest.mark.parametrize('since', [0.4, 3.3, 7.0])
@pytest.mark.parametrize('fade_out', [0.0, 0.3, 2.0])
def test_fade_out_is_lengthened_as_far_as_the_limits_need_it(
    guard: MotionGuard, since: float, fade_out: float
) -> None:
    wave = plan_fades(CIRCLE, NEUTRAL, guard, fade_in=2.0, horizon=10.0)
    ended = plan_fade_out(wave, since, fade_out, guard)

    assert ended.fade_out >= fade_out
    assert ended.fade_out == 2.0 or fade_out < 2.0
    assert greatest_shares(ended, VIGO.limits).max() <= 1.0
    np.testing.assert_allclose(ended.sample(since).position, wave.sample(since).position)
    np.testing.assert_allclose(ended.sample(ended.duration).position, NEUTRAL.position, atol=1e-12)


def test_jump_of_acceleration_is_refused(guard: MotionGuard) -> None:
    time = np.linspace(0.0, 1.0, 101)
    guard.check_jerk(CIRCLE.sample(time), time)
    rest = Motion.at_rest(NEUTRAL, (101,))
    jump = rest.replaced(linear_acceleration=np.outer(np.arange(101) >= 50, [0.7, 0.0, 0.0]))
    with pytest.raises(MotionRefused, match='linear jerk at sample 50 is 70 m/s³'):
        guard.check_jerk(jump, time)


def test_a_motion_beyond_the_limits_cannot_be_stopped_within_them() -> None:
    with pytest.raises(TrajectoryError, match='the trajectory itself breaks them'):
        plan_stop(Circle(NEUTRAL, 0.1, 20.0), 1.0, MotionGuard(VIGO))
