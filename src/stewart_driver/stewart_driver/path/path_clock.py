# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which instant of the path is played now.

Drives that hear nothing hold their last target: after a gap between two cycles the legs stand.
The path then goes on where it was, from speed 0 and within the acceleration limit, and catches up
by at most a tenth. The same speed makes a path slow on request.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from stewart_driver.legs import Array, LegLimits

CATCH_UP_SPEED = 0.1
CATCH_UP_TIME = 0.1
# Nothing but the way back to speed after a gap is faster than this [1/s].
SLEW = 1.0
# What a change of speed may add to the acceleration of the path: all that it leaves, but where it
# takes everything, this share of the limit.
LEAST_ROOM = 0.1
# Keeps what sampling makes of an acceleration below the limit.
CAUTION = 0.95


class PathClock:
    """Time of the path, which runs a fixed delay behind the clock, or is on its way back to that.

    Args:
        delay: The command is the path this much later [s].
        limits: Rate and acceleration that no change of speed exceeds.

    Attributes:
        time: Instant of the path that is played now [s].
        speed: Path time per time, 1 when it is on schedule [-].
        slipped: How far it is behind its schedule [s].
        scaling: Speed that is asked for, 0.01 to 1 [-].
        recovering: Whether the path is on its way back to speed after a gap.
    """

    def __init__(self, delay: float, limits: LegLimits) -> None:
        self._delay, self._limits = delay, limits
        self.time = self.slipped = 0.0
        self.speed = self.scaling = 1.0
        self.recovering = False

    def start(self, time: float) -> None:
        """Begin a path that begins at rest, at one of its instants."""
        self.time, self.speed, self.recovering = time, self.scaling, False

    def rest(self) -> None:
        """Reset: no path is played."""
        self.slipped, self.recovering = 0.0, False

    def halt(self, now: float) -> None:
        """Stand, as the legs do."""
        self.speed, self.recovering = 0.0, True
        self.slipped = now - self._delay - self.time

    def advance(self, now: float, step: float, slope: Array, bend: Array) -> float:
        """Play on and return the speed of the path [-].

        Args:
            slope, bend (6,): First and second derivative of the strokes along the path where it
                stands now [m/s], [m/s²].
        """
        wanted = self.scaling
        due = now - self._delay
        if wanted == 1.0:
            share = (due - self.time - step) / CATCH_UP_TIME
            wanted = 1.0 + min(max(share, -CATCH_UP_SPEED), CATCH_UP_SPEED)
        change = wanted - self.speed
        if abs(change) > 1e-9:
            change = self._allowed(wanted, step, slope, bend)
        self.speed += change
        self.time += self.speed * step
        self.slipped = due - self.time
        return self.speed

    def _allowed(self, wanted: float, step: float, slope: Array, bend: Array) -> float:
        """Return the change of speed that rate and acceleration allow in one step."""
        limits = self._limits
        rates, accelerations = np.abs(slope), np.abs(bend)
        gently = not self.recovering
        if wanted > 1.0:
            fastest, hardest = float(rates.max()), float(accelerations.max())
            if fastest * wanted > limits.rate:
                wanted = max(limits.rate / fastest, 1.0)
            if hardest * wanted * wanted > limits.acceleration:
                wanted = max(sqrt(limits.acceleration / hardest), 1.0)
            gently = gently and wanted >= self.speed
        most = limits.acceleration
        # Towards the end of the step the path's own share is as large as at the higher speed.
        own = max(self.speed, min(wanted, 1.0)) ** 2 * accelerations
        room = np.maximum(CAUTION * most - own, LEAST_ROOM * most) * step
        # No faster than within one step: a path that hardly moves has room for anything.
        change = float((room / np.maximum(rates, room)).min())
        if gently:
            change = min(change, SLEW * step)
        difference = wanted - self.speed
        if abs(difference) <= change:
            self.recovering = False
            return difference
        return change if difference > 0.0 else -change
