# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the bags of one recorder after another hold every message published, and none twice."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rclpy.node import Node
from stewart_bags.reading import Bag
from stewart_node_support.publishers import CountedPublisher

Retained: TypeAlias = dict[str, deque[bytes]]


def published(nodes: Sequence[Node]) -> list[CountedPublisher]:
    """Return the publishers of nodes that count."""
    return [item for node in nodes for item in getattr(node, 'published', {}).values()]


@dataclass(frozen=True)
class Contents:
    """What a bag holds beside what its recorder was told once more.

    A recorder that comes late is told the last messages of a latched topic again. They stand in
    the bag before its own, too, and are known by their bytes: so none of them hides a loss.

    Attributes:
        new: Messages by topic.
        last: Of topics that are latched, the messages that the next recorder will be told again.
    """

    new: dict[str, int]
    last: Retained

    @classmethod
    def of(cls, path: Path, told: Retained) -> Contents:
        """Read a closed bag whose recorder was told messages again."""
        with Bag(path) as bag:
            new = {topic: item.count for topic, item in bag.topics.items()}
            last = {topic: before.copy() for topic, before in told.items()}
            for topic in told.keys() & new.keys():
                again, new[topic] = set(told[topic]), 0
                for _, _, view in bag.raw([topic]):
                    if (data := bytes(view)) not in again:
                        last[topic].append(data)
                        new[topic] += 1
        return cls(new, last)


class RecorderTally:
    """What was published from bag to bag, and what the bags hold of it."""

    def __init__(self) -> None:
        self._counted: dict[CountedPublisher, int] = {}
        self._retained: Retained = {}
        self.sent = Counter[str]()
        """Messages published for the last bag, by topic."""

    def told(self, nodes: Sequence[Node]) -> Retained:
        """Return what the recorder of the next bag was told again, by latched topic."""
        depths = Counter[str]()
        for item in published(nodes):
            depths[item.topic] += item.retained
        return {
            topic: self._retained.get(topic, deque(maxlen=depth))
            for topic, depth in depths.items()
            if depth
        }

    def judge(self, nodes: Sequence[Node], contents: Contents) -> dict[str, int]:
        """Return what a bag lacks, by topic, and negative what it has in excess; else empty.

        Args:
            nodes: All that have published since the last bag, its recorder among them.
            contents: Of the next bag. Nothing is published until another recorder listens.
        """
        self.sent.clear()
        publishers = published(nodes)
        for item in publishers:
            self.sent[item.topic] += item.count - self._counted.get(item, 0)
        self._counted = {item: item.count for item in publishers}
        self._retained = contents.last
        lacking = {topic: n - contents.new.get(topic, 0) for topic, n in sorted(self.sent.items())}
        return {topic: missing for topic, missing in lacking.items() if missing}
