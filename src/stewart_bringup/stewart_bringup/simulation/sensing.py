# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The sensor on the platform, and the nodes ``imu`` and ``state_estimator``, in simulated time."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray
from stewart_bringup.simulation.machines import Machine
from stewart_bringup.simulation.rig_parameters import RigParameters
from stewart_bringup.simulation.schedule import NANOSECONDS, Schedule
from stewart_bringup.simulation.series import Rows
from stewart_driver.legs import Array
from stewart_driver.nodes.imu_parameters import ImuParameters
from stewart_driver.witmotion.frames import AccelerationFrame, AngularVelocityFrame
from stewart_driver.witmotion.reader import StampedSample
from stewart_driver.witmotion.samples import attitude_of, isotropic, UNKNOWN
from stewart_estimation.errors import EstimationError
from stewart_estimation.live_estimation import LiveEstimation
from stewart_estimation.live_rows import LiveRows
from stewart_estimation.machine import load_machine
from stewart_estimation.nodes.estimator_parameters import EstimatorParameters, settings_from
from stewart_estimation.odometry import EstimateColumns
from stewart_simulation.serial_imu.inline_port import InlinePort
from stewart_simulation.serial_imu.inline_sensor import attend, InlineReader

# So long samples gather before they are read and used, each as of the instant at which it came:
# the control loop needs none of them [ns].
BLOCK = 100_000_000
LEVEL = (0.0, 0.0, 0.0, 1.0)


class Sensing:
    """Sensor, reader and estimator.

    The estimator is told of the legs when samples of the sensor have been read, a block of each:
    before that it could not use them.

    Args:
        parameters: Of the estimator.
        imu: Of the sensor's node.
        machine: Where the sensor is.
        schedule: Simulated time.
        rows: Where it is published.
    """

    def __init__(
        self,
        parameters: RigParameters,
        imu: ImuParameters,
        machine: Machine,
        schedule: Schedule,
        rows: dict[str, Rows],
    ) -> None:
        """Put the sensor on the platform, its reader on its port, the estimator behind it."""
        self._machine, self._schedule = machine, schedule
        self._estimation = Estimation(parameters, imu, rows)
        self._output = ImuOutput(imu, rows)
        self._sensor = machine.plug_sensor(self._seconds)
        port = self._sensor.port
        assert isinstance(port, InlinePort)
        self._reader = InlineReader(port, imu.reader_settings(), self._seconds)

    def _seconds(self) -> float:
        return self._schedule.now / NANOSECONDS

    @property
    def published(self) -> int:
        """How many estimates there were."""
        return self._estimation.published

    def legs(self, now: int, stamp: int, strokes: Array) -> None:
        """Take measured strokes [m], at present time and with their stamp [ns]."""
        self._estimation.legs(now, stamp, strokes)

    def attend(self) -> int:
        """Let sensor and reader do what is due; return when something is due again [ns]."""
        now = self._schedule.now
        self._machine.go(self._seconds())
        items = attend(self._sensor, self._reader, self._seconds())
        if items:
            self._estimation.imu(now, *self._output.publish(items, now))
        # A reader that streams says nothing to the sensor but here.
        self._sensor.gathers = streams = self._reader.streams
        if streams:
            return now + BLOCK
        # What nobody listens to waits in the port.
        due = self._reader.due
        if self._reader.listens:
            due = min(due, self._sensor.due)
        return max(now + 1, ceil(due * NANOSECONDS))


class ImuOutput:
    """Samples of the sensor as rows of ``imu/data`` and ``imu/temperature``.

    Args:
        chosen: Of the node.
        rows: Where they go.
    """

    def __init__(self, chosen: ImuParameters, rows: dict[str, Rows]) -> None:
        """Have published nothing."""
        self._chosen, self._rows = chosen, rows
        self._known = isotropic(chosen.orientation_stddev)
        self._temperature_due = 0.0

    def publish(
        self, items: list[StampedSample], now: int
    ) -> tuple[NDArray[np.int64], Array, Array]:
        """Publish samples.

        Args:
            items: From the reader.
            now: Present time [ns].

        Returns:
            (n,): Stamps of the samples that have specific force and angular velocity [ns].
            (n, 3): Specific forces [m/s²].
            (n, 3): Angular velocities [rad/s].
        """
        chosen, stamps = self._chosen, []
        attitudes, covariances, rates, forces = [], [], [], []
        for item in items:
            sample = item.sample
            force, rate = sample.get(AccelerationFrame), sample.get(AngularVelocityFrame)
            stamp = round((item.stamp - chosen.latency) * NANOSECONDS)
            if force is not None and item.stamp >= self._temperature_due:
                self._temperature_due = item.stamp + chosen.temperature_period
                self._rows['imu/temperature'].add(now, [stamp], [[force.temperature_celsius]])
            if force is None or rate is None:
                continue
            attitude = attitude_of(sample)
            stamps.append(stamp)
            attitudes.append(attitude or LEVEL)
            covariances.append(UNKNOWN if attitude is None else self._known)
            rates.append(rate.angular_velocity)
            forces.append(force.specific_force)
        marks = np.array(stamps, dtype=np.int64)
        felt, turning = np.reshape(forces, (-1, 3)), np.reshape(rates, (-1, 3))
        if stamps:
            self._rows['imu/data'].add(now, marks, attitudes, covariances, turning, felt)
        return marks, felt, turning


