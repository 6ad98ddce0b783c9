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


@kernel(FLAG, VECTOR, VECTOR, VECTOR, VECTOR, SCALAR, SCALAR, VECTOR, VECTOR_OUT)
def compare(position, quaternion, twist, acceleration, step, hold, achieved, out):
    """Write where a setpoint leads in a step, and how far an achieved pose (7,) is from there.

    Accelerations stay as they are; a setpoint at rest stays where it is. `out` (13,) gets wanted
    pose, wanted minus achieved position, and the rotation vector from achieved to wanted. False,
    without a result, if the step of a moving setpoint is longer than `hold`.
    """
    square = 0.5 * step * step
    goal = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    if at_rest(twist, acceleration):
        for k in range(3):
            out[k] = position[k]
    elif step > hold:
        return False
    else:
        for k in range(3):
            out[k] = position[k] + step * twist[k] + square * acceleration[k]
        turn = exponential(
            step * twist[3] + square * acceleration[3],
            step * twist[4] + square * acceleration[4],
            step * twist[5] + square * acceleration[5],
        )
        goal = multiply(turn, goal)
    out[3], out[4], out[5], out[6] = goal
    for k in range(3):
        out[7 + k] = out[k] - achieved[k]
    x, y, z, w = achieved[3], achieved[4], achieved[5], achieved[6]
    out[10], out[11], out[12] = logarithm(multiply(goal, (-x, -y, -z, w)))
    return True
