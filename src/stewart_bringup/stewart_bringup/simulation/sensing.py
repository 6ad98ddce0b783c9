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
from stewart_driver.witmotion import frames
from stewart_driver.witmotion.frames import AccelerationFrame, vectors_of
from stewart_driver.witmotion.reader import StampedSample
from stewart_driver.witmotion.samples import (
    ACCELERATION,
    ANGULAR_VELOCITY,
    attitude_of,
    isotropic,
    UNKNOWN,
)
from stewart_estimation.errors import EstimationError
from stewart_estimation.kernels.records import R_DELAY
from stewart_estimation.kernels.steps import SAME
from stewart_estimation.live_estimation import LiveEstimation
from stewart_estimation.live_rows import LiveRows, refused_legs, used_legs
from stewart_estimation.machine import load_machine
from stewart_estimation.nodes.estimator_parameters import EstimatorParameters, settings_from
from stewart_estimation.odometry import EstimateColumns
from stewart_simulation.serial_imu.inline_sensor import InlineReader

# So long samples gather before they are read, each as of the instant at which it came: the control
# loop needs none of them [ns].
BLOCK = 100_000_000
# A motion begins only after so many estimates.
FIRST_ESTIMATES = 20
LEVEL = (0.0, 0.0, 0.0, 1.0)


class Sensing:
    """Sensor, reader and estimator.

    What was read is used when it has to be published, all at once; nobody needs it before, but the
    first estimates, for which a motion waits.
    """

    def __init__(
        self,
        parameters: RigParameters,
        imu: ImuParameters,
        machine: Machine,
        schedule: Schedule,
        rows: dict[str, Rows],
    ) -> None:
        self._schedule = schedule
        self._estimation = Estimation(parameters, imu, rows)
        self._output = ImuOutput(imu, rows)
        self._sensor = machine.plug_sensor(self._seconds)
        self._reader = InlineReader(
            self._sensor,
            imu.reader_settings(),
            self._seconds,
            lambda: machine.go(self._seconds()),
        )
        self._read: list[tuple[int, StampedSample]] = []

    def _seconds(self) -> float:
        return self._schedule.now / NANOSECONDS

    @property
    def ready(self) -> bool:
        """Whether there have been enough estimates for a motion to begin."""
        return self._estimation.published > FIRST_ESTIMATES

    @property
    def refusal(self) -> str:
        """Why the estimator could not go on when it last could not; empty if it could."""
        return self._estimation.refusal

    def legs(self, stamp: int, strokes: Array) -> None:
        """Take measured strokes [m] with their stamp [ns]."""
        if self._estimation.legs(self._schedule.now, stamp, strokes):
            self.publish()

    def attend(self) -> int:
        """Let sensor and reader do what is due; return when something is due again [ns]."""
        now = self._schedule.now
        if self._hear() and not self.ready:
            self.publish()
        # A reader that streams says nothing to the sensor but here.
        self._sensor.gathers = streams = self._reader.streams
        if streams:
            return now + BLOCK
        return max(now + 1, ceil(self._reader.due * NANOSECONDS))

    def publish(self) -> None:
        """Publish what has come since the last call, and what the estimator makes of it."""
        self._hear()
        read, self._read = self._read, []
        self._estimation.run(self._schedule.now, *self._output.publish(read))

    def _hear(self) -> bool:
        """Read what has come; tell whether there were samples."""
        items = self._reader.step()
        instants = [round(seconds * NANOSECONDS) for seconds in self._reader.complete]
        self._read += zip(instants, items, strict=True)
        if items:
            self._estimation.heard()
        return bool(items)


