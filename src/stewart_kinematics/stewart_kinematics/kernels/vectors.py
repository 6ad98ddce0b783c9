# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Vectors of three inside numba kernels, as tuples: they live in registers and cost no memory.

Importing them compiles nothing: a simulated rig loads them in its cyclic process.
"""

from __future__ import annotations

from stewart_kinematics.kernels.compiled import Array, part

Triple = tuple[float, float, float]
Vector = Triple | Array


@part
def cross(a: Vector, b: Vector) -> Triple:
    """Return a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@part
def dot(a: Vector, b: Vector) -> float:
    """Return a . b."""
    return float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


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
def point_acceleration(a: Triple, omega: Triple, alpha: Triple, arm: Triple) -> Triple:
    """Return a + alpha x r + omega x (omega x r)."""
    return plus(a, plus(cross(alpha, arm), cross(omega, cross(omega, arm))))
