# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The topics of a bag, their messages, and the places where a bag is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rosbags.interfaces import Connection, ConnectionExtRosbag2, Qos
from stewart_bags.errors import NotABag

NS = 1_000_000_000


@dataclass(frozen=True)
class Topic:
    """What a bag says about one topic.

    Attributes:
        name, msgtype: Fully qualified name and message type, as recorded.
        count: Messages in the bag; 0 for a damaged one.
        qos: What the publishers offered while it was recorded.
        definition, type_hash: Embedded definition and RIHS01 hash; empty where there is none.
    """

    name: str
    msgtype: str
    count: int = 0
    qos: tuple[Qos, ...] = ()
    definition: str = ''
    type_hash: str = ''


class RawMessage(NamedTuple):
    """One message as it lies in the bag.

    Attributes:
        time_ns: Bag time: when the recorder received it [ns since the epoch].
        data: CDR bytes, with their four bytes of encapsulation.
    """

    topic: str
    time_ns: int
    data: bytes


class Message(NamedTuple):
    """One decoded message: a `RawMessage` with a dataclass, whose arrays are numpy arrays."""

    topic: str
    time_ns: int
    message: Any

    @property
    def stamp_ns(self) -> int | None:
        """Stamp of the header [ns since the epoch]; None for a message without header."""
        header = getattr(self.message, 'header', None)
        return None if header is None else int(header.stamp.sec * NS + header.stamp.nanosec)


class Damage(NamedTuple):
    """A place where a file could not be read: file, offset [byte], and what is wrong there."""

    path: Path
    offset: int
    reason: str

    def __str__(self) -> str:
        """Say it in one sentence."""
        return f'{self.path.name} at byte {self.offset}: {self.reason}'


class Walk:
    """One pass over a file that may be damaged; `messages` of the subclasses goes through it.

    Attributes:
        topics: Topics seen so far, by the number that messages refer to.
        damages: What could not be read; complete after `messages` has ended.

    Raises:
        NotABag: If the file does not begin as one of its kind does.
    """

    MAGIC, KIND = b'', ''

    def __init__(self, path: Path) -> None:
        self.path = path
        self.topics: dict[int, Topic] = {}
        self.damages: list[Damage] = []
        with path.open('rb') as file:
            head = file.read(len(self.MAGIC))
        if not head or not self.MAGIC.startswith(head):
            raise NotABag(path, f'it does not begin as {self.KIND} does')

    def messages(self) -> Iterator[RawMessage]:
        """Yield all messages that can be read."""
        raise NotImplementedError

    def damage(self, at: int, reason: str) -> None:
        """Note what cannot be read from a place on [byte]."""
        self.damages.append(Damage(self.path, at, reason))


def topics_of(connections: list[Connection]) -> dict[str, Topic]:
    """Collect by name what the files of a bag say about its topics."""
    topics: dict[str, Topic] = {}
    for item in connections:
        before = topics.get(item.topic)
        qos = item.ext.offered_qos_profiles if isinstance(item.ext, ConnectionExtRosbag2) else []
        topics[item.topic] = Topic(
            name=item.topic,
            msgtype=item.msgtype,
            count=item.msgcount + (before.count if before else 0),
            qos=before.qos if before and before.qos else tuple(qos),
            definition=item.msgdef.data,
            type_hash=item.digest,
        )
    return topics
