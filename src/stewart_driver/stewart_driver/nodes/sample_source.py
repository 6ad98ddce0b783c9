# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where an imu node has its samples from: a thread in real time, or its own timer in simulated."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import ceil
import time
from typing import TypeAlias

from rclpy.node import Node
from stewart_driver.control.clock_bridge import ClockBridge
from stewart_driver.errors import ConfigurationError
from stewart_driver.witmotion.reader import (
    ImuReader,
    OFFERS,
    ReaderSettings,
    ReaderStatus,
    StampedSample,
)
from stewart_driver.witmotion.transport import SerialTransport
from stewart_node_support.stamps import NANOSECONDS


class ThreadedSource:
    """A serial port of this machine; a port that is not there yet is waited for."""

    def __init__(
        self, node: Node, settings: ReaderSettings, clock: DeviceClock, notify: Callable[[], None]
    ) -> None:
        self._node, self._fresh = node, node.create_guard_condition(notify)
        self._reader = ImuReader(
            lambda baud: SerialTransport(settings.port, baud),
            settings,
            now=clock.now,
            sleep=time.sleep,
            notify=self._fresh.trigger,
        )
        self._reader.start()

    @property
    def status(self) -> ReaderStatus:
        """How the reader is doing."""
        return self._reader.status

    def take(self) -> list[StampedSample]:
        """Return the samples that came since the last call, oldest first."""
        return self._reader.take()

    def end(self) -> None:
        """End the thread."""
        self._reader.stop()
        self._node.destroy_guard_condition(self._fresh)


class SteppedSource:
    """A sensor in this process: the node's timer goes from one thing that is due to the next."""

    def __init__(
        self, node: Node, settings: ReaderSettings, clock: DeviceClock, notify: Callable[[], None]
    ) -> None:
        self._node, self._device_clock, self._notify = node, clock, notify
        self._samples: deque[StampedSample] = deque(maxlen=settings.queue)
        self._reader = OFFERS.require('port', settings.port)(settings)
        self._timer = node.create_timer(1.0, self._step)
        self._set()

    @property
    def status(self) -> ReaderStatus:
        """How the reader is doing."""
        return self._reader.status

    def take(self) -> list[StampedSample]:
        """Return the samples that came since the last call, oldest first."""
        taken = list(self._samples)
        self._samples.clear()
        return taken

    def end(self) -> None:
        """Close the port."""
        self._node.destroy_timer(self._timer)
        self._reader.end()

    def _step(self) -> None:
        samples = self._reader.step()
        self._set()
        if samples:
            self._samples += samples
            self._notify()

    def _set(self) -> None:
        """Set the timer: an executor would list everything anew for one that is new."""
        wait = ceil((self._reader.due - self._device_clock.now()) * NANOSECONDS)
        self._timer.timer_period_ns = max(wait, 1)
        self._timer.reset()


SampleSource: TypeAlias = ThreadedSource | SteppedSource
"""A reader at work; it calls back, in the node's executor, when there are samples to take."""


class DeviceClock:
    """The machine's steady clock, or simulated time where the node's clock is overridden.

    Attributes:
        simulated: Whether time is simulated: the device has to be in this process then.

    Raises:
        ConfigurationError: If the node shall follow ``/clock``.
    """

    def __init__(self, node: Node) -> None:
        if node.get_parameter('use_sim_time').value:
            raise ConfigurationError('use_sim_time', True, 'false: a sensor lives in real time')
        self._ros_clock = node.get_clock()
        self.simulated = bool(self._ros_clock.ros_time_is_active)
        self._bridge = ClockBridge(self._wall, self.now)

    def now(self) -> float:
        """Return the present time of the device [s]."""
        return self._wall() if self.simulated else time.monotonic()

    def refresh(self) -> None:
        """Relate the clocks again: the node's may be slewed, or set."""
        self._bridge.refresh()

    def stamp(self, instant: float) -> int:
        """Return the stamp of an instant of the device [ns]."""
        self._bridge.look()
        return round(self._bridge.to_wall(instant) * NANOSECONDS)

    def _wall(self) -> float:
        return float(self._ros_clock.now().nanoseconds / NANOSECONDS)
