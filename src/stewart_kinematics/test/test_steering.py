# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Motion commanded by a velocity, whatever is commanded."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.control.admission import at_rest
from stewart_kinematics.control.steering import RESERVE, ROD_RESERVE, Steering, TIMEOUT
from stewart_kinematics.errors import MotionRefused, StewartError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import magnitudes, mean_jerk, Motion, Pose
from stewart_kinematics.solvers.forward import forward_from_positions

PERIOD = 0.005
PLACES = ('stroke', 'crank angle', 'pressure angle', 'base joint angle', 'platform joint angle')
"""Some limits of where the platform may be."""
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ('ex800', 'srs')]
PLATFORMS = ('vigo', 'sg90_rotary', *SLOW)


def stacked(rows):
    return Motion(*(np.stack(column) for column in zip(*(r.parts() for r in rows), strict=True)))


def ratios(platform, motion, time):
    """Return velocity, acceleration and jerk over their limits, the worst of each."""
    limits = platform.limits
    bounds = [
        [getattr(limits, f'{kind}_{name}') for kind in ('linear', 'angular')]
        for name in ('velocity', 'acceleration', 'jerk')
    ]
    values = [magnitudes(motion.twist), magnitudes(motion.acceleration), mean_jerk(motion, time)]
    return [float((v / b).max()) for v, b in zip(values, bounds, strict=True)]


def steered(steering, commands, times):
    """Give the commands that hold at some times, and return the motion."""
    rows = []
    for now, command in zip(times, commands, strict=True):
        if command is not None:
            steering.command(command, now)
        rows.append(steering.advance(now))
    return stacked(rows)


@pytest.fixture(params=PLATFORMS)
def platform(request):
    return load_platform(request.param)


def full(platform, axis, sign=1.0):
    limits = platform.limits
    twist = np.zeros(6)
    twist[axis] = sign * (limits.linear_velocity if axis < 3 else limits.angular_velocity)
    return twist


@pytest.mark.parametrize('scale', [pytest.param(0.5, marks=pytest.mark.slow), 1.0])
def test_whatever_is_commanded_the_guard_admits_every_setpoint(platform, scale):
    rng = np.random.default_rng(18)
    limits, guard, judge = platform.limits, MotionGuard(platform), MotionGuard(platform)
    steering = Steering(guard, platform.geometry.neutral_pose, period=PERIOD, scale=scale)
    largest = np.repeat([limits.linear_velocity, limits.angular_velocity], 3)
    rows, times, now, twist, until = [], [], 0.0, np.zeros(6), 0.0
    turned = False
    for _ in range(1000):
        if now >= until:
            # Sticks at their stops, reversals, one axis alone, silence, something small.
            kind, turned = rng.integers(6), bool(rng.integers(2))
            twist = {
                0: largest * rng.choice([-1.0, 1.0], 6),
                1: -twist,
                2: largest * np.eye(6)[rng.integers(6)] * rng.choice([-3.0, 3.0]),
                3: np.full(6, np.nan),
                4: largest * rng.normal(size=6),
                5: 0.02 * largest * rng.normal(size=6),
            }[int(kind)]
            until = now + rng.choice([0.02, 0.15, 1.5])
        if np.isnan(twist).any():
            with pytest.raises(StewartError, match='finite'):
                steering.command(twist, now)
            twist = np.zeros(6)
        elif rng.random() < 0.8:
            steering.command(twist, now, in_platform=turned)
        motion = steering.advance(now)
        judge.admit(motion, now)
        rows.append(motion)
        times.append(now)
        # Timers are late at times, and very late now and then.
        now += PERIOD if rng.random() < 0.9 else float(rng.uniform(0.001, 0.09))
    motion, time = stacked(rows), np.array(times)
    assert max(ratios(platform, motion, time)) <= 1.0
    # It was somewhere: something else would keep the limits, too.
    margins = judge.margins(motion)
    assert min(margins[name].min() for name in margins if name in PLACES) < 0.02
    assert magnitudes(motion.twist).max(axis=0)[0] > 0.4 * scale * limits.linear_velocity


