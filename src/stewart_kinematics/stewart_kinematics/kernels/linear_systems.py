# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Small linear systems inside kernels, where LAPACK's overhead would dominate.

The `size` is a constant where it is called, so that the loops are unrolled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from stewart_kinematics.kernels.compiled import Array, part


@part
def factor(matrix: Array, order: NDArray[np.int64], size: int) -> tuple[float, float]:
    """LU-factor a square matrix in place with row pivoting; return smallest and largest pivot.

    The reciprocals of the pivots are left on the diagonal. At a pivot that is 0 or NaN it stops
    with zeros: the factors are then worthless.
    """
    smallest, largest = np.inf, 0.0
    for k in range(size):
        order[k] = k
    for k in range(size):
        p = k
        for i in range(k + 1, size):
            if abs(matrix[i, k]) > abs(matrix[p, k]):
                p = i
        if p != k:
            order[k], order[p] = order[p], order[k]
            for j in range(size):
                matrix[k, j], matrix[p, j] = matrix[p, j], matrix[k, j]
        pivot = abs(matrix[k, k])
        if not pivot > 0.0:
            return 0.0, 0.0
        smallest, largest = min(smallest, pivot), max(largest, pivot)
        matrix[k, k] = 1.0 / matrix[k, k]
        for i in range(k + 1, size):
            matrix[i, k] *= matrix[k, k]
            for j in range(k + 1, size):
                matrix[i, j] -= matrix[i, k] * matrix[k, j]
    return smallest, largest


@part
def substitute(
    factors: Array, order: NDArray[np.int64], right: Array, out: Array, size: int
) -> None:
    """Solve A x = right with the factors and the row order of `factor`."""
    for i in range(size):
        value = right[order[i]]
        for j in range(i):
            value -= factors[i, j] * out[j]
        out[i] = value
    for i in range(size - 1, -1, -1):
        value = out[i]
        for j in range(i + 1, size):
            value -= factors[i, j] * out[j]
        out[i] = value * factors[i, i]


@part
def substitute_transposed(
    factors: Array, order: NDArray[np.int64], right: Array, out: Array, work: Array, size: int
) -> None:
    """Solve A^T x = right with the factors and the row order of `factor`; `work` is room."""
    for i in range(size):
        value = right[i]
        for j in range(i):
            value -= factors[j, i] * work[j]
        work[i] = value * factors[i, i]
    for i in range(size - 1, -1, -1):
        value = work[i]
        for j in range(i + 1, size):
            value -= factors[j, i] * work[j]
        work[i] = value
        out[order[i]] = value


@part
def eliminate(a: Array) -> float:
    """Solve six equations in place: the fastest for a single right-hand side.

    Gaussian elimination with partial pivoting on the augmented (6, 7) matrix; column 6 becomes
    the solution. Returns the determinant; where that is 0 the solution is worthless.
    """
    determinant = 1.0
    for k in range(6):
        p = k
        for i in range(k + 1, 6):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            determinant = -determinant
            for j in range(k, 7):
                a[k, j], a[p, j] = a[p, j], a[k, j]
        pivot = a[k, k]
        determinant *= pivot
        if pivot == 0.0:
            return 0.0
        inverse = 1.0 / pivot
        for i in range(k + 1, 6):
            factor = a[i, k] * inverse
            for j in range(k + 1, 7):
                a[i, j] -= factor * a[k, j]
    for k in range(5, -1, -1):
        value = a[k, 6]
        for j in range(k + 1, 6):
            value -= a[k, j] * a[j, 6]
        a[k, 6] = value / a[k, k]
    return determinant
