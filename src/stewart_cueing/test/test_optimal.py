# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Cueing by a quadratic program: what it optimises, and that nothing breaks a limit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from rides import drive
from scipy.integrate import solve_ivp
from stewart_cueing.errors import VehicleInputError
from stewart_cueing.vehicle import optimal
from stewart_cueing.vehicle.inputs import VehicleRide
from stewart_cueing.vehicle.live import LiveRide
from stewart_cueing.vehicle.methods import cueing, METHODS
from stewart_cueing.vehicle.optimal import Horizon, OptimalCueing, Weights
from stewart_cueing.vehicle.ride import cued, settings_for
from stewart_cueing.vehicle.washout import GRAVITY, LEVEL, PRESETS, WashoutSettings
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.spatial import rpy_from_quaternion

PERIOD = 0.005
OPEN = WashoutSettings(
    force_scale=(1.0,) * 3, rate_scale=(1.0,) * 3, force_limit=(1e4,) * 3, rate_limit=(1e3,) * 3
)
PLATFORMS = ('srs', 'vigo', 'ex800', 'ps6tl_1500', 'hexaglide_3d_mec')


def steps(rng: np.random.Generator, time: Array) -> Array:
    """Return steps of up to 10 g and 3 rad/s at random times, ramps and silence."""
    at = np.sort(rng.uniform(0.0, time[-1], 8))
    sizes = rng.choice([0.0, 0.1, 1.0, 10.0], (9, 1)) * rng.uniform(-1.0, 1.0, (9, 6))
    return np.asarray(sizes[np.searchsorted(at, time)] * np.repeat([GRAVITY, 0.3], 3))


def hammering(rng: np.random.Generator, time: Array) -> Array:
    """Return the greatest forces and rates, which change their signs at every sample."""
    return np.asarray(rng.choice([-1.0, 1.0], (time.size, 6)) * np.repeat([1e3, 1e2], 3))


def endless(rng: np.random.Generator, time: Array) -> Array:
    """Return one direction for ever, far beyond what a platform can do."""
    return np.tile(rng.normal(size=6) * np.repeat([300.0, 30.0], 3), (time.size, 1))


def noisy(rng: np.random.Generator, time: Array) -> Array:
    """Return white noise of a few g."""
    return np.asarray(rng.normal(size=(time.size, 6)) * np.repeat([20.0, 2.0], 3))


def resonant(rng: np.random.Generator, time: Array) -> Array:
    """Return sines that swing the platform from end to end."""
    frequency, phase = rng.uniform(1.0, 12.0, 6), rng.uniform(0.0, 6.0, 6)
    return np.asarray(np.sin(time[:, None] * frequency + phase) * np.repeat([8.0, 0.8], 3))


MOTIONS: tuple[Callable[[np.random.Generator, Array], Array], ...] = (
    steps,
    hammering,
    endless,
    noisy,
    resonant,
)


