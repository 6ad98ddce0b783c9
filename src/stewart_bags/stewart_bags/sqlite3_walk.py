# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Walk through a sqlite3 database page by page, needing neither its end nor its tree.

A bag only ever grows, so every leaf page of a table holds rows that are meant. sqlite itself
refuses a file that is shorter than its header says; the rows in the pages that are there are
read here from the documented format (https://sqlite.org/fileformat2.html).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
import struct

from rosbags.rosbag2.errors import ReaderError
from rosbags.rosbag2.metadata import parse_qos
from stewart_bags.topics import RawMessage, Topic, Walk

FILE_HEADER = 100
TABLE_LEAF = 0x0D
PAGE_SIZES = tuple(1 << power for power in range(9, 17))
LEAST_USABLE = 480
# Types of a stored value: NULL stands where the row number serves as the key.
NULL, INTEGERS, BLOBS = 0, {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}, 12

Value = int | bytes | str | None


class Sqlite3Walk(Walk):
    """One pass over a file, in the order of its row numbers."""

    MAGIC, KIND = b'SQLite format 3\0', 'a sqlite3 database'

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with path.open('rb') as file:
            head = file.read(FILE_HEADER).ljust(FILE_HEADER, b'\0')
        size = int.from_bytes(head[16:18], 'big')
        self._page = 65536 if size == 1 else size
        self._usable = self._page - head[20]
        if self._page not in PAGE_SIZES or self._usable < LEAST_USABLE:
            self._page = 0
        self._promised = int.from_bytes(head[28:32], 'big')
        self._count = path.stat().st_size // self._page if self._page else 0
        self._types: dict[str, tuple[str, str]] = {}
        # A page on which a row goes on belongs to this row alone. So a file whose rows go round in
        # circles takes no longer than a sound one.
        self._spent: set[int] = set()

    def messages(self) -> Iterator[RawMessage]:
        """Yield all messages that can be read, in the order of their row numbers."""
        with self.path.open('rb') as file:
            self._file = file
            rows: dict[int, tuple[int, int]] = {}
            for number in range(1, self._count + 1):
                self._sort_page(number, rows)
            self._name_definitions()
            for row in sorted(rows):
                yield from self._message(*rows[row])
        if self._promised > self._count or not self._count:
            reason = f'{self._count} of {self._promised} pages are there'
            self.damage(self._count * self._page, reason)

    def _sort_page(self, number: int, rows: dict[int, tuple[int, int]]) -> None:
        """Note where the messages of a page lie; take topics and definitions at once."""
        page = self._read(number)
        for at in _cells(page, FILE_HEADER if number == 1 else 0):
            try:
                row, kinds = _head(page, at)
                if len(kinds) < 4 or kinds[0] != NULL:
                    continue
                if len(kinds) == 4 and _is_message(kinds):
                    rows[row] = (number, at)
                elif _is_text(*kinds[1:]):
                    self._definition(row, self._values(page, at))
            except (LookupError, struct.error, TypeError, ValueError, ReaderError) as error:
                self.damage((number - 1) * self._page + at, f'a row makes no sense: {error}')

    def _definition(self, row: int, values: list[Value]) -> None:
        texts = [value for value in values[1:] if isinstance(value, str)]
        if texts[1] in {'ros2msg', 'ros2idl', 'unknown'}:
            self._types[texts[0]] = (texts[2], [*texts, ''][3])
            return
        qos = tuple(parse_qos([*texts, ''][3]))
        self.topics[row] = Topic(texts[0], texts[1], 0, qos, '', [*texts, '', ''][4])

    def _name_definitions(self) -> None:
        for row, topic in self.topics.items():
            text, digest = self._types.get(topic.msgtype, ('', ''))
            type_hash = topic.type_hash or digest
            self.topics[row] = replace(topic, definition=text, type_hash=type_hash)

    def _message(self, number: int, at: int) -> Iterator[RawMessage]:
        place = (number - 1) * self._page + at
        try:
            _, topic, time_ns, data = self._values(self._read(number), at)
        except (IndexError, struct.error, ValueError) as error:
            self.damage(place, f'a message is cut: {error}')
            return
        if topic not in self.topics:
            self.damage(place, f'a message belongs to the unknown topic {topic!r}')
        elif isinstance(topic, int) and isinstance(time_ns, int) and isinstance(data, bytes):
            yield RawMessage(self.topics[topic].name, time_ns, data)

    def _read(self, number: int) -> bytes:
        if not 0 < number <= self._count:
            raise ValueError(f'page {number} is not there')
        self._file.seek((number - 1) * self._page)
        return self._file.read(self._page)

    def _values(self, page: bytes, at: int) -> list[Value]:
        """Read the values of one row, with the pages on which it goes on."""
        payload = self._payload(page, at)
        kinds, place = _kinds(payload, 0)
        values: list[Value] = []
        for kind in kinds:
            length = _length(kind)
            values.append(_value(kind, payload[place : place + length]))
            place += length
        if place > len(payload):
            raise ValueError('a row is longer than its bytes')
        return values

    def _payload(self, page: bytes, at: int) -> bytes:
        size, at = _varint(page, at)
        _, at = _varint(page, at)
        # How much of a row stays on its page: section 1.6 of the file format.
        local = size
        if size > self._usable - 35:
            least = (self._usable - 12) * 32 // 255 - 23
            local = least + (size - least) % (self._usable - 4)
            local = local if local <= self._usable - 35 else least
        if size > self._count * self._page:
            raise ValueError(f'a row claims {size} bytes')
        out = bytearray(page[at : at + local])
        following = int.from_bytes(page[at + local : at + local + 4], 'big') if local < size else 0
        while len(out) < size:
            if following in self._spent:
                raise ValueError(f'page {following} belongs to another row, or twice to this one')
            self._spent.add(following)
            page = self._read(following)
            out += page[4 : min(self._usable, 4 + size - len(out))]
            following = int.from_bytes(page[:4], 'big')
        return bytes(out)


def _cells(page: bytes, start: int) -> Iterator[int]:
    """Yield where the rows of a leaf page of a table begin; nothing for other pages."""
    if len(page) < start + 8 or page[start] != TABLE_LEAF:
        return
    count = int.from_bytes(page[start + 3 : start + 5], 'big')
    if start + 8 + 2 * count > len(page):
        return
    for at in struct.unpack_from(f'>{count}H', page, start + 8):
        if start + 8 + 2 * count <= at < len(page):
            yield at


def _head(page: bytes, at: int) -> tuple[int, list[int]]:
    """Return row number and types of the values of a row."""
    _, at = _varint(page, at)
    row, at = _varint(page, at)
    return row, _kinds(page, at)[0]


def _kinds(data: bytes, at: int) -> tuple[list[int], int]:
    """Read the types of the values of a row; return them and the place behind."""
    size, place = _varint(data, at)
    kinds = []
    while place < at + size:
        kind, place = _varint(data, place)
        kinds.append(kind)
    return kinds, place


def _is_message(kinds: list[int]) -> bool:
    numbers = {*INTEGERS, 8, 9}
    return {kinds[1], kinds[2]} <= numbers and kinds[3] >= BLOBS and kinds[3] % 2 == 0


def _is_text(*kinds: int) -> bool:
    return all(kind > BLOBS and kind % 2 for kind in kinds)


def _length(kind: int) -> int:
    if kind >= BLOBS:
        return (kind - BLOBS) // 2
    return 8 if kind == 7 else INTEGERS.get(kind, 0)


def _value(kind: int, data: bytes) -> Value:
    if kind == NULL:
        return None
    if kind in {8, 9}:
        return kind - 8
    if kind in INTEGERS:
        return int.from_bytes(data, 'big', signed=True)
    return data.decode('utf-8') if kind % 2 else data


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of one to nine bytes; return it and the place behind it."""
    value = 0
    for index in range(8):
        byte = data[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    return value << 8 | data[at + 8], at + 9
