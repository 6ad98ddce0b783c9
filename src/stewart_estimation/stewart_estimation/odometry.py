# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""An estimate as ROS has it: pose in base axes, twist in platform axes, each with its covariance.

With the true attitude :math:`R\, Exp(\delta)` and the true velocity :math:`v + \delta v`, the
velocity in platform axes is off by :math:`R^T \delta v + [R^T v]_\times \delta`, and the attitude,
seen from the base, is turned by :math:`R\, \delta`.
"""

from __future__ import annotations

import numpy as np
from stewart_estimation.kernels.odometry import messages
from stewart_estimation.live_rows import LiveRows
from stewart_estimation.settings import FilterSettings
from stewart_kinematics.errors import StewartError
from stewart_kinematics.motion import Array


class EstimateColumns:
    """Estimates as columns of numbers, a block after the other.

    Args:
        settings: Noise of the IMU and where it sits.
    """

    def __init__(self, settings: FilterSettings) -> None:
        """Have nothing before."""
        self._settings = settings
        self._stamp = np.inf
        self._rates, self._errors = np.zeros(3), np.zeros((3, 3))

    def of(self, rows: LiveRows) -> tuple[Array, Array]:
        """Return the numbers of the messages of each row.

        Args:
            rows: n estimates, later than those before.

        Returns:
            (n, 85): Pose, its covariance, twist in platform axes, its covariance; what linear and
                angular velocity share is left out.
            (n, 42): Linear and angular acceleration in base axes and their covariance. The
                angular one is the difference of two estimates; its variances are -1 where there
                is none before.

        Raises:
            StewartError: If the norm of a quaternion is zero or not a number.
        """
        settings, noise = self._settings, self._settings.imu_noise
        odometry, accelerations = np.empty((len(rows), 85)), np.empty((len(rows), 42))
        steps = np.diff(rows.stamps, prepend=self._stamp)
        steps[rows.restarted | ~np.isfinite(steps)] = 0.0
        written = messages(
            rows.report,
            rows.errors,
            rows.rate_errors,
            steps,
            self._rates,
            self._errors,
            settings.imu.quaternion_xyzw,
            settings.imu.position,
            settings.gravity,
            noise.specific_force,
            noise.angular_velocity,
            noise.period,
            odometry,
            accelerations,
        )
        if written < len(rows):
            norm = np.linalg.norm(rows.report[written, 3:7])
            raise StewartError(
                f'quaternion_xyzw: a quaternion must have a norm above 0, got {norm}'
            )
        self._stamp = float(rows.stamps[-1])
        self._rates = rows.report[-1, 10:13]
        self._errors = rows.rate_errors[-1]
        return odometry, accelerations
