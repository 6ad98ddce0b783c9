# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Quality of service as the publishers of the suite offer it, for bags written without ROS."""

from __future__ import annotations

from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)

# What rmw calls infinite.
FOR_EVER = QosTime(9223372036, 854775807)


def offered(depth: int, *, latched: bool = False) -> Qos:
    """Return the profile of a reliable publisher that keeps the last messages."""
    return Qos(
        QosHistory.KEEP_LAST,
        depth,
        QosReliability.RELIABLE,
        QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE,
        FOR_EVER,
        FOR_EVER,
        QosLiveliness.AUTOMATIC,
        FOR_EVER,
        False,
    )
