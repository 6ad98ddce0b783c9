# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
import math

import numpy as np
import pytest
from scipy import signal
from scipy.spatial.transform import Rotation
from stewart_cueing.errors import VehicleInputError
from stewart_cueing.vehicle.washout import GRAVITY, LEVEL, Washout, WashoutSettings
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.motion import Pose

CENTRE = Pose.from_rpy([0.1, -0.2, 2.0], [0.0, 0.0, 0.4])
LEVEL_CENTRE = Pose.from_rpy(CENTRE.position, [0.0, 0.0, 0.0])
PERIOD = 0.005
OPEN = WashoutSettings(
    force_scale=(1.0,) * 3,
    rate_scale=(1.0,) * 3,
    force_limit=(100.0,) * 3,
    rate_limit=(10.0,) * 3,
    tilt_rate=10.0,
    head=(0.3, -0.1, 0.9),
)
FORCE, TURN = slice(0, 3), slice(3, 6)


def smooth_inputs(seconds: float, seed: int = 1) -> np.ndarray:
    """Return rides with rates and forces of a few tenths, band-limited to 1 Hz."""
    rng = np.random.default_rng(seed)
    count = round(seconds / PERIOD)
    noise = signal.lfilter(*signal.butter(3, 1.0, fs=1.0 / PERIOD), rng.normal(size=(count, 6)).T)
    return LEVEL + noise.T * np.array([8.0, 8.0, 8.0, 1.0, 1.0, 1.0])


def test_twist_and_acceleration_are_the_derivatives() -> None:
    motion = Washout(OPEN, CENTRE, PERIOD).run(smooth_inputs(20.0))
    attitude = Rotation.from_quat(motion.quaternion_xyzw)
    twist, acceleration = motion.twist, motion.acceleration
    centred = slice(1, -1)
    turn = (attitude[2:] * attitude[:-2].inv()).as_rotvec() / (2.0 * PERIOD)
    way = (motion.position[2:] - motion.position[:-2]) / (2.0 * PERIOD)
    change = (twist[2:] - twist[:-2]) / (2.0 * PERIOD)

    assert np.abs(twist).max(axis=0).min() > 0.1
    np.testing.assert_allclose(way, twist[centred, FORCE], atol=2e-4)
    np.testing.assert_allclose(turn, twist[centred, TURN], atol=2e-4)
    np.testing.assert_allclose(change, acceleration[centred], atol=0.03)


def test_error_of_finite_differences_falls_with_the_square_of_the_step() -> None:
    """So what is left above comes from the differences, not from the filters."""
    errors = []
    for part in (1, 4):
        time = np.arange(0.0, 6.0, PERIOD / part)
        inputs = np.tile(LEVEL, (time.size, 1))
        inputs[:, 0] += 2.0 * np.sin(2.0 * time)
        inputs[:, 4] += 0.3 * np.sin(1.5 * time)
        motion = Washout(OPEN, CENTRE, PERIOD / part).run(inputs)
        step = PERIOD / part
        change = np.diff(motion.twist, axis=0) / step
        mean = 0.5 * (motion.acceleration[1:] + motion.acceleration[:-1])
        errors.append(np.abs(change - mean)[200:].max())
    assert errors[1] < errors[0] / 12.0


@pytest.mark.parametrize('axis', [0, 1, 2])
def test_translation_is_the_published_filter(axis: int) -> None:
    """Against scipy's own solution of s³ / ((s² + 2ζωs + ω²)(s + ω_b)) behind the lag."""
    level = replace(OPEN, tilt_rate=0.0, head=(0.0, 0.0, 0.0))
    time = np.arange(0.0, 12.0, PERIOD)
    inputs = np.tile(LEVEL, (time.size, 1))
    inputs[:, axis] += np.interp(time, [1.0, 1.5, 4.0, 4.1], [0.0, 1.0, 1.0, -0.5])
    motion = Washout(level, LEVEL_CENTRE, PERIOD).run(inputs)
    w, wb = level.force_frequency[axis], level.return_frequency[axis]
    poles = np.polymul([1.0, 2.0 * level.force_damping * w, w * w], [1.0, wb])
    poles = np.polymul(poles, [level.smoothing, 1.0])
    played = inputs[:, axis] - LEVEL[axis]
    for numerator, found in (
        ([1.0, 0.0, 0.0, 0.0], motion.acceleration[:, axis]),
        ([1.0, 0.0, 0.0], motion.twist[:, axis]),
        ([1.0, 0.0], motion.position[:, axis] - CENTRE.position[axis]),
    ):
        expected = signal.lsim((numerator, poles), played, time)[1]
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_yaw_is_the_published_filter() -> None:
    time = np.arange(0.0, 12.0, PERIOD)
    inputs = np.tile(LEVEL, (time.size, 1))
    inputs[:, 5] = np.interp(time, [1.0, 1.5, 4.0, 4.1], [0.0, 0.3, 0.3, -0.2])
    motion = Washout(replace(OPEN, head=(0.0,) * 3), CENTRE, PERIOD).run(inputs)
    w = OPEN.turn_frequency[2]
    poles = np.polymul([1.0, 2.0 * OPEN.turn_damping * w, w * w], [OPEN.smoothing, 1.0])
    expected = signal.lsim(([1.0, 0.0], poles), inputs[:, 5], time)[1]
    yaw = Rotation.from_quat(motion.quaternion_xyzw).as_euler('ZYX')[:, 0]
    np.testing.assert_allclose(yaw - 0.4, expected, atol=1e-9)


