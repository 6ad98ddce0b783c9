# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the interpolator hands to the cycle."""

from __future__ import annotations

from typing import NamedTuple

from stewart_driver.legs import Array


class Command(NamedTuple):
    """
    What the legs shall do in one cycle.

    Attributes
    ----------
    strokes, rates, forces : ndarray, shape (6,)
        Legs 1 to 6 [m], [m/s], [N].
    moving : bool
        True while any leg is faster than the rest rate.
    starved : bool
        True in the cycle in which missing setpoints make the common stop begin.

    """

    strokes: Array
    rates: Array
    forces: Array
    moving: bool
    starved: bool = False
