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

# mypy: allow-untyped-defs
# Types of kernels stand in their decorators.
from __future__ import annotations

import math

from stewart_kinematics.kernels.compiled import (
    Array,
    kernel,
    MATRIX,
    MATRIX_OUT,
    STACK_OUT,
    VOID,
)
from stewart_kinematics.kernels.rotations import quadruple, rotate, rotation
from stewart_kinematics.kernels.vectors import cross, dot, row


@kernel(VOID, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX_OUT)
def leg_lengths(base, platform, position, quaternion, length):
    """Write the joint-to-joint lengths, shape (n, 6)."""
    for n in range(position.shape[0]):
        r = rotation(*quadruple(quaternion, n))
        px, py, pz = position[n, 0], position[n, 1], position[n, 2]
        for i in range(6):
            bx, by, bz = platform[i, 0], platform[i, 1], platform[i, 2]
            lx = px + r[0] * bx + r[1] * by + r[2] * bz - base[i, 0]
            ly = py + r[3] * bx + r[4] * by + r[5] * bz - base[i, 1]
            lz = pz + r[6] * bx + r[7] * by + r[8] * bz - base[i, 2]
            length[n, i] = math.sqrt(lx * lx + ly * ly + lz * lz)


@kernel(VOID, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, STACK_OUT)
def leg_motion(base, platform, position, quaternion, twist, acceleration, out):
    """Write lengths, rates and accelerations, shape (3, n, 6); twist, acceleration are (n, 6)."""
    for n in range(position.shape[0]):
        r, p = rotation(*quadruple(quaternion, n)), row(position, n)
        w = (twist[n, 3], twist[n, 4], twist[n, 5])
        alpha = (acceleration[n, 3], acceleration[n, 4], acceleration[n, 5])
        for i in range(6):
            s = rotate(r, row(platform, i))
            turn = cross(w, s)
            spin, swing = cross(alpha, s), cross(w, turn)
            square, along, speed, pull = 0.0, 0.0, 0.0, 0.0
            for k in range(3):
                leg = p[k] + s[k] - base[i, k]
                first = twist[n, k] + turn[k]
                second = acceleration[n, k] + spin[k] + swing[k]
                square += leg * leg
                along += leg * first
                speed += first * first
                pull += leg * second
            length = math.sqrt(square)
            rate = along / length
            out[0, n, i] = length
            out[1, n, i] = rate
            out[2, n, i] = (pull + speed - rate * rate) / length


@kernel(VOID, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, STACK_OUT)
def passive_angles(base, platform, axes, position, quaternion, angles):
    """Write u = atan2(-d_y, d_z) and v = asin(d_x) of every leg, shape (n, 6, 2).

    The direction d is seen in R_z R_y of the base, whose x axis is the joint's fixed axis.
    """
    for n in range(position.shape[0]):
        r, p = rotation(*quadruple(quaternion, n)), row(position, n)
        for i in range(6):
            s = rotate(r, row(platform, i))
            x, y, z = p[0] + s[0] - base[i, 0], p[1] + s[1] - base[i, 1], p[2] + s[2] - base[i, 2]
            level, fall = math.sqrt(axes[i, 0] ** 2 + axes[i, 1] ** 2), -axes[i, 2]
            cosine, sine = 1.0, 0.0
            if level > 0.0:
                cosine, sine = axes[i, 0] / level, axes[i, 1] / level
            ahead, y = cosine * x + sine * y, cosine * y - sine * x
            x, z = level * ahead - fall * z, fall * ahead + level * z
            angles[n, i, 0] = math.atan2(-y, z)
            angles[n, i, 1] = math.atan2(x, math.sqrt(y * y + z * z))


@kernel(VOID, MATRIX, MATRIX, MATRIX, MATRIX, STACK_OUT)
def jacobian(base: Array, platform: Array, position: Array, quaternion: Array, out: Array) -> None:
    """Write the rows (d_i, s_i x d_i) that take a twist to the leg rates, shape (n, 6, 6)."""
    for n in range(position.shape[0]):
        r, p = rotation(*quadruple(quaternion, n)), row(position, n)
        for i in range(6):
            s = rotate(r, row(platform, i))
            x, y, z = p[0] + s[0] - base[i, 0], p[1] + s[1] - base[i, 1], p[2] + s[2] - base[i, 2]
            k = 1.0 / math.sqrt(x * x + y * y + z * z)
            d = (k * x, k * y, k * z)
            moment = cross(s, d)
            for j in range(3):
                out[n, i, j] = d[j]
                out[n, i, 3 + j] = moment[j]


@kernel(VOID, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, STACK_OUT)
def jacobian_derivative(base, platform, position, quaternion, twist, out):
    """Write the time derivative of the Jacobian, shape (n, 6, 6).

    d'_i = (L'_i - d_i l'_i) / l_i, and (s_i x d_i)' = (w x s_i) x d_i + s_i x d'_i.
    """
    for n in range(position.shape[0]):
        r, p = rotation(*quadruple(quaternion, n)), row(position, n)
        v = (twist[n, 0], twist[n, 1], twist[n, 2])
        w = (twist[n, 3], twist[n, 4], twist[n, 5])
        for i in range(6):
            s = rotate(r, row(platform, i))
            turn = cross(w, s)
            leg = (p[0] + s[0] - base[i, 0], p[1] + s[1] - base[i, 1], p[2] + s[2] - base[i, 2])
            k = 1.0 / math.sqrt(dot(leg, leg))
            d = (k * leg[0], k * leg[1], k * leg[2])
            first = (v[0] + turn[0], v[1] + turn[1], v[2] + turn[2])
            rate = dot(d, first)
            dd = (
                k * (first[0] - d[0] * rate),
                k * (first[1] - d[1] * rate),
                k * (first[2] - d[2] * rate),
            )
            one, two = cross(turn, d), cross(s, dd)
            for j in range(3):
                out[n, i, j] = dd[j]
                out[n, i, 3 + j] = one[j] + two[j]
