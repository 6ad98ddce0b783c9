# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Cubic Hermite segments between two motions of the six legs, and whether the legs may play them.

In Bézier form a segment lies in the hull of its control points, and so do its derivatives: a few
comparisons bound stroke and rate over the whole segment. The acceleration is linear, so its two
ends are its extremes.
"""

from __future__ import annotations

import numpy as np
from stewart_driver.legs import Array, END_MARGIN, LegLimits, LEGS
from stewart_driver.path.motion import LegMotion, Refusal, Verdict

ROUNDING = 1e-9
# Rows of what a builder makes of one segment: the coefficients of 1, u, u², u³, then the control
# points of stroke and rate and the accelerations at both ends.
COEFFICIENTS, HULL = slice(0, 4), slice(4, 13)
# Rows of the hull.
STROKES, RATES, ACCELERATIONS = slice(0, 4), slice(4, 7), slice(7, 9)


class Segment:
    """The cubic that joins two motions.

    Attributes:
        first, last: Its ends; the stamps are path times [s].
        start, end: Their path times [s].
        coefficients (4, 6): Of 1, u, u², u³, with u the time since `start` [m], [m/s], [m/s²],
            [m/s³].
        hull (9, 6): Rows `STROKES` and `RATES`, between which all strokes and rates lie [m],
            [m/s], and the `ACCELERATIONS` at both ends [m/s²].
    """

    __slots__ = ('coefficients', 'end', 'first', 'force_slope', 'hull', 'last', 'start')

    def __init__(self, first: LegMotion, last: LegMotion, rows: Array) -> None:
        self.first, self.last = first, last
        self.start, self.end = first.stamp, last.stamp
        self.coefficients, self.hull = rows[COEFFICIENTS], rows[HULL]
        self.force_slope: Array | None = None
        if first.forces is not last.forces:
            self.force_slope = (last.forces - first.forces) / (self.end - self.start)

    def forces(self, time: float) -> Array:
        """Return the forces at a path time, joined linearly, shape (6,) [N]."""
        if self.force_slope is None:
            return self.first.forces
        return self.first.forces + (time - self.start) * self.force_slope


class SegmentBuilder:
    """Makes segments and tells which of them stay within what the legs may do.

    Args:
        limits: Stroke ends and the rate of the setpoint itself, exactly; rate and acceleration in
            between with the margin, because the cubic is not the motion that was planned.
        margin: Factor on rate and acceleration between the setpoints [-].
    """

    def __init__(self, limits: LegLimits, margin: float) -> None:
        self._limits = limits
        self._lower, self._upper = np.empty((9, LEGS)), np.empty((9, LEGS))
        self._bound(STROKES, limits.stroke_lower - ROUNDING, limits.stroke_upper + ROUNDING)
        for rows, most in (
            (RATES, margin * limits.rate),
            (RATES.stop - 1, min(margin, 1.0 + ROUNDING) * limits.rate),
            (ACCELERATIONS, margin * limits.acceleration),
        ):
            self._bound(rows, -most, most)
        # From stroke and rate at the beginning, change of stroke, and rate at the end, to a
        # segment's rows; the entries that depend on its duration are written by `build`.
        matrix = np.zeros((13, 4))
        matrix[[0, 4, 5, 6, 7], 0] = 1.0
        matrix[[1, 8], 1] = 1.0
        matrix[[6, 7], 2] = 1.0
        matrix[10, 3] = 1.0
        matrix[9] = (0.0, -1.0, 0.0, -1.0)
        self._matrix, self._entries = matrix, matrix.reshape(-1)
        self._ends = np.empty((4, LEGS))
        self._above, self._below = np.empty((9, LEGS), bool), np.empty((9, LEGS), bool)

    def _bound(self, rows: slice | int, lower: Array | float, upper: Array | float) -> None:
        self._lower[rows], self._upper[rows] = lower, upper

    def build(self, first: LegMotion, last: LegMotion) -> Segment:
        """Join two motions, of which `last` is stamped later; not checked yet."""
        duration = last.stamp - first.stamp
        once = 1.0 / duration
        twice = once * once
        entries = self._entries
        entries[9], entries[10], entries[11] = -2.0 * once, 3.0 * twice, -once
        entries[13], entries[14], entries[15] = twice, -2.0 * once * twice, twice
        entries[21], entries[27], entries[38] = duration / 3.0, -duration / 3.0, 3.0 * once
        entries[45], entries[46], entries[47] = -4.0 * once, 6.0 * twice, -2.0 * once
        entries[49], entries[50], entries[51] = 2.0 * once, -6.0 * twice, 4.0 * once
        ends = self._ends
        ends[0], ends[1], ends[3] = first.strokes, first.rates, last.rates
        # Differences from the start keep all digits of a motion that is small beside the stroke.
        np.subtract(last.strokes, first.strokes, out=ends[2])
        return Segment(first, last, np.dot(self._matrix, ends))

    def refusal_of(self, segment: Segment) -> Refusal | None:
        """Return what a segment would break anywhere between its ends; None if nothing.

        A leg that rests a little beyond an end of its stroke may come inside, and no further out.
        """
        hull = segment.hull
        np.greater_equal(hull, self._lower, out=self._above)
        np.less_equal(hull, self._upper, out=self._below)
        self._above &= self._below
        if self._above.all():
            return None
        limits = self._limits
        outside = limits.beyond(hull[STROKES])
        further = (outside - np.clip(outside[0], 0.0, END_MARGIN)).max(axis=0)
        leg = int(further.argmax())
        if further[leg] > ROUNDING:
            return Verdict.OUTSIDE_STROKE, (
                f'a setpoint needs leg {leg + 1} {outside[:, leg].max():.6f} m outside its '
                f'stroke, {limits.stroke_lower[leg]:g} to {limits.stroke_upper[leg]:g} m'
            )
        if self._above[STROKES.stop :].all():
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
