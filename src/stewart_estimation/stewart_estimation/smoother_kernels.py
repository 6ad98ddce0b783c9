# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled way back through the steps of the filter."""

from __future__ import annotations

import numpy as np
from stewart_estimation.layout import DELAY, MOUNTING
from stewart_estimation.tangent_kernels import attitude, definite_factor, mirror, retract
from stewart_kinematics.kernels.compiled import (
    INTEGER,
    kernel,
    MATRIX,
    MATRIX_OUT,
    STACK_OUT,
    VECTOR,
    VECTOR_OUT,
    VOID,
)
from stewart_kinematics.kernels.rotations import logarithm, multiply
from stewart_kinematics.motion import Array


@kernel(VOID, VECTOR, VECTOR, INTEGER, INTEGER, VECTOR_OUT)
def difference(state: Array, origin: Array, delay_at: int, mounting_at: int, out: Array) -> None:
    """Write the vector of the tangent that leads from `origin` to `state`."""
    for i in range(6):
        out[i] = state[i] - origin[i]
        out[9 + i] = state[10 + i] - origin[10 + i]
    x, y, z, w = attitude(origin)
    out[6], out[7], out[8] = logarithm(multiply((-x, -y, -z, w), attitude(state)))
    if delay_at >= 0:
        out[delay_at] = state[DELAY] - origin[DELAY]
    if mounting_at >= 0:
        for i in range(3):
            out[mounting_at + i] = state[MOUNTING + i] - origin[MOUNTING + i]


@kernel(
    INTEGER, MATRIX, STACK_OUT, STACK_OUT, INTEGER, INTEGER, INTEGER, MATRIX_OUT, STACK_OUT
)  # fmt: skip
def backwards(
    predicted: Array,
    predicted_covariance: Array,
    cross: Array,
    first: int,
    delay_at: int,
    mounting_at: int,
    states: Array,
    covariances: Array,
) -> int:
    """Turn filtered states and covariances into smoothed ones, in place, from the end to `first`.

    Rauch-Tung-Striebel: with G = C P_p^-1, the cross covariance C of a row with the prediction of
    the next and its covariance P_p, the state moves by G times what smoothing moved that
    prediction by, and the covariance changes by G (P_s - P_p) G'. Returns the row whose prediction
    has no factor, -1 if there is none.
    """
    n = predicted_covariance.shape[1]
    factor, gain, change = np.empty((n, n)), np.empty((n, n)), np.zeros(n)
    middle, shift = np.empty((n, n)), np.zeros(n)
    for row in range(states.shape[0] - 2, first - 1, -1):
        if definite_factor(predicted_covariance[row + 1], factor) < 0:
            return row + 1
        # Rows of the gain: solve P_p G' = C' by the factor, forward, then backward.
        for i in range(n):
            for j in range(n):
                value = cross[row + 1, i, j]
                for k in range(j):
                    value -= gain[i, k] * factor[j, k]
                gain[i, j] = value / factor[j, j]
            for j in range(n - 1, -1, -1):
                value = gain[i, j]
                for k in range(j + 1, n):
                    value -= gain[i, k] * factor[k, j]
                gain[i, j] = value / factor[j, j]
        difference(states[row + 1], predicted[row + 1], delay_at, mounting_at, change)
        for i in range(n):
            shift[i] = 0.0
            for j in range(n):
                shift[i] += gain[i, j] * change[j]
        retract(states[row], shift, delay_at, mounting_at)
        for i in range(n):
            for j in range(n):
                value = 0.0
                for k in range(n):
                    value += gain[i, k] * (
                        covariances[row + 1, k, j] - predicted_covariance[row + 1, k, j]
                    )
                middle[i, j] = value
        for i in range(n):
            for j in range(i + 1):
                value = covariances[row, i, j]
                for k in range(n):
                    value += middle[i, k] * gain[j, k]
                covariances[row, i, j] = value
        mirror(covariances[row])
    return -1