class ImuOutput:
    """Samples of the sensor as rows of ``imu/data`` and ``imu/temperature``."""

    def __init__(self, chosen: ImuParameters, rows: dict[str, Rows]) -> None:
        self._chosen, self._rows = chosen, rows
        self._known = isotropic(chosen.orientation_stddev)
        self._temperature_due = 0.0

    def publish(
        self, items: list[tuple[int, StampedSample]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Array, Array]:
        """Publish samples.

        Args:
            items: From the reader, each with when it was complete [ns].

        Returns:
            (n,): When samples were read that have specific force and angular velocity [ns].
            (n,): Stamps of these samples [ns].
            (n, 3): Specific forces [m/s²].
            (n, 3): Angular velocities [rad/s].
        """
        chosen, times, stamps = self._chosen, [], []
        attitudes, forces, rates = [], [], []
        for now, (seconds, sample) in items:
            payloads = sample.payloads
            stamp = round((seconds - chosen.latency) * NANOSECONDS)
            if seconds >= self._temperature_due and (heat := sample.get(AccelerationFrame)):
                self._temperature_due = seconds + chosen.temperature_period
                self._rows['imu/temperature'].add([now], [stamp], [[heat.temperature_celsius]])
            if ACCELERATION not in payloads or ANGULAR_VELOCITY not in payloads:
                continue
            times.append(now)
            stamps.append(stamp)
            attitudes.append(attitude_of(sample))
            forces.append(payloads[ACCELERATION])
            rates.append(payloads[ANGULAR_VELOCITY])
        read, marks = np.array(times, dtype=np.int64), np.array(stamps, dtype=np.int64)
        felt = vectors_of(forces, frames.ACCELERATION)
        turning = vectors_of(rates, frames.ANGULAR_VELOCITY)
        if stamps:
            turns = [attitude or LEVEL for attitude in attitudes]
            known = [UNKNOWN if attitude is None else self._known for attitude in attitudes]
            self._rows['imu/data'].add(read, marks, turns, known, turning, felt)
        return read, marks, felt, turning


class Estimation:
    """The state estimator; `imu` says what the messages tell of their noise."""

    def __init__(
        self, parameters: RigParameters, imu: ImuParameters, rows: dict[str, Rows]
    ) -> None:
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
        self._waiting: list[tuple[int, int, Array]] = []
        self._silent_since = 0
        self.published, self.refusal = 0, ''

    def heard(self) -> None:
        """Take note that samples of the IMU have come, which `run` will be given."""
        self._silent_since = 0

    def legs(self, now: int, stamp: int, strokes: Array) -> bool:
        """Take measured strokes [m] at present time, with their stamp [ns].

        Returns:
            Whether the IMU has been silent for so long that the filter goes on without it.
        """
        self._waiting.append((now, stamp, strokes))
        self._silent_since = self._silent_since or stamp
        return stamp - self._silent_since > self._longest_wait

    def run(
        self,
        now: int,
        times: NDArray[np.int64],
        stamps: NDArray[np.int64],
        forces: Array,
        rates: Array,
    ) -> None:
        """Estimate with the samples of the IMU, at present time, and the legs so far.

        Args:
            now: Present time [ns].
            times, stamps (n,): When each sample was read, and its stamp [ns].
            forces, rates (n, 3): What it says [m/s²], [rad/s].
        """
        waiting, self._waiting = self._waiting, []
        self._silent_since = 0
        first = ([stamp for _, stamp, _ in waiting[:1]] + stamps[:1].tolist())[:1]
        if not self._origin and first:
            self._origin = first[0]
        seconds = self._seconds(stamps)
        came, marks = np.reshape([row[:2] for row in waiting], (-1, 2)).astype(np.int64).T
        strokes = np.reshape([strokes for *_, strokes in waiting], (-1, 6))
        try:
            rows = self._live.runs(
                seconds,
                np.hstack([forces, rates]),
                self._seconds(marks),
                strokes + self._retracted,
            )
        except EstimationError as error:
            self.refusal = str(error)
        else:
            if len(rows):
                delay = rows.report[:, R_DELAY] if self._delayed else 0.0
                # Each came with the sample that has passed it, or with legs that were later.
                passed = np.searchsorted(seconds, rows.stamps + delay - SAME)
                legs = np.searchsorted(self._seconds(marks), rows.stamps + SAME)
                read = np.append(0, came)[legs]
                self._publish(np.maximum(np.append(times, now)[passed], read), rows)

    def _seconds(self, stamps: NDArray[np.int64]) -> Array:
        """Return stamps after the first one [s]."""
        return (stamps - self._origin) / NANOSECONDS

    def _publish(self, times: NDArray[np.int64], rows: LiveRows) -> None:
        stamps = self._origin + np.rint(rows.stamps * NANOSECONDS).astype(np.int64)
        odometry, accelerations = self._columns.of(rows)
        self._rows['platform/odometry'].add(times, stamps, odometry)
        self._rows['platform/acceleration'].add(times, stamps, accelerations)
        accepted = np.cumsum(used_legs(rows.verdicts), axis=0)
        rejected = np.cumsum(refused_legs(rows.verdicts), axis=0)
        self._rows['estimator/status'].add(
            times,
            stamps,
            rows.fit(delayed=self._delayed),
            accepted + (self._live.accepted - accepted[-1]),
            rejected + (self._live.rejected - rejected[-1]),
        )
        self.published += len(rows)
