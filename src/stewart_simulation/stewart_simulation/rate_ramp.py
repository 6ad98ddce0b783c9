# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How a drive's interpolator lets the rate of its target change inside a bus cycle."""

from __future__ import annotations

import numpy as np
from stewart_driver.legs import Array, LEGS


class RateRamp:
    """
    Accelerations of targets, from the rates of the last two.

    A drive in cyclic synchronous position mode closes its loops much more often than the bus
    brings targets, and interpolates in between (object 60C2h is the time for it). With the change
    of the rate since the target before, position and rate have no step where targets follow each
    other evenly, but for what the acceleration changes in a cycle.
    """

    def __init__(self) -> None:
        """Begin at rest."""
        self._rates: Array = np.zeros(LEGS)

    def accelerations(self, rates: Array, elapsed: Array | float) -> Array:
        """
        Take the next rates.

        Parameters
        ----------
        rates : ndarray, shape (6,)
            Of the targets that begin now [m/s].
        elapsed : ndarray, shape (6,), or float
            Time since the targets before; where it is 0 nothing is known [s].

        Returns
        -------
        ndarray, shape (6,)
            How the rates change from here on; 0 where the target stands [m/s²].

        """
        since: Array = np.broadcast_to(np.asarray(elapsed, dtype=np.float64), (LEGS,))
        moving = (since > 0.0) & (rates != 0.0)
        change = (rates - self._rates) / np.where(moving, since, 1.0)
        self._rates = np.array(rates)
        return np.asarray(np.where(moving, change, 0.0))
