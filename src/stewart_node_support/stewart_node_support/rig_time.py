# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The time of a rig in another process, whose messages need its stamps."""

from __future__ import annotations

import math
import time

from rclpy.node import Node
from rclpy.time import Time
from rosgraph_msgs.msg import Clock
from stewart_node_support.qos import COMMAND_QOS, newest

# A rig in simulated time publishes /clock every few milliseconds until it ends [s].
SILENCE = 1.0


class RigTime:
    """Tell simulated time while a rig publishes ``/clock``, else the time of the node's clock.

    Unlike ``use_sim_time`` it needs no parameter and leaves the node's timers alone: a person's
    tool works with either kind of rig, and outlives both.
    """

    def __init__(self, node: Node) -> None:
        self._own = node.get_clock()
        self._told, self._heard = Clock(), -math.inf
        node.create_subscription(Clock, '/clock', self._take, newest(COMMAND_QOS))

    def now(self) -> Time:
        """Return the time for the stamp of a message to the rig."""
        if time.monotonic() - self._heard < SILENCE:
            return Time.from_msg(self._told.clock)
        return self._own.now()

    def _take(self, message: Clock) -> None:
        self._told, self._heard = message, time.monotonic()
