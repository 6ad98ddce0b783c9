# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Convert between the clock of the messages and the steady clock of the cycle.

Message stamps are wall-clock time, which NTP slews and an administrator may set. The cycle must
not care, so it runs on the steady clock, and every stamp is converted once, where it enters or
leaves the node. The two clocks differ by an offset that is measured anew every second.
"""

from __future__ import annotations

from collections.abc import Callable

READINGS = 5
STEP = 0.01


class ClockBridge:
    """Offset between wall clock and steady clock.

    Args:
        wall, steady: Return the present time of either clock [s].

    Attributes:
        offset: Wall clock minus steady clock [s].
        uncertainty: Half the time that the best reading took [s].
        steps: How often the wall clock was stepped by more than 10 ms.
    """

    def __init__(self, wall: Callable[[], float], steady: Callable[[], float]) -> None:
        self._wall, self._steady = wall, steady
        self.steps = 0
        self.offset, self.uncertainty = self._measure()

    def refresh(self) -> None:
        """Measure the offset again."""
        before = self.offset
        self.offset, self.uncertainty = self._measure()
        self.steps += abs(self.offset - before) > STEP

    def look(self) -> None:
        """Measure the offset again if the wall clock was stepped."""
        if abs(self._wall() - self._steady() - self.offset) > STEP:
            self.refresh()

    def to_steady(self, wall: float) -> float:
        """Return the steady time of an instant given in wall-clock time [s]."""
        return wall - self.offset

    def to_wall(self, steady: float) -> float:
        """Return the wall-clock time of an instant given in steady time [s]."""
        return steady + self.offset

    def _measure(self) -> tuple[float, float]:
        """Bracket the wall clock by two readings of the steady one; keep the narrowest."""
        readings = [(self._steady(), self._wall(), self._steady()) for _ in range(READINGS)]
        before, wall, after = min(readings, key=lambda reading: reading[2] - reading[0])
        return wall - 0.5 * (before + after), 0.5 * (after - before)
