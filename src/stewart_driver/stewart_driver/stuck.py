# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Find a sensor that does not move with its leg."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from stewart_driver.legs import Array, LEGS


class StuckDetector:
    """A reading that stays within its noise while the command moves on is stuck.

    Args:
        band: How far a reading may move and still count as constant: more than its noise [m].
        travel: How far the command must have moved meanwhile: more than a leg may lag [m].
        cycles: For how many cycles at least, counted while the command is away from where it was.
    """

    def __init__(self, band: float, travel: float, cycles: int) -> None:
        self._band, self._travel, self._cycles = band, travel, cycles
        self.forget()

    def forget(self) -> None:
        """Begin anew, with the next reading."""
        self._anchors: Array | None = None
        self._starts: Array = np.zeros(LEGS)
        self._counts = np.zeros(LEGS, dtype=np.int64)

    def look(self, measured: Array, commanded: Array) -> NDArray[np.bool_]:
        """Take measured and commanded strokes, (6,) [m]; tell for each leg if it is stuck."""
        if self._anchors is None:
            self._anchors, self._starts = measured.copy(), commanded.copy()
            return np.zeros(LEGS, dtype=np.bool_)
        moved = np.abs(measured - self._anchors) > self._band
        self._anchors = np.where(moved, measured, self._anchors)
        self._starts = np.where(moved, commanded, self._starts)
        gone = np.abs(commanded - self._starts)
        # Cycles at rest do not count.
        self._counts = np.where(gone > self._band, self._counts + 1, 0)
        return np.asarray((gone > self._travel) & (self._counts >= self._cycles))
