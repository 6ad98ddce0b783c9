# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""When bytes were sent at the latest: before all that follow them up to the moment of the read."""

from __future__ import annotations

from collections import deque
from math import inf
from typing import NamedTuple

from stewart_driver.witmotion.commands import BITS_PER_BYTE

# Chunks remembered to look up where a frame began; a frame spans two, rarely three.
CHUNKS = 16


class ArrivalTimes:
    """
    Latest possible instant at which a byte of the stream began to be sent.

    Parameters
    ----------
    baud : int
        Speed of the line.

    """

    def __init__(self, baud: int) -> None:
        """Begin with no chunk read."""
        self._byte_time = BITS_PER_BYTE / baud
        self._chunks: deque[tuple[int, float]] = deque(maxlen=CHUNKS)

    def read(self, end: int, time: float) -> None:
        """Note that the stream up to byte index `end` had been read at `time` [s]."""
        self._chunks.append((end, time))

    def of(self, position: int, lead: int = 0) -> float:
        """
        Return the latest instant at which the byte `lead` before `position` can have begun.

        The read that brought the byte at `position` bounds it, and so do all later ones, whose
        bytes followed. Those before it may have got lost.

        """
        latest = inf
        for end, time in reversed(self._chunks):
            if end <= position:
                break
            latest = min(latest, time - (end - position) * self._byte_time)
        return latest - lead * self._byte_time


class Arrival(NamedTuple):
    """
    A sample that was read.

    Attributes
    ----------
    time : float
        Latest possible instant at which it was sent, from `ArrivalTimes` [s].
    cycles : int
        How many cycles after the sample before it, as far as bytes tell.

    """

    time: float
    cycles: int = 1
