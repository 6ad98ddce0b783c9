# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tell whether a segment of the path stays within what the legs may do."""

from __future__ import annotations

import numpy as np
from stewart_driver.cubic_segment import CubicSegment
from stewart_driver.legs import LegLimits
from stewart_driver.setpoint import Verdict

ROUNDING = 1e-9

Refusal = tuple[Verdict, str]


def refusal_of(segment: CubicSegment, limits: LegLimits, margin: float) -> Refusal | None:
    """
    Return what a segment would break anywhere between its ends.

    Parameters
    ----------
    segment : CubicSegment
        Piece of the path that a new setpoint would add.
    limits : LegLimits
        Stroke ends and the rate of the setpoint itself, exactly; rate and acceleration in between
        with the margin, because the cubic is not the motion that was planned.
    margin : float
        Factor on rate and acceleration between the setpoints [-].

    Returns
    -------
    tuple of Verdict and str, or None
        Kind of refusal and a sentence with leg, value and bound; None if nothing is broken.

    """
    outside = limits.beyond(segment.stroke_hull())
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
    accelerations = np.abs(segment.acceleration_ends()).max(axis=0)
    fastest = float(np.abs(segment.rate_hull()).max())
    if accelerations.max() > margin * limits.acceleration or fastest > margin * limits.rate:
        return Verdict.JUMP, (
            f'a setpoint jumps: leg {int(accelerations.argmax()) + 1} would need '
            f'{accelerations.max():.3f} m/s² and {fastest:.4f} m/s to get there'
        )
    return None
