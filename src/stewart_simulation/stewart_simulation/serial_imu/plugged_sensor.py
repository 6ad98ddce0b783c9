# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The sensor on its port, and what goes wrong on the line, moved on by whoever has a loop.

It has no thread and never waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil, inf

import numpy as np
from stewart_simulation.serial_imu.device import Sensor
from stewart_simulation.serial_imu.inertial import InertialMotion, InertialState, resting
from stewart_simulation.serial_imu.inline_port import InlinePort
from stewart_simulation.serial_imu.protocol import FRAME_LENGTH
from stewart_simulation.serial_imu.pty_port import PtyPort

# After a longer pause (a stopped process) what was missed is missed [s].
CATCH_UP = 1.0


@dataclass
class Line:
    """Disturbances of a serial line, each for so many bytes or frames to come.

    Attributes:
        garbage: Random bytes to insert before the next cycle.
        lose: Bytes to swallow.
        corrupt: Frames whose checksum shall be wrong.
        bit_errors: Probability that a byte has one bit flipped, from now on [-].
    """

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    garbage: int = 0
    lose: int = 0
    corrupt: int = 0
    bit_errors: float = 0.0

    def disturb(self, data: bytes) -> bytes:
        """Return what arrives of `data`, whole frames, at the same speed."""
        if not (self.garbage or self.lose or self.corrupt or self.bit_errors):
            return data
        bytes_ = bytearray(data)
        for start in range(0, len(bytes_) - FRAME_LENGTH + 1, FRAME_LENGTH):
            if self.corrupt > 0:
                self.corrupt -= 1
                bytes_[start + FRAME_LENGTH - 1] ^= 0x01
        if self.bit_errors > 0.0:
            for index in np.flatnonzero(self.rng.random(len(bytes_)) < self.bit_errors):
                bytes_[index] ^= 1 << int(self.rng.integers(8))
        lost = min(self.lose, len(bytes_))
        self.lose -= lost
        inserted, self.garbage = self.rng.bytes(self.garbage), 0
        return inserted + bytes(bytes_[lost:])

    def misread(self, data: bytes, sent_at: int, read_at: int) -> bytes:
        """Return what arrives of `data` where the two ends differ in speed: nothing but noise."""
        if sent_at == read_at or not data:
            return data
        # A slow receiver sees several characters as one, a fast one sees mostly frame errors.
        count = max(1, len(data) * min(read_at, sent_at) // max(sent_at, 1))
        return self.rng.bytes(count)


class PluggedSensor:
    """A sensor on a pseudo terminal, or on a port inside this process.

    Args:
        motion: Takes the time since the start [s], returns the InertialState.
        now: Steady time [s].
        sensor: State to begin with; default as from the factory.
        port: Where it is plugged in; a pseudo terminal by default.
        latency: A USB adapter hands its bytes over at multiples of this time; 0: at once [s].

    Attributes:
        sensor: May be disturbed at any time.
        line: Likewise.
        port: Likewise, by `unplug` and `plug`.
        next_cycle: When it measures next [s].
        gathers: What was felt waits for `deliver`, so that it is sent all at once. Whoever sets
            this neither speaks to the sensor nor disturbs it meanwhile.
    """

    def __init__(
        self,
        motion: InertialMotion = resting,
        *,
        now: Callable[[], float],
        sensor: Sensor | None = None,
        port: PtyPort | InlinePort | None = None,
        latency: float = 0.0,
    ) -> None:
        self.sensor = sensor or Sensor()
        self.line = Line()
        self.port: PtyPort | InlinePort = port or PtyPort()
        self._motion, self._now, self._latency = motion, now, latency
        self._start = now()
        self.next_cycle, self.gathers = inf, False
        self._felt: list[tuple[float, InertialState]] = []
        self._under_way: deque[tuple[float, bytes]] = deque()

    @property
    def path(self) -> str:
        """What the host opens."""
        return self.port.path

    @property
    def due(self) -> float:
        """When `turn` has something to do, even if the host says nothing [s]."""
        return min(self.next_cycle, self._under_way[0][0] if self._under_way else inf)

    def begin(self) -> None:
        """Switch on."""
        self._start = self._now()
        self.next_cycle = self._start + self.sensor.period

    def unplug(self) -> None:
        """Take the port away, and with it the sensor's power."""
        self.port.unplug()
        self.sensor.restart(self._now())
        self._under_way.clear()

    def plug(self) -> None:
        """Plug in again: the sensor has what was saved."""
        self.port.plug()
        self.sensor.restart(self._now())

    def turn(self, now: float) -> None:
        """Hear the host, measure if it is time, deliver what has arrived."""
        if self.port.plugged:
            self._hear(now)
        period = self.sensor.period
        if self.sensor.single():
            self.next_cycle = min(self.next_cycle, now)
        # Another setting may have shortened the wait, or ended or begun the stream.
        self.next_cycle = min(self.next_cycle, now + period)
        while (begin := self.next_cycle) <= now:
            self._felt.append((begin, self._motion(begin - self._start)))
            # A late loop catches up: the sensor itself is never late.
            self.next_cycle = begin + period if now - begin < CATCH_UP else now + period
        if not self.gathers:
            self.deliver(now)

    def deliver(self, now: float) -> None:
        """Send what was felt, and let the host have what has arrived."""
        if self._felt:
            times, states = zip(*self._felt, strict=True)
            self._felt.clear()
            self._send(self.sensor.cycles(states, times), times, self.sensor.baud)
        while self._under_way and self._under_way[0][0] <= now:
            arrival, data = self._under_way.popleft()
            self.port.write(data, arrival)

    def _hear(self, now: float) -> None:
        if not (data := self.port.read()):
            return
        own = self.sensor.baud
        if heard := self.line.misread(data, self.port.host_baud(), own):
            self._send([self.sensor.receive(heard, now)], [now], own)

    def _send(self, pieces: Sequence[bytes], begins: Sequence[float], speed: int) -> None:
        """Let bytes set out at some instants; the host has them when the last one is through."""
        line, host, byte_time = self.line, self.port.host_baud(), self.sensor.byte_time
        for piece, begin in zip(pieces, begins, strict=True):
            data = line.misread(line.disturb(piece), speed, host)
            if not data:
                continue
            # Bytes that get lost take their time as well.
            arrival = begin + max(len(piece), len(data)) * byte_time
            if self._latency:
                arrival = ceil(arrival / self._latency) * self._latency
            self._under_way.append((arrival, data))
