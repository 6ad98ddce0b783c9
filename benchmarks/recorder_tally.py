# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the bags of one recorder after another hold every message published, and none twice."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from rclpy.node import Node
from stewart_bags.reading import Bag
from stewart_node_support.publishers import CountedPublisher


def published(nodes: Sequence[Node]) -> list[CountedPublisher]:
    """Return the publishers of nodes that count."""
    return [item for node in nodes for item in getattr(node, 'published', {}).values()]


@dataclass(frozen=True)
class Contents:
    """How many messages a bag has of each topic, and the messages of those that are latched."""

    counts: dict[str, int]
    told: dict[str, list[bytes]]

    @classmethod
    def of(cls, path: Path, latched: Collection[str]) -> Contents:
        """Read a closed bag."""
        with Bag(path) as bag:
            told: dict[str, list[bytes]] = {topic: [] for topic in latched if topic in bag.topics}
            for topic, messages in told.items():
                messages += [bytes(data) for _, _, data in bag.raw([topic])]
            return cls({topic: item.count for topic, item in bag.topics.items()}, told)


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

    def judge(self, nodes: Sequence[Node], contents: Contents) -> dict[str, int]:
        """Return what a bag lacks, by topic, and negative what it has in excess; else empty.

        Args:
            nodes: All that have published since the last bag, its recorder among them.
            contents: Of the next bag. Nothing is published until another recorder listens.
        """
        publishers, depths = published(nodes), Counter[str]()
        self.sent.clear()
        for item in publishers:
            self.sent[item.topic] += item.count - self._counted.get(item, 0)
            depths[item.topic] += item.retained
        self._counted = {item: item.count for item in publishers}
        lacking = {}
        for topic, sent in sorted(self.sent.items()):
            missing = sent - self._new_in(contents, topic, depths[topic])
            if missing:
                lacking[topic] = missing
        return lacking

    def _new_in(self, contents: Contents, topic: str, depth: int) -> int:
        """Return how many messages of a topic are in a bag and were not told again."""
        if not depth:
            return contents.counts.get(topic, 0)
        before = self._retained.get(topic, deque[bytes](maxlen=depth))
        again = set(before)
        new = [data for data in contents.told.get(topic, []) if data not in again]
        self._retained[topic] = deque([*before, *new], maxlen=depth)
        return len(new)


def latched(nodes: Sequence[Node]) -> set[str]:
    """Return the topics that tell a late subscription their last messages."""
    return {item.topic for item in published(nodes) if item.retained}
