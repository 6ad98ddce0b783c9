# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Write a bag that rosbag2 plays, from serialised or from decoded messages, without ROS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
import shutil
import sqlite3
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from rosbags.interfaces import Connection, Qos
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, WriterError
from stewart_bags.definitions import hash_of, jazzy_typestore, require
from stewart_bags.errors import BagError, BagExists, WriteFailed
from stewart_bags.storages import FlushedWriter

VERSION: Literal[9] = 9


class Storage(Enum):
    """How messages lie on disk."""

    MCAP = 'mcap'
    SQLITE3 = 'sqlite3'


class Compression(Enum):
    """What is compressed, always with zstd."""

    NONE = 'none'
    CHUNK = 'chunk'
    MESSAGE = 'message'
    FILE = 'file'


# rosbag2 refuses mcap files with compressed messages, and a database has no chunks.
ALLOWED = {
    Storage.MCAP: (Compression.NONE, Compression.CHUNK, Compression.FILE),
    Storage.SQLITE3: (Compression.NONE, Compression.MESSAGE, Compression.FILE),
}
_MODES = {
    Compression.NONE: CompressionMode.NONE,
    Compression.CHUNK: CompressionMode.STORAGE,
    Compression.MESSAGE: CompressionMode.MESSAGE,
    Compression.FILE: CompressionMode.FILE,
}
# From the file system, and from rosbags.
FAILURES = (OSError, sqlite3.Error, WriterError)


class CompressionNotAllowed(BagError):
    """The storage cannot hold this compression."""

    def __init__(self, storage: Storage, compression: Compression) -> None:
        there = ', '.join(item.value for item in ALLOWED[storage])
        super().__init__(
            f'{storage.value} cannot hold compression {compression.value}, allowed are {there}'
        )


class BagWriter:
    """A new bag, in a directory to be made, open for writing; use it as a context manager.

    What was written before the last `flush` is on disk, whatever happens to the process or to the
    power; mcap puts each full chunk there by itself. Where nothing was, as the disk was full from
    the beginning, no directory is left. `counts` has the messages written, by topic.

    Raises:
        BagExists: If the path is taken.
        CompressionNotAllowed: If the storage cannot hold that compression.
        WriteFailed: If the file system takes no more, here and in every method.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        storage: Storage = Storage.MCAP,
        compression: Compression = Compression.NONE,
        custom_data: dict[str, str] | None = None,
    ) -> None:
        self.path = Path(path)
        if compression not in ALLOWED[storage]:
            raise CompressionNotAllowed(storage, compression)
        if self.path.exists() or self.path.is_symlink():
            raise BagExists(self.path)
        self.counts: dict[str, int] = {}
        self._connections: dict[str, Connection] = {}
        self._failure: WriteFailed | None = None
        self.typestore = jazzy_typestore()
        plugin = StoragePlugin[storage.name]
        self._writer = FlushedWriter(self.path, version=VERSION, storage_plugin=plugin)
        self._writer.set_compression(_MODES[compression], CompressionFormat.ZSTD)
        for key, value in {'written_by': 'stewart_bags', **(custom_data or {})}.items():
            self._writer.set_custom_data(key, value)
        with self._writes():
            self._writer.open()

    def __enter__(self) -> BagWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            with suppress(WriteFailed):
                self.close()

    @property
    def count(self) -> int:
        """Messages written so far."""
        return sum(self.counts.values())

    @property
    def size(self) -> int:
        """Bytes on disk so far."""
        found = 0
        for item in self.path.glob('*'):
            # sqlite's journal comes and goes.
            with suppress(OSError):
                found += item.stat().st_size
        return found

    @property
    def closed(self) -> bool:
        """Whether nothing can be written any more."""
        return self._writer.storage is None

    def add_topic(
        self,
        topic: str,
        msgtype: str,
        *,
        qos: Sequence[Qos] = (),
        definition: str | None = None,
        type_hash: str | None = None,
    ) -> None:
        """Announce a topic; nothing happens if it is there already.

        Args:
            topic, msgtype: Fully qualified name, and type such as ``sensor_msgs/msg/Imu``.
            qos: What its publishers offer; a player offers the same.
            definition, type_hash: Full definition and RIHS01 hash, where they are known better
                than from the type store (when a bag is copied).

        Raises:
            UnknownType: If neither is given and there is no definition here.
        """
        if topic in self._connections:
            return
        if definition and not type_hash:
            type_hash = hash_of(definition, msgtype)
        if not (definition and type_hash):
            definition = type_hash = None
            require(self.typestore, msgtype)
        with self._writes():
            self._connections[topic] = self._writer.add_connection(
                topic,
                msgtype,
                typestore=self.typestore,
                msgdef=definition,
                rihs01=type_hash,
                offered_qos_profiles=list(qos),
            )
        self.counts[topic] = 0

    def write_raw(self, topic: str, time_ns: int, data: bytes | memoryview) -> None:
        """Write one serialised message to a topic that was added; KeyError for others.

        Args:
            time_ns: Bag time: when it was received [ns since the epoch].
            data: CDR bytes with encapsulation.
        """
        connection = self._connections[topic]
        # Not `_writes`, which costs as much as the message does.
        if self._failure is not None:
            raise self._failure
        try:
            self._writer.write(connection, time_ns, data)
        except FAILURES as error:
            raise self._failed(error) from error
        self.counts[topic] += 1

    def write_blocks(
        self, blocks: Sequence[tuple[str, NDArray[np.int64], Sequence[bytes]]]
    ) -> None:
        """Write many serialised messages in the order of their bag times.

        A block is a topic that was added, the bag times of its messages [ns], and their CDR bytes.
        Of messages with one time those of the earlier block come first.
        """
        chosen = [self._connections[topic] for topic, _, _ in blocks]
        if not chosen:
            return
        numbers = np.repeat(np.arange(len(chosen)), [len(data) for _, _, data in blocks])
        times = np.concatenate([times for _, times, _ in blocks])
        messages = [message for _, _, data in blocks for message in data]
        order = np.argsort(times, kind='stable')
        with self._writes():
            self._writer.write_many(
                chosen, numbers[order], times[order], [messages[k] for k in order.tolist()]
            )
        for topic, _, data in blocks:
            self.counts[topic] += len(data)

    def write(self, topic: str, time_ns: int, message: Any) -> None:
        """Write one message, of a class in ``typestore.types``; add its topic if need be."""
        msgtype = message.__msgtype__
        self.add_topic(topic, msgtype)
        self.write_raw(topic, time_ns, self.typestore.serialize_cdr(message, msgtype))

    def flush(self) -> None:
        """Put on disk what was written so far; takes some milliseconds."""
        with self._writes():
            self._writer.flush()

    def close(self) -> None:
        """Finish the bag: index, metadata, compression of the file. May be called again."""
        if not self.closed:
            with self._writes():
                self._writer.close()

    @contextmanager
    def _writes(self) -> Iterator[None]:
        """Turn what the file system says into one sentence, and stop writing."""
        if self._failure is not None:
            raise self._failure
        try:
            yield
        except FAILURES as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> BagError:
        """Return what to raise; after what the file system says nothing more is written."""
        if isinstance(error, WriterError):
            return BagError(f'{self.path}: {error}')
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        with suppress(OSError, sqlite3.Error):
            self._writer.abort()
        kept = self.count > 0 and self.size > 0
        if not kept:
            # Of no message anything has reached the disk: it would only take the name.
            shutil.rmtree(self.path, ignore_errors=True)
        self._failure = WriteFailed(self.path, self.count, reason, kept=kept)
        return self._failure
