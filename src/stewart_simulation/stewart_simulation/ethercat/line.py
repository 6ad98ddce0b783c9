# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The way between master and segment: frames get lost, or come back late."""

from __future__ import annotations

from enum import Enum
import random

from stewart_simulation.ethercat.segment import Segment


class Way(Enum):
    """Where a frame gets lost: before the slaves have seen it, or after."""

    OUT = 'out'
    BACK = 'back'


class Line:
    """A segment behind a wire with faults.

    Args:
        segment: What is at its end.
        seed: Decides which frames are lost at random.

    Attributes:
        sent, lost: Frames of the master, and how many of them never came back.
    """

    def __init__(self, segment: Segment, seed: int) -> None:
        """Begin without faults."""
        self._segment, self._random = segment, random.Random(seed)
        self._next = {Way.OUT: 0, Way.BACK: 0}
        self._skip = dict(self._next)
        self._probability = 0.0
        self.delay = 0
        self.sent = self.lost = 0

    def lose_next(self, count: int, way: Way, skip: int = 0) -> None:
        """Let some frames pass, then lose the next ones, all of them."""
        self._next[way], self._skip[way] = count, skip

    def lose_some(self, probability: float) -> None:
        """Lose frames at random, half of them on either way."""
        self._probability = probability

    def send(self, frame: bytearray, at: int | None = None) -> bytearray:
        """Send a frame, now or at [ns]; it comes back empty if it is lost; raises `FrameError`."""
        self.sent += 1
        answer = bytearray()
        if not self._loses(Way.OUT):
            answer = self._segment.process(frame, at)
            if answer and self._loses(Way.BACK):
                answer = bytearray()
        self.lost += not answer
        return answer

    def _loses(self, way: Way) -> bool:
        if self._next[way] and self._skip[way]:
            self._skip[way] -= 1
        elif self._next[way]:
            self._next[way] -= 1
            return True
        return bool(self._probability) and self._random.random() < 0.5 * self._probability
