# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The two storages of rosbags, flushed on demand and labelled as rosbag2 of Jazzy labels its own.

rosbags writes an mcap chunk when it has grown to 1 MiB, and commits a sqlite3 database when it
closes it: a process that is killed loses minutes. Both storages are plugins behind a small
protocol, so only their ``flush`` is ours (docs/decisions/0030-bags-survive-a-kill.md), and two
labels: rosbag2 keeps the hash of the type with every mcap channel, and names the ROS distribution
whose message definitions a bag holds.
"""

from __future__ import annotations

from binascii import crc32
from collections import defaultdict
from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import chain
import os
from pathlib import Path
import re
import sqlite3
from struct import pack, Struct
from typing import Any, ClassVar, IO

import numpy as np
from numpy.typing import NDArray
from rosbags.interfaces import Connection
from rosbags.rosbag2 import CompressionMode, StoragePlugin, Writer, writer
from rosbags.rosbag2.storage_mcap import McapWriter, PendingChunk, write_channel, write_string
from rosbags.rosbag2.storage_sqlite3 import Sqlite3Writer
from stewart_tables.whole_files import sync, whole_file
import yaml

# Opcode and length of a record; then channel, sequence number, log time and publish time [ns].
RECORD, MESSAGE = Struct('<BQ'), Struct('<BQHIQQ')
MESSAGE_OPCODE, CHUNK_OPCODE, INDEX_OPCODE = 0x05, 0x06, 0x07
# Two times or a place and a size; size and checksum; channel and place; channel and size.
SPAN, CHECKED, PLACE, LIST = Struct('<QQ'), Struct('<QI'), Struct('<HQ'), Struct('<HI')
# The same head for many messages at once.
MESSAGE_HEAD = np.dtype(
    [
        ('opcode', 'u1'),
        ('length', '<u8'),
        ('channel', '<u2'),
        ('sequence', '<u4'),
        ('log_time', '<u8'),
        ('publish_time', '<u8'),
    ]
)
LARGEST_CHUNK, LARGEST_TRANSACTION = 2**20, 2**24
TYPE_HASH = 'topic_type_hash'
ROSBAGS_DISTRO, DISTRO = 'ros_distro: rosbags', 'ros_distro: jazzy'


class Metadata(yaml.CSafeDumper):
    """Writes YAML for readers of version 1.2, which take 1e3 for a number."""


Metadata.add_implicit_resolver(
    'tag:yaml.org,2002:float', re.compile(r'[-+]?[0-9]+[eE][-+]?[0-9]+'), list('-+0123456789')
)


class LibYaml:
    """Stands in for ruamel's YAML, which without its C part takes twenty times as long."""

    default_flow_style = False

    def __init__(self, typ: str) -> None:
        assert typ == 'safe', typ

    def dump(self, data: Any, stream: IO[str]) -> None:
        """Write plain data for readers of either version of YAML."""
        style = self.default_flow_style
        yaml.dump(data, stream, Metadata, default_flow_style=style, allow_unicode=True)


writer.YAML = LibYaml  # type: ignore[attr-defined, assignment]


