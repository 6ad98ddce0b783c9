# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Sensor, line and the driver's reader, stepped along simulated time in one process."""

from __future__ import annotations

from collections.abc import Callable

from stewart_driver.witmotion.link import Steps
from stewart_driver.witmotion.reader import (
    ImuReader,
    Phase,
    ReaderSettings,
    ReaderStatus,
    StampedSample,
)
from stewart_simulation.serial_imu.inline_port import InlinePort
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor


class InlineReader:
    """The driver's reader on a port in this process.

    Bytes, decoder, grouping and clock are those of a real sensor; only nobody waits.

    Args:
        port: Where the sensor is.
        settings: How the reader behaves.
        now: Simulated time [s].

    Attributes:
        reader: Its status.
    """

    def __init__(
        self, port: InlinePort, settings: ReaderSettings, now: Callable[[], float]
    ) -> None:
        """Open the port."""
        self._port, self._now, self._time = port, now, now()
        self.reader = ImuReader(port.open, settings, now=lambda: self._time, sleep=_never)
        self._steps = Steps(self.reader.converse(), self._time)

    @property
    def due(self) -> float:
        """When it goes on although nothing has come [s]."""
        return self._steps.due

    @property
    def listens(self) -> bool:
        """Whether it goes on as soon as something comes."""
        return self._steps.listens

    @property
    def streams(self) -> bool:
        """Whether it only listens: what it hears may as well be read later."""
        return self.reader.status.phase is Phase.STREAMING

    def step(self) -> list[StampedSample]:
        """Read what has come by now, each piece when it came; return the complete samples."""
        now = self._now()
        for instant in (*self._port.arrivals(), now):
            self._port.now = self._time = min(max(self._time, instant), now)
            self._steps.step(self._time)
        return self.reader.take()

    def end(self) -> None:
        """Close the port."""
        self._steps.end()


def attend(sensor: PluggedSensor, reader: InlineReader, now: float) -> list[StampedSample]:
    """Let a sensor do what is due, and the reader hear it and answer.

    Args:
        sensor: On the reader's port; the plant behind it has come to `now`.
        reader: Who reads.
        now: Simulated time [s].

    Returns:
        What was measured.
    """
    sensor.turn(now)
    sensor.deliver(now)
    samples = reader.step()
    # The sensor hears at once what it was told.
    sensor.turn(now)
    return samples


class AttendedReader:
    """The driver's reader and the sensor that it hears; a `SteppedReader` of the driver.

    Args:
        sensor: On an `InlinePort`.
        settings: How the reader behaves.
        now: Simulated time [s].
        advance: Brings the plant behind the sensor to the present time.
    """

    def __init__(
        self,
        sensor: PluggedSensor,
        settings: ReaderSettings,
        now: Callable[[], float],
        advance: Callable[[], None],
    ) -> None:
        """Open the port."""
        assert isinstance(sensor.port, InlinePort)
        self._sensor, self._now, self._advance = sensor, now, advance
        self._reader = InlineReader(sensor.port, settings, now)

    @property
    def status(self) -> ReaderStatus:
        """How the reader is doing."""
        return self._reader.reader.status

    @property
    def due(self) -> float:
        """When there is something to do [s]; what nobody listens to waits in the port."""
        due = self._reader.due
        return min(self._sensor.due, due) if self._reader.listens else due

    def step(self) -> list[StampedSample]:
        """Let both do what is due; return the samples that are complete."""
        self._advance()
        return attend(self._sensor, self._reader, self._now())

    def end(self) -> None:
        """Close the port."""
        self._reader.end()


def _never(duration: float) -> None:
    raise AssertionError(f'a reader in simulated time sleeps {duration} s')
