# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled: where a setpoint leads, and how far a pose is from it."""

from __future__ import annotations

from stewart_kinematics.kernels.compiled import (
    Array,
    FLAG,
    kernel,
    SCALAR,
    VECTOR,
    VECTOR_OUT,
    VOID,
)
from stewart_kinematics.kernels.rotations import exponential, logarithm, multiply

REST_VELOCITY = 1e-4
"""Below this a platform rests [m/s], [rad/s]; a profile's last sample is at 0 but for rounding."""

REST_ACCELERATION = 1e-2
"""Below this it will stay at rest: a wave turns back with more [m/s²], [rad/s²]."""


@kernel(FLAG, VECTOR, VECTOR)
def at_rest(twist: Array, acceleration: Array) -> bool:
    """Tell whether a sample neither moves nor is about to; NaN is not rest."""
    for k in range(6):
        if not (abs(twist[k]) <= REST_VELOCITY and abs(acceleration[k]) <= REST_ACCELERATION):
            return False
    return True


@kernel(VOID, VECTOR, VECTOR, VECTOR, VECTOR, SCALAR, VECTOR_OUT)
def follow(position, quaternion, twist, acceleration, step, out):
    """Write position and quaternion, shape (7,), after a step with constant accelerations."""
    square = 0.5 * step * step
    for k in range(3):
        out[k] = position[k] + step * twist[k] + square * acceleration[k]
    turn = exponential(
        step * twist[3] + square * acceleration[3],
        step * twist[4] + square * acceleration[4],
        step * twist[5] + square * acceleration[5],
    )
    before = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    out[3], out[4], out[5], out[6] = multiply(turn, before)


@kernel(VOID, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR_OUT)
def compare(wanted_position, wanted, position, quaternion, out):
    """Write wanted minus achieved position and rotation vector, shape (6,)."""
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    goal = wanted[0], wanted[1], wanted[2], wanted[3]
    for k in range(3):
        out[k] = wanted_position[k] - position[k]
    out[3], out[4], out[5] = logarithm(multiply(goal, (-x, -y, -z, w)))
