# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Lose the small distance between where the legs are held and where a path begins."""

from __future__ import annotations

import numpy as np
from stewart_driver.legs import Array
from stewart_driver.path.common_stop import smooth_fall, smooth_fall_slope

# 1 - 3x² + 2x³ bends by at most 6 per unit of x squared.
MOST_BENT = 6.0


class StartOffset:
    """
    An offset that is added to the path and fades smoothly.

    Parameters
    ----------
    offset : ndarray, shape (6,)
        Held strokes minus the beginning of the path [m].
    since : float
        Path time at which it begins to fade [s].
    acceleration : float
        Largest acceleration that the fading adds [m/s²].

    """

    def __init__(self, offset: Array, since: float, acceleration: float) -> None:
        """Compute how long it takes."""
        self._offset, self._since = offset, since
        self._duration = float(np.sqrt(MOST_BENT * np.abs(offset).max() / acceleration))

    def over(self, time: float) -> bool:
        """Tell whether nothing is left at a path time [s]."""
        return time - self._since >= self._duration

    def at(self, time: float) -> tuple[Array, Array]:
        """Return what is left at a path time [s], and its rate, each of shape (6,) [m], [m/s]."""
        if self.over(time):
            zero = np.zeros_like(self._offset)
            return zero, zero
        x = (time - self._since) / self._duration
        return (
            self._offset * smooth_fall(x),
            self._offset * (smooth_fall_slope(x) / self._duration),
        )
