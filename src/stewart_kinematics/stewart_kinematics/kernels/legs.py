# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled inner loops of the inverse kinematics.

Symbols as in Vigo Algorithm 1: pose (p, R), base joints a_i, platform joints b_i, both in their
own frames. Then s_i = R b_i, leg vector L_i = p + s_i - a_i, length l_i = |L_i|, direction
d_i = L_i / l_i. With twist (v, w) and acceleration (a, alpha) of the platform's origin:

    L'_i  = v + w x s_i                           l'_i  = d_i . L'_i
    L''_i = a + alpha x s_i + w x (w x s_i)       l''_i = d_i . L''_i + (|L'_i|^2 - l'_i^2) / l_i

Every kernel works on n samples: positions (n, 3), quaternions x, y, z, w (n, 4), and writes into
the array given last.
"""

from __future__ import annotations

import math

from stewart_kinematics.kernels.compiled import (
    Array,
    kernel,
    MATRIX,
    MATRIX_OUT,
    part,
    STACK_OUT,
    VOID,
)
from stewart_kinematics.kernels.rotations import quadruple, rotate, rotation, Rotation9
from stewart_kinematics.kernels.vectors import cross, dot, minus, plus, row, times, Triple, triple


@part
def pose(position: Array, quaternion: Array, n: int) -> tuple[Triple, Rotation9]:
    """Return p and R of sample n."""
    return row(position, n), rotation(*quadruple(quaternion, n))


@part
def leg(base: Array, platform: Array, p: Triple, r: Rotation9, i: int) -> tuple[Triple, Triple]:
    """Return s_i and L_i."""
    s = rotate(r, row(platform, i))
    return s, minus(plus(p, s), row(base, i))


@kernel(VOID, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX_OUT)
def leg_lengths(base, platform, position, quaternion, length):
    """Write the joint-to-joint lengths, shape (n, 6)."""
    for n in range(position.shape[0]):
        p, r = pose(position, quaternion, n)
        for i in range(6):
            _, vector = leg(base, platform, p, r, i)
            length[n, i] = math.sqrt(dot(vector, vector))


@kernel(VOID, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, STACK_OUT)
def leg_motion(base, platform, position, quaternion, twist, acceleration, out):
    """Write lengths, rates and accelerations, shape (3, n, 6); twist, acceleration are (n, 6)."""
    for n in range(position.shape[0]):
        p, r = pose(position, quaternion, n)
        v, w = triple(twist[n], 0), triple(twist[n], 3)
        a, alpha = triple(acceleration[n], 0), triple(acceleration[n], 3)
        for i in range(6):
            s, vector = leg(base, platform, p, r, i)
            turn = cross(w, s)
            first = plus(v, turn)
            second = plus(plus(a, cross(alpha, s)), cross(w, turn))
            length = math.sqrt(dot(vector, vector))
            rate = dot(vector, first) / length
            out[0, n, i], out[1, n, i] = length, rate
            out[2, n, i] = (dot(vector, second) + dot(first, first) - rate * rate) / length


@kernel(VOID, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, STACK_OUT)
def passive_angles(base, platform, axes, position, quaternion, angles):
    """Write u = atan2(-d_y, d_z) and v = asin(d_x) of every leg, shape (n, 6, 2).

    The direction d is seen in R_z R_y of the base, whose x axis is the joint's fixed axis.
    """
    for n in range(position.shape[0]):
        p, r = pose(position, quaternion, n)
        for i in range(6):
            _, (x, y, z) = leg(base, platform, p, r, i)
            level, fall = math.sqrt(axes[i, 0] ** 2 + axes[i, 1] ** 2), -axes[i, 2]
            cosine, sine = 1.0, 0.0
            if level > 0.0:
                cosine, sine = axes[i, 0] / level, axes[i, 1] / level
            ahead, y = cosine * x + sine * y, cosine * y - sine * x
            x, z = level * ahead - fall * z, fall * ahead + level * z
            angles[n, i, 0] = math.atan2(-y, z)
            angles[n, i, 1] = math.atan2(x, math.sqrt(y * y + z * z))


@kernel(VOID, MATRIX, MATRIX, MATRIX, MATRIX, STACK_OUT)
def jacobian(base, platform, position, quaternion, out):
    """Write the rows (d_i, s_i x d_i) that take a twist to the leg rates, shape (n, 6, 6)."""
    for n in range(position.shape[0]):
        p, r = pose(position, quaternion, n)
        for i in range(6):
            s, vector = leg(base, platform, p, r, i)
            d = times(1.0 / math.sqrt(dot(vector, vector)), vector)
            moment = cross(s, d)
            for j in range(3):
                out[n, i, j], out[n, i, 3 + j] = d[j], moment[j]


@kernel(VOID, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, STACK_OUT)
def jacobian_derivative(base, platform, position, quaternion, twist, out):
    """Write the time derivative of the Jacobian, shape (n, 6, 6).

    d'_i = (L'_i - d_i l'_i) / l_i, and (s_i x d_i)' = (w x s_i) x d_i + s_i x d'_i.
    """
    for n in range(position.shape[0]):
        p, r = pose(position, quaternion, n)
        v, w = triple(twist[n], 0), triple(twist[n], 3)
        for i in range(6):
            s, vector = leg(base, platform, p, r, i)
            k, turn = 1.0 / math.sqrt(dot(vector, vector)), cross(w, s)
            d, first = times(k, vector), plus(v, turn)
            dd = times(k, minus(first, times(dot(d, first), d)))
            moving = plus(cross(turn, d), cross(s, dd))
            for j in range(3):
                out[n, i, j], out[n, i, 3 + j] = dd[j], moving[j]
