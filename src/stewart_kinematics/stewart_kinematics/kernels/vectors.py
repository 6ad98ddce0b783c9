# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Vectors of three inside numba kernels, as tuples: they live in registers and cost no memory.

Importing them compiles nothing: a simulated rig loads them in its cyclic process.
"""

from __future__ import annotations

from stewart_kinematics.kernels.compiled import Array, part

Triple = tuple[float, float, float]


@part
def cross(a: Triple, b: Triple) -> Triple:
    """Return a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@part
def dot(a: Triple, b: Triple) -> float:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@part
def times(factor: float, a: Triple) -> Triple:
    """Return a number times a vector."""
    return factor * a[0], factor * a[1], factor * a[2]


@part
def plus(a: Triple, b: Triple) -> Triple:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@part
def minus(a: Triple, b: Triple) -> Triple:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@part
def triple(values: Array, start: int) -> Triple:
    """Return three neighbours of a vector."""
    return values[start], values[start + 1], values[start + 2]


@part
def row(values: Array, n: int) -> Triple:
    """Return row n of an array of shape (..., 3)."""
    return values[n, 0], values[n, 1], values[n, 2]


@part
def put(values: Array, start: int, a: Triple) -> None:
    """Write a vector into three neighbours."""
    values[start], values[start + 1], values[start + 2] = a


@part
def rotation_matrix(quaternion: Array, out: Array) -> None:
    """Fill `out` with the rotation of a quaternion x, y, z, w; any norm but zero will do."""
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    k = 2.0 / (x * x + y * y + z * z + w * w)
    out[0, 0] = 1.0 - k * (y * y + z * z)
    out[0, 1] = k * (x * y - z * w)
    out[0, 2] = k * (x * z + y * w)
    out[1, 0] = k * (x * y + z * w)
    out[1, 1] = 1.0 - k * (x * x + z * z)
    out[1, 2] = k * (y * z - x * w)
    out[2, 0] = k * (x * z - y * w)
    out[2, 1] = k * (y * z + x * w)
    out[2, 2] = 1.0 - k * (x * x + y * y)


@part
def turned(rotation: Array, v: Triple) -> Triple:
    """Return R v."""
    return dot(row(rotation, 0), v), dot(row(rotation, 1), v), dot(row(rotation, 2), v)


@part
def turned_back(rotation: Array, v: Triple) -> Triple:
    """Return R^T v."""
    return (
        rotation[0, 0] * v[0] + rotation[1, 0] * v[1] + rotation[2, 0] * v[2],
        rotation[0, 1] * v[0] + rotation[1, 1] * v[1] + rotation[2, 1] * v[2],
        rotation[0, 2] * v[0] + rotation[1, 2] * v[1] + rotation[2, 2] * v[2],
    )


@part
def point_acceleration(a: Triple, omega: Triple, alpha: Triple, arm: Triple) -> Triple:
    """Return a + alpha x r + omega x (omega x r)."""
    return plus(a, plus(cross(alpha, arm), cross(omega, cross(omega, arm))))
