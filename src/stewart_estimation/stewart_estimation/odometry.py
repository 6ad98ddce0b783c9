# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""An estimate as ROS has it: pose in base axes, twist in platform axes, each with its covariance.

With the true attitude :math:`R\, Exp(\delta)` and the true velocity :math:`v + \delta v`, the
velocity in platform axes is off by :math:`R^T \delta v + [R^T v]_\times \delta`, and the attitude,
seen from the base, is turned by :math:`R\, \delta`.
"""

from __future__ import annotations

import numpy as np
from stewart_estimation.arrangement import UNMEASURED
from stewart_estimation.kernels.odometry import messages, SENSOR
from stewart_estimation.kernels.records import R_TURN, R_VELOCITY
from stewart_estimation.live_rows import LiveRows
from stewart_estimation.settings import FilterSettings
from stewart_kinematics.errors import StewartError
from stewart_kinematics.motion import Array


class EstimateColumns:
    """Estimates as columns of numbers, for an IMU as the settings have it."""

    def __init__(self, settings: FilterSettings) -> None:
        noise, self._sensor = settings.imu_noise, np.zeros(1, SENSOR)[0]
        self._sensor.axes, self._sensor.position = settings.imu.rotation, settings.imu.position
        self._sensor.gravity, self._sensor.period = settings.gravity, noise.period
        sigmas = np.hstack([noise.specific_force, noise.angular_velocity])
        self._sensor.variance, self._sensor.silent_variance = sigmas**2, UNMEASURED**2

    def of(self, rows: LiveRows) -> tuple[Array, Array]:
        """Return the numbers of the messages of each row.

        Returns:
            (n, 85): Pose, its covariance, twist in platform axes, its covariance; what linear and
                angular velocity share is left out.
            (n, 42): Linear and angular acceleration in base axes and their covariance. Both have
                the same angular acceleration: the slope between two gyroscope samples.

        Raises:
            StewartError: If the norm of a quaternion is zero or not a number.
        """
        odometry, accelerations = np.empty((len(rows), 85)), np.empty((len(rows), 42))
        written = messages(
            self._sensor, rows.report, rows.errors, rows.rate_errors, odometry, accelerations
        )
        if written < len(rows):
            norm = np.linalg.norm(rows.report[written, R_TURN:R_VELOCITY])
            raise StewartError(
                f'quaternion_xyzw: a quaternion must have a norm above 0, got {norm}'
            )
        return odometry, accelerations
