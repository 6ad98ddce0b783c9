# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples from the bytes of messages, and estimates as the bytes of messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from geometry_msgs.msg import AccelWithCovarianceStamped
from nav_msgs.msg import Odometry
import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Header
from stewart_estimation.estimate import Estimate, Update
from stewart_estimation.machine import Array
from stewart_estimation.odometry import (
    body_twist,
    full_acceleration,
    pose_covariance,
)
from stewart_estimation.odometry_kernels import NOT_MEASURED
from stewart_estimation.settings import FilterSettings
from stewart_interfaces.msg import EstimatorStatus
from stewart_node_support.codec import finite, Layout, Reader, stamp_of, Template
from stewart_node_support.conversions import BASE_FRAME
from stewart_node_support.errors import MessageError
from stewart_node_support.legs import LEG_NAMES

CHILD_FRAME = 'platform_link'
LEGS = {name: leg for leg, name in enumerate(LEG_NAMES)}

Counts = NDArray[np.int64]


class ImuReading(NamedTuple):
    """A decoded Imu in sensor axes (REP-145).

    Attributes:
        stamp: [ns].
        specific_force, angular_velocity (3,): [m/s²], [rad/s].
        force_covariance, rate_covariance (9,): As the message states them.
    """

    stamp: int
    specific_force: Array
    angular_velocity: Array
    force_covariance: Array
    rate_covariance: Array


class Strokes(NamedTuple):
    """Decoded strokes (6,) [m] with their stamp [ns]; NaN for legs that are not there."""

    stamp: int
    strokes: Array


def imu_reader() -> Reader[ImuReading]:
    """Return a reader of Imu messages.

    Its ``read`` raises MessageError where specific force or angular velocity is not measured: its
    covariance begins with -1.
    """
    return Reader(Imu, _imu)


def stroke_reader() -> Reader[Strokes]:
    """Return a reader of the strokes of JointState messages, some of ``leg_1`` to ``leg_6``.

    Its ``read`` gives NaN for legs that the message does not have or has as NaN, and raises
    MessageError where it names no leg, one twice, or another number of joints than it has strokes.
    """
    return Reader(JointState, _strokes)


def _imu(layout: Layout) -> Callable[[bytes], ImuReading]:
    fields = ('angular_velocity', 'linear_acceleration')
    numbers = layout.numbers(*(f'{name}{end}' for name in fields for end in ('', '_covariance')))

    def decode(data: bytes) -> ImuReading:
        values = numbers(data)
        for name, first in (('linear acceleration', 15), ('angular velocity', 3)):
            if values[first] == NOT_MEASURED:
                raise MessageError(f'the IMU has no {name}: its covariance begins with -1')
        return ImuReading(stamp_of(data), values[12:15], values[:3], values[15:], values[3:12])

    return decode


def _strokes(layout: Layout) -> Callable[[bytes], Strokes]:
    names, count = layout.texts['name'], layout.place('position')[2]
    different = set(names)
    if different.isdisjoint(LEGS) or len(different) != len(names):
        raise MessageError(
            f'a leg state names leg_1 to leg_6 at most once each, got {list(names)}'
        )
    if count != len(names):
        raise MessageError(f'a leg state has as many strokes as names, got {count} strokes')
    numbers = layout.numbers('position')
    places = [place for place, name in enumerate(names) if name in LEGS]
    legs = [LEGS[names[place]] for place in places]
    in_order = names == LEG_NAMES

    def decode(data: bytes) -> Strokes:
        strokes = values = numbers(data)
        if not in_order:
            strokes = np.full(6, np.nan)
            strokes[legs] = values[places]
        if not finite(strokes.tolist()):
            strokes[np.isinf(strokes)] = np.nan
        return Strokes(stamp_of(data), strokes)

    return decode


def stated_sigmas(covariance: Array) -> Array | None:
    """Return the standard deviations of a message's covariance; None where it says nothing."""
    variances = covariance[[0, 4, 8]]
    if not np.all(np.isfinite(variances) & (variances > 0.0)):
        return None
    return np.asarray(np.sqrt(variances))


class EstimateWriter:
    """Serialise the messages of an estimate."""

    def __init__(self) -> None:
        """Prepare what never changes."""
        header = Header(frame_id=BASE_FRAME)
        self._odometry = Template(Odometry(header=header, child_frame_id=CHILD_FRAME))
        self._motion = [
            self._odometry.view(path)
            for path in (
                'pose.pose.position',
                'pose.pose.orientation',
                'pose.covariance',
                'twist.twist.linear',
                'twist.twist.angular',
                'twist.covariance',
            )
        ]
        self._acceleration = Template(AccelWithCovarianceStamped(header=header))
        self._linear = self._acceleration.view('accel.accel.linear')
        self._angular = self._acceleration.view('accel.accel.angular')
        self._covariance = self._acceleration.view('accel.covariance').reshape(6, 6)
        self._status = Template(EstimatorStatus(header=header))
        self._fit = [
            self._status.view(path)
            for path in (
                'innovations',
                'innovation_sigmas',
                'nis',
                'accelerometer_bias',
                'gyroscope_bias',
                'imu_delay',
                'accepted',
                'rejected',
            )
        ]

    def odometry(self, stamp: int, estimate: Estimate) -> bytes:
        """Return pose in base axes and twist in platform axes, with their covariances."""
        twist = body_twist(estimate)
        for view, values in zip(
            self._motion,
            (
                estimate.position,
                estimate.quaternion_xyzw,
                pose_covariance(estimate).ravel(),
                twist.linear,
                twist.angular,
                twist.covariance.ravel(),
            ),
            strict=True,
        ):
            view[:] = values
        return self._odometry.stamped(stamp)

    def acceleration(
        self, stamp: int, estimate: Estimate, before: Estimate | None, settings: FilterSettings
    ) -> bytes:
        """Return the acceleration of ``platform_link``'s origin in base axes.

        Args:
            stamp: Of the estimate [ns].
            estimate, before: This one and the one before it: the angular acceleration is their
                difference, and is marked as not measured (variances -1) where there is none
                before.
            settings: Noise of the IMU.

        Returns:
            AccelWithCovarianceStamped in ``base_link``.
        """
        self._linear[:] = estimate.linear_acceleration
        self._angular[:], self._covariance[:] = full_acceleration(estimate, before, settings)
        return self._acceleration.stamped(stamp)

    def status(
        self,
        stamp: int,
        estimate: Estimate,
        update: Update,
        counts: tuple[Counts, Counts],
        *,
        delayed: bool,
    ) -> bytes:
        """Return how the legs fitted, and what the filter thinks of the IMU.

        Args:
            stamp: Of the estimate [ns].
            estimate, update: Innovations are NaN where a leg was missing.
            counts (6,): Samples accepted and rejected so far.
            delayed: Whether the delay of the IMU is estimated.

        Returns:
            EstimatorStatus, in sensor axes.
        """
        for view, values in zip(
            self._fit,
            (
                update.innovations,
                update.sigmas,
                update.nis,
                estimate.accelerometer_bias,
                estimate.gyroscope_bias,
                estimate.delay if delayed else np.nan,
                *counts,
            ),
            strict=True,
        ):
            view[:] = values
        return self._status.stamped(stamp)
