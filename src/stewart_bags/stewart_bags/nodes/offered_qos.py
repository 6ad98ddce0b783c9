# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Quality of service between the graph, the subscriptions of a recorder and the bag.

The numbers of the policies are those of rmw on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from stewart_bags.playback import is_latched
from stewart_bags.topics import NS, Topic

# Five seconds at 200 Hz: as long as an executor may be busy with something else.
DEPTH = 1000


def to_bag(profile: QoSProfile) -> Qos:
    """Write down a profile as rosbag2 does."""
    return Qos(
        QosHistory(int(profile.history)),
        int(profile.depth),
        QosReliability(int(profile.reliability)),
        QosDurability(int(profile.durability)),
        _time(profile.deadline),
        _time(profile.lifespan),
        QosLiveliness(int(profile.liveliness)),
        _time(profile.liveliness_lease_duration),
        bool(profile.avoid_ros_namespace_conventions),
    )


def matching(offers: Sequence[Any]) -> QoSProfile:
    """Make the profile of a subscription that every publisher of a topic can serve."""
    reliable = all(item.reliability == ReliabilityPolicy.RELIABLE for item in offers)
    latched = all(item.durability == DurabilityPolicy.TRANSIENT_LOCAL for item in offers)
    return _profile(reliable=reliable, latched=latched)


def to_play(topic: Topic) -> QoSProfile:
    """Make the profile of the publisher that plays a topic.

    Best effort only if that is all that was offered, latched if all publishers were. Deadlines and
    lifespans are left out: at another rate they would be wrong.
    """
    best_effort = bool(topic.qos) and all(
        item.reliability == QosReliability.BEST_EFFORT for item in topic.qos
    )
    return _profile(reliable=not best_effort, latched=is_latched(topic))


def _profile(*, reliable: bool, latched: bool) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=(DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE),
    )


def _time(duration: Duration) -> QosTime:
    return QosTime(*divmod(int(duration.nanoseconds), NS))