def admitted(method: str, number: int, seconds: float) -> Motion:
    """Play a random motion of a vehicle; a guard of its own judges every setpoint."""
    rng = np.random.default_rng(number)
    platform = load_platform(PLATFORMS[number // len(MOTIONS) % len(PLATFORMS)])
    time = np.arange(0.0, seconds, PERIOD)
    samples = LEVEL + MOTIONS[number % len(MOTIONS)](rng, time)
    judge = MotionGuard(platform)
    player = cueing(method, MotionGuard(platform), OPEN, PERIOD)
    rows = []
    for n, sample in enumerate(samples):
        rows.append(player.advance(n * PERIOD, sample))
        judge.admit(rows[-1], n * PERIOD)
    motion = Motion(*(np.stack(part) for part in zip(*(r.parts() for r in rows), strict=True)))
    judge.check_jerk(motion, time)
    # A test of limits is one only if the platform moves.
    assert np.abs(motion.twist).max() > 0.01
    return motion


@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize('number', [pytest.param(0, marks=pytest.mark.slow), 12])
def test_no_motion_of_a_vehicle_breaks_a_limit(method: str, number: int) -> None:
    admitted(method, number, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize('first', range(0, 100, 10))
def test_none_of_a_hundred_motions_breaks_a_limit(method: str, first: int) -> None:
    for number in range(first, first + 10):
        admitted(method, number, 3.0)


def test_the_horizon_is_that_of_integrated_jerks() -> None:
    """Against a numerical solution of y''' = u."""
    lengths, rng = np.array([0.01, 0.1, 0.4]), np.random.default_rng(1)
    horizon, jerks = Horizon(lengths), rng.normal(size=(3, 6))
    rest = Motion.at_rest(load_platform('srs').geometry.neutral_pose)
    state = Motion(rest.position, rest.quaternion_xyzw, rng.normal(size=6), rng.normal(size=6))
    start = np.concatenate([np.zeros(6), state.twist, state.acceleration])
    found = horizon.free(state) + horizon.gain @ jerks
    for n, length in enumerate(lengths):
        jerk = jerks[n]

        def change(_: float, y: Array, jerk: Array = jerk) -> Array:
            return np.concatenate([y[6:], jerk])

        start = solve_ivp(change, (0.0, length), start, rtol=1e-10, atol=1e-12).y[:, -1]
        np.testing.assert_allclose(found[:, n].ravel(), start, atol=1e-9)


def test_the_first_jerk_of_heave_is_that_of_the_optimality_conditions() -> None:
    """Far from every limit: the linear system of the least squares and the rest at the end."""
    lengths = np.array([optimal.INTERVAL, *optimal.BLOCKS])
    ends, count = np.cumsum(lengths), len(lengths)
    columns = []
    for block in range(count):
        way = velocity = acceleration = 0.0
        column = []
        for n, h in enumerate(lengths):
            jerk = float(n == block)
            way += velocity * h + acceleration * h**2 / 2.0 + jerk * h**3 / 6.0
            velocity += acceleration * h + jerk * h**2 / 2.0
            acceleration += jerk * h
            column.append((way, velocity, acceleration))
        columns.append(column)
    way, velocity, acceleration = np.array(columns).T
    platform, weights, asked = load_platform('srs'), Weights(), 0.1
    lasting = asked * (1.0 - np.exp(-lengths[0] / optimal.LASTING))
    wanted = lasting + (asked - lasting) * np.exp(-ends / optimal.FADING)
    largest = optimal.PART * platform.limits.linear_jerk / np.sqrt(3.0)
    matrix = np.diag(weights.jerk * lengths) / largest**2
    for weight, rows in (
        (weights.force, acceleration),
        (weights.position, way),
        (weights.velocity, velocity),
    ):
        matrix += weight * rows.T @ (lengths[:, None] * rows)
    gradient = weights.force * acceleration.T @ (lengths * wanted)
    end = np.stack([velocity[-1], acceleration[-1]])
    system = np.block([[matrix, end.T], [end, np.zeros((2, 2))]])
    expected = np.linalg.solve(system, np.append(gradient, [0.0, 0.0]))[0]

    player = OptimalCueing(MotionGuard(platform), OPEN, PERIOD)
    player.advance(0.0, LEVEL + np.array([0.0, 0.0, asked, 0.0, 0.0, 0.0]))
    found = player.governor.plan.sample(PERIOD).linear_acceleration / PERIOD
    assert abs(expected) > 0.5
    np.testing.assert_allclose(found, [0.0, 0.0, expected], atol=1e-3 * abs(expected))


@pytest.mark.slow
def test_a_lasting_force_is_given_by_tilt_and_a_rest_is_returned_to() -> None:
    platform, settings = load_platform('srs'), PRESETS['srs']
    player = OptimalCueing(MotionGuard(platform), settings, PERIOD)
    sample = LEVEL + np.array([1.0, 0.5, 0.0, 0.0, 0.0, 0.0])
    for n in range(1200):
        player.advance(n * PERIOD, sample)
    state = player.governor.plan.sample(1200 * PERIOD)
    roll, pitch, _ = rpy_from_quaternion(state.quaternion_xyzw)
    assert -GRAVITY * np.sin(pitch) == pytest.approx(0.5, rel=0.05)
    assert GRAVITY * np.sin(roll) == pytest.approx(0.25, rel=0.05)
    np.testing.assert_allclose(state.twist, 0.0, atol=2e-3)
    for n in range(1200, 2400):
        player.advance(n * PERIOD, LEVEL)
    state = player.governor.plan.sample(2400 * PERIOD)
    neutral = platform.geometry.neutral_pose
    np.testing.assert_allclose(state.position, neutral.position, atol=5e-3)
    np.testing.assert_allclose(state.quaternion_xyzw[:3], 0.0, atol=1e-3)


@pytest.mark.parametrize('axis', range(6))
def test_the_onset_has_the_direction_of_the_vehicle(axis: int) -> None:
    player = OptimalCueing(MotionGuard(load_platform('srs')), PRESETS['srs'], PERIOD)
    sample = LEVEL.copy()
    sample[axis] += 0.5 if axis < 3 else 0.1
    for n in range(20):
        player.advance(n * PERIOD, sample)
    state = player.governor.plan.sample(0.1)
    onset = state.acceleration[axis] if axis < 3 else state.twist[axis]
    assert onset > (0.05 if axis < 3 else 0.01)


@pytest.mark.parametrize('row', [40, 41])
def test_a_step_is_answered_within_a_plan_and_a_period(row: int) -> None:
    player = OptimalCueing(MotionGuard(load_platform('srs')), PRESETS['srs'], PERIOD)
    step = LEVEL + np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    moved = []
    for n in range(row + 5):
        state = player.advance(n * PERIOD, step if n >= row else LEVEL)
        moved.append(state.linear_acceleration[2] > 0.01)
    assert (moved.index(True) - row) * PERIOD <= optimal.INTERVAL + PERIOD


def test_a_plan_goes_to_the_limits_and_leaves_the_governor_nothing_to_refuse() -> None:
    """Surge from end to end: strokes, rates of the legs and the speed are used up to 95 %."""
    platform = load_platform('srs')
    player = OptimalCueing(MotionGuard(platform), OPEN, PERIOD, Weights(position=0.01))
    rows, shares = [], []
    for n in range(500):
        surge = 8.0 * np.sin(2.0 * n * PERIOD)
        rows.append(player.advance(n * PERIOD, LEVEL + np.array([surge, *np.zeros(5)])))
        shares.append(player.governor.share)
    motion = Motion(*(np.stack(part) for part in zip(*(r.parts() for r in rows), strict=True)))
    legs, limits = inverse(platform.geometry, motion), platform.limits
    away = np.abs(legs.stroke - limits.stroke.mean(axis=1)).max()
    assert 0.9 < away / (0.5 * np.ptp(limits.stroke[0])) < 0.96
    assert 0.9 < np.abs(legs.rate).max() / limits.rate < 0.96
    assert min(shares) == 1.0


@pytest.mark.slow
def test_it_feels_more_like_the_vehicle_than_the_washout_does() -> None:
    ride, platform = drive(8.0, 0.02), load_platform('srs')
    errors = []
    for method in METHODS:
        found = cued(ride, platform, settings_for('srs'), method=method)
        error = found.given_perceived - found.wanted_perceived
        errors.append(np.sqrt(np.mean(error[:, :3] ** 2)))
    assert errors[1] < 0.9 * errors[0]


def test_live_it_is_the_recorded_one_an_interval_later() -> None:
    platform, whole, every = load_platform('vigo'), drive(6.0, 0.02), 4
    ride = VehicleRide(whole.time[:80], whole.samples[:80])
    settings = settings_for('vigo')
    live = LiveRide(MotionGuard(platform), settings, PERIOD, 0.2, 'optimal')
    rows = []
    for n in range(300):
        if n % every == 0:
            live.input.put(ride.samples[n // every], PERIOD * n)
        live.advance(PERIOD * n)
        rows.append(live.plan.sample(PERIOD * n).position)
    recorded = cued(ride, platform, settings, method='optimal').motion
    np.testing.assert_allclose(rows[every:], recorded.position[: 300 - every], atol=1e-9)
    assert np.ptp(recorded.position, axis=0).max() > 1e-3


def test_without_a_plan_it_comes_to_rest_within_the_limits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    platform = load_platform('srs')
    player, judge = OptimalCueing(MotionGuard(platform), OPEN, PERIOD), MotionGuard(platform)
    sample = LEVEL + np.array([5.0, 0.0, 3.0, 0.0, 0.0, 0.3])
    for n in range(400):
        if n == 60:
            monkeypatch.setattr(optimal, 'ITERATIONS', 1)
            # What has been set up keeps its own bound.
            monkeypatch.setattr(player, '_program', None)
        judge.admit(player.advance(n * PERIOD, sample), n * PERIOD)
    assert player.failures > 100
    np.testing.assert_allclose(player.governor.plan.sample(2.0).twist, 0.0, atol=1e-12)


def test_what_is_no_sample_is_refused() -> None:
    player = OptimalCueing(MotionGuard(load_platform('vigo')), OPEN, PERIOD)
    for bad in (LEVEL * np.nan, LEVEL[:5]):
        with pytest.raises(VehicleInputError, match='six finite numbers'):
            player.advance(0.0, bad)
