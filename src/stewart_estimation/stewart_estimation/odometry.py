# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""
An estimate as ROS has it: pose in base axes, twist in platform axes, each with its covariance.

With the true attitude :math:`R\, Exp(\delta)` and the true velocity :math:`v + \delta v`, the
velocity in platform axes is off by :math:`R^T \delta v + [R^T v]_\times \delta`, and the attitude,
seen from the base, is turned by :math:`R\, \delta`.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_estimation.estimate import (
    ACCELEROMETER_BIAS,
    ATTITUDE,
    Estimate,
    POSITION,
    VELOCITY,
)
from stewart_estimation.settings import FilterSettings
from stewart_kinematics.motion import Array
from stewart_kinematics.spatial import matrix_from_quaternion, skew


@dataclass(frozen=True, eq=False)
class BodyTwist:
    """
    Twist of ``platform_link``'s origin in the axes of ``platform_link``.

    Attributes
    ----------
    linear, angular : ndarray, shape (3,)
        [m/s], [rad/s].
    covariance : ndarray, shape (6, 6)
        Of linear, then angular velocity. What the two share is left out.

    """

    linear: Array
    angular: Array
    covariance: Array


def pose_covariance(estimate: Estimate) -> Array:
    """
    Return the covariance of position and attitude as nav_msgs/Odometry has it.

    Parameters
    ----------
    estimate : Estimate
        With errors of attitude about the platform's axes.

    Returns
    -------
    ndarray, shape (6, 6)
        x, y, z, and rotations about the axes of the base [m, rad].

    """
    turn = np.zeros((6, 15))
    turn[:3, POSITION] = np.eye(3)
    turn[3:, ATTITUDE] = matrix_from_quaternion(estimate.quaternion_xyzw)
    return np.asarray(turn @ estimate.covariance @ turn.T)


def body_twist(estimate: Estimate) -> BodyTwist:
    """
    Return the twist in the axes of the platform.

    Parameters
    ----------
    estimate : Estimate
        With velocities in base axes.

    Returns
    -------
    BodyTwist
        With its covariance.

    """
    to_platform = matrix_from_quaternion(estimate.quaternion_xyzw).T
    linear = to_platform @ estimate.linear_velocity
    change = np.zeros((3, 15))
    change[:, VELOCITY] = to_platform
    change[:, ATTITUDE] = skew(linear)
    covariance = np.zeros((6, 6))
    covariance[:3, :3] = change @ estimate.covariance @ change.T
    covariance[3:, 3:] = to_platform @ estimate.rate_covariance @ to_platform.T
    return BodyTwist(linear, to_platform @ estimate.angular_velocity, covariance)


def acceleration_covariance(estimate: Estimate, settings: FilterSettings) -> Array:
    r"""
    Return the covariance of the linear acceleration.

    With the specific force :math:`f` felt by the platform and the sensor at :math:`r`, the
    acceleration is :math:`R (f - b) + g - \alpha \times r - ...`: noise and bias of the
    accelerometer, the attitude by which gravity is taken off, and the angular acceleration, which
    is a difference of two gyroscope samples.

    Parameters
    ----------
    estimate : Estimate
        With covariance.
    settings : FilterSettings
        Noise of the IMU and where it sits.

    Returns
    -------
    ndarray, shape (3, 3)
        In base axes [m²/s⁴].

    """
    attitude = matrix_from_quaternion(estimate.quaternion_xyzw)
    to_base = attitude @ settings.imu.rotation
    force = attitude.T @ (estimate.linear_acceleration - settings.gravity)
    tilt = attitude @ skew(force)
    noise = settings.imu_noise
    felt = estimate.covariance[ACCELEROMETER_BIAS, ACCELEROMETER_BIAS]
    felt = felt + np.diag(noise.specific_force**2)
    spin = to_base @ np.diag(2.0 * (noise.angular_velocity / noise.period) ** 2) @ to_base.T
    arm = skew(attitude @ settings.imu.position)
    return np.asarray(
        to_base @ felt @ to_base.T
        + tilt @ estimate.covariance[ATTITUDE, ATTITUDE] @ tilt.T
        + arm @ spin @ arm.T
    )
