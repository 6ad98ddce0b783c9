# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Cubic Hermite segment between two setpoints of the six legs."""

from __future__ import annotations

import numpy as np
from stewart_driver.legs import Array


class CubicSegment:
    """
    The cubic that joins two strokes with given rates.

    Parameters
    ----------
    start, end : float
        Path times of the two ends [s]; `end` is later.
    strokes_start, rates_start : ndarray, shape (6,)
        At `start` [m], [m/s].
    strokes_end, rates_end : ndarray, shape (6,)
        At `end` [m], [m/s].

    Notes
    -----
    In Bézier form the curve lies in the hull of its control points, and so do its derivatives:
    a few comparisons bound stroke and rate over the whole segment. The acceleration is linear, so
    its two ends are its extremes.

    """

    def __init__(
        self,
        start: float,
        strokes_start: Array,
        rates_start: Array,
        end: float,
        strokes_end: Array,
        rates_end: Array,
    ) -> None:
        """Compute the coefficients."""
        self.start, self.end = start, end
        self.strokes_start, self.rates_start = strokes_start, rates_start
        self.strokes_end, self.rates_end = strokes_end, rates_end
        duration = end - start
        slope = (strokes_end - strokes_start) / duration
        self._quadratic = (3.0 * slope - 2.0 * rates_start - rates_end) / duration
        self._cubic = (rates_start + rates_end - 2.0 * slope) / duration**2

    def strokes(self, time: float) -> Array:
        """Return the strokes at a path time inside the segment, shape (6,) [m]."""
        t = time - self.start
        return self.strokes_start + t * (
            self.rates_start + t * (self._quadratic + t * self._cubic)
        )

    def rates(self, time: float) -> Array:
        """Return the rates at a path time inside the segment, shape (6,) [m/s]."""
        t = time - self.start
        return self.rates_start + t * (2.0 * self._quadratic + 3.0 * t * self._cubic)

    def stroke_hull(self) -> Array:
        """Return strokes between which the whole segment lies, shape (4, 6) [m]."""
        third = (self.end - self.start) / 3.0
        return np.stack(
            (
                self.strokes_start,
                self.strokes_start + third * self.rates_start,
                self.strokes_end - third * self.rates_end,
                self.strokes_end,
            )
        )

    def rate_hull(self) -> Array:
        """Return rates between which the whole segment lies, shape (3, 6) [m/s]."""
        slope = (self.strokes_end - self.strokes_start) / (self.end - self.start)
        middle = 3.0 * slope - self.rates_start - self.rates_end
        return np.stack((self.rates_start, middle, self.rates_end))

    def acceleration_ends(self) -> Array:
        """Return the accelerations at both ends, shape (2, 6) [m/s²]."""
        duration = self.end - self.start
        first = 2.0 * self._quadratic
        return np.stack((first, first + 6.0 * duration * self._cubic))
