# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Cubic Hermite segment between two setpoints of the six legs."""

from __future__ import annotations

import numpy as np
from stewart_driver.legs import Array

# From strokes and rates at the ends, over a duration of 1, to the coefficients of 1, t, t², t³.
COEFFICIENTS = np.array(
    [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [-3.0, -2.0, 3.0, -1.0],
        [2.0, 1.0, -2.0, 1.0],
    ]
)
# To the Bézier points of the stroke and of its rate, and to the accelerations at both ends.
HULL = np.array(
    [
        [1.0, 0.0, 0.0, 0.0],
        [1.0, 1.0 / 3.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, -1.0 / 3.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [-3.0, -1.0, 3.0, -1.0],
        [0.0, 0.0, 0.0, 1.0],
        [-6.0, -4.0, 6.0, -2.0],
        [6.0, 2.0, -6.0, 4.0],
    ]
)
STROKES, RATES, ACCELERATIONS = slice(0, 4), slice(4, 7), slice(7, 9)
"""Rows of `CubicSegment.hull`."""


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
        self.strokes_end, self.rates_end = strokes_end, rates_end
        self._duration = end - start
        # Differences from the start keep all digits of a motion that is small beside the stroke.
        self._strokes_start = strokes_start
        self._ends = np.array(
            (
                np.zeros_like(strokes_start),
                self._duration * rates_start,
                strokes_end - strokes_start,
                self._duration * rates_end,
            )
        )
        self._coefficients = COEFFICIENTS @ self._ends

    def at(self, time: float) -> tuple[Array, Array]:
        """Return strokes and rates at a path time inside the segment, shapes (6,) [m], [m/s]."""
        x, per_second = (time - self.start) / self._duration, 1.0 / self._duration
        powers = np.array(
            (
                (1.0, x, x * x, x * x * x),
                (0.0, per_second, 2.0 * per_second * x, 3.0 * per_second * x * x),
            )
        )
        way, rates = powers @ self._coefficients
        return self._strokes_start + way, rates

    def hull(self) -> Array:
        """
        Return what bounds the whole segment.

        Returns
        -------
        ndarray, shape (9, 6)
            Rows `STROKES` and `RATES`, between which all strokes and rates lie [m], [m/s], and the
            `ACCELERATIONS` at both ends [m/s²].

        """
        hull = HULL @ self._ends
        hull[STROKES] += self._strokes_start
        hull[RATES] /= self._duration
        hull[ACCELERATIONS] /= self._duration**2
        return hull
