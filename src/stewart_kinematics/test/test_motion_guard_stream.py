# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The guard of a stream refuses what cannot follow from the sample before."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.control.steering import Steering
from stewart_kinematics.errors import MotionRefused, ShapeError
from stewart_kinematics.limits.continuity import broken_at, first_jump
from stewart_kinematics.limits.guard import MotionGuard, REST_MARGIN
from stewart_kinematics.limits.planning import plan_move
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.solvers.forward import forward
from stewart_kinematics.solvers.inverse import inverse


@pytest.fixture
def rest(vigo: Platform) -> Motion:
    """Return rest at its neutral pose."""
    return Motion.at_rest(vigo.geometry.neutral_pose)


def sway(platform: Platform, time: float) -> Motion:
    """Return a smooth motion within all limits: 50 mm, 5 degrees, 0.5 Hz."""
    omega, centre = math.pi, platform.geometry.neutral_pose.position
    amplitude, turn = np.array([0.05, 0.02, 0.03]), np.array([0.0, 0.09, 0.0])
    sine, cosine = math.sin(omega * time), math.cos(omega * time)
    return Motion.of_vectors(
        centre + amplitude * sine,
        Rotation.from_rotvec(turn * sine).as_quat(),
        amplitude * omega * cosine,
        turn * omega * cosine,
        -amplitude * omega**2 * sine,
        -turn * omega**2 * sine,
    )


@pytest.mark.parametrize('step', [0.001, 0.005, 0.02])
def test_smooth_stream_is_admitted(step: float, vigo: Platform) -> None:
    """Two seconds at any usual rate, with Unix time as stamp."""
    guard = MotionGuard(vigo)
    for time in np.arange(0.0, 2.0, step):
        guard.admit(sway(vigo, time), 1.7e9 + time)


def test_jump_of_position_is_refused_and_not_remembered(vigo: Platform, rest: Motion) -> None:
    """Two millimetres in 5 ms at rest: refused; the stream goes on from the last good sample."""
    guard = MotionGuard(vigo)
    guard.admit(rest, 0.0)
    moved = replace(rest, position=np.add(rest.position, [0.0, 0.002, 0.0]))
    with pytest.raises(MotionRefused, match=r'position jump is 0\.002 m'):
        guard.admit(moved, 0.005)
    guard.admit(rest, 0.010)

    guard.forget()
    guard.admit(moved, 0.015)


@pytest.mark.parametrize(
    ('change', 'quantity'),
    [
        ({'quaternion_xyzw': Rotation.from_rotvec([0.0, 0.0, 0.01]).as_quat()}, 'attitude jump'),
        ({'linear_velocity': [0.0, 0.0, 0.2]}, 'linear velocity jump'),
        ({'angular_velocity': [0.0, 0.3, 0.0]}, 'angular velocity jump'),
        # In 5 ms the jerk limits allow 0.3 m/s² and 0.6 rad/s².
        ({'linear_acceleration': [0.0, 0.0, 0.31]}, 'linear acceleration jump'),
        ({'angular_acceleration': [0.0, 0.61, 0.0]}, 'angular acceleration jump'),
    ],
    ids=['attitude', 'velocity', 'turn', 'acceleration', 'angular acceleration'],
)
def test_other_jumps_are_refused(
    change: dict[str, object], quantity: str, vigo: Platform, rest: Motion
) -> None:
    """What no acceleration within the limits can do in 5 ms."""
    guard = MotionGuard(vigo)
    guard.admit(rest, 0.0)
    # The pose moves on with the mean velocity, so that the velocity alone is wrong.
    velocity = np.asarray(change.get('linear_velocity', [0.0, 0.0, 0.0]), dtype=float)
    turn = np.asarray(change.get('angular_velocity', [0.0, 0.0, 0.0]), dtype=float)
    follow = {
        'position': rest.position + 0.0025 * velocity,
        'quaternion_xyzw': Rotation.from_rotvec(0.0025 * turn).as_quat(),
    }
    with pytest.raises(MotionRefused) as caught:
        guard.admit(rest.replaced(**(follow | change)), 0.005)

    assert caught.value.violation.quantity == quantity