@pytest.mark.parametrize('axis', [0, 1])
def test_what_lasts_is_given_by_gravity_alone(axis: int) -> None:
    inputs = np.tile(LEVEL, (round(60.0 / PERIOD), 1))
    inputs[:, axis] = 1.5
    inputs[:, 2] = math.sqrt(GRAVITY**2 - 1.5**2)
    motion = Washout(OPEN, CENTRE, PERIOD).run(inputs)[-1]
    attitude = Rotation.from_quat(motion.quaternion_xyzw)
    felt = attitude.inv().apply(motion.linear_acceleration + LEVEL[:3])
    np.testing.assert_allclose(felt, inputs[-1, :3], atol=2e-3)


def test_tilt_keeps_its_rate() -> None:
    bound = math.radians(3.0)
    settings = replace(OPEN, tilt_rate=bound, head=(0.0,) * 3)
    inputs = np.tile(LEVEL, (round(8.0 / PERIOD), 1))
    inputs[:, 0] = 4.0
    motion = Washout(settings, CENTRE, PERIOD).run(inputs)
    fastest = np.linalg.norm(motion.angular_velocity, axis=1).max()
    assert 0.98 * bound < fastest <= bound * (1.0 + 1e-9)


def test_the_head_is_what_moves_as_the_filters_say() -> None:
    inputs = smooth_inputs(10.0, seed=2)
    inputs[:, 3:] = 0.0
    settings = replace(OPEN, tilt_rate=0.2)
    plain = Washout(replace(settings, head=(0.0,) * 3), CENTRE, PERIOD).run(inputs)
    moved = Washout(settings, CENTRE, PERIOD).run(inputs)
    arm = Rotation.from_quat(moved.quaternion_xyzw).apply(np.tile(settings.head, (len(inputs), 1)))
    rest = CENTRE.rotation @ np.array(settings.head)
    np.testing.assert_allclose(moved.position + arm, plain.position + rest, atol=1e-12)


def test_one_sample_after_the_other_is_the_same_as_all_at_once() -> None:
    inputs = smooth_inputs(2.0, seed=3)
    whole, live = (Washout(OPEN, CENTRE, PERIOD) for _ in range(2))
    rows = [live.run(row[None]) for row in inputs]
    expected = whole.run(inputs)
    for name in ('position', 'quaternion_xyzw', 'twist', 'acceleration'):
        found = np.concatenate([getattr(row, name) for row in rows])
        np.testing.assert_allclose(found, getattr(expected, name), atol=1e-13)


def test_bad_samples_are_refused_and_change_nothing() -> None:
    washout = Washout(OPEN, CENTRE, PERIOD)
    with pytest.raises(VehicleInputError, match='six finite numbers'):
        washout.run([[math.nan, *LEVEL[1:]]])
    with pytest.raises(VehicleInputError, match='six finite numbers'):
        washout.run(np.zeros((3, 5)))
    rest = washout.run(LEVEL[None])
    np.testing.assert_allclose(rest.position[0], CENTRE.position, atol=1e-15)
    np.testing.assert_array_equal(rest.twist, 0.0)


def test_settings_that_make_no_filter_are_refused() -> None:
    with pytest.raises(ConfigurationError, match='smoothing'):
        WashoutSettings(smoothing=0.0)
    with pytest.raises(ConfigurationError, match='period'):
        Washout(OPEN, CENTRE, 0.0)
