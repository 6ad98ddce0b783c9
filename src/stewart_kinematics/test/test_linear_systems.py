# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The small solvers inside kernels against LAPACK."""

from __future__ import annotations

from inspect import unwrap

import numpy as np
import pytest
from scipy.linalg import lu
import stewart_kinematics.kernels.linear_systems as solvers

# As plain Python: what has no signature of its own would be compiled here, in every fresh clone.
eliminate, factor, substitute, substitute_transposed = map(
    unwrap,
    (solvers.eliminate, solvers.factor, solvers.substitute, solvers.substitute_transposed),
)
SINGULAR = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.5, 1.0, 1.5]])


@pytest.mark.parametrize('size', [1, 3, 6])
def test_factors_solve_both_ways(size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(20):
        matrix, right = rng.normal(size=(size, size)), rng.normal(size=size)
        factors, order = matrix.copy(), np.empty(size, np.int64)
        pivots = np.abs(np.diag(lu(matrix)[2]))
        found = factor(factors, order, size)
        assert found == pytest.approx((pivots.min(), pivots.max()), rel=1e-9)
        assert sorted(order.tolist()) == list(range(size))
        out, work = np.empty(size), np.empty(size)
        substitute(factors, order, right, out, size)
        assert np.allclose(matrix @ out, right, atol=1e-9)
        substitute_transposed(factors, order, right, out, work, size)
        assert np.allclose(matrix.T @ out, right, atol=1e-9)
        # Row pivoting: no factor below the diagonal is above 1.
        assert np.abs(np.tril(factors, -1)).max(initial=0.0) <= 1.0


@pytest.mark.parametrize('matrix', [np.zeros((3, 3)), SINGULAR, np.full((3, 3), np.nan)])
def test_a_matrix_without_pivots_has_none(matrix: np.ndarray) -> None:
    assert factor(matrix.copy(), np.empty(3, np.int64), 3) == (0.0, 0.0)


def test_elimination_gives_solution_and_determinant() -> None:
    rng = np.random.default_rng(7)
    for _ in range(40):
        matrix, right = rng.normal(size=(6, 6)), rng.normal(size=6)
        augmented = np.column_stack([matrix, right])
        assert eliminate(augmented) == pytest.approx(np.linalg.det(matrix), rel=1e-9)
        assert np.allclose(matrix @ augmented[:, 6], right, atol=1e-8)


def test_elimination_pivots_and_stops_at_a_zero() -> None:
    turned = np.column_stack([np.eye(6)[::-1], np.arange(6.0)])
    assert eliminate(turned) == -1.0
    assert np.array_equal(turned[:, 6], np.arange(6.0)[::-1])
    tiny = np.eye(6, 7)
    tiny[:2, :2] = [[1e-20, 1.0], [1.0, 1.0]]
    tiny[:2, 6] = 1.0, 2.0
    eliminate(tiny)
    assert np.allclose(tiny[:2, 6], 1.0)
    flat = np.zeros((6, 7))
    flat[0, 0] = 1.0
    assert eliminate(flat) == 0.0
