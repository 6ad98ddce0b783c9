# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Find the feed-forward force that belongs to a command, by stamp."""

from __future__ import annotations

from collections import deque

from stewart_driver.legs import Array

KEPT = 64
OLDEST_PERIODS = 2
# No pause between two motions is a period of commands [ns].
LONGEST_PERIOD = 100_000_000


class EffortJoin:
    """Forces that wait for the command of the same stamp.

    Forces and commands come on two topics in any order. A command takes the newest force that is
    not stamped after it; one that is older than two periods of the commands is ignored.

    Attributes:
        joined, missing: Commands that found a force, and those that did not since forces have been
            coming.
    """

    def __init__(self) -> None:
        self.joined = self.missing = 0
        self._efforts: deque[tuple[int, Array]] = deque(maxlen=KEPT)
        self._last_command: int | None = None

    def add(self, stamp: int, forces: Array) -> None:
        """Keep the forces, shape (6,) [N], for one stamp [ns]."""
        self._efforts.append((stamp, forces))

    def at(self, stamp: int) -> Array | None:
        """Return the forces for the command of a stamp [ns]; None where none are young enough."""
        period = 0 if self._last_command is None else abs(stamp - self._last_command)
        period = min(period, LONGEST_PERIOD)
        self._last_command = stamp
        if not self._efforts:
            return None
        for effort_stamp, forces in reversed(self._efforts):
            if 0 <= stamp - effort_stamp <= OLDEST_PERIODS * period:
                self.joined += 1
                return forces
        self.missing += 1
        return None
