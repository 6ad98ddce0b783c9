# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Walk through an mcap file record by record, needing neither its end nor its index.

Record numbers and layouts as in the MCAP specification (https://mcap.dev/spec). Every record is
an opcode (1 byte), a length (8 bytes) and so many bytes; chunks hold records of the same form.
"""

from __future__ import annotations

from binascii import crc32
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from os import SEEK_END
from pathlib import Path
import struct

from rosbags.rosbag2.errors import ReaderError
from rosbags.rosbag2.metadata import parse_qos
from rosbags.rosbag2.storage_mcap import read_string
from stewart_bags.decompression import decompress_prefix
from stewart_bags.topics import RawMessage, Topic, Walk
from stewart_tables.errors import counted

HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK = range(1, 7)
DATA_END, LAST_OPCODE = 0x0F, 0x0F
RECORD = struct.Struct('<BQ')
MESSAGE_HEAD = struct.Struct('<HIQQ')
CHUNK_HEAD = struct.Struct('<QQQI')
# rosbag2 makes chunks of 768 kB, we of 1 MiB; a length far beyond is a corrupt one.
CHUNK_LIMIT = 1 << 30
# Opcode and length, place of the summary and two numbers more, and the magic once more.
FOOTER_RECORD = struct.Struct('<BQQQI8s')
NONSENSE = (struct.error, UnicodeDecodeError, ReaderError, KeyError, ValueError)


class McapWalk(Walk):
    """One pass over a file, in its order."""

    MAGIC, KIND = b'\x89MCAP0\r\n', 'an mcap file'

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._schemas: dict[int, tuple[str, str]] = {}
        # Why nothing of a channel is taken, by its number.
        self._refused: dict[int, str] = {}
        self._recalled = False
        # Place of the first message that is not taken, and how many are not, by channel and why.
        self._lost: dict[tuple[int, str], tuple[int, int]] = {}

    def messages(self) -> Iterator[RawMessage]:
        """Yield all messages that can be read, in the order of the file."""
        yield from self._walk()
        for (number, why), (at, count) in self._lost.items():
            lost = counted(count, 'message')
            self.damage(at, f'{lost} of channel {number} left out: {why}')

    def _walk(self) -> Iterator[RawMessage]:
        size = self.path.stat().st_size
        with self.path.open('rb') as file:
            at = file.seek(len(self.MAGIC))
            while at < size:
                head = file.read(RECORD.size)
                opcode, length = RECORD.unpack(head.ljust(RECORD.size, b'\0'))
                if len(head) == RECORD.size and not 0 < opcode <= LAST_OPCODE:
                    self.damage(at, f'no mcap record begins with {opcode:#04x}')
                    return
                if opcode in {DATA_END, FOOTER}:
                    return
                whole = len(head) == RECORD.size and length <= size - at - RECORD.size
                # What follows is index and summary, or a record that has to be looked into.
                wanted = min(length, size - at - RECORD.size, CHUNK_LIMIT)
                if opcode in {SCHEMA, CHANNEL, MESSAGE, CHUNK}:
                    yield from self._record(opcode, file.read(max(wanted, 0)), at, whole=whole)
                if not whole:
                    self.damage(at, 'the file ends inside a record')
                    return
                at = file.seek(at + RECORD.size + length)
        self.damage(size, 'the file has no end mark')

    def _record(self, opcode: int, body: bytes, at: int, *, whole: bool) -> Iterator[RawMessage]:
        try:
            if opcode == CHUNK:
                yield from self._chunk(body, at, whole=whole)
            elif whole and opcode == MESSAGE:
                yield from self._message(body, at)
            elif whole:
                self._definition(opcode, body)
        except NONSENSE as error:
            if whole:
                self.damage(at, f'a record makes no sense: {error}')

    def _chunk(self, body: bytes, at: int, *, whole: bool) -> Iterator[RawMessage]:
        _, _, plain_size, crc = CHUNK_HEAD.unpack_from(body)
        record = BytesIO(body)
        record.seek(CHUNK_HEAD.size)
        compression = read_string(record)
        packed = body[record.tell() + 8 :]
        if plain_size > CHUNK_LIMIT:
            self.damage(at, f'a chunk claims to hold {plain_size} bytes')
            return
        if compression in {'zstd', 'lz4'}:
            plain, failure = decompress_prefix(packed, compression, plain_size + 1)
        elif compression:
            plain, failure = b'', f'unknown compression {compression!r}'
        else:
            plain, failure = packed[:plain_size], None
        if whole and failure is None and len(plain) != plain_size:
            failure = f'a chunk has {len(plain)} bytes in place of {plain_size}'
        if whole and failure is None and crc and crc32(plain) != crc:
            failure = 'the checksum of a chunk is wrong'
        if whole and failure is not None:
            # Decompressed garbage can look like messages: nothing of it is taken.
            self.damage(at, failure)
            return
        yield from self._inside(plain, at)

    def _inside(self, plain: bytes, at: int) -> Iterator[RawMessage]:
        place = 0
        while place + RECORD.size <= len(plain):
            opcode, length = RECORD.unpack_from(plain, place)
            place += RECORD.size
            if opcode not in {SCHEMA, CHANNEL, MESSAGE}:
                self.damage(at, f'a chunk holds a record of the kind {opcode:#04x}')
                return
            if length > len(plain) - place:
                return
            yield from self._record(opcode, plain[place : place + length], at, whole=True)
            place += length

    def _message(self, body: bytes, at: int) -> Iterator[RawMessage]:
        number, _, log_time, _ = MESSAGE_HEAD.unpack_from(body)
        if number not in self.topics and not self._recalled:
            self._recall()
        if number not in self.topics:
            self._lose(at, number, self._refused.get(number, 'the channel is unknown'))
        elif log_time >= 1 << 63:
            self._lose(at, number, 'impossible time')
        else:
            yield RawMessage(self.topics[number].name, log_time, body[MESSAGE_HEAD.size :])

    def _lose(self, at: int, number: int, why: str) -> None:
        """Count a message that is not taken: a damage of its own would be told for each."""
        first, count = self._lost.get((number, why), (at, 0))
        self._lost[number, why] = first, count + 1

    def _recall(self) -> None:
        """Take from the summary what a chunk said that is damaged; what was said there counts."""
        self._recalled, said = True, dict(self.topics)
        with suppress(*NONSENSE):
            for opcode, body in _summary(self.path):
                self._definition(opcode, body)
        self.topics.update(said)

    def _definition(self, opcode: int, body: bytes) -> None:
        record = BytesIO(body)
        number, schema = struct.unpack_from('<HH', record.getbuffer())
        if opcode == SCHEMA:
            record.seek(2)
            name, _, text = (read_string(record) for _ in range(3))
            self._schemas[number] = (name, text)
            return
        record.seek(4)
        topic, encoding = read_string(record), read_string(record)
        if encoding != 'cdr':
            self._refused[number] = f'{topic} has the encoding {encoding!r}, not cdr'
            return
        if schema not in self._schemas:
            self._refused[number] = f'{topic} has the unknown schema {schema}'
            return
        (size,) = struct.unpack('<I', record.read(4))
        end, metadata = min(record.tell() + size, len(body)), {}
        while record.tell() < end:
            key = read_string(record)
            metadata[key] = read_string(record)
        name, text = self._schemas[schema]
        qos = tuple(parse_qos(metadata.get('offered_qos_profiles', '')))
        type_hash = metadata.get('topic_type_hash', '')
        self.topics[number] = Topic(topic, name, 0, qos, text, type_hash)


def _summary(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield opcode and body of the schemas and channels that a closed file repeats at its end."""
    with path.open('rb') as file:
        end = file.seek(0, SEEK_END) - FOOTER_RECORD.size
        file.seek(max(end, 0))
        opcode, _, at, _, _, magic = FOOTER_RECORD.unpack(file.read())
        if opcode != FOOTER or magic != McapWalk.MAGIC or not at:
            return
        while at + RECORD.size <= end:
            file.seek(at)
            opcode, length = RECORD.unpack(file.read(RECORD.size))
            at += RECORD.size + length
            if opcode in {SCHEMA, CHANNEL} and at <= end:
                yield opcode, file.read(length)
