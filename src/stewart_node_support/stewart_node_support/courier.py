# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes that are handed over where both ends are nodes of one executor.

The middleware copies a message into its history and once more for every subscription, which costs
each end some ten microseconds, also within a process. Bytes never change, so all ends can share
them. Where anybody else hears a topic as well, all go through the middleware, and so does what it
retains for who comes late: it would tell what is old otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from threading import get_ident
from time import time_ns
from typing import Any, Protocol

from rclpy.exceptions import InvalidHandle
from rclpy.qos import qos_check_compatible, QoSCompatibility, QoSProfile

UNKNOWN = 1 << 40


class Box:
    """Serialised messages for one raw subscription: those handed over, then the middleware's.

    Args:
        depth: How many messages wait at most, and in the middleware as many again; the oldest are
            dropped. 0: all of them.

    Attributes:
        courier: Who hands over; None as long as the node is in no executor that does.
        wet: How many messages somebody in this process may have left in the middleware.
    """

    def __init__(self, depth: int) -> None:
        self._handed: deque[tuple[bytes, int]] = deque(maxlen=depth or None)
        self._subscription: Any = None
        self.courier: Courier | None = None
        self.wet = UNKNOWN

    def __call__(self, data: bytes) -> None:
        """Hand over a message: a box may be a subscription's callback, and is found there."""
        self._handed.append((data, time_ns()))

    def __len__(self) -> int:
        """Return how many messages wait that were handed over."""
        return len(self._handed)

    def belong_to(self, subscription: Any) -> None:
        """Take note of the subscription; before that nothing can be taken."""
        self._subscription = subscription

    def hears(self, sender: Sender) -> bool:
        """Tell whether the middleware matches the subscription with a publisher on its topic."""
        subscription = self._subscription
        if subscription.msg_type is not sender.message_type:
            return False
        fit, _ = qos_check_compatible(sender.qos, subscription.qos_profile)
        return bool(fit != QoSCompatibility.ERROR)

    def take(self) -> tuple[bytes, int] | None:
        """Return the oldest message and when it came [ns since the epoch]; None if there is none.

        The middleware may know no time, which is told as 0.
        """
        if self._handed:
            return self._handed.popleft()
        if self.wet > 0 or self.courier is None or self.courier.asks:
            return self._ask()
        return None

    def pull(self) -> None:
        """Take what the middleware has, which is older than what is handed over next."""
        # A subscription that was destroyed has nothing.
        with suppress(InvalidHandle):
            while (taken := self._ask()) is not None:
                self._handed.append(taken)

    def _ask(self) -> tuple[bytes, int] | None:
        handle, message_type = self._subscription.handle, self._subscription.msg_type
        with handle:
            taken = handle.take_message(message_type, True)
        if taken is None:
            self.wet = 0
            return None
        self.wet -= 1
        data, info = taken
        return data, info.get('received_timestamp', 0)


class Sender(Protocol):
    """A publisher as the courier sees it."""

    topic: str
    message_type: Any
    qos: QoSProfile
    retained: int

    @property
    def subscribers(self) -> int:
        """How many subscriptions are matched at present."""


class Courier:
    """Hand the bytes of one executor's publishers over to its subscriptions.

    Attributes:
        sent: Full names of the topics on which was published since the executor looked, in order.
        thread: Only what is published in the executor's thread is handed over.
        open: Whether all subscriptions of the executor are known.
        asks: Whether a box asks the middleware, though nobody of this process has left anything.
    """

    def __init__(self) -> None:
        self.sent: deque[str] = deque()
        self.thread = 0
        self.open, self.asks = False, True
        self._boxes: dict[str, list[Box]] = {}
        # Those of them that a sender reaches.
        self._reached: dict[Sender, list[Box]] = {}

    def serve(self, boxes: Iterable[tuple[Any, Box]]) -> None:
        """Hand over to these from now on: all subscriptions that the executor knows of."""
        self._boxes, self._reached = {}, {}
        for subscription, box in boxes:
            box.courier, box.wet = self, UNKNOWN
            self._boxes.setdefault(subscription.topic_name, []).append(box)
        self.open = True

    def hand(self, sender: Sender, data: bytes) -> bool:
        """Hand a message over; return False if it has to go through the middleware."""
        if sender.retained or not self.open or self.thread != get_ident():
            return False
        boxes = self._boxes_of(sender)
        if not boxes or sender.subscribers != len(boxes):
            return False
        for box in boxes:
            if box.wet > 0:
                box.pull()
            box(data)
        self.sent.append(sender.topic)
        return True

    def note(self, topic: str) -> None:
        """Take note of a message that went through the middleware."""
        for box in self._boxes.get(topic, ()):
            box.wet = max(box.wet, 0) + 1
        self.sent.append(topic)

    def close(self) -> None:
        """Leave everything to the middleware."""
        self.open = False
        for boxes in self._boxes.values():
            for box in boxes:
                box.courier = None
        self._boxes, self._reached = {}, {}

    def _boxes_of(self, sender: Sender) -> list[Box]:
        """Return the boxes that a sender reaches."""
        found = self._reached.get(sender)
        if found is None:
            boxes = self._boxes.get(sender.topic, ())
            found = self._reached[sender] = [box for box in boxes if box.hears(sender)]
        return found
