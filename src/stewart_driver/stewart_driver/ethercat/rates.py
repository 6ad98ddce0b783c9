# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Rates of the legs: of the drives where they report them, else out of the strokes."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, tau

import numpy as np
from stewart_driver.ethercat.gear import Gear
from stewart_driver.ethercat.process_map import Inputs
from stewart_driver.legs import Array, LEGS


class Rates:
    """Rates of six legs.

    Args:
        gear: Counts per metre.
        bandwidth: Corner of the low pass behind differences of strokes [Hz].
    """

    def __init__(self, gear: Gear, bandwidth: float) -> None:
        """Stand still."""
        self._gear, self._corner = gear, tau * bandwidth
        self._rates = np.zeros(LEGS)
        self._strokes: Array | None = None
        self._stamp = 0.0

    def update(self, inputs: Sequence[Inputs], strokes: Array, stamp: float) -> Array:
        """Return the rates [m/s] for what the drives report, strokes [m] and their instant [s]."""
        velocities = [item.velocity for item in inputs]
        if None not in velocities:
            self._rates = np.array(velocities, dtype=np.float64) / self._gear.counts_per_metre
            return self._rates
        elapsed = stamp - self._stamp
        if self._strokes is not None and elapsed > 0.0:
            share = 1.0 - exp(-self._corner * elapsed)
            self._rates = self._rates + share * ((strokes - self._strokes) / elapsed - self._rates)
        if self._strokes is None or elapsed > 0.0:
            self._strokes, self._stamp = strokes, stamp
        return self._rates
