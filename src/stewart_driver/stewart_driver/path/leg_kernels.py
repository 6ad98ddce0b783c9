# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What every cycle does with six numbers each, compiled: numpy takes longest to begin."""

from __future__ import annotations

import math

from stewart_kinematics.kernels.compiled import (
    Array,
    FLAG,
    kernel,
    MATRIX,
    MATRIX_OUT,
    SCALAR,
    STACK,
    VECTOR,
    VECTOR_OUT,
    VOID,
)

# Rows of a segment: the coefficients of 1, u, u², u³, forces at its start and how they change,
# then the control points of stroke and rate and the accelerations at both ends.
COEFFICIENTS, FORCE, FORCE_SLOPE, HULL, ROWS = slice(0, 4), 4, 5, slice(6, 15), 15


@kernel(FLAG, VECTOR, VECTOR, VECTOR)
def finite(strokes: Array, rates: Array, forces: Array) -> bool:
    """Tell whether every number is finite."""
    # A sum is not finite if one of its terms is not.
    total = 0.0
    for leg in range(strokes.shape[0]):
        total += strokes[leg] + rates[leg] + forces[leg]
    return math.isfinite(total)


@kernel(SCALAR, VECTOR, VECTOR)
def farthest(one: Array, other: Array) -> float:
    """Return the largest distance of two numbers; NaN if one is not a number."""
    largest = 0.0
    for leg in range(one.shape[0]):
        distance = abs(one[leg] - other[leg])
        if not distance <= largest:
            largest = distance
        if math.isnan(distance):
            break
    return largest


@kernel(FLAG, *(VECTOR,) * 6, SCALAR, STACK, MATRIX_OUT)
def join(
    strokes: Array, rates: Array, forces: Array,
    last_strokes: Array, last_rates: Array, last_forces: Array,
    duration: float, bounds: Array, rows: Array,
) -> bool:  # fmt: skip
    """Fill the rows of the cubic that joins two motions; tell whether its hull is in its bounds.

    Args:
        strokes, rates, forces (6,): The motion at the start [m], [m/s], [N].
        last_strokes, last_rates, last_forces (6,): That at the end.
        bounds (2, 9, 6): Least and largest numbers of the hull.
        rows (15, 6): To be filled.
    """
    per = 1.0 / duration
    for leg in range(strokes.shape[0]):
        first, last = rates[leg], last_rates[leg]
        # Differences from the start keep all digits of a motion that is small beside the stroke.
        way = last_strokes[leg] - strokes[leg]
        mean = per * way
        bend, twist = 3.0 * mean - 2.0 * first - last, first + last - 2.0 * mean
        rows[0, leg], rows[1, leg] = strokes[leg], first
        rows[2, leg], rows[3, leg] = per * bend, per * per * twist
        rows[FORCE, leg] = forces[leg]
        rows[FORCE_SLOPE, leg] = per * (last_forces[leg] - forces[leg])
        rows[6, leg], rows[7, leg] = strokes[leg], strokes[leg] + duration * first / 3.0
        rows[8, leg] = strokes[leg] + (way - duration * last / 3.0)
        rows[9, leg] = strokes[leg] + way
        rows[10, leg], rows[11, leg], rows[12, leg] = first, 3.0 * mean - first - last, last
        rows[13, leg], rows[14, leg] = 2.0 * per * bend, per * (2.0 * bend + 6.0 * twist)
    for k in range(bounds.shape[1]):
        for leg in range(strokes.shape[0]):
            if not bounds[0, k, leg] <= rows[6 + k, leg] <= bounds[1, k, leg]:
                return False
    return True


@kernel(VOID, MATRIX, SCALAR, SCALAR, MATRIX_OUT)
def play(rows: Array, u: float, speed: float, out: Array) -> None:
    """Fill strokes, rates, forces, and first and second derivative of the strokes, (5, 6).

    Args:
        rows (15, 6): Of a segment.
        u: Path time since its start [s].
        speed: Path time per time, which makes rates of the first derivative [-].
    """
    for leg in range(rows.shape[1]):
        first, second, third = rows[1, leg], rows[2, leg], rows[3, leg]
        out[0, leg] = rows[0, leg] + u * (first + u * (second + u * third))
        slope = first + u * (2.0 * second + 3.0 * u * third)
        out[1, leg], out[3, leg] = speed * slope, slope
        out[2, leg] = rows[FORCE, leg] + u * rows[FORCE_SLOPE, leg]
        out[4, leg] = 2.0 * second + 6.0 * u * third


@kernel(FLAG, VECTOR, VECTOR, MATRIX, SCALAR, VECTOR_OUT)
def possible(strokes: Array, rates: Array, ends: Array, allowed: float, previous: Array) -> bool:
    """Tell whether legs can have measured this after their previous strokes, and if so keep it.

    Args:
        strokes, rates (n,): [m], [m/s].
        ends (2, 6): Least and largest strokes [m].
        allowed: Largest change of a stroke [m].
        previous (6,): Strokes before; NaN where they are not known [m].
    """
    legs = ends.shape[1]
    if not strokes.shape[0] == rates.shape[0] == legs:
        return False
    for leg in range(legs):
        if not (
            ends[0, leg] <= strokes[leg] <= ends[1, leg]
            and not abs(strokes[leg] - previous[leg]) > allowed
            and math.isfinite(rates[leg])
        ):
            return False
    previous[:] = strokes
    return True
