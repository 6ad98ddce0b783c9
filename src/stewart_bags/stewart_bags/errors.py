# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with a bag.

BagError
├── NotABag               there is no bag under this path
├── DamagedBag            the bag was not closed, was cut or is corrupt: rescue it first
│   └── ForeignBag        it has other things than ROS 2 messages: rescue takes those out
├── NoRoom                there is no room to unpack a compressed file
├── UndecodableMessage    the bytes of a message do not fit its type
├── MissingTopic          the bag has no such topic
├── MissingJoints         the joints of a topic have other names
├── WrongType             a topic carries another type than the caller can use
├── UnknownType           nobody here knows the definition of a message type
├── BagExists             the output path is taken
├── BagInWork             another run is writing it
└── WriteFailed           the storage took no more; what was flushed before stays readable
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import difflib
from pathlib import Path

from stewart_tables.errors import listed, StewartError


class BagError(StewartError):
    """Root of all errors about bags; `reason` says it without the path."""

    def __init__(self, message: str, reason: str = '') -> None:
        super().__init__(message)
        self.reason = reason or message


class NotABag(BagError):
    """There is no bag under this path."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f'{path}: not a bag, {reason}', reason)


class DamagedBag(BagError):
    """The bag was not closed, was cut or is corrupt; `count` messages up to `time_ns` are read."""

    WHAT = 'damaged'

    def __init__(
        self, path: Path, reason: str, *, count: int = 0, time_ns: int | None = None
    ) -> None:
        place = '' if time_ns is None else f' after {count} messages, the last at {time_ns} ns'
        super().__init__(
            f'{path}: {self.WHAT}{place} ({reason}); '
            f'`stewart bag {path} --rescue NEW` saves what is readable',
            reason,
        )
        self.count, self.time_ns = count, time_ns


class ForeignBag(DamagedBag):
    """The bag has other things than ROS 2 messages, or does not say that it has none."""

    WHAT = 'not of ROS 2 messages alone'


class NoRoom(BagError):
    """There is no room to unpack a compressed file."""

    def __init__(self, path: Path, folder: Path, reason: str) -> None:
        super().__init__(
            f'{path} cannot be unpacked in {folder} ({reason}): '
            'let TMPDIR name a folder with more room'
        )


class UndecodableMessage(BagError):
    """The bytes of a message do not fit its type; `count` messages before it do."""

    def __init__(
        self, path: Path, topic: str, msgtype: str, time_ns: int, count: int, reason: str
    ) -> None:
        what = f'message {count + 1} of {topic} at {time_ns} ns is no {msgtype} ({reason})'
        super().__init__(f'{path}: {what}', what)


class MissingTopic(BagError):
    """The bag has no such topic."""

    def __init__(self, path: Path, topic: str, available: Iterable[str]) -> None:
        there = sorted(available)
        near = difflib.get_close_matches(topic, there, n=len(there) or 1, cutoff=0.4)
        names = near + [name for name in there if name not in near]
        super().__init__(f'{path}: no topic {topic}, there are {listed(names)}')


class MissingJoints(BagError):
    """The joints of a topic have other names."""

    def __init__(
        self, path: Path, topic: str, wanted: Sequence[str], there: Sequence[str]
    ) -> None:
        names = listed(there) if there else 'without names'
        reason = f'{topic} has no joints {wanted[0]} ... {wanted[-1]}, they are {names}'
        super().__init__(f'{path}: {reason}', reason)


class WrongType(BagError):
    """A topic carries another type than the caller can use."""

    def __init__(self, path: Path, topic: str, found: str, expected: Iterable[str]) -> None:
        reason = f'{topic} carries {found}, expected {" or ".join(expected)}'
        super().__init__(f'{path}: {reason}', reason)


class UnknownType(BagError):
    """Nobody here knows the definition of a message type."""

    def __init__(self, msgtype: str, reason: str) -> None:
        super().__init__(f'message type {msgtype} is unknown: {reason}')


class BagExists(BagError):
    """The output path is taken."""

    def __init__(self, path: Path) -> None:
        super().__init__(f'{path} exists already and is not overwritten')


class BagInWork(BagError):
    """Another run is writing this bag."""

    def __init__(self, path: Path) -> None:
        super().__init__(f'{path}: another run is writing it')


class WriteFailed(BagError):
    """The storage took no more; what was flushed before stays readable if it is kept."""

    def __init__(self, path: Path, written: int, reason: str, *, kept: bool = True) -> None:
        advice = ''
        if written and kept:
            advice = f'; `stewart bag {path} --rescue NEW` reads what was flushed'
        super().__init__(
            f'{path}: cannot write on after {written} messages ({reason}){advice}', reason
        )
        self.written = written
