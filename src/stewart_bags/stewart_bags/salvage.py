# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Save from a damaged recording whatever can be read into a new bag, and say what was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, ExitStack
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
import shutil
import sqlite3
from tempfile import TemporaryDirectory

from stewart_bags.bag_files import (
    missing_files,
    room_for,
    SIDE_FILES,
    storage_files,
    StorageFile,
    unpack,
)
from stewart_bags.decompression import decompress_prefix, format_of, MESSAGE_LIMIT
from stewart_bags.errors import BagExists, NotABag, UnknownType
from stewart_bags.mcap_walk import McapWalk
from stewart_bags.overlaps import in_parts
from stewart_bags.sqlite3_walk import Sqlite3Walk
from stewart_bags.topics import Damage, NS, RawMessage, Topic, Walk
from stewart_bags.whole_bags import whole_bag
from stewart_bags.writing import BagWriter, Storage
from stewart_tables.errors import counted, listed

_WALKS: dict[str, type[Walk]] = {'mcap': McapWalk, 'sqlite3': Sqlite3Walk}

# So many messages take some tens of milliseconds.
PROGRESS_EVERY = 10_000

# No clock is set to an earlier time than 1 January 2000, and no simulation lasts until then [s].
CLOCKS_FROM = 946_684_800


@dataclass(frozen=True)
class SalvageReport:
    """What was saved.

    Attributes:
        counts: Messages saved, by topic.
        first_ns, last_ns: Bag time of the earliest and the latest of them [ns].
        damages: Places that could not be read; none if the bag was whole.
        part: Number of the part that was saved; None for all.
        parts: Number of parts of the same time that there are.
    """

    counts: dict[str, int]
    first_ns: int | None
    last_ns: int | None
    damages: tuple[Damage, ...]
    part: int | None
    parts: int

    @property
    def count(self) -> int:
        """Messages saved."""
        return sum(self.counts.values())

    def __str__(self) -> str:
        """Say it in one sentence."""
        span = ''
        if self.first_ns is not None and self.last_ns is not None:
            span = f' over {(self.last_ns - self.first_ns) / NS:.3f} s{_until(self.last_ns)}'
        if self.part is not None:
            span += f', part {self.part} of {self.parts}'
        elif self.parts > 1:
            span += f', {self.parts} parts of the same time, of which --part N saves one'
        lost = listed(self.damages, '; ') if self.damages else 'nothing was unreadable'
        return f'{counted(self.count, "message")} recovered{span}; {lost}'