class FlushedMcap(McapWriter):
    """An mcap file with checksums that can be brought up to date between its chunks."""

    def add_connection(self, connection: Connection, offered_qos_profiles: str) -> None:
        """Announce a channel with the hash of its type, which rosbags leaves out."""
        start = self.chunk.bio.tell()
        super().add_connection(connection, offered_qos_profiles)
        more = BytesIO()
        write_string(more, TYPE_HASH)
        write_string(more, connection.digest)
        channel = self.channels[-1]
        self.channels[-1] = channel._replace(metadata=channel.metadata + more.getvalue())
        self.chunk.bio.seek(start)
        self.chunk.bio.truncate()
        write_channel(self.chunk.bio, self.channels[-1], self.schemas)

    def write(self, connection: Connection, timestamp: int, data: bytes | memoryview) -> None:
        """Write a message as rosbags does, in a third of the time: its head is packed at once."""
        chunk, channel = self.chunk, connection.id
        self.message_start_time = min(timestamp, self.message_start_time)
        self.message_end_time = max(timestamp, self.message_end_time)
        chunk.message_start_time = min(timestamp, chunk.message_start_time)
        chunk.message_end_time = max(timestamp, chunk.message_end_time)
        self.channel_stats[channel] += 1
        chunk.msgs[channel].append((timestamp, chunk.bio.tell()))
        length = len(data) + MESSAGE.size - RECORD.size
        chunk.bio.write(MESSAGE.pack(MESSAGE_OPCODE, length, channel, 0, timestamp, timestamp))
        chunk.bio.write(data)
        if chunk.bio.tell() > LARGEST_CHUNK:
            self.close_chunk()

    def write_many(
        self,
        connections: Sequence[Connection],
        chosen: NDArray[np.int64],
        times: NDArray[np.int64],
        messages: Sequence[bytes],
    ) -> None:
        """Write n messages as `write` does, each to one of the connections, by increasing time."""
        sizes = np.array([len(message) for message in messages])
        heads = np.zeros(len(messages), MESSAGE_HEAD)
        channels = np.array([connection.id for connection in connections])[chosen]
        heads['opcode'], heads['channel'] = MESSAGE_OPCODE, channels
        heads['length'] = sizes + MESSAGE.size - RECORD.size
        heads['log_time'] = heads['publish_time'] = times
        packed = heads.tobytes()
        pieces = [packed[at : at + MESSAGE.size] for at in range(0, len(packed), MESSAGE.size)]
        ends = np.cumsum(sizes + MESSAGE.size)
        first = 0
        while first < len(messages):
            chunk, begun = self.chunk, int(ends[first - 1]) if first else 0
            place = chunk.bio.tell()
            # As many as `write` would have put into this chunk: it ends with the one that is over.
            full = np.searchsorted(ends, begun + LARGEST_CHUNK - place, side='right')
            last = min(int(full) + 1, len(messages))
            part = slice(first, last)
            chunk.bio.write(b''.join(chain(*zip(pieces[part], messages[part], strict=True))))
            begins = ends[part] - (sizes[part] + MESSAGE.size) - begun + place
            for channel in dict.fromkeys(channels[part].tolist()):
                mine = channels[part] == channel
                marks = zip(times[part][mine].tolist(), begins[mine].tolist(), strict=True)
                chunk.msgs[channel].extend(marks)
                self.channel_stats[channel] += int(np.count_nonzero(mine))
            begin, end = int(times[first]), int(times[last - 1])
            for kept in (self, chunk):
                kept.message_start_time = min(begin, kept.message_start_time)
                kept.message_end_time = max(end, kept.message_end_time)
            if chunk.bio.tell() > LARGEST_CHUNK:
                self.close_chunk()
            first = last

    def close(self, version: int, metadata: str) -> None:
        """Write the summary, in which the metadata is."""
        super().close(version, labelled(metadata))

    def close_chunk(self) -> None:
        """End the chunk as rosbags does, with its checksum, and its index written at once."""
        chunk, name = self.chunk, self.compression.encode()
        span = SPAN.pack(chunk.message_start_time, chunk.message_end_time)
        data = chunk.bio.getvalue()
        compressed = self.compressor(data)
        sizes = len(name).to_bytes(4, 'little') + name + len(compressed).to_bytes(8, 'little')
        start = self.bio.tell()
        self._write_record(
            CHUNK_OPCODE, span, CHECKED.pack(len(data), crc32(data)), sizes, compressed
        )
        end = self.bio.tell()
        places = b''
        for channel, marks in chunk.msgs.items():
            places += PLACE.pack(channel, self.bio.tell())
            # A third of the time that numpy takes for pairs of large numbers.
            index = pack(f'<{2 * len(marks)}Q', *chain.from_iterable(marks))
            self._write_record(INDEX_OPCODE, LIST.pack(channel, len(index)), index)
        summary = span + SPAN.pack(start, end - start)
        summary += len(places).to_bytes(4, 'little') + places
        summary += (self.bio.tell() - end).to_bytes(8, 'little') + sizes
        stored = BytesIO()
        stored.write(summary + len(data).to_bytes(8, 'little'))
        self.chunks.append(stored)
        self.chunk = PendingChunk(2**63 - 1, 0, BytesIO(), defaultdict(list))

    def _write_record(self, opcode: int, *parts: bytes) -> None:
        self.bio.write(RECORD.pack(opcode, sum(map(len, parts))))
        self.bio.writelines(parts)

    def flush(self) -> None:
        """End the chunk and wait until the disk has it."""
        # A chunk of definitions alone would have no time span; it waits for its first message.
        if self.chunk.msgs:
            self.close_chunk()
        self.bio.flush()
        os.fsync(self.bio.fileno())


