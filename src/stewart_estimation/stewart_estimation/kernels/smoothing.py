# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled way back of the smoother through the rows that the filter kept."""

from __future__ import annotations

import math

import numpy as np
from stewart_estimation.kernels.records import (
    DELAY,
    EXTERNAL,
    MOUNTING,
    Rows,
    ROWS_TYPE,
    SETUP_TYPE,
    Steps,
    STEPS_TYPE,
    TANGENT,
)
from stewart_estimation.kernels.report import report, sandwich, write_errors
from stewart_estimation.kernels.tangent import attitude, retract
from stewart_kinematics.kernels.compiled import (
    INTEGER,
    kernel,
    MATRIX_OUT,
    part,
    STACK,
    STACK_OUT,
    VOID,
)
from stewart_kinematics.kernels.rotations import logarithm, multiply
from stewart_kinematics.motion import Array


@part
def difference(setup: np.record, state: Array, origin: Array, change: Array) -> None:
    """Write the vector of the tangent that leads from `origin` to `state`."""
    x, y, z, w = attitude(origin)
    turn = logarithm(multiply((-x, -y, -z, w), attitude(state)))
    for i in range(6):
        change[i] = state[i] - origin[i]
        change[9 + i] = state[10 + i] - origin[10 + i]
    for i in range(3):
        change[6 + i] = turn[i]
        if setup.mounting_at >= 0:
            change[setup.mounting_at + i] = state[MOUNTING + i] - origin[MOUNTING + i]
    if setup.delay_at >= 0:
        change[setup.delay_at] = state[DELAY] - origin[DELAY]
    if setup.external_at >= 0:
        change[setup.external_at] = state[EXTERNAL] - origin[EXTERNAL]


@kernel(VOID, SETUP_TYPE, STEPS_TYPE, STACK, INTEGER, MATRIX_OUT, STACK_OUT, ROWS_TYPE)
def smooth_back(
    setup: np.record,
    steps: Steps,
    gains: Array,
    first: int,
    states: Array,
    covariances: Array,
    rows: Rows,
) -> None:
    """Let every row from the last but one to `first` know the one after it, and report them.

    `gains` has C P^-1 of each row but the last, the first being that of row `first`; `states` and
    `covariances` are the filtered ones, and change into the smoothed ones.
    """
    count, n = states.shape[0], covariances.shape[1]
    change, move = np.empty(n), np.empty(n)
    known, gained = np.empty((n, n)), np.empty((n, n))
    errors, rate_errors = np.empty((TANGENT, TANGENT)), np.empty((3, 3))
    for row in range(count - 2, first - 1, -1):
        gain, after = gains[row - first], row + 1
        difference(setup, states[after], steps.predicted[after], change)
        for i in range(n):
            move[i] = 0.0
            for j in range(n):
                move[i] += gain[i, j] * change[j]
                known[i, j] = covariances[after, i, j] - steps.predicted_covariance[after, i, j]
        retract(states[row], move, setup)
        sandwich(gain, known, gained)
        for i in range(n):
            for j in range(n):
                covariances[row, i, j] += gained[i, j]
    for row in range(first, count):
        # Where the delay is estimated it changed, and with it the instant that is asked for.
        lead = states[row, DELAY] - steps.predicted[row, DELAY]
        report(
            setup, states[row], covariances[row], steps.inputs[row],
            steps.angular_accelerations[row], steps.noise[row],
            lead if math.isfinite(lead) else 0.0, rows.report[row], errors, rate_errors,
        )  # fmt: skip
        write_errors(errors, rate_errors, rows, row)
