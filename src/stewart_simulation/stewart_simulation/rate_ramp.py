# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How a drive's interpolator lets the rate of its target change inside a bus cycle."""

from __future__ import annotations

import numpy as np
from stewart_driver.legs import Array, LEGS


class RateRamp:
    """
    Accelerations of targets, from the rates of the last three.

    A drive in cyclic synchronous position mode closes its loops much more often than the bus
    brings targets, and interpolates in between (object 60C2h is the time for it). The change of
    the rate since the target before is the acceleration half a cycle ago. Where rates belong to
    the instants at which the targets begin, a rate that went on with it would miss the next one
    by what the acceleration changes in a cycle. That step, in step with whoever samples the force
    once per cycle, is in phase with the velocity and looks like a friction. With `lead` the
    acceleration goes on changing as it did.

    Parameters
    ----------
    lead : float
        How much later than half a cycle ago the accelerations hold, in cycles: 1 is the middle of
        the cycle that begins, if it is as long as the last [-].

    """

    def __init__(self, lead: float = 0.0) -> None:
        """Begin at rest."""
        self._lead = lead
        self._rates: Array = np.zeros(LEGS)
        self._changes: Array = np.zeros(LEGS)
        self._periods: Array = np.zeros(LEGS)

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
        periods = np.where(moving, since, 0.0)
        changes = np.where(moving, (rates - self._rates) / np.where(moving, since, 1.0), 0.0)
        # A motion that has just begun tells an acceleration, but not yet how that changes.
        known = moving & (self._periods > 0.0)
        apart = np.where(known, 0.5 * (periods + self._periods), 1.0)
        further = np.where(known, periods / apart * (changes - self._changes), 0.0)
        self._rates, self._changes, self._periods = np.array(rates), changes, periods
        return np.asarray(changes + self._lead * further)
