# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where a bag goes over the same time twice, which the order of bag time would mix.

A clock that was set back while it was recorded does that, and a file that was copied into its
folder. Both are found by the order in which messages lie on disk, topic by topic; messages are
read for it only where an mcap file has no index.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rosbags.rosbag2 import Reader
from stewart_bags.topics import NS, RawMessage

CUT = (
    '`stewart bag BAG --rescue NEW --part 1` saves what was written before it went back, '
    '--part 2 what was after'
)
SOUND = 0.5
"""Messages of a sound recording lie so far out of order at most: they waited in queues [s]."""

Span = tuple[int, int]

LENGTH = struct.Struct('<Q')
INDEX_HEAD = 6
"""Bytes of a message index before its pairs: its channel, and their length."""


def overlap_of(readers: Iterable[Reader]) -> float:
    """Return by how much of bag time a bag's files or messages go back [s]; 0 if soundly."""
    spans = defaultdict[str, list[Span]](list)
    back = [0]
    for reader in readers:
        if not reader.message_count:
            continue
        for topic in {item.topic for item in reader.connections}:
            spans[topic].append((reader.start_time, reader.end_time))
        back.append(_within(reader.storage))
    # The names of files need not tell their order.
    back += [_back(sorted(items)) for items in spans.values()]
    most = max(back) / NS
    return most if most > SOUND else 0.0


def in_parts(messages: Iterable[RawMessage]) -> Iterator[tuple[int, RawMessage]]:
    """Cut a bag where it goes back: each part goes over its time once.

    Args:
        messages: In the order in which they were written.

    Yields:
        Number of the part, from 1, and the message.
    """
    part, latest = 1, dict[str, int]()
    # Latest times of this part and of the one before, and the first one of this part [ns].
    now = before = begin = 0
    for message in messages:
        topic, time_ns, _ = message
        known = latest.get(topic, time_ns)
        if known - time_ns > SOUND * NS:
            part, before, now, begin = part + 1, now, time_ns, time_ns
            latest, known = {}, time_ns
        elif part > 1 and now - begin < SOUND * NS and before - time_ns < time_ns - now:
            # It waited in a queue when another topic went back.
            yield part - 1, message
            continue
        latest[topic] = max(known, time_ns)
        now = max(now, time_ns)
        yield part, message


def _within(storage: Any) -> int:
    if hasattr(storage, 'chunks'):
        return max(map(_behind, _written(storage)), default=0)
    rows = np.fromiter(_rows(storage), np.dtype('i8,i8'))
    # Whoever puts bags together may write one topic after the other.
    topics, times = rows['f0'], rows['f1']
    return max((_behind(times[topics == topic]) for topic in np.unique(topics)), default=0)


def _written(storage: Any) -> Iterator[NDArray[np.int64]]:
    """Yield the times of each channel of an mcap file in the order in which they were written.

    Behind each chunk there is an index of every channel: times, and places in the chunk.
    """
    found = defaultdict[int, list[NDArray[np.int64]]](list)
    if not storage.chunks:
        for connection, time_ns, _ in storage.messages_scan(storage.connections):
            found[connection.id].append(np.array([time_ns]))
    for chunk in sorted(storage.chunks, key=lambda item: item.chunk_start_offset):
        for channel, offset in chunk.message_index_offsets.items():
            storage.bio.seek(offset + 1)
            (size,) = LENGTH.unpack(storage.bio.read(LENGTH.size))
            pairs = np.frombuffer(storage.bio.read(size)[INDEX_HEAD:], '<i8').reshape(-1, 2)
            found[channel].append(pairs[np.argsort(pairs[:, 1]), 0])
    return map(np.concatenate, found.values())


def _rows(storage: Any) -> Iterator[tuple[int, int]]:
    """Return topic and time of each row, in the order in which they were written."""
    return iter(storage.dbconn.execute('SELECT topic_id, timestamp FROM messages ORDER BY id'))


def _behind(times: NDArray[np.int64]) -> int:
    return int(np.max(np.maximum.accumulate(times) - times, initial=0))


def _back(spans: Iterable[Span]) -> int:
    """Return how far the beginnings lie before ends that came before."""
    most, latest = 0, 0
    for begin, end in spans:
        most = max(most, latest - begin)
        latest = max(latest, end)
    return most
