# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled inner loops of the forward kinematics.

Newton's method on the six lengths (Vigo Algorithm 2), with the exact Jacobian and the attitude
updated by a rotation vector in base axes. Translations and rotations are solved for in one unit:
moments are divided by the length scale s, and the step is (dp, s dtheta).
"""

from __future__ import annotations

import math

import numpy as np
from stewart_kinematics.kernels.compiled import (
    Array,
    FLAG,
    INTEGERS_OUT,
    kernel,
    MATRIX,
    MATRIX_OUT,
    part,
    VECTOR,
    VECTOR_OUT,
    VOID,
)
from stewart_kinematics.kernels.legs import leg
from stewart_kinematics.kernels.linear_systems import eliminate
from stewart_kinematics.kernels.rotations import exponential, multiply, rotation, squared_norm
from stewart_kinematics.kernels.vectors import cross, dot, minus, times, triple

CONVERGED, NOT_CONVERGED, SINGULAR, WRONG_ASSEMBLY, OUTSIDE_REGION, NO_LENGTHS = range(6)

ITERATION_LIMIT = 25
"""Newton steps in one attempt. Inside the assured region four or five are enough."""

RELATIVE_TOLERANCE = 1e-12
"""Largest error of a length that ends the iteration, in neutral leg lengths."""

SMALLEST_DETERMINANT = 1e-8
"""|det J| relative to the neutral pose's, below which a step is not worth taking."""

LARGEST_TURN = 1.0
"""Longest rotation vector of one step [rad]; a longer step is shortened as a whole."""

# Places in the vector of constants that belongs to a geometry, see `constants_of`.
SCALE, CERTAIN, DETERMINANT, TOLERANCE = range(7, 11)

MARGIN = 1e-6
"""Smallest eigenvalue of a pose in the assured region: far above rounding, hardly any room."""

REACH_SHIFT, REACH_TURN = 2.0, math.radians(60.0)
"""What a pose of the assured region is away from neutral at most [length scales, rad]."""

LEAST_COSINE = math.cos(0.5 * REACH_TURN)

Eight = tuple[float, float, float, float, float, float, float, float]


def constants_of(
    neutral: Array, scale: float, certain: float, determinant: float, length: float
) -> Array:
    """Return the constants (11,) of a geometry.

    Args:
        neutral (7,): Neutral pose: position, quaternion.
        scale: What divides translations and moments [m].
        certain: See `UniquenessRegion.certain`.
        determinant: Of the Jacobian at the neutral pose, moments divided by the scale.
        length: Mean length of the legs [m].
    """
    return np.append(neutral, [scale, certain, determinant, RELATIVE_TOLERANCE * length])


@part
def assemble(
    base: Array, platform: Array, length: Array, n: int, pose: Array, scale: float, a: Array
) -> float:
    """Write scaled Jacobian and length errors of row n into (6, 7); return the largest error."""
    p, r = (pose[0], pose[1], pose[2]), rotation(pose[3], pose[4], pose[5], pose[6])
    worst = 0.0
    inverse = 1.0 / scale
    for i in range(6):
        s, vector = leg(base, platform, p, r, i)
        long = math.sqrt(dot(vector, vector))
        d = times(1.0 / long, vector)
        moment = cross(s, d)
        for j in range(3):
            a[i, j], a[i, 3 + j] = d[j], inverse * moment[j]
        a[i, 6] = length[n, i] - long
        worst = max(worst, abs(a[i, 6]))
    return worst


@part
def advance(pose: Array, a: Array, scale: float) -> None:
    """Apply the step in column 6 of `a` to the pose, shortened where it is too long."""
    tx, ty, tz = a[3, 6] / scale, a[4, 6] / scale, a[5, 6] / scale
    angle = math.sqrt(tx * tx + ty * ty + tz * tz)
    step = min(1.0, LARGEST_TURN / angle) if angle > 0.0 else 1.0
    for j in range(3):
        pose[j] += step * a[j, 6]
    turn = exponential(step * tx, step * ty, step * tz)
    q = multiply(turn, (pose[3], pose[4], pose[5], pose[6]))
    k = 1.0 / math.sqrt(squared_norm(q))
    for j in range(4):
        pose[3 + j] = k * q[j]


@part
def inside(pose: Array, constants: Array, cone: Array, a: Array) -> bool:
    """Say whether a pose lies in the assured region (`solvers.uniqueness`).

    Nearly every pose lies in the ellipsoid that is looked at first; of the others, the sum of
    x_k A_k, packed by lower triangles in `cone`, must have positive pivots. `a` is overwritten.
    """
    back = (-constants[3], -constants[4], -constants[5], constants[6])
    x, y, z, w = multiply((pose[3], pose[4], pose[5], pose[6]), back)
    k = 1.0 / constants[SCALE]
    tx, ty, tz = times(k, minus(triple(pose, 0), triple(constants, 0)))
    square = tx * tx + ty * ty + tz * tz
    # |e_v|² = 1 - w² and |g|² = |t|² / 4.
    if 1.0 - w * w + 0.25 * square <= constants[CERTAIN] * w * w:
        return True
    if square > REACH_SHIFT * REACH_SHIFT or abs(w) < LEAST_COSINE:
        return False
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    coordinates = (
        x,
        y,
        z,
        w,
        0.5 * (tx * w + ty * z - tz * y),
        0.5 * (ty * w + tz * x - tx * z),
        0.5 * (tz * w + tx * y - ty * x),
        -0.5 * (tx * x + ty * y + tz * z),
    )
    return definite(coordinates, cone, a)


