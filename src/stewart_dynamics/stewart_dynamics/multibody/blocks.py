# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""LU factors of the model's small blocks.

The constraint Jacobian couples a leg's twelve coordinates only with itself and the platform, so
one 12x12 factorisation a leg serves velocity, acceleration and multipliers.
"""

from __future__ import annotations

import numpy as np
from stewart_kinematics.kernels.compiled import inferred


@inferred
def factor(matrix, order):  # type: ignore[no-untyped-def]
    """Factor a square matrix in place with row pivoting; return its smallest pivot."""
    size = matrix.shape[0]
    smallest = np.inf
    for k in range(size):
        order[k] = k
    for k in range(size):
        pivot = k
        for i in range(k + 1, size):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
        if pivot != k:
            order[k], order[pivot] = order[pivot], order[k]
            for j in range(size):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
        smallest = min(smallest, abs(matrix[k, k]))
        if matrix[k, k] == 0.0:
            return 0.0
        for i in range(k + 1, size):
            if matrix[i, k] != 0.0:
                matrix[i, k] /= matrix[k, k]
                for j in range(k + 1, size):
                    matrix[i, j] -= matrix[i, k] * matrix[k, j]
    return smallest


@inferred
def solve(factors, order, right, out):  # type: ignore[no-untyped-def]
    """Solve A x = right."""
    size = factors.shape[0]
    for i in range(size):
        value = right[order[i]]
        for j in range(i):
            value -= factors[i, j] * out[j]
        out[i] = value
    for i in range(size - 1, -1, -1):
        value = out[i]
        for j in range(i + 1, size):
            value -= factors[i, j] * out[j]
        out[i] = value / factors[i, i]


@inferred
def solve_transposed(factors, order, right, out):  # type: ignore[no-untyped-def]
    """Solve A^T x = right."""
    size = factors.shape[0]
    work = np.empty(size)
    for i in range(size):
        value = right[i]
        for j in range(i):
            value -= factors[j, i] * work[j]
        work[i] = value / factors[i, i]
    for i in range(size - 1, -1, -1):
        value = work[i]
        for j in range(i + 1, size):
            value -= factors[j, i] * work[j]
        work[i] = value
    for i in range(size):
        out[order[i]] = work[i]
