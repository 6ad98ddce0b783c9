# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples from messages, and estimates as messages."""

from __future__ import annotations

from math import isfinite

from builtin_interfaces.msg import Time
from geometry_msgs.msg import AccelWithCovarianceStamped
from nav_msgs.msg import Odometry
import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import Imu, JointState
from stewart_estimation.estimate import Estimate, Update
from stewart_estimation.machine import Array
from stewart_estimation.odometry import acceleration_covariance, body_twist, pose_covariance
from stewart_estimation.settings import FilterSettings
from stewart_interfaces.msg import EstimatorStatus
from stewart_node_support.conversions import (
    BASE_FRAME,
    LEG_NAMES,
    put_pose,
    put_rates,
    put_vector,
    vector_from_msg,
)
from stewart_node_support.errors import MessageError

CHILD_FRAME = 'platform_link'
NOT_MEASURED = -1.0
LEGS = {name: leg for leg, name in enumerate(LEG_NAMES)}

Counts = NDArray[np.int64]


def imu_values(message: Imu) -> tuple[Array, Array]:
    """
    Return specific force and angular velocity of a message.

    Parameters
    ----------
    message : Imu
        In sensor axes (REP-145).

    Returns
    -------
    ndarray, shape (3,)
        [m/s²].
    ndarray, shape (3,)
        [rad/s].

    Raises
    ------
    MessageError
        If one of them is not measured (its covariance begins with -1).

    """
    for name, covariance in (
        ('linear acceleration', message.linear_acceleration_covariance),
        ('angular velocity', message.angular_velocity_covariance),
    ):
        if covariance[0] == NOT_MEASURED:
            raise MessageError(f'the IMU has no {name}: its covariance begins with -1')
    return vector_from_msg(message.linear_acceleration), vector_from_msg(message.angular_velocity)


def stated_sigmas(covariance: Array) -> Array | None:
    """Return the standard deviations of a message's covariance; None where it says nothing."""
    variances = np.asarray(covariance, dtype=np.float64)[[0, 4, 8]]
    if not np.all(np.isfinite(variances) & (variances > 0.0)):
        return None
    return np.asarray(np.sqrt(variances))


def strokes_from(message: JointState) -> Array:
    """
    Return six strokes; NaN for legs that the message does not have or has as NaN.

    Parameters
    ----------
    message : JointState
        Some of ``leg_1`` to ``leg_6``, in any order.

    Returns
    -------
    ndarray, shape (6,)
        [m].

    Raises
    ------
    MessageError
        If it names no leg, one twice, or another number of joints than it has strokes.

    """
    names, values = message.name, message.position
    different = set(names)
    if different.isdisjoint(LEGS) or len(different) != len(names):
        raise MessageError(
            f'a leg state names leg_1 to leg_6 at most once each, got {list(names)}'
        )
    if len(values) != len(names):
        raise MessageError(f'a leg state has as many strokes as names, got {len(values)} strokes')
    strokes = np.full(6, np.nan)
    for name, value in zip(names, values, strict=True):
        if name in LEGS and isfinite(value):
            strokes[LEGS[name]] = value
    return strokes


class EstimateMessages:
    """
    Make the messages of an estimate.

    There is one message object for each topic, filled anew every time: at 200 Hz making one costs
    more than sending it. Publish what a method returns before calling it again.

    """

    def __init__(self) -> None:
        """Prepare what never changes."""
        self._odometry = Odometry(child_frame_id=CHILD_FRAME)
        self._acceleration = AccelWithCovarianceStamped()
        self._status = EstimatorStatus()
        for message in (self._odometry, self._acceleration, self._status):
            message.header.frame_id = BASE_FRAME

    def odometry(self, stamp: Time, estimate: Estimate) -> Odometry:
        """Return pose in base axes and twist in platform axes, with their covariances."""
        twist, message = body_twist(estimate), self._odometry
        message.header.stamp = stamp
        put_pose(message.pose.pose, estimate.position, estimate.quaternion_xyzw)
        message.pose.covariance = pose_covariance(estimate).ravel()
        put_rates(message.twist.twist, twist.linear, twist.angular)
        message.twist.covariance = twist.covariance.ravel()
        return message

    def acceleration(
        self, stamp: Time, estimate: Estimate, before: Estimate | None, settings: FilterSettings
    ) -> AccelWithCovarianceStamped:
        """
        Return the acceleration of ``platform_link``'s origin in base axes.

        Parameters
        ----------
        stamp : Time
            Of the estimate.
        estimate, before : Estimate
            This one and the one before it: the angular acceleration is their difference, and is
            marked as not measured (variances -1) where there is none before.
        settings : FilterSettings
            Noise of the IMU.

        Returns
        -------
        AccelWithCovarianceStamped
            In ``base_link``.

        """
        covariance, angular = np.zeros((6, 6)), np.zeros(3)
        covariance[:3, :3] = acceleration_covariance(estimate, settings)
        step = 0.0 if before is None else estimate.stamp - before.stamp
        if before is not None and step > 0.0:
            angular = (estimate.angular_velocity - before.angular_velocity) / step
            covariance[3:, 3:] = (estimate.rate_covariance + before.rate_covariance) / step**2
        else:
            covariance[range(3, 6), range(3, 6)] = NOT_MEASURED
        message = self._acceleration
        message.header.stamp = stamp
        put_rates(message.accel.accel, estimate.linear_acceleration, angular)
        message.accel.covariance = covariance.ravel()
        return message

    def status(
        self,
        stamp: Time,
        estimate: Estimate,
        update: Update,
        counts: tuple[Counts, Counts],
        *,
        delayed: bool,
    ) -> EstimatorStatus:
        """
        Return how the legs fitted, and what the filter thinks of the IMU.

        Parameters
        ----------
        stamp : Time
            Of the estimate.
        estimate, update : Estimate, Update
            Innovations are NaN where a leg was missing.
        counts : tuple of two ndarrays of int, shape (6,)
            Samples accepted and rejected so far.
        delayed : bool
            Whether the delay of the IMU is estimated.

        Returns
        -------
        EstimatorStatus
            In sensor axes.

        """
        message = self._status
        message.header.stamp = stamp
        message.innovations = update.innovations
        message.innovation_sigmas = update.sigmas
        message.nis = float(update.nis)
        put_vector(message.accelerometer_bias, estimate.accelerometer_bias)
        put_vector(message.gyroscope_bias, estimate.gyroscope_bias)
        message.imu_delay = float(estimate.delay) if delayed else float('nan')
        message.accepted = counts[0].astype(np.uint32)
        message.rejected = counts[1].astype(np.uint32)
        return message
