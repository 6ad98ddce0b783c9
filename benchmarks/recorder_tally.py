# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the bags of one recorder after another hold every message published, and none twice."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from rclpy.node import Node
from stewart_bags.reading import Bag
from stewart_node_support.publishers import CountedPublisher


def published(nodes: Sequence[Node]) -> list[CountedPublisher]:
    """Return the publishers of nodes that count."""
    return [item for node in nodes for item in getattr(node, 'published', {}).values()]


class RecorderTally:
    """What was published from bag to bag, and what the bags hold of it.

    A recorder that comes late is told the last messages of a latched topic again. They stand in
    the bag before its own, too, and are known by their bytes: so none of them hides a loss.
    """

    def __init__(self) -> None:
        self._counted: dict[CountedPublisher, int] = {}
        self._retained: dict[str, deque[bytes]] = {}
        self.sent = Counter[str]()
        """Messages published for the last bag, by topic."""

    def judge(self, nodes: Sequence[Node], bag: Bag) -> dict[str, int]:
        """Return what a bag lacks, by topic, and negative what it has in excess; else empty.

        Args:
            nodes: All that have published since the last bag, its recorder among them.
            bag: The next one, closed. Nothing is published until another recorder listens.
        """
        publishers, depths = published(nodes), Counter[str]()
        self.sent.clear()
        for item in publishers:
            self.sent[item.topic] += item.count - self._counted.get(item, 0)
            depths[item.topic] += item.retained
        self._counted = {item: item.count for item in publishers}
        lacking = {}
        for topic, sent in sorted(self.sent.items()):
            missing = sent - self._new_in(bag, topic, depths[topic])
            if missing:
                lacking[topic] = missing
        return lacking

    def _new_in(self, bag: Bag, topic: str, depth: int) -> int:
        """Return how many messages of a topic are in a bag and were not told again."""
        if topic not in bag.topics:
            return 0
        if not depth:
            return bag.topics[topic].count
        before = self._retained.get(topic, deque[bytes](maxlen=depth))
        told, last, count = set(before), before.copy(), 0
        for _, _, data in bag.raw([topic]):
            if bytes(data) not in told:
                last.append(bytes(data))
                count += 1
        self._retained[topic] = last
        return count
