# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The last look at targets before they go out: no step is larger than a leg can follow."""

from __future__ import annotations

import numpy as np
from stewart_driver.ethercat.errors import LegFault
from stewart_driver.legs import Array

# The interpolator catches up a late cycle with 10 % more speed, and skips three at most.
MARGIN = 1.2
LONGEST_GAP = 4


class StepLimit:
    """Hold targets to the rate of the legs.

    What comes from the interpolator keeps to it; this is for a bug or a broken memory, which must
    not make a drive jump.

    Args:
        rate: Largest rate of a leg [m/s].
        cycle_time: [s].
    """

    def __init__(self, rate: float, cycle_time: float) -> None:
        """Have no target yet."""
        self._rate, self._cycle = MARGIN * rate, cycle_time

    def apply(
        self, previous: Array, wanted: Array, elapsed: float
    ) -> tuple[Array, LegFault | None]:
        """Return targets that can be followed.

        Args:
            previous, wanted (6,): Strokes of the last targets and of the new ones [m].
            elapsed: Time between them [s].

        Returns:
            The targets; shortened for all legs by the same share, so that the platform stays on
            its path, and the reason, if a step is too large. Where a target is no number all stay.
        """
        if not np.isfinite(wanted).all():
            leg = int(np.flatnonzero(~np.isfinite(wanted))[0])
            return previous, LegFault(leg + 1, f'its target is {wanted[leg]}')
        most = self._rate * self._cycle * min(max(elapsed / self._cycle, 1.0), LONGEST_GAP)
        steps = wanted - previous
        leg = int(np.abs(steps).argmax())
        step = float(steps[leg])
        if abs(step) <= most:
            return wanted, None
        fault = LegFault(
            leg + 1,
            f'its target jumps by {1e3 * step:.3f} mm in {1e3 * elapsed:.2f} ms, '
            f'possible are {1e3 * most:.3f} mm',
        )
        return previous + steps * (most / abs(step)), fault
