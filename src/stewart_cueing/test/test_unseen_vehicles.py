# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Vehicles as they come: slow, fast, shuffled, doubled, with spikes and pauses."""

from __future__ import annotations

from contextlib import suppress
from functools import cache

import numpy as np
import pytest
from rides import drive
from stewart_cueing.errors import VehicleInputError
from stewart_cueing.vehicle.live import LiveInput, LiveRide, LONGEST_LINE
from stewart_cueing.vehicle.ride import settings_for
from stewart_cueing.vehicle.washout import GRAVITY, LEVEL
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array

PERIOD, SECONDS, HOME = 0.01, 4.0, 5.0
"""Between two setpoints, of a ride, and what it is given to come home [s]."""
Stream = list[tuple[float, Array]]


def at_rate(rate: float) -> Stream:
    ride = drive(SECONDS, 1.0 / rate)
    return list(zip(ride.time.tolist(), ride.samples, strict=True))


def shuffled() -> Stream:
    """Return a ride whose samples overtake each other by up to three places."""
    stream = at_rate(100.0)
    order = np.argsort(np.arange(len(stream)) + np.random.default_rng(2).uniform(0.0, 3.0, 400))
    return [(when, stream[k][1]) for (when, _), k in zip(stream, order, strict=True)]


def spiked(times: float) -> Stream:
    """Return a ride with one sample of many g in every axis."""
    stream = at_rate(100.0)
    stream[150] = (stream[150][0], np.array([*[times * GRAVITY] * 3, *[times] * 3]))
    return stream


def paused(seconds: float) -> Stream:
    """Return a ride that stops in the middle of braking, and goes on later from there."""
    stream = at_rate(100.0)
    return [(when + seconds * (when > 2.6), sample) for when, sample in stream]


STREAMS = {
    '10 Hz': at_rate(10.0),
    '1000 Hz': at_rate(1000.0),
    'shuffled': shuffled(),
    'doubled': [pair for pair in at_rate(100.0) for _ in range(2)],
    'one sample of 10 g': spiked(10.0),
    'one sample of 1e300': spiked(1e300),
    'bursts of ten': [(0.1 * (k // 10), sample) for k, (_, sample) in enumerate(at_rate(100.0))],
    'a pause of 4 s': paused(4.0),
}
QUICK = {'one sample of 1e300', 'a pause of 4 s'}


@cache
def way(name: str, method: str = 'washout') -> Array:
    """Return where vigo is (n, 3), from neutral [m]; a guard of its own admits each setpoint."""
    stream, platform = STREAMS[name], load_platform('vigo')
    live = LiveRide(MotionGuard(platform), settings_for('vigo'), PERIOD, 0.2, method)
    judge, waiting, rows = MotionGuard(platform), iter([*stream, (np.inf, LEVEL)]), []
    when, sample = next(waiting)
    for now in np.arange(0.0, stream[-1][0] + HOME, PERIOD):
        while when <= now:
            with suppress(VehicleInputError):
                live.input.put(sample, when)
            when, sample = next(waiting)
        live.advance(now)
        motion = live.plan.sample(now)
        judge.admit(motion, now)
        rows.append(motion.position - platform.geometry.neutral_pose.position)
    return np.array(rows)


@pytest.mark.parametrize(
    'name',
    [pytest.param(name, marks=() if name in QUICK else (pytest.mark.slow,)) for name in STREAMS],
)
@pytest.mark.parametrize('method', ['washout', pytest.param('optimal', marks=pytest.mark.slow)])
def test_every_limit_is_kept_and_the_platform_comes_home(name: str, method: str) -> None:
    rows = way(name, method)
    assert np.ptp(rows, axis=0).max() > 0.005
    assert np.abs(rows[-1]).max() < 0.15 * np.abs(rows).max()


def test_one_sample_of_10_g_is_forgotten() -> None:
    # One of 1e300 is refused, so all but it is the same.
    spike, clean = way('one sample of 10 g'), way('one sample of 1e300')
    assert np.abs(spike - clean).max() < 0.05
    np.testing.assert_allclose(spike[-1], clean[-1], atol=2e-3)


def test_after_a_pause_the_input_comes_back_in_20_ms() -> None:
    heard = LiveInput(PERIOD, 0.2)
    turning = LEVEL + np.array([0.0, 3.0, 0.0, 0.0, 0.0, 0.2])
    heard.put(turning, 0.0)
    np.testing.assert_array_equal(heard.value(10.0), LEVEL)
    heard.put(turning, 10.0)
    np.testing.assert_allclose(heard.value(10.0 + 0.25 * LONGEST_LINE)[1], 0.75)
    np.testing.assert_allclose(heard.value(10.0 + LONGEST_LINE), turning)