@pytest.mark.parametrize(
    ('name', 'seed'),
    [('sg90_rotary', 0), ('ps6tl_1500', 9), ('ps6tl_1500', 13), ('hexaglide_3d_mec', 4)],
)
def test_accelerations_of_legs_do_not_peak_between_checks(name, seed):
    platform, rng = load_platform(name), np.random.default_rng(seed)
    guard, judge = MotionGuard(platform), MotionGuard(platform)
    steering = Steering(guard, platform.geometry.neutral_pose, period=PERIOD, scale=1.0)
    largest = np.repeat(platform.limits.velocities, 3)
    now, until, twist, turned = 0.0, 0.0, np.zeros(6), False
    while now < 1.1:
        if now >= until:
            twist = rng.uniform(-1.0, 1.0, 6) * largest * rng.choice([0.0, 0.3, 2.0], 6)
            until, turned = now + rng.exponential(0.4), bool(rng.integers(2))
            if rng.random() < 0.1:
                steering.release()
        if rng.random() < 0.9:
            steering.command(twist, now, in_platform=turned)
        judge.admit(steering.advance(now), now)
        now += PERIOD if seed % 2 else float(rng.choice([0.001, 0.005, 0.005, 0.02, 0.08]))


@pytest.mark.parametrize('beyond', [5e-7, 1e-3])
def test_a_platform_whose_legs_rest_beyond_their_ends_is_steered_inside(beyond):
    platform = load_platform('vigo')
    low = platform.limits.stroke[:, 0] - beyond
    start = forward_from_positions(platform.geometry, low).pose
    steering = Steering(MotionGuard(platform), start, period=PERIOD)
    down, up = full(platform, 2, -1.0), full(platform, 2)
    motion = steered(steering, [down] * 40 + [up] * 400, PERIOD * np.arange(440))
    height = motion.position[:, 2] - start.position[2]

    assert height.min() > -1e-9
    assert height[-1] > 0.1
    assert max(ratios(platform, motion, PERIOD * np.arange(440))) <= 1.0


@pytest.mark.parametrize('axis', [pytest.param(2, marks=pytest.mark.slow), 4])
def test_full_stick_into_a_limit_slows_down_and_rests_near_it(platform, axis):
    guard = MotionGuard(platform)
    steering = Steering(guard, platform.geometry.neutral_pose, period=PERIOD)
    commands, times = [full(platform, axis)] * 600, PERIOD * np.arange(600)
    motion = steered(steering, commands, times)
    margins = {name: float(values[-1]) for name, values in guard.margins(motion).items()}
    speed = motion.twist[:, axis]
    near = 0.005 + (RESERVE if platform.geometry.rods is None else ROD_RESERVE)

    assert guard.allowed(motion).all()
    assert max(ratios(platform, motion, times)) <= 0.5
    # It went as fast as it may, arrived, and came as near to a limit as the reserve lets it.
    assert speed.max() > 0.45 * full(platform, axis)[axis]
    assert abs(speed[-1]) < 1e-3 * speed.max()
    assert 0.0 < min(margins.values()) < near
    assert steering.share < 0.05
    assert margins[steering.limited_by.split(' of leg')[0]] < near
    # One braking, without stuttering: the acceleration rises and falls once each way.
    change = np.abs(np.diff(motion.acceleration[:, axis])).sum()
    assert change < 4.4 * np.abs(motion.acceleration[:, axis]).max()


def test_from_the_limit_it_comes_back():
    platform = load_platform('srs')
    guard = MotionGuard(platform)
    steering = Steering(guard, platform.geometry.neutral_pose, period=PERIOD)
    times = PERIOD * np.arange(700)
    there = steered(steering, [full(platform, 2)] * 700, times)
    back = steered(steering, [full(platform, 2, -1.0)] * 60, 3.5 + times[:60])

    assert there.position[-1, 2] > there.position[0, 2]
    way = platform.limits.linear_velocity * 60 * PERIOD
    assert back.position[-1, 2] < there.position[-1, 2] - 0.1 * way
    assert back.linear_velocity[-1, 2] < 0.0


