# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the velocities that drives report (606Ch) are those of their positions (6064h).

The unit of 606Ch is the maker's: counts per second, but also revolutions per minute. In another
unit a platform that falls reads as one at rest.
"""

from __future__ import annotations

import numpy as np
from stewart_driver.legs import Array, LEGS

# A leg that goes one way at least this fast [m/s], this far [m] and this long [s] shows what is
# right: filters of drives lag by some milliseconds.
SLOWEST, LEAST_WAY, LEAST_TIME = 0.01, 5e-3, 0.1
# What both say of it may differ by this share.
MOST_BESIDE = 0.5
# More than this from frame to frame is no motion but another origin, as after homing [m/s].
LARGEST_CHANGE = 0.25


class ReportedRates:
    """The evidence of six legs that have moved; their reported rates count once all agree.

    Attributes:
        agreed, wrong (6,): Whose rates have been those of the positions, and whose have not.
    """

    def __init__(self) -> None:
        self.agreed, self.wrong = np.zeros(LEGS, bool), np.zeros(LEGS, bool)
        self._rates = np.zeros(LEGS)
        # Rows: the way by positions and by rates [m], and its time [s].
        self._sums = np.zeros((3, LEGS))

    @property
    def believed(self) -> bool:
        """Whether the rates of all legs have proven to be right."""
        return bool(self.agreed.all())

    @property
    def note(self) -> str:
        """Say whose rates are wrong; empty where none is."""
        legs = ', '.join(str(axis + 1) for axis in np.flatnonzero(self.wrong))
        return legs and (
            f'606Ch of leg {legs} is not in counts per second: rates are made of positions'
        )

    def look(self, steps: Array, rates: Array, elapsed: float) -> None:
        """Compare what positions and rates (6,) say of one frame [m], [m/s], [s]."""
        if self.wrong.any() or self.believed:
            return
        found = steps / elapsed
        fast = np.abs(found) >= SLOWEST
        if not fast.any():
            self._sums[:] = 0.0
            return
        goes_on = fast & (found * self._sums[0] >= 0.0)
        goes_on &= np.abs(found - self._rates) < LARGEST_CHANGE
        self._rates = found
        pieces = np.array([steps, rates * elapsed, np.full(LEGS, elapsed)])
        self._sums = np.where(goes_on, self._sums + pieces, 0.0)
        way, told, time = self._sums
        judged = (np.abs(way) >= LEAST_WAY) & (time >= LEAST_TIME)
        right = np.abs(told - way) <= MOST_BESIDE * np.abs(way)
        # Who has been right before, and jumps for once, is no matter.
        self.agreed |= judged & right
        self.wrong |= judged & ~(right | self.agreed)
        self._sums[:, judged] = 0.0
