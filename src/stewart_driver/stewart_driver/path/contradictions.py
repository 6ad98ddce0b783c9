# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether two sources send setpoints for the same legs.

Theirs come in turns. Those of the first make the path; those of the second would need jumps there
and back, and are refused. One outlier is no second source, but outliers that keep coming between
setpoints that fit are.
"""

from __future__ import annotations

from math import inf

import numpy as np
from stewart_driver.path.motion import LegMotion

# So many refused setpoints, each after one that was accepted, are another source.
TURNS = 5
# Contradictions further apart in time have nothing to do with each other [s].
MEMORY = 1.0
# Rounding of strokes on their way here [m].
ROUNDING = 1e-6


class Contradictions:
    """Setpoints that contradict the path, in turns with those that make it.

    Args:
        acceleration: Largest of any leg [m/s²].

    Attributes:
        accepted: Whether a setpoint was accepted since the last contradiction; set by who accepts.
        sentence: What contradicts what, once that is sure; else empty.
    """

    def __init__(self, acceleration: float) -> None:
        self._acceleration = acceleration
        self.forget()

    def forget(self) -> None:
        """Begin anew, with a new path."""
        self.accepted, self.sentence = False, ''
        self._turns, self._last = 0, -inf

    def note(self, last: LegMotion, setpoint: LegMotion) -> None:
        """Take note of a setpoint that would be a jump from the end of the path."""
        self._count(setpoint.stamp, self._distances(last, setpoint))

    def compare(self, last: LegMotion, setpoint: LegMotion) -> None:
        """Look whether a setpoint that comes too late to be played belongs to the path at all."""
        distances = self._distances(last, setpoint)
        if distances.max() > self._acceleration * (setpoint.stamp - last.stamp) ** 2 + ROUNDING:
            self._count(setpoint.stamp, distances)

    @staticmethod
    def _distances(last: LegMotion, setpoint: LegMotion) -> np.ndarray:
        along = (setpoint.stamp - last.stamp) * last.rates
        return np.abs(setpoint.strokes - last.strokes - along)

    def _count(self, stamp: float, distances: np.ndarray) -> None:
        if not self.accepted:
            return
        self._turns = self._turns + 1 if stamp - self._last < MEMORY else 1
        self._last, self.accepted = stamp, False
        if self._turns >= TURNS:
            leg = int(distances.argmax())
            self.sentence = (
                f'setpoints contradict each other in turns, by {1e3 * distances[leg]:.2f} mm in '
                f'leg {leg + 1}: does a second source send to joint_commands?'
            )
