# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Jogging: legs move slowly at requested rates, within their strokes, while requests arrive."""

from __future__ import annotations

import numpy as np
from stewart_driver.legs import Array, LegLimits, LEGS

# Fastest leg, as a share of the rate limit.
SHARE = 0.1
# The legs come to rest so long after the last request [s].
DEAD_MAN = 0.1
# Speeding up and slowing down, as a share of the acceleration limit.
STRENGTH = 0.25
# A leg this close to its end has come there [m]; slower than this it is not asked to move [m/s].
AT_END, STILL = 1e-6, 1e-5


def too_fast(rates: Array, limits: LegLimits) -> str:
    """Return why rates cannot be jogged; empty if they can."""
    if not np.isfinite(rates).all():
        return 'a jog has a rate that is not finite'
    speeds, most = np.abs(rates), SHARE * limits.rate
    leg = int(speeds.argmax())
    if speeds[leg] > most * (1.0 + 1e-9):
        return f'a jog needs {speeds[leg]:.4f} m/s in leg {leg + 1}, allowed are {most:g} m/s'
    return ''


class Jog:
    """Six legs on their way with the rates that are asked for.

    All legs are slowed down by one factor, so that a direction of the platform stays one.

    Args:
        strokes (6,): Where the legs are held [m]; a leg that is outside its stroke moves inwards
            only.
        limits: Ends of the strokes and acceleration.

    Attributes:
        strokes, rates (6,): Present command [m], [m/s].
    """

    def __init__(self, strokes: Array, limits: LegLimits) -> None:
        self.strokes, self.rates = strokes, np.zeros(LEGS)
        self._acceleration = STRENGTH * limits.acceleration
        # A leg that is outside does not step inside, and comes no further out.
        self._lower = np.minimum(limits.stroke_lower, strokes)
        self._upper = np.maximum(limits.stroke_upper, strokes)
        self._ends = limits.stroke_lower, limits.stroke_upper
        self._wanted, self._until = self.rates, -np.inf

    def blocked(self, rates: Array) -> str:
        """Return which leg has come to its end and keeps all others; empty if none does."""
        room, speeds = self._room(rates), np.abs(rates)
        leg = int(np.where(speeds > STILL, room, np.inf).argmin())
        if room[leg] > AT_END or speeds[leg] <= STILL:
            return ''
        return (
            f'leg {leg + 1} stands at {self.strokes[leg]:.5f} m, its end is at '
            f'{self._ends[int(rates[leg] > 0.0)][leg]:g} m: a jog may move it inwards only'
        )

    def ask(self, rates: Array, until: float) -> None:
        """Ask for rates, shape (6,) [m/s], until an instant [s]."""
        self._wanted, self._until = rates, until

    def advance(self, now: float, step: float) -> bool:
        """Move on by a step [s] to `now`; tell whether the legs rest and nothing is asked for."""
        asked = now < self._until and bool(self._wanted.any())
        wanted = self._wanted * self._slowdown() if asked else np.zeros(LEGS)
        change = wanted - self.rates
        longest, allowed = float(np.abs(change).max()), self._acceleration * step
        if longest > allowed:
            change *= allowed / longest
        before, self.rates = self.rates, self.rates + change
        strokes = self.strokes + (0.5 * step) * (before + self.rates)
        self.strokes = np.clip(strokes, self._lower, self._upper)
        # A leg that has come inside stays inside.
        self._lower = np.minimum(self._ends[0], np.maximum(self._lower, self.strokes))
        self._upper = np.maximum(self._ends[1], np.minimum(self._upper, self.strokes))
        return not asked and longest <= allowed

    def _slowdown(self) -> float:
        """Return the factor with which every leg can still stop in front of its end."""
        room = self._room(self._wanted)
        # Half of the deceleration that there is: cycles are steps.
        fastest = np.sqrt(self._acceleration * np.maximum(room, 0.0))
        speeds = np.abs(self._wanted)
        # What rounding has made of a leg that shall rest keeps no other.
        moving = speeds > STILL
        return min(1.0, float((fastest[moving] / speeds[moving]).min(initial=np.inf)))

    def _room(self, rates: Array) -> Array:
        """Return how far each leg is from the end that it moves towards, (6,) [m]."""
        return np.where(rates > 0.0, self._ends[1] - self.strokes, self.strokes - self._ends[0])