class Estimation:
    """The state estimator.

    Args:
        parameters: Of the node.
        imu: What the IMU's messages say of its noise.
        rows: Where the estimates go.
    """

    def __init__(
        self, parameters: RigParameters, imu: ImuParameters, rows: dict[str, Rows]
    ) -> None:
        """Make the filter."""
        chosen = parameters.of('state_estimator', EstimatorParameters)
        platform = load_machine(chosen.platform, chosen.imu_position, chosen.imu_rpy_deg)
        self._retracted = platform.geometry.retracted_length
        settings = settings_from(
            chosen,
            platform,
            np.full(3, imu.linear_acceleration_stddev),
            np.full(3, imu.angular_velocity_stddev),
        )
        self._live = LiveEstimation(platform.geometry, settings, coast=chosen.coast)
        self._columns = EstimateColumns(settings)
        self._longest_wait = round(settings.imu_timeout * NANOSECONDS)
        self._delayed = settings.delay is not None
        self._rows, self._origin = rows, 0
        self._waiting: list[tuple[int, Array]] = []
        self.published, self.refusal = 0, ''

    def legs(self, now: int, stamp: int, strokes: Array) -> None:
        """Take measured strokes [m], at present time and with their stamp [ns]."""
        self._waiting.append((stamp, strokes))
        # As the filter does, they go on without a sensor that is silent.
        if stamp - self._waiting[0][0] > self._longest_wait:
            self.imu(now, np.empty(0, dtype=np.int64), np.empty((0, 3)), np.empty((0, 3)))

    def imu(self, now: int, stamps: NDArray[np.int64], forces: Array, rates: Array) -> None:
        """Take samples of the IMU, at present time and with their stamps [ns]."""
        waiting, self._waiting = self._waiting, []
        first = ([stamp for stamp, _ in waiting[:1]] + stamps[:1].tolist())[:1]
        if not self._origin and first:
            self._origin = first[0]
        strokes = np.reshape([strokes for _, strokes in waiting], (-1, 6))
        try:
            rows = self._live.runs(
                self._seconds(stamps),
                np.hstack([forces, rates]),
                self._seconds(np.array([stamp for stamp, _ in waiting], dtype=np.int64)),
                strokes + self._retracted,
            )
        except EstimationError as error:
            self.refusal = str(error)
        else:
            if len(rows):
                self._publish(now, rows)

    def _seconds(self, stamps: NDArray[np.int64]) -> Array:
        """Return stamps after the first one [s]."""
        return (stamps - self._origin) / NANOSECONDS

    def _publish(self, now: int, rows: LiveRows) -> None:
        stamps = self._origin + np.rint(rows.stamps * NANOSECONDS).astype(np.int64)
        odometry, accelerations = self._columns.of(rows)
        self._rows['platform/odometry'].add(now, stamps, odometry)
        self._rows['platform/acceleration'].add(now, stamps, accelerations)
        used = rows.used
        refused = np.isfinite(rows.innovations) & ~used
        accepted = np.cumsum(used, axis=0)
        rejected = np.cumsum(refused, axis=0)
        delay = rows.report[:, 22:23] if self._delayed else np.full((len(rows), 1), np.nan)
        self._rows['estimator/status'].add(
            now,
            stamps,
            rows.verdicts[:, :13],
            rows.report[:, 16:22],
            delay,
            accepted + (self._live.accepted - accepted[-1]),
            rejected + (self._live.rejected - rejected[-1]),
        )
        self.published += len(rows)