class FlushedSqlite3(Sqlite3Writer):
    """A sqlite3 database that can be brought up to date between its transactions."""

    def __init__(self, path: Path, compression: CompressionMode) -> None:
        # Not as rosbags has it, by a URI: there a path with #, ? or % names another file.
        self.path = path / f'{path.name}.db3'
        # A bag is opened by one thread and written by another, never by both at once.
        self.conn = sqlite3.connect(self.path, check_same_thread=False)
        self.conn.executescript(self.SQLITE_SCHEMA)
        self.cursor = self.conn.cursor()
        self._uncommitted = 0
        # Otherwise half a transaction reaches the file, and a killed writer leaves a database
        # that can only be read together with its journal.
        self.conn.execute('PRAGMA cache_spill = OFF')

    def close(self, version: int, metadata: str) -> None:
        """Commit the last transaction and the metadata."""
        super().close(version, labelled(metadata))

    def write(self, connection: Connection, timestamp: int, data: bytes | memoryview) -> None:
        """Write a message; what is not committed is held in memory, and that has an end."""
        super().write(connection, timestamp, data)
        self._uncommitted += len(data)
        if self._uncommitted > LARGEST_TRANSACTION:
            self.flush()

    def flush(self) -> None:
        """Commit; sqlite waits until the disk has it."""
        self.conn.commit()
        self._uncommitted = 0


class FlushedWriter(Writer):
    """The writer of rosbags over these storages."""

    STORAGE_PLUGINS: ClassVar[Mapping[StoragePlugin, type]] = {  # type: ignore[misc]
        StoragePlugin.SQLITE3: FlushedSqlite3,
        StoragePlugin.MCAP: FlushedMcap,
    }

    def write(self, connection: Connection, timestamp: int, data: bytes | memoryview) -> None:
        """Write a message to a connection of this writer, which is not looked for once more."""
        storage = self.storage
        if storage is None or self.compression_mode == CompressionMode.MESSAGE:
            super().write(connection, timestamp, data)
            return
        storage.write(connection, timestamp, data)
        self.counts[connection.id] += 1
        self.min_timestamp = min(timestamp, self.min_timestamp)
        self.max_timestamp = max(timestamp, self.max_timestamp)

    def write_many(
        self,
        connections: Sequence[Connection],
        chosen: NDArray[np.int64],
        times: NDArray[np.int64],
        messages: Sequence[bytes],
    ) -> None:
        """Write n messages, each to one of the connections, by increasing time."""
        if not isinstance(self.storage, FlushedMcap):
            for index, time, message in zip(
                chosen.tolist(), times.tolist(), messages, strict=True
            ):
                self.write(connections[index], time, message)
            return
        self.storage.write_many(connections, chosen, times, messages)
        for connection, count in zip(
            connections, np.bincount(chosen, minlength=len(connections)).tolist(), strict=True
        ):
            self.counts[connection.id] += count
        if len(times):
            self.min_timestamp = min(int(times[0]), self.min_timestamp)
            self.max_timestamp = max(int(times[-1]), self.max_timestamp)

    def close(self) -> None:
        """Finish the bag and wait until the disk has all of it, its folder's name included."""
        super().close()
        folder = self.metapath.parent
        for item in (*folder.iterdir(), folder.parent):
            sync(item)
        text = labelled(self.metapath.read_text(encoding='utf-8'))
        with whole_file(self.metapath) as stream:
            stream.write(text)

    def flush(self) -> None:
        """Bring the storage up to date."""
        if isinstance(self.storage, (FlushedMcap, FlushedSqlite3)):
            self.storage.flush()


def labelled(metadata: str) -> str:
    """Return the metadata of a bag with the distribution of its definitions, not rosbags' name."""
    return metadata.replace(ROSBAGS_DISTRO, DISTRO)