def test_silence_is_a_stop_after_100_ms_and_letting_go_at_once(platform):
    limits, scale = platform.limits, 0.5
    for silent in (True, False):
        steering = Steering(
            MotionGuard(platform), platform.geometry.neutral_pose, period=PERIOD, scale=scale
        )
        spoken = 40
        steered(steering, [full(platform, 5)] * spoken, PERIOD * np.arange(spoken))
        last = PERIOD * (spoken - 1)
        if not silent:
            steering.release()
        times = last + PERIOD * np.arange(1, 300)
        motion = steered(steering, [None] * len(times), times)
        speeds = magnitudes(motion.twist)[:, 1]
        # A cubic fall of the velocity to 0 has the peaks 1.5 v/T and 6 v/T².
        speed, strength = speeds[0], 0.9 * scale
        lasting = max(
            1.5 * speed / (strength * limits.angular_acceleration),
            math.sqrt(6.0 * speed / (strength * limits.angular_jerk)),
        )
        begin = last + (TIMEOUT if silent else 0.0)
        resting = times[np.argmax(speeds == 0.0)]
        # What it still accelerated with has to be taken back first.
        assert begin < resting <= begin + 2.0 * lasting + 2.0 * PERIOD
        if silent:
            assert np.all(speeds[times < begin - 1e-9] > 0.0)
        assert at_rest(motion[-1])
        assert steering.plan.duration <= times[-1]


def test_a_plan_is_a_motion_whose_derivatives_belong_together(platform):
    steering = Steering(MotionGuard(platform), platform.geometry.neutral_pose, period=PERIOD)
    rng = np.random.default_rng(3)
    for k in range(30):
        steering.command(full(platform, 3) + full(platform, 1) + rng.normal(size=6), k * PERIOD)
        steering.advance(k * PERIOD)
    plan, step = steering.plan, 1e-5
    # Not across the instants at which two pieces meet, where the jerk jumps.
    time = np.linspace(plan.begin + 0.001, plan.duration - 0.001, 37)
    before, here, after = (plan.sample(time + shift) for shift in (-step, 0.0, step))
    turn = (
        Rotation.from_quat(after.quaternion_xyzw)
        * Rotation.from_quat(before.quaternion_xyzw).inv()
    )
    np.testing.assert_allclose(
        (after.position - before.position) / (2 * step), here.linear_velocity, atol=1e-6
    )
    np.testing.assert_allclose(turn.as_rotvec() / (2 * step), here.angular_velocity, atol=1e-6)
    gain = (after.twist - before.twist) / (2 * step)
    assert np.abs(gain - here.acceleration).max() < 2e-2 * np.abs(here.acceleration).max()
    assert at_rest(plan.sample(plan.duration))


def test_a_twist_in_platform_axes_turns_with_the_platform():
    platform = load_platform('vigo')
    neutral = platform.geometry.neutral_pose
    start = Pose.from_rpy(neutral.position, [0.0, 0.0, math.radians(20.0)])
    steering = Steering(MotionGuard(platform), start, period=PERIOD)
    for k in range(40):
        steering.command([0.1, 0, 0, 0, 0, 0], k * PERIOD, in_platform=True)
        motion = steering.advance(k * PERIOD)
    way = motion.position - start.position
    assert math.degrees(math.atan2(way[1], way[0])) == pytest.approx(20.0, abs=1e-6)


def test_a_start_outside_the_limits_is_refused():
    platform = load_platform('vigo')
    neutral = platform.geometry.neutral_pose
    with pytest.raises(MotionRefused, match='stroke'):
        Steering(
            MotionGuard(platform),
            Pose.from_rpy([0.0, 0.0, neutral.position[2] + 1.0], [0.0, 0.0, 0.0]),
        )
