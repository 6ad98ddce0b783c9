# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a walk through a damaged file brings to light."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from rosbags.interfaces import Qos


@dataclass(frozen=True)
class RescuedTopic:
    """A topic found in a damaged file.

    Attributes:
        name, msgtype: Name and message type.
        qos: What its publishers offered.
        definition, type_hash: Embedded definition and RIHS01 hash; empty where there is none.
    """

    name: str
    msgtype: str
    qos: tuple[Qos, ...] = ()
    definition: str = ''
    type_hash: str = ''


class Rescued(NamedTuple):
    """A message found in a damaged file.

    Attributes:
        number: Number of its topic within the file.
        time_ns: Bag time [ns since the epoch].
        data: As it lies in the file, possibly compressed.
    """

    number: int
    time_ns: int
    data: bytes


@dataclass(frozen=True)
class Damage:
    """A place where a file could not be read.

    Attributes:
        path: The file.
        offset: Where the unreadable begins [byte].
        reason: What is wrong there.
    """

    path: Path
    offset: int
    reason: str

    def __str__(self) -> str:
        return f'{self.path.name} at byte {self.offset}: {self.reason}'


class Walk(Protocol):
    """One pass over a damaged file of either storage."""

    topics: dict[int, RescuedTopic]
    damages: list[Damage]

    def messages(self) -> Iterator[Rescued]:
        """Go through all messages that can be read."""
        ...
