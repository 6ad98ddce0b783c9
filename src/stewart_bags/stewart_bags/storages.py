# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
The two storages of rosbags, taught to put on disk what they hold whenever they are asked to.

rosbags writes an mcap chunk when it has grown to 1 MiB, and commits a sqlite3 database when it
closes it: a process that is killed loses minutes. Both storages are plugins behind a small
protocol, so only their ``flush`` is ours (docs/decisions/0030-bags-survive-a-kill.md).

"""

from __future__ import annotations

from collections.abc import Mapping
import os
from pathlib import Path
from typing import ClassVar

from rosbags.rosbag2 import CompressionMode, StoragePlugin, Writer
from rosbags.rosbag2.storage_mcap import McapWriter
from rosbags.rosbag2.storage_sqlite3 import Sqlite3Writer


class FlushedMcap(McapWriter):
    """An mcap file that can be brought up to date between its chunks."""

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
        """Create the database, and keep what is not committed out of the file."""
        super().__init__(path, compression)
        # Otherwise half a transaction reaches the file, and a killed writer leaves a database
        # that can only be read together with its journal.
        self.conn.execute('PRAGMA cache_spill = OFF')

    def flush(self) -> None:
        """Commit; sqlite waits until the disk has it."""
        self.conn.commit()


class FlushedWriter(Writer):
    """The writer of rosbags over these storages."""

    STORAGE_PLUGINS: ClassVar[Mapping[StoragePlugin, type]] = {  # type: ignore[misc]
        StoragePlugin.SQLITE3: FlushedSqlite3,
        StoragePlugin.MCAP: FlushedMcap,
    }

    def flush(self) -> None:
        """Bring the storage up to date."""
        if isinstance(self.storage, (FlushedMcap, FlushedSqlite3)):
            self.storage.flush()
