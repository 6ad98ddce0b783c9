# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The IMU on a base that is a ship: against finite differences of its attitude and height."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_simulation.rig.base_imu import ATTITUDE_NOISE, BaseImu
from stewart_simulation.rig.settings import RigSettings

STEP = 0.01


def at_sea(**others):
    settings = RigSettings(base='ship', **others)
    ship = settings.ship()
    assert ship is not None
    return ship, BaseImu(ship, settings)


def test_a_noiseless_sample_is_what_the_ship_does():
    bias = (0.1, -0.2, 0.3)
    ship, imu = at_sea(accelerometer_noise=0.0, gyroscope_noise=0.0, accelerometer_bias=bias)
    before, now, after = (ship.at(7.0 + k * STEP) for k in (-1, 0, 1))
    force, rate, attitude = imu.sample(7.0)
    pull = (after.position - 2.0 * now.position + before.position) / STEP**2
    felt = now.rotation.T @ (pull + np.array([0.0, 0.0, 9.80665])) + bias
    assert force == pytest.approx(felt, abs=2e-3)
    turn = Rotation.from_matrix(before.rotation.T @ after.rotation).as_rotvec() / (2.0 * STEP)
    assert rate == pytest.approx(turn, abs=1e-4)
    off = Rotation.from_quat(attitude).inv() * Rotation.from_matrix(now.rotation)
    assert off.magnitude() < 5.0 * ATTITUDE_NOISE


def test_noise_is_as_large_as_that_of_the_platforms_imu_and_the_same_for_a_seed():
    one, other = (np.concatenate(at_sea()[1].sample(3.0)) for _ in range(2))
    assert (one == other).all()
    _, imu = at_sea()
    many = np.array([np.concatenate(imu.sample(3.0)) for _ in range(2000)])
    sigmas = np.repeat([0.02, 1e-3], 3)
    assert many[:, :6].std(axis=0) == pytest.approx(sigmas, rel=0.08)