def _until(time_ns: int) -> str:
    """Say a bag time as a date; empty where it was not that of a clock, as in simulated time."""
    if time_ns < CLOCKS_FROM * NS:
        return ''
    date = datetime.fromtimestamp(time_ns // NS, timezone.utc)
    return f', until {date:%Y-%m-%d %H:%M:%S}.{time_ns // 1_000_000 % 1000:03d} UTC'


class Salvage:
    """A pass over a damaged bag; use it as a context manager.

    Args:
        path: Directory or file, as for ``Bag``.

    Attributes:
        topics: Topics seen so far, by name.
        damages: What could not be read; complete after `messages` has ended.

    Raises:
        NotABag: If there is nothing that ever was a bag.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.topics: dict[str, Topic] = {}
        self._files = storage_files(self.path, complete=False)
        self.damages = [Damage(item, 0, 'it is not there') for item in missing_files(self.path)]
        self._stack = ExitStack()
        self._scratch: Path | None = None

    def __enter__(self) -> Salvage:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def messages(self) -> Iterator[RawMessage]:
        """Yield all messages that can be read, decompressed, in the order of the files."""
        for item in self._files:
            try:
                walk = _WALKS[item.storage](self._readable(item))
            except NotABag as error:
                self.damages.append(Damage(item.path, 0, error.reason))
                continue
            yield from self._plain(item, walk)
            self.damages += walk.damages

    def _readable(self, item: StorageFile) -> Path:
        """Return the file, or a copy that is decompressed or brought in order by sqlite."""
        if item.compression:
            path = self._scratch_directory() / item.plain_name
            failure = unpack(item, path)
            if failure is not None:
                self.damages.append(Damage(item.path, path.stat().st_size, failure))
            return path
        if item.storage == 'sqlite3' and item.left_behind():
            return self._rolled_back(item)
        return item.path

    def _plain(self, item: StorageFile, walk: Walk) -> Iterator[RawMessage]:
        for message in walk.messages():
            name, time_ns, data = message
            if name not in self.topics:
                self._note(walk)
            packed = format_of(data)
            if packed is None:
                yield message
                continue
            data, failure = decompress_prefix(data, packed, MESSAGE_LIMIT)
            if failure is None:
                yield RawMessage(name, time_ns, data)
            else:
                reason = f'the message of {name} at {time_ns} ns: {failure}'
                self.damages.append(Damage(item.path, 0, reason))
        self._note(walk)

    def _note(self, walk: Walk) -> None:
        for topic in walk.topics.values():
            self.topics.setdefault(topic.name, topic)

    def _scratch_directory(self) -> Path:
        if self._scratch is None:
            scratch = TemporaryDirectory(prefix='salvage_', dir=room_for(self._files))
            self._scratch = Path(self._stack.enter_context(scratch))
        return self._scratch

    def _rolled_back(self, item: StorageFile) -> Path:
        """Copy a database with what sqlite left beside it, and let sqlite bring it in order."""
        copy = self._scratch_directory() / item.path.name
        for suffix in ('', *SIDE_FILES):
            source = item.path.with_name(item.path.name + suffix)
            if source.is_file():
                shutil.copyfile(source, copy.with_name(copy.name + suffix))
        try:
            with closing(sqlite3.connect(copy)) as database:
                database.execute('PRAGMA journal_mode = DELETE').fetchall()
                database.execute('SELECT count(*) FROM sqlite_master').fetchall()
        except sqlite3.Error as error:
            self.damages.append(Damage(item.path, 0, f'its journal cannot be used: {error}'))
        return copy


def salvage(
    source: str | Path,
    output: str | Path,
    *,
    storage: Storage = Storage.MCAP,
    part: int | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> SalvageReport:
    """Save from a damaged recording whatever can be read into a new bag.

    Args:
        source: Directory or file of the damaged bag; it is not changed.
        output: Directory of the new bag; must not exist.
        part: Save only the part of this number, from 1, of a bag that goes over the same time
            twice; None for all.
        progress: Called now and then with the number of messages saved.

    Raises:
        NotABag: If there is nothing that ever was a bag.
        BagExists: If `output` is taken.
        NoRoom: If a file is compressed as a whole, and there is no room to unpack it.
        WriteFailed: If `output` takes no more; nothing is left of it.
    """
    if Path(output).exists():
        raise BagExists(Path(output))
    first = last = None
    saved, parts = 0, 1
    refused: set[str] = set()
    with Salvage(source) as pass_:
        with whole_bag(Path(output), storage) as writer:
            for number, (topic, time_ns, data) in in_parts(pass_.messages()):
                parts = max(parts, number)
                if part not in {None, number}:
                    continue
                if not _announced(writer, pass_, topic, refused):
                    continue
                writer.write_raw(topic, time_ns, data)
                saved += 1
                if saved % PROGRESS_EVERY == 0:
                    progress(saved)
                first = time_ns if first is None else min(first, time_ns)
                last = time_ns if last is None else max(last, time_ns)
            for topic in pass_.topics:
                _announced(writer, pass_, topic, refused)
        return SalvageReport(dict(writer.counts), first, last, tuple(pass_.damages), part, parts)


def _announced(writer: BagWriter, pass_: Salvage, topic: str, refused: set[str]) -> bool:
    """Add a topic to the new bag; one without any definition cannot be kept and is reported."""
    if topic in writer.counts or topic in refused:
        return topic not in refused
    found = pass_.topics[topic]
    try:
        writer.add_topic(
            topic,
            found.msgtype,
            qos=found.qos,
            definition=found.definition,
            type_hash=found.type_hash,
        )
    except UnknownType as error:
        refused.add(topic)
        pass_.damages.append(Damage(pass_.path, 0, f'{topic} is left out, {error}'))
    return topic not in refused
