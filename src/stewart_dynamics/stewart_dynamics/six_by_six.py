# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear systems of six unknowns inside numba kernels, where LAPACK's overhead would dominate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from stewart_kinematics.kernels.compiled import Array, part


@part
def factor(matrix: Array, order: NDArray[np.int64]) -> float:
    """LU-factor a 6x6 matrix in place with row pivoting; return the ratio of extreme pivots.

    The reciprocals of the pivots are left on the diagonal. A NaN anywhere gives the ratio 0.
    """
    largest, smallest = 0.0, np.inf
    for k in range(6):
        order[k] = k
    for k in range(6):
        pivot = k
        for i in range(k + 1, 6):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
        if pivot != k:
            order[k], order[pivot] = order[pivot], order[k]
            for j in range(6):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
        size = abs(matrix[k, k])
        if not size > 0.0:
            return 0.0
        largest, smallest = max(largest, size), min(smallest, size)
        matrix[k, k] = 1.0 / matrix[k, k]
        for i in range(k + 1, 6):
            matrix[i, k] *= matrix[k, k]
            for j in range(k + 1, 6):
                matrix[i, j] -= matrix[i, k] * matrix[k, j]
    return smallest / largest


@part
def substitute(factors: Array, order: NDArray[np.int64], right: Array, out: Array) -> None:
    """Solve for one right-hand side with the factors and row order of `factor`."""
    for i in range(6):
        value = right[order[i]]
        for j in range(i):
            value -= factors[i, j] * out[j]
        out[i] = value
    for i in range(5, -1, -1):
        value = out[i]
        for j in range(i + 1, 6):
            value -= factors[i, j] * out[j]
        out[i] = value * factors[i, i]
