# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six simulated encoders: strokes with noise, in whole counts, and rates made from them."""

from __future__ import annotations

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
        noisy = true_strokes + self._rng.normal(0.0, self._noise, true_strokes.shape)
        strokes = self._resolution * np.round(noisy / self._resolution)
        if self._previous is not None and elapsed > 0.0:
            weight = 1.0 - np.exp(-self._corner * elapsed)
            self._rates = self._rates + weight * (
                (strokes - self._previous) / elapsed - self._rates
            )
        self._previous = strokes
        return strokes, self._rates
