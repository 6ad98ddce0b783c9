# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The tangent space: attitudes of a state, its retraction, and Cholesky factors."""

from __future__ import annotations

import math

import numpy as np
from stewart_estimation.kernels.records import DELAY, EXTERNAL, MOUNTING, TURN
from stewart_kinematics.kernels.compiled import part
from stewart_kinematics.kernels.rotations import exponential, multiply, Quadruple
from stewart_kinematics.kernels.vectors import Triple
from stewart_kinematics.motion import Array

FIRST_JITTER, LAST_JITTER = 1e-15, 1e-6
"""A factor that fails is tried again with this part of the diagonal added, ten times more each."""


@part
def turned(q: Quadruple, v: Triple) -> Triple:
    """Return R(q) v for a unit quaternion."""
    x, y, z, w = q
    tx, ty = 2.0 * (y * v[2] - z * v[1]), 2.0 * (z * v[0] - x * v[2])
    tz = 2.0 * (x * v[1] - y * v[0])
    return (
        v[0] + w * tx + y * tz - z * ty,
        v[1] + w * ty + z * tx - x * tz,
        v[2] + w * tz + x * ty - y * tx,
    )


@part
def attitude(state: Array) -> Quadruple:
    """Return the quaternion of a state."""
    return state[TURN], state[TURN + 1], state[TURN + 2], state[TURN + 3]


@part
def put_attitude(state: Array, q: Quadruple) -> None:
    """Write a quaternion into a state, made a unit quaternion."""
    k = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    for i in range(4):
        state[TURN + i] = k * q[i]


@part
def retract(state: Array, change: Array, setup: np.record) -> None:
    """Move a state by a vector of the tangent."""
    for i in range(6):
        state[i] += change[i]
        state[10 + i] += change[9 + i]
    put_attitude(state, multiply(attitude(state), exponential(change[6], change[7], change[8])))
    if setup.delay_at >= 0:
        state[DELAY] += change[setup.delay_at]
    if setup.mounting_at >= 0:
        for i in range(3):
            state[MOUNTING + i] += change[setup.mounting_at + i]
    if setup.external_at >= 0:
        state[EXTERNAL] += change[setup.external_at]
        state[EXTERNAL] = min(max(state[EXTERNAL], setup.external_lower), setup.external_upper)


@part
def cholesky(matrix: Array, factor: Array) -> bool:
    """Write the lower factor of a symmetric matrix, whose lower half is read; say if there is."""
    n = matrix.shape[0]
    for i in range(n):
        for j in range(i + 1):
            factor[i, j] = matrix[i, j]
        for j in range(i + 1, n):
            factor[i, j] = 0.0
    for j in range(n):
        pivot = factor[j, j]
        # Written so that NaN fails, too.
        if not 0.0 < pivot < math.inf:
            return False
        pivot = math.sqrt(pivot)
        factor[j, j] = pivot
        k = 1.0 / pivot
        for i in range(j + 1, n):
            factor[i, j] *= k
        for i in range(j + 1, n):
            value = factor[i, j]
            for m in range(j + 1, i + 1):
                factor[i, m] -= value * factor[m, j]
    return True


@part
def definite_factor(covariance: Array, factor: Array) -> int:
    """Factor a covariance that may have lost definiteness to rounding.

    As it is; else with 1e-15 of its diagonal added, then ten times as much, up to 1e-6, which
    stays in the covariance. Returns how many additions it took, -1 if all failed.
    """
    jitter, tries = FIRST_JITTER, 0
    while not cholesky(covariance, factor):
        if jitter > 1.5 * LAST_JITTER:
            return -1
        for i in range(covariance.shape[0]):
            covariance[i, i] *= 1.0 + jitter
        jitter *= 10.0
        tries += 1
    return tries


@part
def mirror(matrix: Array) -> None:
    """Copy the lower half of a matrix over the upper one."""
    for i in range(matrix.shape[0]):
        for j in range(i):
            matrix[j, i] = matrix[i, j]
