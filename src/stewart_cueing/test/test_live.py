# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A ride that comes in sample by sample is the recorded one, one interval later."""

from __future__ import annotations

import numpy as np
import pytest
from rides import drive
from stewart_cueing.errors import VehicleInputError
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
    live = LiveRide(MotionGuard(platform), settings_for('vigo'), PERIOD, 0.2)
    braking = LEVEL + np.array([-3.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    for n in range(200):
        live.input.put(braking, PERIOD * n)
        live.advance(PERIOD * n)
    np.testing.assert_allclose(live.input.value(1.19), braking)
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
