# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A publisher that counts, so that a recording can be checked for lost messages."""

from __future__ import annotations

from typing import Any, ClassVar

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from stewart_node_support.courier import Courier


class CountedPublisher:
    """Publish on one topic and count.

    It enters itself under `topic` in the node's ``published`` dictionary, where whoever holds
    the node finds every counter.

    Attributes:
        topic: Full name of the topic, namespace and remappings applied.
        message_type, qos: Of its messages, and what is offered.
        count: Messages published so far.
        retained: How many of the last ones a subscription that comes late is told.
        courier: Of all publishers of the process: who hands bytes over to the nodes of an executor
            and is told on which topics was published; None while no executor wants to know.
    """

    courier: ClassVar[Courier | None] = None

    def __init__(self, node: Node, message_type: Any, topic: str, qos: QoSProfile) -> None:
        self._publisher = node.create_publisher(message_type, topic, qos)
        self.topic, self.message_type, self.qos = (
            str(self._publisher.topic_name),
            message_type,
            qos,
        )
        self.count = 0
        latched = qos.durability == DurabilityPolicy.TRANSIENT_LOCAL
        self.retained = qos.depth if latched else 0
        if not hasattr(node, 'published'):
            node.published = {}
        node.published[topic] = self

    @property
    def subscribers(self) -> int:
        """How many subscriptions are matched at present."""
        # Without rclpy's lock on the handle, which takes ten times as long as the count.
        return int(self._publisher.handle.get_subscription_count())

    @property
    def received(self) -> bool:
        """Whether all that was published reliably has arrived at the subscriptions there are."""
        # With a timeout it would keep the interpreter lock.
        return bool(self._publisher.wait_for_all_acked(Duration()))

    def publish(self, message: Any) -> None:
        """Publish one message, or its bytes."""
        self.count += 1
        if not (self.retained or self.subscribers):
            # Nobody hears it, now or later.
            return
        courier = CountedPublisher.courier
        if courier is None:
            self.send(message)
        elif type(message) is not bytes or not courier.hand(self, message):
            self.send(message)
            courier.note(self.topic)

    def send(self, message: Any) -> None:
        """Give a message to the middleware, uncounted."""
        self._publisher.publish(message)
