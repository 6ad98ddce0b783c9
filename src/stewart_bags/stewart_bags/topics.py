# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The topics of a bag, their messages, and the places where a bag is damaged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rosbags.interfaces import Connection, ConnectionExtRosbag2, Qos

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
        topic: Name of the topic.
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
