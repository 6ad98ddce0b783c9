# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The steady clock that a device's instants are of, and the node's, of which stamps are."""

from __future__ import annotations

import time

from rclpy.node import Node
from stewart_driver.control.clock_bridge import ClockBridge
from stewart_driver.errors import ConfigurationError
from stewart_node_support.stamps import NANOSECONDS


class DeviceClock:
    """The machine's steady clock, or simulated time where the node's clock is overridden.

    Args:
        node: Who holds the device.

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
        return round(self._bridge.to_wall(instant) * NANOSECONDS)

    def _wall(self) -> float:
        return float(self._ros_clock.now().nanoseconds / NANOSECONDS)
