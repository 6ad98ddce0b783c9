# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How a drive's interpolator lets the rate of its target change inside a bus cycle."""

from __future__ import annotations

import numpy as np
from stewart_driver.legs import Array, LEGS
from stewart_kinematics.kernels.compiled import (
    kernel,
    MATRIX_OUT,
    SCALAR,
    VECTOR,
    VECTOR_OUT,
    VOID,
)


class RateRamp:
    """Accelerations of targets, from the rates of the last three.

    A drive in cyclic synchronous position mode closes its loops much more often than the bus
    brings targets, and interpolates in between (object 60C2h is the time for it). The change of
    the rate since the target before is the acceleration half a cycle ago. Where rates belong to
    the instants at which the targets begin, a rate that went on with it would miss the next one
    by what the acceleration changes in a cycle. That step, in step with whoever samples the force
    once per cycle, is in phase with the velocity and looks like a friction. With `lead` the
    acceleration goes on changing as it did.

    Args:
        lead: How much later than half a cycle ago the accelerations hold, in cycles: 1 is the
            middle of the cycle that begins, if it is as long as the last [-].
    """

    def __init__(self, lead: float = 0.0) -> None:
        self._lead = lead
        # Rates, their changes and the periods of the last targets.
        self._last: Array = np.zeros((3, LEGS))
        self._since: Array = np.zeros(LEGS)

    def accelerations(self, rates: Array, elapsed: Array | float) -> Array:
        """Return how the rates change from here on, (6,); 0 where the target stands [m/s²].

        Args:
            rates (6,): Of the targets that begin now [m/s].
            elapsed (6,): Time since the targets before; where it is 0 nothing is known [s].
        """
        out = np.empty(LEGS)
        self._since[:] = elapsed
        extrapolate(rates, self._since, self._lead, self._last, out)
        return out


@kernel(VOID, VECTOR, VECTOR, SCALAR, MATRIX_OUT, VECTOR_OUT)
def extrapolate(rates: Array, since: Array, lead: float, last: Array, out: Array) -> None:
    """Fill the accelerations from the rates and what was kept of those before, which changes."""
    for leg in range(rates.shape[0]):
        change = period = out[leg] = 0.0
        if since[leg] > 0.0 and rates[leg] != 0.0:
            period = since[leg]
            change = (rates[leg] - last[0, leg]) / period
            out[leg] = change
            # A motion that has just begun tells an acceleration, but not yet how that changes.
            if last[2, leg] > 0.0:
                apart = 0.5 * (period + last[2, leg])
                out[leg] += lead * period / apart * (change - last[1, leg])
        last[0, leg], last[1, leg], last[2, leg] = rates[leg], change, period
