# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled rotations: quaternions x, y, z, w, their matrices, products, exp and log.

Nodes turn single attitudes many times in every period of 5 ms, where scipy's `Rotation` spends its
time on checks. The kernels work on n samples and write into the
array given last; the parts are what other kernels are made of. Tests hold them against scipy and
transforms3d.
"""

from __future__ import annotations

import math

from stewart_kinematics.kernels.compiled import (
    Array,
    kernel,
    MATRIX,
    MATRIX_OUT,
    part,
    SCALAR,
    STACK_OUT,
    VOID,
)
from stewart_kinematics.kernels.vectors import row, Triple

Quadruple = tuple[float, float, float, float]
Rotation9 = tuple[float, float, float, float, float, float, float, float, float]

LOCKED = 1e-7  # pitch this close to ±pi/2 leaves roll and yaw one axis [rad]
SMALL = 2.5e-3  # below this square of an angle [rad²] the series are exact to the last digit


@part
def quadruple(values: Array, n: int) -> Quadruple:
    """Return the four numbers of row n."""
    return values[n, 0], values[n, 1], values[n, 2], values[n, 3]


@part
def rotation(x: float, y: float, z: float, w: float) -> Rotation9:
    """Return the nine entries of a quaternion's matrix, row by row; any norm but zero will do."""
    k = 2.0 / (x * x + y * y + z * z + w * w)
    xx, yy, zz = k * x * x, k * y * y, k * z * z
    xy, xz, yz = k * x * y, k * x * z, k * y * z
    wx, wy, wz = k * w * x, k * w * y, k * w * z
    return (
        1.0 - yy - zz, xy - wz, xz + wy, xy + wz, 1.0 - xx - zz, yz - wx, xz - wy, yz + wx,
        1.0 - xx - yy,
    )  # fmt: skip


@part
def rotate(r: Rotation9, v: Triple) -> Triple:
    """Return R v."""
    return (
        r[0] * v[0] + r[1] * v[1] + r[2] * v[2],
        r[3] * v[0] + r[4] * v[1] + r[5] * v[2],
        r[6] * v[0] + r[7] * v[1] + r[8] * v[2],
    )


@part
def rotate_back(r: Rotation9, v: Triple) -> Triple:
    """Return R^T v."""
    return (
        r[0] * v[0] + r[3] * v[1] + r[6] * v[2],
        r[1] * v[0] + r[4] * v[1] + r[7] * v[2],
        r[2] * v[0] + r[5] * v[1] + r[8] * v[2],
    )


