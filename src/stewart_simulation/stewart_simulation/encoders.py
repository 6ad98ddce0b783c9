# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six simulated encoders: strokes with noise, in whole counts, and rates made from them."""

from __future__ import annotations

from math import exp

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Encoders:
    """
    Absolute encoders of six legs.

    Parameters
    ----------
    resolution : float
        Stroke of one count [m].
    noise : float
        Standard deviation of the reading before it is rounded to counts [m].
    rate_bandwidth : float
        Corner frequency of the filter that makes a rate of the counts [Hz].
    rng : numpy.random.Generator
        Source of the noise.

    """

    def __init__(
        self, resolution: float, noise: float, rate_bandwidth: float, rng: np.random.Generator
    ) -> None:
        """Start without a previous reading."""
        self._resolution, self._noise, self._rng = resolution, noise, rng
        self._corner = 2.0 * np.pi * rate_bandwidth
        self._previous: Array | None = None
        self._rates = np.zeros(6)

    def read(self, true_strokes: Array, elapsed: float) -> tuple[Array, Array]:
        """
        Read all six.

        Parameters
        ----------
        true_strokes : ndarray, shape (6,)
            Where the legs are [m].
        elapsed : float
            Time since the last reading [s].

        Returns
        -------
        tuple of two ndarrays, each of shape (6,)
            Measured strokes [m] and rates [m/s].

        """
        strokes = self._noise * self._rng.standard_normal(true_strokes.shape)
        strokes += true_strokes
        strokes /= self._resolution
        strokes = self._resolution * np.rint(strokes)
        if self._previous is not None and elapsed > 0.0:
            weight = 1.0 - exp(-self._corner * elapsed)
            seen = (strokes - self._previous) / elapsed
            self._rates = self._rates + weight * (seen - self._rates)
        self._previous = strokes
        return strokes, self._rates
