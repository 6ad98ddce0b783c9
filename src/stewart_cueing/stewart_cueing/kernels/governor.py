# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled inner loop of the governor: one step of constant jerk, and the stop behind it."""

# mypy: allow-untyped-defs
# Types of kernels stand in their decorators.
from __future__ import annotations

from stewart_kinematics.kernels.compiled import kernel, MATRIX, MATRIX_OUT, SCALAR
from stewart_kinematics.kernels.steering import (
    evaluate,
    PIECES,
    POWERS,
    put_piece,
    shortest,
    START,
)


@kernel(SCALAR, MATRIX, MATRIX, SCALAR, SCALAR, MATRIX, MATRIX_OUT, MATRIX_OUT)
def plan_step(state, target, period, stop_least, bounds, plan, work):
    """Write a plan: to an acceleration within a period, then to rest; return when it rests [s].

    Args:
        state (4, 3): Linear and angular velocity, linear and angular acceleration at its begin.
        target (2, 3): Linear and angular acceleration after the period.
        period, stop_least: How long the step takes, and the shortest stop [s].
        bounds (2, 2): Acceleration and jerk of the stop, linear and angular [SI].
        plan (8, 16), work (5, 3): Result as `kernels.steering.follow_plan` takes it, and room.
    """
    end = 0.0
    way, velocity, acceleration, change, zero = work[0], work[1], work[2], work[3], work[4]
    for half in range(2):
        rows, a, j = PIECES * half, bounds[half, 0], bounds[half, 1]
        plan[rows, START] = 0.0
        for k in range(3):
            c = POWERS + 5 * k
            plan[rows, c], plan[rows, c + 1] = 0.0, state[half, k]
            plan[rows, c + 2] = 0.5 * state[2 + half, k]
            plan[rows, c + 3] = (target[half, k] - state[2 + half, k]) / (6.0 * period)
            plan[rows, c + 4] = 0.0
        for k in range(3):
            way[k], velocity[k], acceleration[k] = evaluate(plan, rows, k, period)
            change[k], zero[k] = -velocity[k], 0.0
        rest = shortest(change, acceleration, stop_least, a, j)
        put_piece(plan, rows + 1, period, way, velocity, acceleration, change, rest)
        for k in range(3):
            way[k] = evaluate(plan, rows + 1, k, period + rest)[0]
            velocity[k] = change[k] = 0.0
        put_piece(plan, rows + 2, period + rest, way, velocity, zero, change, 1.0)
        put_piece(plan, rows + 3, period + rest, way, velocity, zero, change, 1.0)
        end = max(end, period + rest)
    return end
