# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A ride that comes in sample by sample is the recorded one, one interval later."""

from __future__ import annotations

import numpy as np
import pytest
from rides import drive
from stewart_cueing.errors import VehicleInputError
from stewart_cueing.vehicle.inputs import VehicleRide
from stewart_cueing.vehicle.live import LiveInput, LiveRide
from stewart_cueing.vehicle.ride import cued, settings_for
from stewart_cueing.vehicle.washout import LEVEL
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Motion

PERIOD = 0.005


@pytest.mark.parametrize('name', ['vigo', pytest.param('srs', marks=pytest.mark.slow)])
@pytest.mark.parametrize('interval', [pytest.param(0.005, marks=pytest.mark.slow), 0.02])
def test_a_live_ride_is_the_recorded_one_an_interval_later(name: str, interval: float) -> None:
    platform, ride = load_platform(name), drive(6.0, interval)
    settings = settings_for(name)
    live = LiveRide(MotionGuard(platform), settings, PERIOD, 0.2)
    judge, rows, every = MotionGuard(platform), [], round(interval / PERIOD)
    for n in range(1000):
        # Not on the grid: what counts is the time, not the calls.
        now = PERIOD * n + (0.002 if n % 7 == 3 else 0.0)
        if n % every == 0:
            live.input.put(ride.samples[n // every], PERIOD * n)
        live.advance(now)
        motion = live.plan.sample(now)
        judge.admit(motion, now)
        if n % 7 != 3:
            rows.append((n, motion.position, motion.quaternion_xyzw))
    recorded = cued(ride, platform, settings).motion
    late = [(n - every, *rest) for n, *rest in rows if n >= every]
    steps = np.array([n for n, *_ in late])
    for column, values in ((1, recorded.position), (2, recorded.quaternion_xyzw)):
        np.testing.assert_allclose([row[column] for row in late], values[steps], atol=1e-9)
    assert np.ptp(recorded.position, axis=0).max() > 0.005


def test_after_silence_the_input_goes_to_rest_and_the_platform_home() -> None:
    platform = load_platform('vigo')
    # As coarse as it may be: it goes home for 25 s.
    period = 0.02
    live = LiveRide(MotionGuard(platform), settings_for('vigo'), period, 0.2)
    braking = LEVEL + np.array([-3.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    for n in range(50):
        live.input.put(braking, period * n)
        live.advance(period * n)
    np.testing.assert_allclose(live.input.value(1.17), braking)
    assert 0.1 < (live.input.value(1.45) - braking)[0] < 2.9
    np.testing.assert_array_equal(live.input.value(1.75), LEVEL)
    assert live.input.silent()
    away = np.abs(live.plan.sample(1.0).position - platform.geometry.neutral_pose.position)
    live.advance(25.0)
    end = live.plan.sample(25.0)
    left = np.abs(end.position - platform.geometry.neutral_pose.position)
    assert away.max() > 0.01
    assert left.max() < 1e-4
    rest = live.plan.sample(live.plan.duration)
    np.testing.assert_allclose(Motion.at_rest(rest.pose).twist, rest.twist, atol=1e-12)
    live.input.put(braking, 25.0)
    assert not live.input.silent()
    np.testing.assert_allclose(live.input.value(25.02), braking)


def test_what_is_no_sample_changes_nothing() -> None:
    source = LiveInput(PERIOD, 0.2)
    source.put(LEVEL + 1.0, 0.0)
    for bad in (LEVEL * np.nan, LEVEL[:5]):
        with pytest.raises(VehicleInputError, match='six finite numbers'):
            source.put(bad, 0.01)
    np.testing.assert_allclose(source.value(0.02), LEVEL + 1.0)


def shaken(rate: float, frequency: float) -> VehicleRide:
    """Return 4 s at a rate [Hz] of a surge of 0.5 Hz under a vibration of 5 m/s² [Hz]."""
    time = np.arange(round(4.0 * rate) + 1) / rate
    samples = np.tile(LEVEL, (time.size, 1))
    samples[:, 0] = np.sin(np.pi * time) + 5.0 * np.sin(2.0 * np.pi * frequency * time)
    return VehicleRide(time, samples)


# Of 1 Hz where it is sampled 200 times a second; higher ones at odd places.
@pytest.mark.parametrize('frequency', [199.0, 201.0, 399.5])
def test_vibration_of_a_fast_recording_is_no_slow_motion(frequency: float) -> None:
    time, inputs = shaken(1000.0, frequency).at_rate(1.0 / PERIOD)
    surge = np.sin(np.pi * time)
    # Where a period begins or ends before the ride, half of one is left to average over.
    np.testing.assert_allclose(inputs[1:-1, 0], surge[1:-1], atol=0.06)
    np.testing.assert_allclose(inputs[:, 1:], np.tile(LEVEL[1:], (time.size, 1)), atol=1e-12)


def test_the_mean_of_dense_samples_that_are_not_equidistant_is_that_of_the_line() -> None:
    rng = np.random.default_rng(20261127)
    time = np.sort(np.append(rng.uniform(0.0, 1.0, 998), [0.0, 1.0]))
    samples = np.tile(LEVEL, (time.size, 1)) + np.outer(time, np.arange(1.0, 7.0))
    there, means = VehicleRide(time, samples).at_rate(100.0)
    line = LEVEL + np.outer(there, np.arange(1.0, 7.0))
    np.testing.assert_allclose(means[1:-1], line[1:-1], atol=1e-12)
    # At the ends it is the mean of half a period, and so that of a quarter further in.
    np.testing.assert_allclose(means[0], LEVEL + 0.0025 * np.arange(1.0, 7.0), atol=1e-12)


def test_a_wild_sample_of_a_fast_recording_stays_in_its_period() -> None:
    ride = shaken(1000.0, 200.0)
    calm = ride.at_rate(200.0)[1]
    ride.samples.setflags(write=True)
    ride.samples[1002, 0] = 1e300
    wild = ride.at_rate(200.0)[1]
    changed = np.flatnonzero((wild != calm).any(axis=1))
    assert changed.tolist() in ([200], [200, 201])


@pytest.mark.parametrize('frequency', [199.0, 201.0])
def test_vibration_of_fast_samples_is_no_slow_motion(frequency: float) -> None:
    ride, source, rows = shaken(1000.0, frequency), LiveInput(PERIOD, 0.2), []
    for n, (time, sample) in enumerate(zip(ride.time.tolist(), ride.samples, strict=True)):
        source.put(sample, time)
        if n % 5 == 2:
            rows.append((time, source.value(time)[0]))
    times, forces = np.array(rows)[20:].T
    # It is there a little later: half of the period that is averaged, and the line's.
    np.testing.assert_allclose(forces, np.sin(np.pi * (times - 0.007)), atol=0.05)


@pytest.mark.parametrize('interval', [0.003, 0.005, 0.0101])
def test_samples_that_are_not_dense_are_reached_one_by_one(interval: float) -> None:
    source = LiveInput(PERIOD, 0.2)
    for n in range(20):
        sample = LEVEL + 0.1 * n
        source.put(sample, n * interval)
        np.testing.assert_allclose(source._to, sample)
