# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Mcap files without an index, in the order of bag time; rosbags reads them if they are in order.

rosbag2 writes such files with its preset ``fastwrite``.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Generator, Mapping
from contextlib import suppress
import heapq
from typing import Any, ClassVar

import numpy as np
from rosbags.interfaces import Connection
from rosbags.rosbag2 import Reader
from rosbags.rosbag2.storage_mcap import McapReader

Row = tuple[Connection, int, bytes]


class OrderedMcap(McapReader):
    """The reader of rosbags, which puts messages in order that have no index."""

    def messages(
        self,
        connections: Collection[Connection],
        start: int | None = None,
        stop: int | None = None,
    ) -> Generator[Row, None, None]:
        """Go through the messages of some connections by time; the first pass reads times alone.

        Held in memory are 8 bytes per message, and the messages that come too early.
        """
        if self.chunks:
            yield from super().messages(connections, start, stop)
            return
        known = array('q')
        with suppress(Exception):  # the second pass ends at the same place, and says why
            known.extend(row[1] for row in self.messages_scan(connections, start, stop))
        times = np.array(known, np.int64)
        # The earliest time that is yet to come, after each message.
        to_come = np.append(np.minimum.accumulate(times[::-1])[::-1][1:], np.iinfo(np.int64).max)
        waiting: list[tuple[int, int, Row]] = []
        for number, row in enumerate(self.messages_scan(connections, start, stop)):
            heapq.heappush(waiting, (row[1], number, row))
            while waiting and waiting[0][0] <= to_come[number]:
                yield heapq.heappop(waiting)[2]


class OrderedReader(Reader):
    """The reader of rosbags over this storage."""

    STORAGE_PLUGINS: ClassVar[Mapping[str, Any]] = {  # type: ignore[misc]
        **Reader.STORAGE_PLUGINS,
        '.mcap': OrderedMcap,
    }
