# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled inner loop of the motion guard: every guarded quantity of n samples in one pass.

Symbols as in `kernels.legs`: leg vector L_i, length l_i, direction d_i. The constants below say
in which columns of the result a quantity begins.
"""

from __future__ import annotations

import math

import numpy as np
from stewart_kinematics.kernels.compiled import (
    Array,
    INTEGER,
    kernel,
    load_blas,
    MATRIX,
    MATRIX_OUT,
    MOTION,
    part,
    SCALAR,
    STACK_OUT,
    TRIPLE,
    VECTOR,
    VOID,
)
from stewart_kinematics.kernels.legs import jacobian, leg_motion
from stewart_kinematics.kernels.rotations import quadruple, rotate, rotation
from stewart_kinematics.kernels.vectors import cross, dot, minus, plus, row, times, Triple, triple

load_blas()

NORM = 0
STROKE = 1
RATE = 7
ACCELERATION = 13
BASE_ANGLE = 19
PLATFORM_ANGLE = 25
ROLL_PITCH_YAW = 31
DISTANCE = 34
SPEEDS = 49
CONDITION = 53
DETERMINANT = 54
WIDTH = 55
"""Columns: six a leg quantity, 15 distances of pairs, speeds v, ω and their derivatives a, α."""


@part
def angle_between(a: Triple, b: Triple) -> float:
    """Return the angle between two unit vectors, exact near zero too [rad]."""
    n = cross(a, b)
    return math.atan2(math.sqrt(dot(n, n)), dot(a, b))


@part
def clamp(value: float) -> float:
    """Return the nearest number in [0, 1]."""
    return min(max(value, 0.0), 1.0)


@kernel(SCALAR, TRIPLE, TRIPLE, TRIPLE, TRIPLE)
def segment_distance(p: Triple, u: Triple, q: Triple, v: Triple) -> float:
    """Return the distance between the segments p + s u and q + t v, s and t in [0, 1].

    C. Ericson, "Real-Time Collision Detection", 2005, section 5.1.9; both have a length.
    """
    r = minus(p, q)
    a, b, e = dot(u, u), dot(u, v), dot(v, v)
    c, f = dot(u, r), dot(v, r)
    denominator = a * e - b * b
    s = 0.0
    # Parallel segments: any s will do, for t is clamped and s found anew below.
    if denominator > 1e-15 * a * e:
        s = clamp((b * f - c * e) / denominator)
    t = (b * s + f) / e
    if t < 0.0 or t > 1.0:
        t = clamp(t)
        s = clamp((b * t - c) / a)
    d = minus(plus(r, times(s, u)), times(t, v))
    return math.sqrt(dot(d, d))


@kernel(VOID, MATRIX, MATRIX, MATRIX, VECTOR, SCALAR, *MOTION, STACK_OUT, MATRIX_OUT)
def guarded_quantities(
    base, platform, axes, retracted, scale, position, quaternion, twist, acceleration, legs, out,
):  # fmt: skip
    """Write the legs' lengths, rates, accelerations and strokes and every guarded quantity.

    Parameters are the joints (6, 3), the axes (12, 3) of the base joints in the base, then those
    of the platform joints in the platform, the retracted lengths (6,), the length that divides
    the Jacobian's moments, the fields of a motion of n samples, and the results (4, n, 6) and
    (n, 55). Of the quantities, a row with a number that is not finite becomes NaN throughout.
    """
    leg_motion(base, platform, position, quaternion, twist, acceleration, legs)
    rows = np.empty((position.shape[0], 6, 6))
    jacobian(base, platform, position, quaternion, rows)
    vectors = np.empty((6, 3))
    for n in range(position.shape[0]):
        x, y, z, w = quadruple(quaternion, n)
        for i in range(6):
            legs[3, n, i] = legs[0, n, i] - retracted[i]
        total = x + y + z + w + position[n].sum() + twist[n].sum() + acceleration[n].sum()
        rows[n, :, 3:] /= scale
        if not math.isfinite(total + rows[n].sum()):
            out[n, :] = math.nan
            continue
        r = rotation(x, y, z, w)
        for i in range(6):
            d = row(rows[n], i)
            for k in range(3):
                vectors[i, k] = legs[0, n, i] * d[k]
            out[n, STROKE + i] = legs[3, n, i]
            out[n, RATE + i] = legs[1, n, i]
            out[n, ACCELERATION + i] = legs[2, n, i]
            out[n, BASE_ANGLE + i] = angle_between(d, row(axes, i))
            out[n, PLATFORM_ANGLE + i] = angle_between(d, rotate(r, row(axes, 6 + i)))
        column = DISTANCE
        for i in range(5):
            for j in range(i + 1, 6):
                one, other = (row(base, i), row(vectors, i)), (row(base, j), row(vectors, j))
                out[n, column] = segment_distance(*one, *other)
                column += 1
        out[n, NORM] = math.sqrt(x * x + y * y + z * z + w * w)
        out[n, ROLL_PITCH_YAW] = math.atan2(r[7], r[8])
        out[n, ROLL_PITCH_YAW + 1] = math.atan2(-r[6], math.sqrt(r[0] * r[0] + r[3] * r[3]))
        out[n, ROLL_PITCH_YAW + 2] = math.atan2(r[3], r[0])
        for k in range(2):
            speed, change = triple(twist[n], 3 * k), triple(acceleration[n], 3 * k)
            out[n, SPEEDS + k] = math.sqrt(dot(speed, speed))
            out[n, SPEEDS + 2 + k] = math.sqrt(dot(change, change))
        out[n, CONDITION] = np.linalg.cond(rows[n])
        out[n, DETERMINANT] = np.linalg.det(rows[n])


@kernel(INTEGER, MATRIX, VECTOR, VECTOR)
def first_outside(values: Array, lower: Array, upper: Array) -> int:
    """Return the first row with a number that is not within its bounds, NaN included; -1: none."""
    for n in range(values.shape[0]):
        for k in range(values.shape[1]):
            if not lower[k] <= values[n, k] <= upper[k]:
                return n
    return -1
