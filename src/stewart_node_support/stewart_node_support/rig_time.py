# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The time of a rig in another process, whose messages need its stamps."""

from __future__ import annotations

import math
import time

from rclpy.node import Node
from rclpy.time import Time
from rosgraph_msgs.msg import Clock
from stewart_interfaces.msg import DriverState
from stewart_node_support.qos import COMMAND_QOS, newest, STATE_QOS

# A rig in simulated time publishes /clock every few milliseconds until it ends [s].
SILENCE = 1.0
# Simulated time begins near 0; every machine's clock has passed this second of 2001.
LATEST_SIMULATED = 1_000_000_000


class RigTime:
    """Tell simulated time while a rig publishes ``/clock``, else the time of the node's clock.

    Whoever plays a bag publishes ``/clock``, too: a rig whose ``driver/state`` has a stamp of real
    time does not follow it.
    Unlike ``use_sim_time`` it needs no parameter and leaves the node's timers alone: a person's
    tool works with either kind of rig, and outlives both.
    """

    def __init__(self, node: Node) -> None:
        self._own = node.get_clock()
        self._told, self._heard = Clock(), -math.inf
        self._rig_is_real = False
        node.create_subscription(Clock, '/clock', self._take, newest(COMMAND_QOS))
        node.create_subscription(DriverState, 'driver/state', self._on_state, STATE_QOS)

    def now(self) -> Time:
        """Return the time for the stamp of a message to the rig."""
        if not self._rig_is_real and time.monotonic() - self._heard < SILENCE:
            return Time.from_msg(self._told.clock)
        return self._own.now()

    def _take(self, message: Clock) -> None:
        self._told, self._heard = message, time.monotonic()

    def _on_state(self, message: DriverState) -> None:
        self._rig_is_real = message.header.stamp.sec > LATEST_SIMULATED
