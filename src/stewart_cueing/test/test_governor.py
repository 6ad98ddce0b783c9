# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever is wanted, a guard of its own admits every setpoint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from stewart_cueing.governor import Governor
from stewart_cueing.vehicle.washout import LEVEL, PRESETS, Washout, WashoutSettings
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Motion, Pose

PERIOD = 0.005
WILD = WashoutSettings(
    force_scale=(1.0,) * 3,
    rate_scale=(1.0,) * 3,
    force_limit=(100.0,) * 3,
    rate_limit=(10.0,) * 3,
    tilt_rate=1.0,
)


def ride(
    name: str,
    settings: WashoutSettings,
    inputs: np.ndarray,
    start: Pose | None = None,
    period: float = PERIOD,
) -> tuple[Motion, Motion, Governor]:
    """Follow a ride, judged by a guard of its own; return wanted and followed motions."""
    platform = load_platform(name)
    centre = platform.geometry.neutral_pose
    governor = Governor(MotionGuard(platform), start or centre, period=period)
    wanted = Washout(settings, centre, period).run(inputs)
    judge, rows = MotionGuard(platform), []
    for n in range(len(inputs)):
        motion = governor.advance(n * period, wanted[n])
        judge.admit(motion, n * period)
        rows.append(motion)
    time = np.arange(len(inputs)) * period
    parts = zip(*(motion.parts() for motion in rows), strict=True)
    followed = Motion(*(np.stack(column) for column in parts))
    judge.check_jerk(followed, time)
    return wanted, followed, governor


def adversary(seed: int, seconds: float) -> np.ndarray:
    """Return steps of up to 10 g and 3 rad/s at random times, ramps and silence."""
    rng = np.random.default_rng(seed)
    count = round(seconds / PERIOD)
    inputs = np.tile(LEVEL, (count, 1))
    begin = 0
    while begin < count:
        end = begin + int(rng.integers(4, 200))
        size = rng.choice([0.0, 0.1, 1.0, 10.0]) * np.array([9.81] * 3 + [0.3] * 3)
        inputs[begin:end] += size * rng.uniform(-1.0, 1.0, 6)
        begin = end
    return inputs


@pytest.mark.parametrize('name', ['vigo', pytest.param('srs', marks=pytest.mark.slow)])
@pytest.mark.parametrize('seed', [1, pytest.param(2, marks=pytest.mark.slow)])
def test_every_setpoint_is_admitted_whatever_the_vehicle_does(name: str, seed: int) -> None:
    wanted, followed, _ = ride(name, WILD, adversary(seed, 6.0))
    platform = load_platform(name)
    # The test is one only if what is wanted is far beyond the limits.
    assert not MotionGuard(platform).allowed(wanted).all()
    assert np.ptp(followed.position, axis=0).max() > 0.05


@pytest.mark.slow
@pytest.mark.parametrize('name', ['vigo', 'srs', 'ex800', 'sg90_rotary'])
@pytest.mark.parametrize('seed', range(10, 16))
def test_every_setpoint_is_admitted_for_long(name: str, seed: int) -> None:
    ride(name, WILD, adversary(seed, 60.0))


@pytest.mark.parametrize('name', ['vigo', pytest.param('srs', marks=pytest.mark.slow)])
def test_a_motion_within_the_limits_is_followed_a_period_late(name: str) -> None:
    time = np.arange(0.0, 6.0, PERIOD)
    inputs = np.tile(LEVEL, (time.size, 1))
    inputs[:, 0] += 0.8 * np.sin(3.0 * time) * np.minimum(1.0, time)
    inputs[:, 3] += 0.1 * np.sin(2.0 * time) * np.minimum(1.0, time)
    wanted, followed, governor = ride(name, PRESETS[name], inputs)
    assert governor.share == 1.0
    np.testing.assert_allclose(followed.position[1:], wanted.position[:-1], atol=2e-5)
    error = followed.acceleration[1:] - wanted.acceleration[:-1]
    assert np.abs(error).max() < 0.05 * np.abs(wanted.acceleration).max()


def test_it_comes_back_from_a_limit() -> None:
    inputs = np.tile(LEVEL, (1200, 1))
    inputs[:150, 2] += 30.0
    settings = replace(WILD, tilt_rate=0.05)
    wanted, followed, _ = ride('srs', settings, inputs, period=2 * PERIOD)
    assert np.abs(wanted.position - followed.position).max() > 0.1
    np.testing.assert_allclose(followed.position[-1], wanted.position[-2], atol=5e-3)


def test_it_goes_to_the_centre_from_where_it_stands() -> None:
    platform = load_platform('vigo')
    away = np.array([0.05, 0.0, -0.08])
    start = Pose.from_rpy(platform.geometry.neutral_pose.position + away, [0.0, 0.05, 0.0])
    wanted, followed, _ = ride('vigo', PRESETS['vigo'], np.tile(LEVEL, (800, 1)), start)
    np.testing.assert_allclose(followed.position[-1], wanted.position[-1], atol=1e-3)
