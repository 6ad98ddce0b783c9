# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""An estimate as ROS has it: pose in base axes, twist in platform axes, each with its covariance.

With the true attitude :math:`R\, Exp(\delta)` and the true velocity :math:`v + \delta v`, the
velocity in platform axes is off by :math:`R^T \delta v + [R^T v]_\times \delta`, and the attitude,
seen from the base, is turned by :math:`R\, \delta`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_estimation import odometry_kernels
from stewart_estimation.estimate import Estimate
from stewart_estimation.live_rows import LiveRows
from stewart_estimation.settings import FilterSettings
from stewart_kinematics.errors import StewartError
from stewart_kinematics.motion import Array


@dataclass(frozen=True, eq=False)
class BodyTwist:
    """Twist of ``platform_link``'s origin in the axes of ``platform_link``.

    Attributes:
        linear, angular (3,): [m/s], [rad/s].
        covariance (6, 6): Of linear, then angular velocity. What the two share is left out.
    """

    linear: Array
    angular: Array
    covariance: Array


def pose_covariance(estimate: Estimate) -> Array:
    """Return the covariance of position and attitude as nav_msgs/Odometry has it.

    Args:
        estimate: With errors of attitude about the platform's axes.

    Returns:
        (6, 6): x, y, z, and rotations about the axes of the base [m, rad].

    Raises:
        StewartError: If the norm of the quaternion is zero or not a number.
    """
    covariance = np.empty((6, 6))
    if not odometry_kernels.pose(
        _plain(estimate.quaternion_xyzw), _plain(estimate.covariance), covariance
    ):
        raise _undirected(estimate.quaternion_xyzw)
    return covariance


def body_twist(estimate: Estimate) -> BodyTwist:
    """Return the twist in the axes of the platform.

    Args:
        estimate: With velocities in base axes.

    Returns:
        With its covariance.

    Raises:
        StewartError: If the norm of the quaternion is zero or not a number.
    """
    linear, angular, covariance = np.empty(3), np.empty(3), np.zeros((6, 6))
    if not odometry_kernels.twist(
        _plain(estimate.quaternion_xyzw),
        _plain(estimate.linear_velocity),
        _plain(estimate.angular_velocity),
        _plain(estimate.covariance),
        _plain(estimate.rate_covariance),
        linear,
        angular,
        covariance,
    ):
        raise _undirected(estimate.quaternion_xyzw)
    return BodyTwist(linear, angular, covariance)


def acceleration_covariance(estimate: Estimate, settings: FilterSettings) -> Array:
    r"""Return the covariance of the linear acceleration.

    With the specific force :math:`f` felt by the platform and the sensor at :math:`r`, the
    acceleration is :math:`R (f - b) + g - \alpha \times r - ...`: noise and bias of the
    accelerometer, the attitude by which gravity is taken off, and the angular acceleration, which
    is a difference of two gyroscope samples.

    Args:
        estimate: With covariance.
        settings: Noise of the IMU and where it sits.

    Returns:
        (3, 3): In base axes [m²/s⁴].

    Raises:
        StewartError: If the norm of the quaternion is zero or not a number.
    """
    covariance, noise = np.empty((3, 3)), settings.imu_noise
    if not odometry_kernels.acceleration(
        _plain(estimate.quaternion_xyzw),
        _plain(estimate.linear_acceleration),
        _plain(estimate.covariance),
        settings.imu.quaternion_xyzw,
        settings.imu.position,
        settings.gravity,
        noise.specific_force,
        noise.angular_velocity,
        noise.period,
        covariance,
    ):
        raise _undirected(estimate.quaternion_xyzw)
    return covariance


def full_acceleration(
    estimate: Estimate, before: Estimate | None, settings: FilterSettings
) -> tuple[Array, Array]:
    """Return the angular acceleration and the covariance of the whole acceleration.

    Args:
        estimate, before: This one and the one before it: the angular acceleration is their
            difference.
        settings: Noise of the IMU and where it sits.

    Returns:
        (3,): Angular acceleration in base axes [rad/s²]; 0 where it is not known.
        (6, 6): Of linear, then angular acceleration; the angular variances are -1 where there is
        no estimate before.
    """
    covariance, angular = np.empty((6, 6)), np.empty(3)
    other = estimate if before is None else before
    odometry_kernels.angular_acceleration(
        max(estimate.stamp - other.stamp, 0.0),
        _plain(estimate.angular_velocity),
        _plain(other.angular_velocity),
        _plain(estimate.rate_covariance),
        _plain(other.rate_covariance),
        angular,
        covariance,
    )
    covariance[:3, :3] = acceleration_covariance(estimate, settings)
    return angular, covariance


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
        """Return what `pose_covariance`, `body_twist` and `full_acceleration` have of each row.

        Args:
            rows: n estimates, later than those before.

        Returns:
            (n, 85): Pose, its covariance, twist in platform axes, its covariance.
            (n, 42): Linear and angular acceleration and their covariance.

        Raises:
            StewartError: If the norm of a quaternion is zero or not a number.
        """
        settings, noise = self._settings, self._settings.imu_noise
        odometry, accelerations = np.empty((len(rows), 85)), np.empty((len(rows), 42))
        steps = np.diff(rows.stamps, prepend=self._stamp)
        steps[rows.restarted | ~np.isfinite(steps)] = 0.0
        written = odometry_kernels.messages(
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
            raise _undirected(rows.report[written, 3:7])
        self._stamp = float(rows.stamps[-1])
        self._rates = rows.report[-1, 10:13]
        self._errors = rows.rate_errors[-1]
        return odometry, accelerations


def _plain(values: Array) -> Array:
    """Return an array as the kernels take it."""
    return np.ascontiguousarray(values, dtype=np.float64)


def _undirected(quaternion_xyzw: Array) -> StewartError:
    norm = np.linalg.norm(quaternion_xyzw)
    return StewartError(f'quaternion_xyzw: a quaternion must have a norm above 0, got {norm}')
