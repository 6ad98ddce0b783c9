# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that wait until somebody asks for them.

A callback per message costs an interpreter more than the message; what is needed once a motion,
or only beside another message, is better fetched than delivered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from stewart_node_support.courier import Box


class Gate(CallbackGroup):
    """Callback group whose entities the executor waits for only while it is open."""

    def __init__(self) -> None:
        super().__init__()
        self.open = False

    def can_execute(self, entity: Any) -> bool:
        """Tell whether the executor may wait for an entity."""
        return self.open

    def beginning_execution(self, entity: Any) -> bool:
        """Tell whether an entity that is ready may be executed."""
        return self.open

    def ending_execution(self, entity: Any) -> None:
        """Keep no state."""


class Inbox:
    """Subscription that is asked, and never wakes the executor.

    Args:
        message_type, topic: What to, relative to the node's namespace.
        qos: Its depth is how many messages wait at most; the oldest are dropped.
    """

    def __init__(self, node: Node, message_type: Any, topic: str, qos: QoSProfile) -> None:
        self._newest: bytes | None = None
        self._box = Box(qos.depth)
        self._box.belong_to(
            node.create_subscription(
                message_type,
                topic,
                self._box,
                qos,
                callback_group=Gate(),
                # Their conditions wake the executor whenever a message arrives.
                event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
                raw=True,
            )
        )

    def newest(self) -> bytes | None:
        """Return the last serialised message that has ever arrived; None before the first."""
        for data in self.take():
            self._newest = data
        return self._newest

    def take(self) -> Iterator[bytes]:
        """Yield the serialised messages that have arrived since the last call, oldest first."""
        while (taken := self._box.take()) is not None:
            yield taken[0]
