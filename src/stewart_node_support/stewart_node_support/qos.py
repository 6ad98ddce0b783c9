# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How messages travel, one profile for both ends of a topic.

Publishers are reliable everywhere: a best-effort publisher cannot serve a reliable subscriber
(RViz, ros2 bag), and on one machine reliability costs nothing.
"""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

# Ten deep: a subscriber that was late for 50 ms at 200 Hz still gets every command. What is too
# old to be executed is found by its stamp, not by losing it here.
COMMAND_QOS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)

# Deeper, because an estimate is the better for every late sample.
SENSOR_QOS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=50,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)

# The same, and the last ones for who comes late: what was executed last is where a motion starts.
COMMANDED_QOS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=50,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

# Latched: who comes late still learns the present state.
STATE_QOS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)


def newest(qos: QoSProfile) -> QoSProfile:
    """Return a profile that is compatible with `qos` and keeps the newest message only."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=1,
        reliability=qos.reliability,
        durability=qos.durability,
    )
