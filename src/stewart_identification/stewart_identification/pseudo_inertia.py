# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""The 4x4 pseudo-inertia, in which "a body can exist" is "positive definite".

Of a body's ten parameters [m, h, I about the reference point]:

.. math::
    J = \begin{pmatrix} \tfrac12 \mathrm{tr}(I) 1 - I & h \\ h^\top & m \end{pmatrix} .

J is positive definite exactly for the bodies that a distribution of positive mass has (Wensing,
Kim, Slotine 2018). Its Cholesky factor with logarithms on the diagonal is a chart of all of them
(Rucker, Wensing 2022).
"""

from __future__ import annotations

import numpy as np
from stewart_kinematics.motion import Array

TEN = 10
UPPER = np.triu_indices(3)
LOWER = np.tril_indices(4)
DIAGONAL = np.flatnonzero(LOWER[0] == LOWER[1])

SLACK = 1e-9
"""Eigenvalue, relative to the largest, from which on below zero J counts as indefinite."""


def symmetric(upper: Array) -> Array:
    """Return the symmetric matrix (3, 3) of its upper triangle by rows (6,)."""
    matrix = np.zeros((3, 3))
    matrix[UPPER] = upper
    return matrix + np.triu(matrix, 1).T


def _maps() -> tuple[Array, Array]:
    """Return the constant matrices (16, 10) and (10, 16) between parameters and J."""
    to_matrix = np.zeros((16, TEN))
    for k in range(TEN):
        unit = np.zeros(TEN)
        unit[k] = 1.0
        inertia = symmetric(unit[4:])
        full = np.zeros((4, 4))
        full[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
        full[:3, 3] = full[3, :3] = unit[1:4]
        full[3, 3] = unit[0]
        to_matrix[:, k] = full.ravel()
    return to_matrix, np.asarray(np.linalg.pinv(to_matrix), dtype=np.float64)


TO_MATRIX, FROM_MATRIX = _maps()


def pseudo_inertia(ten: Array) -> Array:
    """Return J, shape (4, 4), of ten parameters [kg m², kg m, kg]."""
    return (TO_MATRIX @ ten).reshape(4, 4)


def ten_from(matrix: Array) -> Array:
    """Return the ten parameters, shape (10,), of J, shape (4, 4)."""
    return np.asarray(FROM_MATRIX @ matrix.ravel())


def is_physical(ten: Array) -> bool:
    """Tell whether a distribution of mass can have these ten parameters."""
    values = np.linalg.eigvalsh(pseudo_inertia(ten))
    return bool(values[0] >= -SLACK * values[-1])


def to_chart(ten: Array, floor: float = 1e-6) -> Array:
    """Give the log-Cholesky coordinates of a body, shape (10,).

    They are the lower triangle of the Cholesky factor by rows, with logarithms on its diagonal.
    Eigenvalues of J below `floor` times the largest are raised to that.
    """
    values, vectors = np.linalg.eigh(pseudo_inertia(ten))
    raised = np.maximum(values, floor * max(values[-1], 1e-12))
    factor = np.linalg.cholesky((vectors * raised) @ vectors.T)
    chart = factor[LOWER]
    chart[DIAGONAL] = np.log(chart[DIAGONAL])
    return np.asarray(chart)


def from_chart(chart: Array) -> tuple[Array, Array]:
    """Give a body and its derivative by the log-Cholesky coordinates, shape (10,).

    Returns:
        (10,): Parameters.
        (10, 10): Their derivative; column k by coordinate k.
    """
    entries = np.array(chart)
    entries[DIAGONAL] = np.exp(np.minimum(entries[DIAGONAL], 300.0))
    factor = np.zeros((4, 4))
    factor[LOWER] = entries
    slopes = np.ones(TEN)
    slopes[DIAGONAL] = entries[DIAGONAL]
    # dJ = dL L' + L dL' with dL one entry at (i, j): column j of L in row i, and transposed.
    change = np.zeros((TEN, 4, 4))
    rows = np.arange(TEN)
    change[rows, LOWER[0], :] = factor.T[LOWER[1]] * slopes[:, None]
    change = change + np.swapaxes(change, 1, 2)
    return ten_from(factor @ factor.T), FROM_MATRIX @ change.reshape(TEN, 16).T
