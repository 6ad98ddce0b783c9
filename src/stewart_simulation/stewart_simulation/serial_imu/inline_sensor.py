# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Sensor, line and the driver's reader, stepped along simulated time in one process."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from stewart_driver.witmotion.link import Steps
from stewart_driver.witmotion.reader import (
    ImuReader,
    ReaderPhase,
    ReaderSettings,
    ReaderStatus,
    StampedSample,
)
from stewart_simulation.serial_imu.inline_port import InlinePort
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor


class InlineReader:
    """The driver's reader and the sensor that it hears; a `SteppedReader` of the driver.

    Bytes, decoder, grouping and clock are those of a real sensor; only nobody waits.

    Args:
        sensor: On an `InlinePort`.
        now: Simulated time [s].
        advance: Brings the plant behind the sensor to the present time.

    Attributes:
        complete: When each sample that `step` returned last was there as a whole [s].
    """

    def __init__(
        self,
        sensor: PluggedSensor,
        settings: ReaderSettings,
        now: Callable[[], float],
        advance: Callable[[], None] = lambda: None,
    ) -> None:
        assert isinstance(sensor.port, InlinePort)
        self._sensor, self._port, self._advance = sensor, sensor.port, advance
        self._now, self._time = now, now()
        self._reader = ImuReader(self._port.open, settings, now=lambda: self._time, sleep=_never)
        self._steps = Steps(self._reader.converse(), lambda: self._time)
        self.complete: list[float] = []
        self._samples: list[StampedSample] = []

    @property
    def status(self) -> ReaderStatus:
        """How the reader is doing."""
        return self._reader.status

    @property
    def due(self) -> float:
        """When there is something to do [s]; what nobody listens to waits in the port."""
        due = self._steps.due
        return min(self._sensor.due, due) if self._steps.listens else due

    @property
    def streams(self) -> bool:
        """Whether it only listens: what it hears may as well be read later."""
        return self._reader.status.phase is ReaderPhase.STREAMING

    def step(self) -> list[StampedSample]:
        """Let sensor and reader do what is due; return the samples that are complete."""
        self._advance()
        now = self._now()
        self._samples, self.complete = [], []
        self._sensor.turn(now)
        self._sensor.deliver(now)
        if self._reader.attentive and self._steps.listens:
            self._steps.hear(self._instants(now))
        for _ in self._instants(now):
            self._steps.step()
        self._port.now = self._time = now
        self._steps.step()
        # The sensor hears at once what it was told.
        self._sensor.turn(now)
        self._take()
        return self._samples

    def _instants(self, now: float) -> Iterator[float]:
        """Stand at each instant at which a piece came, for it is read there [s]."""
        for instant in self._port.arrivals():
            if instant <= now:
                self._port.now = self._time = max(self._time, instant)
                yield self._time
                self._take()

    def _take(self) -> None:
        samples = self._reader.take()
        self._samples += samples
        self.complete += [self._time] * len(samples)

    def end(self) -> None:
        """Close the port."""
        self._steps.end()


def _never(duration: float) -> None:
    raise AssertionError(f'a reader in simulated time sleeps {duration} s')
