# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Smooth falls: all six legs to rest along one common path, and an offset that fades."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from stewart_driver.legs import Array, LegLimits, LEGS

# The smooth step 1 - 3x² + 2x³ falls by at most 1.5 per unit of x, bends by at most 6 per unit of
# x squared, and covers half the distance that full speed would.
STEEPEST = 1.5
MOST_BENT = 6.0
COVERED = 0.5


Number = TypeVar('Number', float, Array)


def smooth_fall(x: Number) -> Number:
    """Return 1 - 3x² + 2x³ for x in [0, 1]: from 1 to 0, flat at both ends."""
    return 1.0 - x * x * (3.0 - 2.0 * x)


class CommonStop:
    r"""Straight path through the present strokes, along the present rates, at falling speed.

    With the path speed :math:`\sigma(x) = 1 - 3x^2 + 2x^3`, :math:`x = t/T`, leg :math:`i` is at

    .. math:: q_i(t) = q_i + \dot q_i \int_0^t \sigma

    so every leg covers the same :math:`\dot q_i T / 2` per rate: the platform stays on one path
    although the legs have different speeds. Where the stop does not fit in front of an end it is
    shortened, at most to the limit of the acceleration; a leg that would still go beyond its end
    comes to rest in front of it, earlier and as hard as it must, and the others go on.

    Args:
        strokes, rates (6,): Command at the moment the stop begins [m], [m/s].
        acceleration: Largest deceleration of the fastest leg [m/s²].
        limits: Ends of the stroke, and the acceleration to which a stop is shortened. With None
            nothing wins over the deceleration.

    Attributes:
        duration: Time until rest [s].
        end (6,): Strokes at rest [m].
        shortened_for: Leg (1 to 6) whose stroke end shortened the stop.
    """

    def __init__(
        self, strokes: Array, rates: Array, acceleration: float, limits: LegLimits | None
    ) -> None:
        speeds = np.abs(rates)
        self.duration = STEEPEST * float(speeds.max()) / acceleration
        self.shortened_for: int | None = None
        self._strokes, self._rates, self._durations = strokes, rates, np.full(LEGS, self.duration)
        if limits is None:
            self.end = strokes + rates * (self.duration * COVERED)
            return
        ends = np.where(rates > 0.0, limits.stroke_upper - strokes, strokes - limits.stroke_lower)
        room = np.maximum(ends, 0.0)
        travel = speeds * (self.duration * COVERED)
        if np.any(travel > room):
            moving = speeds > 0.0
            fits = np.full(speeds.shape, np.inf)
            fits[moving] = room[moving] / (speeds[moving] * COVERED)
            self.shortened_for = int(fits.argmin()) + 1
            # A leg that creeps in front of its end does not make those stop dead that are fast.
            shortest = STEEPEST * float(speeds.max()) / limits.acceleration
            self.duration = max(float(fits.min()), shortest)
            self._durations = np.minimum(fits, self.duration)
        self.end = np.clip(
            strokes + rates * (self._durations * COVERED),
            # A leg that is beyond an end already has no room there, but does not step back either.
            np.minimum(limits.stroke_lower, strokes),
            np.maximum(limits.stroke_upper, strokes),
        )

    def at(self, time: float) -> tuple[Array, Array]:
        """Return strokes [m] and rates [m/s], each (6,), at a time [s] after the stop began."""
        if time >= self.duration:
            return self.end, np.zeros_like(self.end)
        # A leg without any room stands.
        x = np.minimum(time / np.maximum(self._durations, np.finfo(np.float64).tiny), 1.0)
        covered = self._durations * x * (1.0 - x * x * (1.0 - 0.5 * x))
        return self._strokes + self._rates * covered, self._rates * smooth_fall(x)


class StartOffset:
    """The small distance between where the legs are held and where a path begins, fading smoothly.

    Args:
        offset (6,): Held strokes minus the beginning of the path [m].
        since: Path time at which it begins to fade [s].
        acceleration: Largest acceleration that the fading adds [m/s²].
    """

    def __init__(self, offset: Array, since: float, acceleration: float) -> None:
        self._offset, self._since = offset, since
        self._duration = float(np.sqrt(MOST_BENT * np.abs(offset).max() / acceleration))

    def over(self, time: float) -> bool:
        """Tell whether nothing is left at a path time [s]."""
        return time - self._since >= self._duration

    def at(self, time: float) -> tuple[Array, Array]:
        """Return what is left at a path time [s], and its rate, each of shape (6,) [m], [m/s]."""
        x = (time - self._since) / self._duration
        return (
            self._offset * smooth_fall(x),
            self._offset * (-6.0 * x * (1.0 - x) / self._duration),
        )
