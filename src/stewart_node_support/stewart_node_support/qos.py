# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How messages travel, one profile for both ends of a topic of ours.

Publishers are reliable everywhere: a best-effort publisher cannot serve a reliable subscriber
(RViz, ros2 bag), and on one machine reliability costs nothing. What strangers may publish is
heard with `FOREIGN_QOS`.
"""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy


def _reliable(depth: int, *, latched: bool = False) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


# Ten deep: a subscriber that was late for 50 ms at 200 Hz still gets every command. What is too
# old to be executed is found by its stamp, not by losing it here.
COMMAND_QOS = _reliable(10)
# Deeper, because an estimate is the better for every late sample.
SENSOR_QOS = _reliable(50)
# The same, and the last ones for who comes late: what was executed last is where a motion starts.
COMMANDED_QOS = _reliable(50, latched=True)
# Latched: who comes late still learns the present state.
STATE_QOS = _reliable(1, latched=True)
# For who must not miss a state that lasted for less than it takes to be called back.
EVERY_STATE_QOS = _reliable(10, latched=True)

# Best effort hears reliable publishers, too, and drivers of sensors and gamepads are often best
# effort: a reliable subscription would not hear them.
FOREIGN_QOS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=SENSOR_QOS.depth,
    reliability=ReliabilityPolicy.BEST_EFFORT,
    durability=DurabilityPolicy.VOLATILE,
)


def newest(qos: QoSProfile) -> QoSProfile:
    """Return a profile that is compatible with `qos` and keeps the newest message only."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=1,
        reliability=qos.reliability,
        durability=qos.durability,
    )
