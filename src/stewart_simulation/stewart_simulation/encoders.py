# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six simulated encoders: strokes with noise, in whole counts, and rates made from them."""

from __future__ import annotations

from math import exp

import numpy as np
from stewart_driver.legs import Array, LEGS
from stewart_kinematics.kernels.compiled import kernel, SCALAR, VECTOR, VECTOR_OUT, VOID

# So many readings' noise is drawn at once.
DRAWN = 256


class Encoders:
    """Absolute encoders of six legs.

    Args:
        resolution: Stroke of one count [m].
        noise: Standard deviation of the reading before it is rounded to counts [m].
        rate_bandwidth: Corner frequency of the filter that makes a rate of the counts [Hz].
    """

    def __init__(
        self, resolution: float, noise: float, rate_bandwidth: float, rng: np.random.Generator
    ) -> None:
        self._resolution, self._noise, self._rng = resolution, noise, rng
        self._corner = 2.0 * np.pi * rate_bandwidth
        self._drawn, self._next = np.empty((0, LEGS)), DRAWN
        self._previous: Array | None = None
        self._rates: Array = np.zeros(LEGS)

    def read(self, true_strokes: Array, elapsed: float) -> tuple[Array, Array]:
        """Return measured strokes [m] and rates [m/s], (6,) each, of true strokes (6,) [m].

        `elapsed` is the time since the last reading [s].
        """
        if self._next == DRAWN:
            self._drawn = self._noise * self._rng.standard_normal((DRAWN, LEGS))
            self._next = 0
        noise = self._drawn[self._next]
        self._next += 1
        known = self._previous is not None and elapsed > 0.0
        weight = 1.0 - exp(-self._corner * elapsed) if known else 0.0
        strokes, rates = np.empty(LEGS), self._rates.copy()
        previous = strokes if self._previous is None else self._previous
        count(
            true_strokes,
            noise,
            self._resolution,
            previous,
            elapsed,
            weight,
            strokes,
            rates,
        )
        self._previous, self._rates = strokes, rates
        return strokes, rates


@kernel(VOID, VECTOR, VECTOR, SCALAR, VECTOR, SCALAR, SCALAR, VECTOR_OUT, VECTOR_OUT)
def count(
    true_strokes: Array,
    noise: Array,
    resolution: float,
    previous: Array,
    elapsed: float,
    weight: float,
    strokes: Array,
    rates: Array,
) -> None:
    """Write the strokes in whole counts, and take a share of the change into the rates."""
    for leg in range(true_strokes.shape[0]):
        strokes[leg] = resolution * np.rint((noise[leg] + true_strokes[leg]) / resolution)
        if weight > 0.0:
            seen = (strokes[leg] - previous[leg]) / elapsed
            rates[leg] += weight * (seen - rates[leg])
