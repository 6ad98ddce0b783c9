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
from stewart_estimation import odometry_kernels
from stewart_estimation.estimate import Estimate
from stewart_estimation.settings import FilterSettings
from stewart_kinematics.errors import StewartError
from stewart_kinematics.motion import Array

NOT_MEASURED = -1.0
"""Variance of what is not measured."""


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

    Raises
    ------
    StewartError
        If the norm of the quaternion is zero or not a number.

    """
    covariance = np.empty((6, 6))
    if not odometry_kernels.pose(
        _plain(estimate.quaternion_xyzw), _plain(estimate.covariance), covariance
    ):
        raise _undirected(estimate)
    return covariance


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

    Raises
    ------
    StewartError
        If the norm of the quaternion is zero or not a number.

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
        raise _undirected(estimate)
    return BodyTwist(linear, angular, covariance)


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

    Raises
    ------
    StewartError
        If the norm of the quaternion is zero or not a number.

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
        raise _undirected(estimate)
    return covariance


def full_acceleration(
    estimate: Estimate, before: Estimate | None, settings: FilterSettings
) -> tuple[Array, Array]:
    """
    Return the angular acceleration and the covariance of the whole acceleration.

    Parameters
    ----------
    estimate, before : Estimate
        This one and the one before it: the angular acceleration is their difference.
    settings : FilterSettings
        Noise of the IMU and where it sits.

    Returns
    -------
    ndarray, shape (3,)
        Angular acceleration in base axes [rad/s²]; 0 where it is not known.
    ndarray, shape (6, 6)
        Of linear, then angular acceleration; the angular variances are -1 where there is no
        estimate before.

    """
    covariance, angular = np.zeros((6, 6)), np.zeros(3)
    covariance[:3, :3] = acceleration_covariance(estimate, settings)
    step = 0.0 if before is None else estimate.stamp - before.stamp
    if before is not None and step > 0.0:
        angular = (estimate.angular_velocity - before.angular_velocity) / step
        covariance[3:, 3:] = (estimate.rate_covariance + before.rate_covariance) / step**2
    else:
        covariance[range(3, 6), range(3, 6)] = NOT_MEASURED
    return angular, covariance


def _plain(values: Array) -> Array:
    """Return an array as the kernels take it."""
    return np.ascontiguousarray(values, dtype=np.float64)


def _undirected(estimate: Estimate) -> StewartError:
    norm = np.linalg.norm(estimate.quaternion_xyzw)
    return StewartError(f'quaternion_xyzw: a quaternion must have a norm above 0, got {norm}')