@part
def multiply(a: Quadruple, b: Quadruple) -> Quadruple:
    """Return the quaternion product a b, which turns by b first."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@part
def exponential(x: float, y: float, z: float) -> Quadruple:
    """Return the quaternion of a rotation vector [rad]."""
    square = x * x + y * y + z * z
    if square < SMALL:
        h = 0.25 * square
        k = 0.5 * (1.0 - h / 6.0 * (1.0 - h / 20.0 * (1.0 - h / 42.0)))
        w = 1.0 - 0.5 * h * (1.0 - h / 12.0 * (1.0 - h / 30.0))
    else:
        angle = math.sqrt(square)
        k, w = math.sin(0.5 * angle) / angle, math.cos(0.5 * angle)
    return k * x, k * y, k * z, w


@part
def logarithm(q: Quadruple) -> Triple:
    """Return the rotation vector [rad], not longer than pi, of a unit quaternion."""
    x, y, z, w = q
    square = x * x + y * y + z * z
    if square < 0.25 * SMALL:
        last = 15.0 / 336.0 + square * (105.0 / 3456.0)
        k = 2.0 * (1.0 + square * (1.0 / 6.0 + square * (0.075 + square * last)))
    else:
        sine = math.sqrt(square)
        k = 2.0 * math.atan2(sine, abs(w)) / sine
    if w < 0.0:
        k = -k
    return k * x, k * y, k * z


@part
def wrapped(angle: float) -> float:
    """Return an angle between -2 pi and 2 pi as one from -pi to pi [rad]."""
    if angle > math.pi:
        return angle - 2.0 * math.pi
    if angle < -math.pi:
        return angle + 2.0 * math.pi
    return angle


@part
def roll_pitch_yaw(q: Quadruple) -> Triple:
    """Return the angles of R_z R_y R_x [rad]; roll is 0 where pitch is ±pi/2.

    By half sums and differences of roll and yaw, which are exact next to that, too (Bernardes and
    Viollet, 2022).
    """
    x, y, z, w = q
    a, b, c, d = w - y, x + z, y + w, z - x
    pitch = 2.0 * math.atan2(math.hypot(c, d), math.hypot(a, b))
    if pitch <= LOCKED:
        return 0.0, pitch - 0.5 * math.pi, wrapped(2.0 * math.atan2(b, a))
    if pitch >= math.pi - LOCKED:
        return 0.0, pitch - 0.5 * math.pi, wrapped(2.0 * math.atan2(d, c))
    half_sum, half_difference = math.atan2(b, a), math.atan2(d, c)
    return (
        wrapped(half_sum - half_difference),
        pitch - 0.5 * math.pi,
        wrapped(half_sum + half_difference),
    )


@part
def squared_norm(q: Quadruple) -> float:
    """Return |q|²."""
    return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]


@kernel(SCALAR, MATRIX)
def least_squared_norm(quaternion: Array) -> float:
    """Return the smallest |q|²; NaN if one is not a number, infinity if there is none."""
    least = math.inf
    for n in range(quaternion.shape[0]):
        square = squared_norm(quadruple(quaternion, n))
        if not square >= least:
            least = square
        if math.isnan(least):
            break
    return least


@kernel(VOID, MATRIX, STACK_OUT)
def matrices(quaternion: Array, matrix: Array) -> None:
    """Write the matrices, (n, 3, 3), of quaternions of any norm but zero, (n, 4)."""
    for n in range(quaternion.shape[0]):
        r = rotation(*quadruple(quaternion, n))
        for i in range(3):
            for j in range(3):
                matrix[n, i, j] = r[3 * i + j]


@kernel(VOID, MATRIX, MATRIX, MATRIX_OUT)
def products(second: Array, first: Array, product: Array) -> None:
    """Write the quaternions that turn by the first and then by the second, all (n, 4)."""
    for n in range(first.shape[0]):
        q = multiply(quadruple(second, n), quadruple(first, n))
        for i in range(4):
            product[n, i] = q[i]


@kernel(VOID, MATRIX, MATRIX_OUT)
def exponentials(vector: Array, quaternion: Array) -> None:
    """Write the unit quaternions, (n, 4), of rotation vectors, (n, 3)."""
    for n in range(vector.shape[0]):
        q = exponential(*row(vector, n))
        for i in range(4):
            quaternion[n, i] = q[i]


@kernel(VOID, MATRIX, MATRIX_OUT)
def logarithms(quaternion: Array, vector: Array) -> None:
    """Write the shortest rotation vectors, (n, 3), of quaternions of any norm but zero, (n, 4)."""
    for n in range(quaternion.shape[0]):
        x, y, z, w = quadruple(quaternion, n)
        k = 1.0 / math.sqrt(squared_norm((x, y, z, w)))
        turn = logarithm((k * x, k * y, k * z, k * w))
        for i in range(3):
            vector[n, i] = turn[i]


@kernel(VOID, MATRIX, MATRIX_OUT)
def rolls_pitches_yaws(quaternion: Array, angles: Array) -> None:
    """Write roll, pitch and yaw, (n, 3), of quaternions of any norm but zero, (n, 4)."""
    for n in range(quaternion.shape[0]):
        found = roll_pitch_yaw(quadruple(quaternion, n))
        for i in range(3):
            angles[n, i] = found[i]
