# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes ``imu`` and ``state_estimator`` in simulated time."""

from __future__ import annotations

import numpy as np
from stewart_bringup.simulation.rig_parameters import RigParameters
from stewart_bringup.simulation.series import Rows
from stewart_driver.legs import Array
from stewart_driver.nodes.imu_parameters import ImuParameters
from stewart_driver.witmotion.frames import AccelerationFrame, AngularVelocityFrame
from stewart_driver.witmotion.reader import StampedSample
from stewart_driver.witmotion.samples import attitude_of, isotropic, UNKNOWN
from stewart_estimation.errors import EstimationError
from stewart_estimation.estimate import Estimate
from stewart_estimation.live_estimation import LiveEstimation
from stewart_estimation.live_filter import LiveResult
from stewart_estimation.machine import load_machine
from stewart_estimation.nodes.estimator_parameters import EstimatorParameters, settings_from
from stewart_estimation.odometry import body_twist, full_acceleration, pose_covariance

NANOSECONDS = 1_000_000_000
LEVEL = (0.0, 0.0, 0.0, 1.0)


class ImuOutput:
    """
    Samples of the sensor as rows of ``imu/data`` and ``imu/temperature``.

    Parameters
    ----------
    chosen : ImuParameters
        Of the node.
    rows : dict of str to Rows
        Where they go.

    """

    def __init__(self, chosen: ImuParameters, rows: dict[str, Rows]) -> None:
        """Have published nothing."""
        self._chosen, self._rows = chosen, rows
        self._known = isotropic(chosen.orientation_stddev)
        self._temperature_due = 0.0

    def publish(self, item: StampedSample, now: int) -> tuple[int, Array, Array] | None:
        """
        Publish a sample.

        Parameters
        ----------
        item : StampedSample
            From the reader.
        now : int
            Present time [ns].

        Returns
        -------
        tuple or None
            Stamp [ns], specific force [m/s²] and angular velocity [rad/s]; None without them.

        """
        sample, chosen = item.sample, self._chosen
        force, rate = sample.get(AccelerationFrame), sample.get(AngularVelocityFrame)
        stamp = round((item.stamp - chosen.latency) * NANOSECONDS)
        if force is not None and item.stamp >= self._temperature_due:
            self._temperature_due = item.stamp + chosen.temperature_period
            self._rows['imu/temperature'].add(now, stamp, [force.temperature_celsius])
        if force is None or rate is None:
            return None
        attitude = attitude_of(sample)
        known = UNKNOWN if attitude is None else self._known
        self._rows['imu/data'].add(
            now, stamp, attitude or LEVEL, known, rate.angular_velocity, force.specific_force
        )
        return stamp, np.array(force.specific_force), np.array(rate.angular_velocity)


class Estimation:
    """
    The state estimator.

    Parameters
    ----------
    parameters : RigParameters
        Of the node.
    imu : ImuParameters
        What the IMU's messages say of its noise.
    rows : dict of str to Rows
        Where the estimates go.

    """

    def __init__(
        self, parameters: RigParameters, imu: ImuParameters, rows: dict[str, Rows]
    ) -> None:
        """Make the filter."""
        chosen = parameters.of('state_estimator', EstimatorParameters)
        platform = load_machine(chosen.platform, chosen.imu_position, chosen.imu_rpy_deg)
        self._retracted = platform.geometry.retracted_length
        self._settings = settings_from(
            chosen,
            platform,
            np.full(3, imu.linear_acceleration_stddev),
            np.full(3, imu.angular_velocity_stddev),
        )
        self._live = LiveEstimation(platform.geometry, self._settings, coast=chosen.coast)
        self._rows, self._origin = rows, 0
        self._before: Estimate | None = None
        self.published, self.refusal = 0, ''

    def imu(self, now: int, stamp: int, force: Array, rate: Array) -> None:
        """Take a sample of the IMU, at present time and with its stamp [ns]."""
        try:
            results = self._live.imu(self._seconds(stamp), force, rate)
        except EstimationError as error:
            self.refusal = str(error)
        else:
            self._publish(now, results)

    def legs(self, now: int, stamp: int, strokes: Array) -> None:
        """Take measured strokes [m], at present time and with their stamp [ns]."""
        try:
            results = self._live.legs(self._seconds(stamp), strokes + self._retracted)
        except EstimationError as error:
            self.refusal = str(error)
        else:
            self._publish(now, results)

    def _seconds(self, stamp: int) -> float:
        """Return a stamp after the first one [s]."""
        self._origin = self._origin or stamp
        return (stamp - self._origin) / NANOSECONDS

    def _publish(self, now: int, results: list[LiveResult]) -> None:
        rows, delayed = self._rows, self._settings.delay is not None
        for item in results:
            estimate, update = item.estimate, item.update
            stamp = self._origin + round(estimate.stamp * NANOSECONDS)
            twist = body_twist(estimate)
            rows['platform/odometry'].add(
                now,
                stamp,
                estimate.position,
                estimate.quaternion_xyzw,
                pose_covariance(estimate).ravel(),
                twist.linear,
                twist.angular,
                twist.covariance.ravel(),
            )
            before = None if item.restarted else self._before
            angular, covariance = full_acceleration(estimate, before, self._settings)
            rows['platform/acceleration'].add(
                now, stamp, estimate.linear_acceleration, angular, covariance.ravel()
            )
            rows['estimator/status'].add(
                now,
                stamp,
                update.innovations,
                update.sigmas,
                [update.nis],
                estimate.accelerometer_bias,
                estimate.gyroscope_bias,
                [estimate.delay if delayed else np.nan],
                self._live.accepted,
                self._live.rejected,
            )
            self._before = estimate
            self.published += 1
