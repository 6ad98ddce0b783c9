# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Bring legs to rest that sag until their drives hold them."""

from __future__ import annotations

import numpy as np
from stewart_driver.legs import Array


class Catch:
    """Targets from where legs are, as fast as they are, to rest.

    All decelerate at the same limit, each from its own rate.

    Args:
        strokes, rates (6,): Measured at the beginning [m], [m/s].
        acceleration: [m/s²].

    Attributes:
        duration: Until the last leg is at rest [s].
    """

    def __init__(self, strokes: Array, rates: Array, acceleration: float) -> None:
        """Find out how long each leg takes."""
        self._strokes, self._rates = strokes, rates
        self._times = np.abs(rates) / acceleration
        self.duration = float(self._times.max())

    def at(self, time: float) -> Array:
        """Return the targets [m], shape (6,), at a time since the beginning [s]."""
        spent = np.minimum(time, self._times)
        # Of a leg at rest both are zero.
        share = 1.0 - 0.5 * spent / np.maximum(self._times, np.finfo(np.float64).tiny)
        return np.asarray(self._strokes + self._rates * spent * share)
