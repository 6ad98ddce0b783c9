# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Cubic Hermite segments between two motions of the six legs, and whether the legs may play them.

In Bézier form a segment lies in the hull of its control points, and so do its derivatives: a few
comparisons bound stroke and rate over the whole segment. The acceleration is linear, so its two
ends are its extremes.
"""

from __future__ import annotations

import numpy as np
from stewart_driver.legs import Array, LegLimits, LEGS
from stewart_driver.path.leg_kernels import HULL, join, play, ROWS
from stewart_driver.path.motion import LegMotion, Refusal, Verdict

ROUNDING = 1e-9
# Rows of the hull.
STROKES, RATES, ACCELERATIONS = slice(0, 4), slice(4, 7), slice(7, 9)


class Segment:
    """The cubic that joins two motions.

    Attributes:
        first, last: Its ends; the stamps are path times [s].
        start, end: Their path times [s].
        rows (15, 6): See `leg_kernels`.
        allowed: Whether the legs may play it.
    """

    __slots__ = ('allowed', 'end', 'first', 'last', 'rows', 'start')

    def __init__(self, first: LegMotion, last: LegMotion, bounds: Array) -> None:
        self.first, self.last = first, last
        self.start, self.end = start, end = first.stamp, last.stamp
        self.rows = rows = np.empty((ROWS, LEGS))
        self.allowed = join(*first[1:], *last[1:], end - start, bounds, rows)

    @property
    def hull(self) -> Array:
        """Bounds of all that is played, shape (9, 6).

        Rows `STROKES` and `RATES`, between which all strokes and rates lie [m], [m/s], and the
        `ACCELERATIONS` at both ends [m/s²].
        """
        return self.rows[HULL]

    def at(self, time: float, speed: float) -> Array:
        """Return what is played at a path time [s] with a speed along the path [-].

        Returns:
            (5, 6): Strokes [m], rates [m/s], forces [N], which are joined linearly, and first and
            second derivative of the strokes along the path [m/s], [m/s²].
        """
        out = np.empty((5, LEGS))
        play(self.rows, time - self.start, speed, out)
        return out


class SegmentBuilder:
    """Makes segments and tells which of them stay within what the legs may do.

    Args:
        limits: Stroke ends and the rate of the setpoint itself, exactly; rate and acceleration in
            between with the margin, because the cubic is not the motion that was planned.
        margin: Factor on rate and acceleration between the setpoints [-].
    """

    def __init__(self, limits: LegLimits, margin: float) -> None:
        self._limits, self._bounds = limits, np.empty((2, 9, LEGS))
        self._bound(STROKES, limits.stroke_lower - ROUNDING, limits.stroke_upper + ROUNDING)
        for rows, most in (
            (RATES, margin * limits.rate),
            (RATES.stop - 1, min(margin, 1.0 + ROUNDING) * limits.rate),
            (ACCELERATIONS, margin * limits.acceleration),
        ):
            self._bound(rows, -most, most)

    def _bound(self, rows: slice | int, lower: Array | float, upper: Array | float) -> None:
        self._bounds[0, rows], self._bounds[1, rows] = lower, upper

    def build(self, first: LegMotion, last: LegMotion) -> Segment:
        """Join two motions, of which `last` is stamped later."""
        return Segment(first, last, self._bounds)

    def refusal_of(self, segment: Segment) -> Refusal | None:
        """Return what a segment would break anywhere between its ends; None if nothing.

        A leg that rests a little beyond an end of its stroke may come inside, and no further out.
        """
        if segment.allowed:
            return None
        hull, (lower, upper) = segment.hull, self._bounds
        limits = self._limits
        outside = limits.beyond(hull[STROKES])
        further = (outside - np.clip(outside[0], 0.0, limits.outside)).max(axis=0)
        leg = int(further.argmax())
        if further[leg] > ROUNDING:
            return Verdict.OUTSIDE_STROKE, (
                f'a setpoint needs leg {leg + 1} {outside[:, leg].max():.6f} m outside its '
                f'stroke, {limits.stroke_lower[leg]:g} to {limits.stroke_upper[leg]:g} m'
            )
        if ((lower <= hull) & (hull <= upper))[STROKES.stop :].all():
            return None
        speeds = np.abs(segment.last.rates)
        if speeds.max() > limits.rate * (1.0 + ROUNDING):
            return Verdict.TOO_FAST, (
                f'a setpoint needs {speeds.max():.4f} m/s in leg {int(speeds.argmax()) + 1}, '
                f'allowed are {limits.rate:g} m/s'
            )
        accelerations = np.abs(hull[ACCELERATIONS]).max(axis=0)
        return Verdict.JUMP, (
            f'a setpoint jumps: leg {int(accelerations.argmax()) + 1} would need '
            f'{accelerations.max():.3f} m/s² and {np.abs(hull[RATES]).max():.4f} m/s to get there'
        )
