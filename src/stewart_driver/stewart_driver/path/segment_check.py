# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tell whether a segment of the path stays within what the legs may do."""

from __future__ import annotations

import numpy as np
from stewart_driver.legs import Array, LegLimits, LEGS
from stewart_driver.path.cubic_segment import ACCELERATIONS, CubicSegment, RATES, STROKES
from stewart_driver.path.setpoint import Verdict

ROUNDING = 1e-9

Refusal = tuple[Verdict, str]


class SegmentCheck:
    """
    Bounds of every piece of the path that a new setpoint would add.

    Parameters
    ----------
    limits : LegLimits
        Stroke ends and the rate of the setpoint itself, exactly; rate and acceleration in between
        with the margin, because the cubic is not the motion that was planned.
    margin : float
        Factor on rate and acceleration between the setpoints [-].

    """

    def __init__(self, limits: LegLimits, margin: float) -> None:
        """Lay out the bounds as `CubicSegment.hull` lays out what they bound."""
        self._limits, self._margin = limits, margin
        self._lower, self._upper = np.empty((9, LEGS)), np.empty((9, LEGS))
        self._bound(STROKES, limits.stroke_lower - ROUNDING, limits.stroke_upper + ROUNDING)
        for rows, most in (
            (RATES, margin * limits.rate),
            (RATES.stop - 1, min(margin, 1.0 + ROUNDING) * limits.rate),
            (ACCELERATIONS, margin * limits.acceleration),
        ):
            self._bound(rows, -most, most)

    def _bound(self, rows: slice | int, lower: Array | float, upper: Array | float) -> None:
        self._lower[rows], self._upper[rows] = lower, upper

    def refusal_of(self, segment: CubicSegment) -> Refusal | None:
        """
        Return what a segment would break anywhere between its ends.

        Parameters
        ----------
        segment : CubicSegment
            The piece.

        Returns
        -------
        tuple of Verdict and str, or None
            Kind of refusal and a sentence with leg, value and bound; None if nothing is broken.

        """
        hull = segment.hull()
        if ((hull >= self._lower) & (hull <= self._upper)).all():
            return None
        limits = self._limits
        outside = limits.beyond(hull[STROKES])
        if outside.max() > ROUNDING:
            leg = int(outside.max(axis=0).argmax())
            return Verdict.OUTSIDE_STROKE, (
                f'a setpoint needs leg {leg + 1} {outside.max():.6f} m outside its stroke, '
                f'{limits.stroke_lower[leg]:g} to {limits.stroke_upper[leg]:g} m'
            )
        speeds = np.abs(segment.rates_end)
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
