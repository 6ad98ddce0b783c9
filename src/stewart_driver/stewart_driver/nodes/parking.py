# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Bring the legs to where they can be left without power, then switch the drives off."""

from __future__ import annotations

from math import inf

import numpy as np
from stewart_driver.control.cycle_link import CycleLink
from stewart_driver.control.request import Request
from stewart_driver.control.state_machine import State
from stewart_driver.legs import Array

# Of the rate limit: a little below the tenth that a jog may have [-].
SHARE = 0.099
# Slower towards the end: speed per distance [1/s].
GAIN = 2.0
# A leg this close has arrived [m].
TOLERANCE = 5e-4
# Legs that come no closer for so long will not arrive [s].
ARRIVAL_TIMEOUT = 3.0


class Parking:
    """A straight way in the strokes, driven as jog requests; legs that do not arrive end it, too.

    Args:
        link: The control loop.
        strokes (6,): Where the legs shall be when the voltage is taken [m].
        rate: Rate limit of the legs [m/s].

    Attributes:
        active: Whether the legs are on their way.
    """

    def __init__(self, link: CycleLink, strokes: Array, rate: float) -> None:
        self._link, self._strokes, self._fastest = link, strokes, SHARE * rate
        self.active = False

    def begin(self) -> None:
        """Set out."""
        self.active = True
        self._closest, self._closest_at = inf, self._link.steady()

    def advance(self, state: State, strokes: Array) -> None:
        """Ask for the next piece of the way from where the legs are, shape (6,) [m], or its end.

        What ends in another way than this one is left alone.
        """
        if not self.active:
            return
        now = self._link.steady()
        if state is State.STOPPING:
            self._closest_at = now
            return
        if state is not State.ENABLED:
            self.active = False
            return
        way = self._strokes - strokes
        distance = float(np.abs(way).max())
        if distance < self._closest - TOLERANCE:
            self._closest, self._closest_at = distance, now
        if distance <= TOLERANCE or now - self._closest_at > ARRIVAL_TIMEOUT:
            self.active = False
            self._link.request(Request.DISABLE)
            return
        self._link.jog(way * (min(self._fastest, GAIN * distance) / distance))