def test_twist_that_contradicts_the_poses_is_refused(vigo: Platform, rest: Motion) -> None:
    """Standing still while claiming 0.3 m/s is a jump at the second sample."""
    guard = MotionGuard(vigo)
    claimed = rest.replaced(linear_velocity=[0.3, 0.0, 0.0])
    guard.admit(claimed, 0.0)

    with pytest.raises(MotionRefused, match='position jump'):
        guard.admit(claimed, 0.005)


def test_long_gap_concedes_no_more_than_a_short_one(vigo: Platform, rest: Motion) -> None:
    """After ten seconds at rest the next sample still has to begin where the last one ended."""
    guard = MotionGuard(vigo)
    guard.admit(rest, 0.0)
    guard.admit(rest, 10.0)

    with pytest.raises(MotionRefused, match='position jump'):
        guard.admit(replace(rest, position=np.add(rest.position, [0.0, 0.0, 0.05])), 20.0)


@pytest.mark.parametrize('stamp', [1.0, 0.5, math.nan])
def test_time_must_go_on(stamp: float, vigo: Platform, rest: Motion) -> None:
    """The same stamp twice, an earlier one, or none at all."""
    guard = MotionGuard(vigo)
    guard.admit(rest, 1.0)

    with pytest.raises(MotionRefused, match=r'time step|stamp'):
        guard.admit(rest, stamp)


def test_admit_takes_one_sample(vigo: Platform) -> None:
    """A sequence is for check."""
    with pytest.raises(ShapeError, match='single sample'):
        MotionGuard(vigo).admit(Motion.at_rest(vigo.geometry.neutral_pose, (2,)), 0.0)


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_attitude_difference_equals_scipy_for_either_sign_of_the_quaternion(sign: float) -> None:
    """Quaternions q and -q are the same attitude, and the turn is the shortest one."""
    rng = np.random.default_rng(9)
    zero, out = np.zeros((1, 3)), np.empty(12)
    for _ in range(50):
        last, turn = Rotation.random(random_state=rng), rng.uniform(-1.5, 1.5, 3)
        first, second = last.as_quat(), sign * (Rotation.from_rotvec(turn) * last).as_quat()
        omega = rng.normal(size=3)
        rates, still = np.hstack([zero, omega.reshape(1, 3)]), np.zeros((1, 6))
        before, after = ((zero, q.reshape(1, 4), rates, still) for q in (first, second))
        broken_at(0.0, *before, np.array([0.1]), *after, np.full(4, np.inf), out)

        assert out[1] == pytest.approx(float(np.linalg.norm(turn - 0.1 * omega)), abs=1e-12)


def test_a_run_is_admitted_up_to_the_sample_that_alone_is_refused(vigo: Platform) -> None:
    """In blocks of any length the same samples pass, with the same legs, bit for bit."""
    times = np.arange(0.0, 1.0, 0.005)
    samples = [sway(vigo, time) for time in times]
    motion = Motion(*map(np.stack, zip(*(s.parts() for s in samples), strict=True)))
    motion.position[120] += 0.01  # jumps, and back
    motion.position[160] += 9.0  # leaves the strokes
    single, expected = MotionGuard(vigo), {}
    for k, time in enumerate(times.tolist()):
        with suppress(MotionRefused):
            expected[k] = single.admit(motion[k], time).stroke
    assert sorted(set(range(len(times))) - set(expected)) == [120, 160]

    for length in (1, 7, 40, 200):
        guard, passed, k = MotionGuard(vigo), {}, 0
        while k < len(times):
            chosen = slice(k, k + length)
            strokes = guard.admit_run(motion[chosen], times[chosen]).stroke
            passed |= dict(enumerate(strokes, k))
            k += len(strokes) + (len(strokes) < len(times[chosen]))
        assert list(passed) == list(expected)
        assert all(np.array_equal(passed[k], expected[k]) for k in expected)


