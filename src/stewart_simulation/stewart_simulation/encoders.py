# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six simulated encoders: strokes with noise, in whole counts, and rates made from them."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp

import numpy as np
from stewart_driver.legs import Array, LEGS
from stewart_kinematics.kernels.compiled import (
    kernel,
    MATRIX,
    MATRIX_OUT,
    SCALAR,
    VECTOR,
    VECTOR_OUT,
    VOID,
)

# So many readings' noise is drawn at once.
DRAWN = 256


@kernel(VOID, VECTOR, VECTOR, SCALAR, VECTOR_OUT)
def round_off(values: Array, noise: Array, step: float, out: Array) -> None:
    """Write values with their noise in whole steps."""
    for k in range(values.shape[0]):
        out[k] = step * np.rint((noise[k] + values[k]) / step)


def drawn(rng: np.random.Generator, sigma: float) -> Iterator[Array]:
    """Yield the noise of one reading after the other, (6,), drawn in the order of readings."""
    while True:
        yield from sigma * rng.standard_normal((DRAWN, LEGS))


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
        self._resolution, self._noises = resolution, drawn(rng, noise)
        self._corner = 2.0 * np.pi * rate_bandwidth
        # Strokes and rates of the last reading.
        self._last: Array | None = None

    def read(self, true_strokes: Array, elapsed: float) -> tuple[Array, Array]:
        """Return measured strokes [m] and rates [m/s], (6,) each, of true strokes (6,) [m].

        `elapsed` is the time since the last reading [s].
        """
        noise, read = next(self._noises), np.empty((2, LEGS))
        if self._last is None or elapsed <= 0.0:
            weight, last = 0.0, np.zeros((2, LEGS)) if self._last is None else self._last
        else:
            weight, last = 1.0 - exp(-self._corner * elapsed), self._last
        count(true_strokes, noise, self._resolution, last, elapsed, weight, read)
        self._last = read
        return read[0], read[1]


@kernel(VOID, VECTOR, VECTOR, SCALAR, MATRIX, SCALAR, SCALAR, MATRIX_OUT)
def count(
    true_strokes: Array,
    noise: Array,
    resolution: float,
    last: Array,
    elapsed: float,
    weight: float,
    read: Array,
) -> None:
    """Write the strokes in whole counts, and the rates with a share of the change in them."""
    round_off(true_strokes, noise, resolution, read[0])
    for leg in range(true_strokes.shape[0]):
        read[1, leg] = last[1, leg]
        if weight > 0.0:
            seen = (read[0, leg] - last[0, leg]) / elapsed
            read[1, leg] += weight * (seen - read[1, leg])
