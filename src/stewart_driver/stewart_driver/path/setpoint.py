# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A setpoint of the six legs, and what the interpolator says to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from stewart_driver.legs import Array, LEGS


@dataclass(frozen=True, eq=False)
class Setpoint:
    """
    Where the legs shall be and how fast they shall move at one instant.

    Attributes
    ----------
    stamp : float
        The instant, on the steady clock [s].
    strokes, rates : ndarray, shape (6,)
        Legs 1 to 6 [m], [m/s].
    forces : ndarray, shape (6,)
        Feed-forward force, positive pushes apart [N]; zero where none is given.

    """

    stamp: float
    strokes: Array
    rates: Array
    forces: Array = field(default_factory=lambda: np.zeros(LEGS))

    @property
    def finite(self) -> bool:
        """Whether every number is finite."""
        numbers = (self.strokes, self.rates, self.forces)
        return bool(np.isfinite(self.stamp)) and all(bool(np.isfinite(n).all()) for n in numbers)


class Verdict(IntEnum):
    """What became of an offered setpoint; all but the first are refusals and are counted."""

    ACCEPTED = 0
    NOT_FINITE = 1
    DUPLICATE = 2
    OUT_OF_ORDER = 3
    LATE = 4
    EARLY = 5
    OUTSIDE_STROKE = 6
    TOO_FAST = 7
    JUMP = 8
    START_AWAY = 9
    START_MOVING = 10
    NOT_FOLLOWING = 11
    TOO_MANY = 12
