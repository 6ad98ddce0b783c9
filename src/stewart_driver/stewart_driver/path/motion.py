# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A motion of the six legs at one instant, and what the interpolator says to one."""

from __future__ import annotations

from enum import IntEnum
from math import isfinite
from typing import NamedTuple

import numpy as np
from stewart_driver.legs import Array, LEGS, read_only
from stewart_driver.path.leg_kernels import finite

NO_MOTION = read_only(np.zeros(LEGS))
"""Rates of legs that stand, forces where none are given."""


class LegMotion(NamedTuple):
    """Where the legs are or shall be, how fast, and with which force, at one instant.

    The same container is a setpoint, a knot of the path and the command of a cycle.

    Attributes:
        stamp: The instant, on the steady clock [s].
        strokes, rates (6,): Legs 1 to 6 [m], [m/s].
        forces (6,): Feed-forward force, positive pushes apart [N]; zero where none is given.
    """

    stamp: float
    strokes: Array
    rates: Array
    forces: Array = NO_MOTION

    @property
    def finite(self) -> bool:
        """Whether every number is finite."""
        return isfinite(self.stamp) and finite(*self[1:])


class Verdict(IntEnum):
    """What became of an offered setpoint; all but the first are refusals and are counted."""

    # That of an enumeration is Python.
    __hash__ = int.__hash__

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


Refusal = tuple[Verdict, str]