@part
def definite(coordinates: Eight, cone: Array, a: Array) -> bool:
    """Say whether the sum of x_k A_k exceeds MARGIN: all pivots of its elimination do."""
    n = 0
    for i in range(8):
        for j in range(i + 1):
            total = 0.0
            for k in range(8):
                total += coordinates[k] * cone[n, k]
            a[i, j] = total
            n += 1
        a[i, i] -= MARGIN
    for k in range(8):
        pivot = a[k, k]
        if not pivot > 0.0:
            return False
        for i in range(k + 1, 8):
            factor = a[i, k] / pivot
            for j in range(k + 1, i + 1):
                a[i, j] -= factor * a[j, k]
    return True


@part
def lengths_valid(length: Array, n: int) -> bool:
    """Say whether row n has six positive, finite lengths; NaN is neither."""
    good = True
    for i in range(6):
        good = good and 0.0 < length[n, i] < math.inf
    return good


@part
def iterate(
    base: Array, platform: Array, constants: Array, cone: Array, length: Array, n: int,
    pose: Array, a: Array, form: Array, figures: Array,
) -> int:  # fmt: skip
    """Run Newton's method from the pose given, which is updated, and judge where it ends.

    Writes iterations, largest error [m] and determinant into `figures`; returns the status. The
    determinant is that of the last step's matrix: this step was some 1e-6 length scales long, and
    leaving the last elimination out saves one in three where samples follow samples.
    """
    scale, home = constants[SCALE], constants[DETERMINANT]
    iteration, determinant = 0, 0.0
    while True:
        worst = assemble(base, platform, length, n, pose, scale, a)
        done = worst <= constants[TOLERANCE]
        if not done or iteration == 0:
            determinant = eliminate(a)
        figures[0], figures[1], figures[2] = iteration, worst, determinant
        if done:
            break
        if not abs(determinant) > SMALLEST_DETERMINANT * abs(home):
            return SINGULAR
        if iteration == ITERATION_LIMIT:
            return NOT_CONVERGED
        advance(pose, a, scale)
        iteration += 1
    if inside(pose, constants, cone, form):
        return CONVERGED
    if not abs(determinant) > SMALLEST_DETERMINANT * abs(home):
        return SINGULAR
    return OUTSIDE_REGION if (determinant > 0.0) == (home > 0.0) else WRONG_ASSEMBLY


@kernel(
    VOID, MATRIX, MATRIX, VECTOR, MATRIX, MATRIX, VECTOR, FLAG, MATRIX_OUT, MATRIX_OUT,
    INTEGERS_OUT,
)  # fmt: skip
def forward(base, platform, constants, cone, length, start, follow, poses, figures, status):
    """Find the poses of n rows of lengths.

    Every row starts at `start` or, with `follow`, at the pose of the row before it where that
    converged. A row that fails from there is tried once more from the neutral pose, and what
    that ends with is reported. Figures are iterations of all attempts, largest error [m] and
    determinant with moments divided by the length scale. A row without six positive lengths ends
    the work with NO_LENGTHS.
    """
    a, form, pose = np.empty((6, 7)), np.empty((8, 8)), np.empty(7)
    for n in range(length.shape[0]):
        if not lengths_valid(length, n):
            status[n] = NO_LENGTHS
            return
        chained = follow and n > 0 and status[n - 1] == CONVERGED
        at_neutral = not chained
        for j in range(7):
            pose[j] = poses[n - 1, j] if chained else start[j]
            at_neutral = at_neutral and start[j] == constants[j]
        status[n] = iterate(base, platform, constants, cone, length, n, pose, a, form, figures[n])
        if status[n] != CONVERGED and not at_neutral:
            spent = figures[n, 0]
            for j in range(7):
                pose[j] = constants[j]
            status[n] = iterate(
                base, platform, constants, cone, length, n, pose, a, form, figures[n]
            )
            figures[n, 0] += spent
        for j in range(7):
            poses[n, j] = pose[j]


@kernel(VOID, MATRIX, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR_OUT)
def forward_twist(base, platform, constants, pose, rate, twist):
    """Write the twist that gives six leg rates at a pose (7,); NaN at a singularity."""
    a = np.empty((6, 7))
    # The lengths in column 6 are not wanted here: the rates take their place.
    assemble(base, platform, rate.reshape(1, 6), 0, pose, constants[SCALE], a)
    a[:, 6] = rate
    determinant = eliminate(a)
    regular = abs(determinant) > SMALLEST_DETERMINANT * abs(constants[DETERMINANT])
    for i in range(6):
        value = a[i, 6] if i < 3 else a[i, 6] / constants[SCALE]
        twist[i] = value if regular else math.nan
