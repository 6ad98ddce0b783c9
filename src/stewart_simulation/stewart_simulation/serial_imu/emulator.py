# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Run the sensor in real time on its port."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import ceil, inf
import os
import select
import threading
from types import TracebackType

from stewart_simulation.serial_imu.device import Sensor
from stewart_simulation.serial_imu.inertial import InertialMotion, resting
from stewart_simulation.serial_imu.line import Line
from stewart_simulation.serial_imu.pty_port import PtyPort

# Changes from other threads (a faster rate, plugging in) are noticed at least so often [s].
NAP = 0.05
# After a longer pause (a stopped process) what was missed is missed [s].
CATCH_UP = 1.0


class SerialImu:
    """
    A sensor on a pseudo terminal, in a thread.

    Parameters
    ----------
    motion : callable
        Takes the time since the start [s], returns the InertialState.
    now : callable
        Steady time [s].
    sensor : Sensor, optional
        State to begin with; default as from the factory.
    port : PtyPort, optional
        Where it is plugged in.
    latency : float
        A USB adapter hands its bytes over at multiples of this time; 0: at once [s].

    Attributes
    ----------
    sensor : Sensor
        May be disturbed at any time.
    line : Line
        Likewise.
    port : PtyPort
        Likewise, by `unplug` and `plug`.

    """

    def __init__(
        self,
        motion: InertialMotion = resting,
        *,
        now: Callable[[], float],
        sensor: Sensor | None = None,
        port: PtyPort | None = None,
        latency: float = 0.0,
    ) -> None:
        """Plug in; `start` switches on."""
        self.sensor = sensor or Sensor()
        self.line = Line()
        self.port = port or PtyPort()
        self._motion, self._now, self._latency = motion, now, latency
        self._start = now()
        self._next = inf
        self._under_way: deque[tuple[float, bytes]] = deque()
        self._port_lock = threading.Lock()
        self._stop_read, self._stop_write = os.pipe()
        self._thread = threading.Thread(target=self._run, name='serial_imu', daemon=True)

    @property
    def path(self) -> str:
        """What the host opens."""
        return self.port.path

    def __enter__(self) -> SerialImu:
        """Switch on."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Switch off and unplug."""
        self.stop()

    def start(self) -> None:
        """Begin to send."""
        self._start = self._now()
        self._thread.start()

    def stop(self) -> None:
        """End the thread and take the port away."""
        os.write(self._stop_write, b'.')
        self._thread.join()
        self.port.unplug()
        os.close(self._stop_read)
        os.close(self._stop_write)

    def unplug(self) -> None:
        """Take the port away, and with it the sensor's power."""
        with self._port_lock:
            self.port.unplug()
            self.sensor.restart(self._now())
            self._under_way.clear()

    def plug(self) -> None:
        """Plug in again: the sensor has what was saved."""
        with self._port_lock:
            self.port.plug()
            self.sensor.restart(self._now())

    def _run(self) -> None:
        self._next = self._now() + self.sensor.period
        while True:
            due = min(self._next, self._under_way[0][0] if self._under_way else inf)
            ends = [self._stop_read]
            if self.port.plugged:
                ends.append(self.port.fileno())
            try:
                ready, _, _ = select.select(ends, [], [], min(max(due - self._now(), 0.0), NAP))
            except (OSError, ValueError):
                continue  # unplugged while waiting
            if self._stop_read in ready:
                return
            with self._port_lock:
                self._turn(self._now())

    def _turn(self, now: float) -> None:
        """Hear the host, measure if it is time, deliver what has arrived."""
        if self.port.plugged:
            self._hear(now)
        period = self.sensor.period
        if self.sensor.single():
            self._next = min(self._next, now)
        # Another setting may have shortened the wait, or ended or begun the stream.
        self._next = min(self._next, now + period)
        while self._next <= now:
            self._send(self.sensor.cycle(self._motion(self._next - self._start), now), self._next)
            # A late thread catches up: the sensor itself is never late.
            self._next = self._next + period if now - self._next < CATCH_UP else now + period
        arrived = b''
        while self._under_way and self._under_way[0][0] <= now:
            arrived += self._under_way.popleft()[1]
        self.port.write(arrived)

    def _hear(self, now: float) -> None:
        host, own = self.port.host_baud(), self.sensor.baud
        heard = self.line.misread(self.port.read(), host, own)
        if heard:
            self._send(self.sensor.receive(heard, now), now, baud=own)

    def _send(self, data: bytes, begin: float, baud: int = 0) -> None:
        """Let bytes set out; the host has them when the last one is through."""
        speed = baud or self.sensor.baud
        data = self.line.misread(self.line.disturb(data), speed, self.port.host_baud())
        if not data:
            return
        arrival = begin + len(data) * self.sensor.byte_time
        if self._latency:
            arrival = ceil(arrival / self._latency) * self._latency
        self._under_way.append((arrival, data))