def test_a_stamp_that_goes_back_is_told_with_its_step(rest: Motion) -> None:
    run = Motion(*(np.repeat(part[None], 4, axis=0) for part in rest.parts()))
    limits = np.ones(4)
    stamps = np.array([0.1, 0.3, 0.25, 0.4])
    count, violation = first_jump(0.0, rest, stamps, run, limits)
    assert count == 2
    assert violation is not None
    assert violation.value == pytest.approx(-0.05)
    assert (violation.quantity, violation.lower) == ('time step', 0.0)
    count, violation = first_jump(0.1, rest, stamps, run, limits)
    assert (count, violation.value if violation else None) == (0, 0.0)


def at_strokes(platform: Platform, stroke: float) -> Pose:
    """Return the level pose that has this stroke in all legs [m]."""
    strokes = np.full(6, stroke)
    return forward(platform.geometry, strokes + platform.geometry.retracted_length).pose


@pytest.mark.parametrize('beyond', [4.8e-7, 4.9e-3])
def test_legs_that_rest_beyond_their_ends_may_come_inside_only(
    vigo: Platform, beyond: float
) -> None:
    """Legs without brakes end there; back out again is refused, even less far than they were."""
    guard, start = MotionGuard(vigo), at_strokes(vigo, -beyond)
    above = np.add(start.position, [0.0, 0.0, 0.05])
    up = plan_move(start, Pose(above, start.quaternion_xyzw), guard)
    times = np.arange(0.0, up.duration, 0.005)
    for one_by_one in (True, False):
        guard.forget()
        if one_by_one:
            for time in times:
                guard.admit(up.sample(time), time)
        else:
            assert len(guard.admit_run(up.sample(times), times).stroke) == len(times)
        with pytest.raises(MotionRefused, match='stroke of leg'):
            guard.admit(Motion.at_rest(at_strokes(vigo, -0.5 * beyond)), up.duration)
    for away in (-1e-3, 1e-3):
        tilted = Pose.from_rpy(start.position, [away, 0.0, 0.0])
        with pytest.raises(MotionRefused, match='stroke of leg'):
            plan_move(start, tilted, guard)
    with pytest.raises(MotionRefused, match='stroke of leg'):
        guard.check(Motion.at_rest(start))
    Steering(guard, start, period=0.005)


def test_legs_too_far_beyond_their_ends_do_not_move(vigo: Platform) -> None:
    guard, start = MotionGuard(vigo), at_strokes(vigo, -1.01 * REST_MARGIN)
    inside = vigo.geometry.neutral_pose
    with pytest.raises(MotionRefused, match=r'stroke of leg . at sample 0 is -0\.00505'):
        plan_move(start, inside, guard)
    with pytest.raises(MotionRefused, match='stroke of leg'):
        guard.admit(Motion.at_rest(start), 0.0)


def test_short_legs_may_begin_less_far_beyond_their_ends(vigo: Platform, rest: Motion) -> None:
    lower = float(inverse(vigo.geometry, rest).stroke[0]) - 1e-3
    # A thirtieth of 6 mm, where the neutral pose is a millimetre above the lower end.
    ends = np.tile([lower, lower + 6e-3], (6, 1))
    guard = MotionGuard(replace(vigo, limits=replace(vigo.limits, stroke=ends)))
    near = at_strokes(vigo, lower - 1.9e-4)
    guard.admit(Motion.at_rest(near), 0.0)
    guard.check(Motion.at_rest(near, (2,)))
    plan_move(near, vigo.geometry.neutral_pose, guard)
    for beyond in (2.1e-4, 4.8e-3):
        guard.forget()
        far = at_strokes(vigo, lower - beyond)
        with pytest.raises(MotionRefused, match='stroke of leg'):
            guard.admit(Motion.at_rest(far), 0.0)
        with pytest.raises(MotionRefused, match='stroke of leg'):
            guard.check(Motion.at_rest(far, (2,)))
