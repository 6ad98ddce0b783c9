# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled inner loops of attitudes that move.

Quaternions are x, y, z, w and take platform to base coordinates; angular velocity w and
acceleration alpha are in base axes. Every kernel works on n samples, and writes the angular halves
of twists and accelerations (n, 6); the linear ones stay.
"""

from __future__ import annotations

import math

import numpy as np
from stewart_kinematics.kernels.compiled import (
    Array,
    INTEGER,
    kernel,
    MATRIX,
    MATRIX_OUT,
    part,
    VECTOR,
    VOID,
)
from stewart_kinematics.kernels.rotations import multiply, Quadruple, quadruple


@part
def add(a: Quadruple, s: float, b: Quadruple) -> Quadruple:
    """Return a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2], a[3] + s * b[3]


@part
def dot(a: Quadruple, b: Quadruple) -> float:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@part
def put_path(
    n: int, u: Quadruple, du: Quadruple, ddu: Quadruple, quaternion: Array, twist: Array,
    acceleration: Array,
) -> None:  # fmt: skip
    """Write the attitude of a quaternion path u(t) of any norm into row n.

    With m = |u|^2: w = 2 vec(u' u*)/m and alpha = 2 vec(u'' u*)/m - 2 (u . u') w/m. What the norm
    does drops out.
    """
    square = dot(u, u)
    inverse = (-u[0] / square, -u[1] / square, -u[2] / square, u[3] / square)
    first, second = multiply(du, inverse), multiply(ddu, inverse)
    slip = 2.0 * dot(u, du) / square
    norm = math.sqrt(square)
    for i in range(4):
        quaternion[n, i] = u[i] / norm
    for i in range(3):
        twist[n, 3 + i] = 2.0 * first[i]
        acceleration[n, 3 + i] = 2.0 * second[i] - slip * 2.0 * first[i]


@kernel(VOID, MATRIX, MATRIX, MATRIX, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT)
def quaternion_path(u, du, ddu, quaternion, twist, acceleration):
    """Turn quaternions of any norm and their derivatives, (n, 4), into moving attitudes."""
    for n in range(u.shape[0]):
        put_path(
            n,
            quadruple(u, n),
            quadruple(du, n),
            quadruple(ddu, n),
            quaternion,
            twist,
            acceleration,
        )


@kernel(
    VOID, INTEGER, INTEGER, INTEGER, MATRIX, MATRIX, MATRIX, VECTOR, MATRIX_OUT, MATRIX_OUT,
    MATRIX_OUT,
)  # fmt: skip
def euler_path(
    first_axis, second_axis, third_axis, angles, rates, accelerations, right, quaternion, twist,
    acceleration,
):  # fmt: skip
    """Turn Euler angles and their derivatives, (n, 3), into moving attitudes.

    R = R_1(q_1) R_2(q_2) R_3(q_3) R_right. With the axes e_j as the turns before have left them:
    w = sum e_j q'_j and alpha = sum (e_j q''_j + w_before x e_j q'_j).
    """
    axes = (first_axis, second_axis, third_axis)
    frame = np.empty((3, 3))
    for n in range(angles.shape[0]):
        for i in range(3):
            twist[n, 3 + i] = acceleration[n, 3 + i] = 0.0
            for j in range(3):
                frame[i, j] = 1.0 if i == j else 0.0
        q = (0.0, 0.0, 0.0, 1.0)
        for number in range(3):
            axis = axes[number]
            j, k = (axis + 1) % 3, (axis + 2) % 3
            rate = rates[n, number]
            wx, wy, wz = twist[n, 3], twist[n, 4], twist[n, 5]
            ex, ey, ez = frame[0, axis] * rate, frame[1, axis] * rate, frame[2, axis] * rate
            acceleration[n, 3] += wy * ez - wz * ey
            acceleration[n, 4] += wz * ex - wx * ez
            acceleration[n, 5] += wx * ey - wy * ex
            cosine, sine = math.cos(angles[n, number]), math.sin(angles[n, number])
            for i in range(3):
                twist[n, 3 + i] += frame[i, axis] * rate
                acceleration[n, 3 + i] += frame[i, axis] * accelerations[n, number]
                left, behind = frame[i, j], frame[i, k]
                frame[i, j] = cosine * left + sine * behind
                frame[i, k] = cosine * behind - sine * left
            half = math.sin(0.5 * angles[n, number])
            turn = (
                half if axis == 0 else 0.0,
                half if axis == 1 else 0.0,
                half if axis == 2 else 0.0,
                math.cos(0.5 * angles[n, number]),
            )
            q = multiply(q, turn)
        q = multiply(q, (right[0], right[1], right[2], right[3]))
        for i in range(4):
            quaternion[n, i] = q[i]


@kernel(VOID, MATRIX, MATRIX, MATRIX, VECTOR, MATRIX, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT)
def scaled_turn(
    attitude, twist, acceleration, centre, factor, quaternion, out_twist, out_acceleration
):
    """Multiply the deviation of n moving attitudes from a centre (4,) by f(t), `factor` (n, 3).

    The vector tan(theta/2) n of the turn from the centre is multiplied by f: with the turn's
    quaternion (v, s) the result follows the path (f v, s).
    """
    back = (-centre[0], -centre[1], -centre[2], centre[3])
    for n in range(attitude.shape[0]):
        r = multiply(quadruple(attitude, n), back)
        if r[3] < 0.0:
            r = (-r[0], -r[1], -r[2], -r[3])
        w = (twist[n, 3], twist[n, 4], twist[n, 5], 0.0)
        alpha = (acceleration[n, 3], acceleration[n, 4], acceleration[n, 5], 0.0)
        # r' = w r / 2 and r'' = alpha r / 2 - |w|^2 r / 4
        dr, ddr = multiply(w, r), multiply(alpha, r)
        dr = (0.5 * dr[0], 0.5 * dr[1], 0.5 * dr[2], 0.5 * dr[3])
        ddr = (0.5 * ddr[0], 0.5 * ddr[1], 0.5 * ddr[2], 0.5 * ddr[3])
        ddr = add(ddr, -0.25 * dot(w, w), r)
        f, df, ddf = factor[n, 0], factor[n, 1], factor[n, 2]
        u = (f * r[0], f * r[1], f * r[2], r[3])
        du = (f * dr[0] + df * r[0], f * dr[1] + df * r[1], f * dr[2] + df * r[2], dr[3])
        ddu = (
            f * ddr[0] + 2.0 * df * dr[0] + ddf * r[0],
            f * ddr[1] + 2.0 * df * dr[1] + ddf * r[1],
            f * ddr[2] + 2.0 * df * dr[2] + ddf * r[2],
            ddr[3],
        )
        put_path(n, u, du, ddu, quaternion, out_twist, out_acceleration)
        q = multiply(quadruple(quaternion, n), (centre[0], centre[1], centre[2], centre[3]))
        for i in range(4):
            quaternion[n, i] = q[i]
