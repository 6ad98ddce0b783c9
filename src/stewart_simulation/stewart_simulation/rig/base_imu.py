# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What an IMU on a base that moves says."""

from __future__ import annotations

import numpy as np
from stewart_driver.legs import Array
from stewart_kinematics.spatial.rotations import compose_quaternions, exp_quaternion
from stewart_simulation.rig.settings import RigSettings
from stewart_simulation.serial_imu.inertial import GRAVITY
from stewart_simulation.ship import MovingBase

ATTITUDE_NOISE = 2e-3
"""Standard deviation of the attitude, about each axis [rad]."""
DOWN = np.array([0.0, 0.0, -GRAVITY])


class BaseImu:
    """An IMU at ``base_link`` with the noise and the biases of the platform's.

    Attributes:
        accelerometer_noise, gyroscope_noise: Standard deviations of a sample [m/s²], [rad/s].
    """

    def __init__(self, ship: MovingBase, settings: RigSettings) -> None:
        self._ship = ship
        self._rng = np.random.default_rng((settings.seed, 3))
        self._bias = np.array([*settings.accelerometer_bias, *settings.gyroscope_bias])
        self.accelerometer_noise = settings.accelerometer_noise
        self.gyroscope_noise = settings.gyroscope_noise
        sigmas = [self.accelerometer_noise, self.gyroscope_noise, ATTITUDE_NOISE]
        self._sigmas = np.repeat(sigmas, 3)

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        """Measure at an instant of the ship [s].

        Returns:
            Specific force and angular velocity (3,) in ``base_link`` axes [m/s²], [rad/s], and the
            quaternion (4,), x, y, z, w, that takes base to world axes.
        """
        base = self._ship.at(time)
        noise = self._rng.normal(0.0, self._sigmas)
        felt = np.concatenate([-base.field(DOWN)[:3], base.turn])
        felt += self._bias + noise[:6]
        attitude = compose_quaternions(base.quaternion_xyzw, exp_quaternion(noise[6:]))
        return felt[:3], felt[3:], attitude
