# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled inner loop of the classical washout: filters of specific force and angular rate.

Between two samples every input is a straight line, for which the filters are exact.
"""

# mypy: allow-untyped-defs
# Types of kernels stand in their decorators.
from __future__ import annotations

import math

import numpy as np
from stewart_kinematics.kernels.compiled import (
    Array,
    kernel,
    MATRIX,
    MATRIX_OUT,
    part,
    SCALAR,
    STACK,
    VECTOR,
    VECTOR_OUT,
    VOID,
)

LINEAR, ANGULAR, TILT = 4, 3, 2
"""States of the filters of one axis."""

TURN_INPUT, TURN = 0, 3
"""Of the memory: last inputs of the angular filters (3,), last roll, pitch, yaw (3,)."""

FORCE_INPUT, TILT_INPUT = 6, 9
"""Last inputs of the linear filters (3,), and last rates that the tilt aimed at (2,)."""

STATES = 11
"""The states of three linear, three angular and two tilt filters follow."""

MEMORY = STATES + 3 * LINEAR + 3 * ANGULAR + 2 * TILT

LEANING = 0.99
"""Sine of the tilt at most."""

RESPONSE_COLUMNS = 18
"""Position, velocity, acceleration (3,) each, then the same of the angles roll, pitch, yaw."""


@part
def advance(memory: Array, first: int, count: int, step: Array, before: float, now: float) -> None:
    """Advance `count` states by one step; `step` (count, count + 2): state, old and new input."""
    fresh = np.empty(4)
    for i in range(count):
        total = step[i, count] * before + step[i, count + 1] * now
        for j in range(count):
            total += step[i, j] * memory[first + j]
        fresh[i] = total
    for i in range(count):
        memory[first + i] = fresh[i]


@part
def clipped(value: float, bound: float) -> float:
    """Return a value limited to ± a bound."""
    return min(max(value, -bound), bound)


@part
def lean(memory: Array, axis: int, step: Array, law: Array, sine: float, tilted: Array) -> None:
    """Let the tilt go on towards an angle of this sine, whose gravity gives the lasting force.

    Args:
        memory, axis: As of `run_washout`; 0: pitch, 1: roll.
        step, law: Of the axis, as of `run_washout`.
        sine: f_x = -g sin(pitch), for example.
        tilted (3,): Angle, rate, acceleration as they are now.
    """
    first = STATES + 3 * LINEAR + 3 * ANGULAR + TILT * axis
    period, gain, damping, fastest = law
    before = memory[TILT_INPUT + axis]
    slope = damping * (before - memory[first + 1])
    ahead = memory[first] + period * (memory[first + 1] + 0.5 * period * slope)
    aim = clipped(gain * (math.asin(sine) - ahead), fastest)
    advance(memory, first, TILT, step, before, aim)
    memory[TILT_INPUT + axis] = aim
    tilted[0], tilted[1] = memory[first], memory[first + 1]
    tilted[2] = damping * (aim - memory[first + 1])


@kernel(
    VOID, MATRIX, STACK, MATRIX, STACK, MATRIX, STACK, MATRIX, SCALAR, SCALAR, VECTOR, VECTOR,
    VECTOR_OUT, MATRIX_OUT,
)  # fmt: skip
def run_washout(
    inputs, linear, linear_law, angular, angular_law, tilt, tilt_law, gravity, smoothing, scales,
    bounds, memory, response,
):  # fmt: skip
    """Filter n samples.

    Args:
        inputs (n, 6): Specific force and angular rate of the vehicle, in its axes.
        linear, angular, tilt: Steps of the filters of each axis, (3, 4, 6), (3, 3, 5), (2, 2, 4).
        linear_law (3, 3): Coefficients a0, a1, a2 of each linear filter.
        angular_law (3, 2): a0, a1 of each angular filter.
        tilt_law (2, 4): Of pitch and roll: period, gain from angle to rate, damping, rate limit.
        gravity, smoothing: [m/s²], [s].
        scales, bounds (6,): Of the inputs.
        memory (MEMORY,): What is remembered from sample to sample.
        response (n, RESPONSE_COLUMNS): Result.
    """
    u, rate, tilted = np.empty(6), np.empty(3), np.empty((2, 3))
    for n in range(inputs.shape[0]):
        for k in range(6):
            rest = gravity if k == 2 else 0.0
            u[k] = clipped(scales[k] * (inputs[n, k] - rest), bounds[k])
        sine = clipped(-u[0] / gravity, LEANING)
        lean(memory, 0, tilt[0], tilt_law[0], sine, tilted[0])
        share = u[1] / gravity / math.sqrt(1.0 - sine * sine)
        lean(memory, 1, tilt[1], tilt_law[1], clipped(share, LEANING), tilted[1])
        # Rates of roll, pitch, yaw at the attitude that the platform was to have.
        sx, cx = math.sin(memory[TURN]), math.cos(memory[TURN])
        sy, cy = math.sin(memory[TURN + 1]), math.cos(memory[TURN + 1])
        sz, cz = math.sin(memory[TURN + 2]), math.cos(memory[TURN + 2])
        rate[2] = (u[4] * sx + u[5] * cx) / cy
        rate[1] = u[4] * cx - u[5] * sx
        rate[0] = u[3] + rate[2] * sy
        for k in range(3):
            first = STATES + 3 * LINEAR + ANGULAR * k
            advance(memory, first, ANGULAR, angular[k], memory[TURN_INPUT + k], rate[k])
            memory[TURN_INPUT + k] = rate[k]
            smooth, angle = memory[first], memory[first + 2]
            speed = smooth - angular_law[k, 0] * memory[first + 1] - angular_law[k, 1] * angle
            change = (rate[k] - smooth) / smoothing
            response[n, 9 + k], response[n, 12 + k] = angle, speed
            response[n, 15 + k] = change - angular_law[k, 0] * angle - angular_law[k, 1] * speed
            if k < 2:
                for d in range(3):
                    response[n, 9 + 3 * d + k] += tilted[1 - k, d]
        # Acceleration in base axes that gives this specific force: R f + gravity.
        fx, fy, fz = u[0], u[1], u[2] + gravity
        y, z = cx * fy - sx * fz, sx * fy + cx * fz
        x, z = cy * fx + sy * z, cy * z - sy * fx
        u[0], u[1], u[2] = cz * x - sz * y, sz * x + cz * y, z - gravity
        for k in range(3):
            first = STATES + LINEAR * k
            advance(memory, first, LINEAR, linear[k], memory[FORCE_INPUT + k], u[k])
            memory[FORCE_INPUT + k] = u[k]
            response[n, k], response[n, 3 + k] = memory[first + 2], memory[first + 3]
            total = memory[first]
            for j in range(3):
                total -= linear_law[k, j] * memory[first + 1 + j]
            response[n, 6 + k] = total
            memory[TURN + k] = response[n, 9 + k]
