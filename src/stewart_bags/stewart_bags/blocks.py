# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages many at a time, as they lie in a file, for whoever makes arrays of them.

To hand over the messages of an mcap file one by one in the order of bag time, rosbags merges its
chunks, which takes longer than to read them. Arrays are put in order at once, when they are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from rosbags.interfaces import Connection
from rosbags.rosbag2 import Reader
from rosbags.rosbag2.storage_mcap import ChunkInfo, McapReader, msgsrc
from rosbags.rosbag2.storage_sqlite3 import Sqlite3Reader
from stewart_bags.decompression import decompress_messages

Row = tuple[object, int, bytes]

# Enough for numpy, and so few that their bytes stay in the caches of the processor.
SIZE = 2_000


class Block(NamedTuple):
    """Some messages of a topic.

    Attributes:
        times_ns: Bag times [ns since the epoch].
        data: CDR bytes, with their four bytes of encapsulation.
    """

    times_ns: list[int]
    data: list[bytes]


def blocks_of(reader: Reader, wanted: list[Connection]) -> Iterator[Block]:
    """Go through some messages of a file.

    Args:
        reader: The file, open.
        wanted: Whose messages; one at least.

    Yields:
        Never empty. Put in the order of bag time, with messages of the same time left in theirs,
        they are what ``reader.messages(wanted)`` yields. Where that raises an error, so does this,
        after the messages before it.
    """
    messages = decompress_messages(_as_they_lie(reader, wanted))
    more, failure = True, None
    while more:
        rows: list[Row] = []
        try:
            rows.extend(islice(messages, SIZE))
            more = len(rows) == SIZE
        except Exception as error:  # what came before it is in the list
            more, failure = False, error
        if rows:
            yield Block([time_ns for _, time_ns, _ in rows], [data for _, _, data in rows])
    if failure:
        raise failure


def _as_they_lie(reader: Reader, wanted: list[Connection]) -> Iterator[Row]:
    storage = reader.storage
    if isinstance(storage, McapReader) and storage.bio and storage.chunks:
        return _chunk_by_chunk(storage.chunks, storage.bio, wanted)
    if isinstance(storage, Sqlite3Reader) and storage.dbconn:
        return _row_by_row(storage.dbconn, wanted)
    return reader.messages(wanted)


def _chunk_by_chunk(
    chunks: list[ChunkInfo], file: BinaryIO, wanted: list[Connection]
) -> Iterator[Row]:
    channels = {item.id: item for item in wanted}
    for chunk in sorted(chunks, key=lambda chunk: chunk.chunk_start_offset):
        if any(chunk.channel_count.get(number) for number in channels):
            span = chunk.message_start_time, chunk.message_end_time + 1
            for time_ns, _, connection, data in msgsrc(chunk, channels, *span, file):
                # The first is there for the merging, and only tells when the chunk begins.
                if data is not None:
                    yield connection, time_ns, data


def _row_by_row(database: Any, wanted: list[Connection]) -> Iterator[Row]:
    numbers = [item.id for item in wanted]
    marks = ','.join('?' * len(numbers))
    # The order goes by the index, and sqlite finds out where index and rows contradict each other.
    query = (
        'SELECT topic_id, timestamp, data FROM messages '
        f'WHERE topic_id IN ({marks}) ORDER BY timestamp'
    )
    rows: Iterator[Row] = database.execute(query, numbers)
    return rows
