# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated time: what is due next, in an order that is always the same."""

from __future__ import annotations

from collections.abc import Callable
import heapq

NANOSECONDS = 1_000_000_000


class Schedule:
    """Actions at instants; `now` is the present one [ns]."""

    def __init__(self, now: int) -> None:
        self.now = now
        self._due: list[tuple[int, int, int, Callable[[], object]]] = []

    def every(self, rate: float, rank: int, action: Callable[[], object]) -> None:
        """Act at a rate [Hz], first now; of actions at one instant the lowest rank comes first."""
        self.at(self.now, rank, action, round(NANOSECONDS / rate))

    def at(self, instant: int, rank: int, action: Callable[[], object], period: int = 0) -> None:
        """Act at an instant [ns], then every `period` [ns] unless that is 0; one per rank."""
        heapq.heappush(self._due, (instant, rank, period, action))

    def drop(self, rank: int) -> None:
        """Act no more."""
        self._due = [item for item in self._due if item[1] != rank]
        heapq.heapify(self._due)

    def step(self) -> None:
        """Go to the next instant at which something is due, and do it."""
        self.now, rank, period, action = self._due[0]
        if period:
            heapq.heapreplace(self._due, (self.now + period, rank, period, action))
        else:
            heapq.heappop(self._due)
        action()
