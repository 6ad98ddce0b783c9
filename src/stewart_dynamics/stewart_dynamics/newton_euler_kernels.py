# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of the inverse dynamics: actuator forces and joint reactions of n samples."""

# mypy: allow-untyped-defs
# Types of kernels stand in their decorators.
from __future__ import annotations

import math

from numba import types
import numpy as np
from stewart_dynamics.leg_kernels import (
    add_transverse,
    C,
    COLUMNS,
    CYLINDER,
    EX,
    EY,
    EZ,
    kinematic_pass,
    leg_balance,
    PLATFORM,
    platform_wrench,
    Q,
    ROD,
    SMALLEST_PIVOT_RATIO,
    wrench_matrix,
)
from stewart_kinematics.kernels.compiled import (
    Array,
    kernel,
    MATRIX,
    MATRIX_OUT,
    MOTION,
    part,
    STACK_OUT,
    VECTOR,
    VOID,
)
from stewart_kinematics.kernels.linear_systems import factor, substitute
from stewart_kinematics.kernels.rotations import quadruple, rotation
from stewart_kinematics.kernels.vectors import (
    minus,
    plus,
    put,
    row,
    times,
    Triple,
    triple,
)

MODEL = (MATRIX, MATRIX, MATRIX, VECTOR)
"""Base joints, platform joints, universal axes, gravity."""

JOINTS_OUT = types.Array(types.float64, 4, 'C')

OUTCOME = types.UniTuple(types.int64, 2)
"""How it ended, and at which sample."""

DONE, SINGULAR, LOCKED, NOT_FINITE = 0, 1, 2, 3

# Sine of the angle between a leg and its universal joint's fixed axis below which the joint is
# taken as locked: the leg's spin goes with the reciprocal.
SMALLEST_SINE = 1e-6


@kernel(OUTCOME, *MODEL, MATRIX, *MOTION, STACK_OUT)
def actuator_forces(
    base_joints, platform_joints, axes, gravity, parameters, position, quaternion, twist,
    acceleration, forces,
):  # fmt: skip
    """Actuator forces for every sample and every row of `parameters`, (samples, rows, 6).

    A row whose platform or legs weigh nothing, like most of the regressor's, skips them. It stops
    at the first sample whose pose is singular, where a leg lies along its universal joint's axis,
    or where a number is not finite.
    """
    legs = np.empty((6, COLUMNS))
    matrix, order = np.empty((6, 6)), np.empty(6, np.int64)
    wrench, leg_forces = np.empty(6), np.zeros((6, 10))
    rows, g = parameters.shape[0], triple(gravity, 0)
    for n in range(position.shape[0]):
        p, v, w = row(position, n), triple(twist[n], 0), triple(twist[n], 3)
        a, b = triple(acceleration[n], 0), triple(acceleration[n], 3)
        turn = rotation(*quadruple(quaternion, n))
        kinematic_pass(base_joints, platform_joints, axes, g, p, turn, v, w, a, b, legs)
        wrench_matrix(legs, matrix)
        smallest, largest = factor(matrix, order, 6)
        if not smallest > SMALLEST_PIVOT_RATIO * largest:
            return SINGULAR, n
        if not legs[:, Q].min() > SMALLEST_SINE:
            return LOCKED, n
        total = sum(v) + sum(w) + sum(a) + sum(b)
        for k in range(rows):
            theta = parameters[k]
            wrench[:] = 0.0
            if theta[PLATFORM].any():
                platform_wrench(theta[PLATFORM], turn, g, w, a, b, wrench)
            heavy = theta[PLATFORM.stop :].any()
            for i in range(6):
                leg_forces[i, 2] = 0.0
                if heavy:
                    leg_balance(theta[CYLINDER], theta[ROD], legs[i], leg_forces[i])
                    add_transverse(legs[i], leg_forces[i], wrench)
            substitute(matrix, order, wrench, forces[n, k], 6)
            for i in range(6):
                forces[n, k, i] += leg_forces[i, 2]
                total += forces[n, k, i]
        if not math.isfinite(total):
            return NOT_FINITE, n
    return DONE, 0


@part
def _to_base(leg: Array, v: Triple) -> Triple:
    """Return a vector given in leg axes in base axes."""
    x, y, z = triple(leg, EX), triple(leg, EY), triple(leg, EZ)
    return plus(times(v[0], x), plus(times(v[1], y), times(v[2], z)))


@kernel(VOID, *MODEL, VECTOR, *MOTION, MATRIX, JOINTS_OUT, MATRIX_OUT)
def joint_reactions(
    base_joints, platform_joints, axes, gravity, theta, position, quaternion, twist, acceleration,
    forces, joints, wrench,
):  # fmt: skip
    """Joint reactions and platform wrench for known actuator forces.

    `joints` (samples, 4, legs, 3): forces of the spherical joints, forces and moments of the
    universal joints, forces of the guides; base axes, as in `Reactions`.
    """
    legs, force = np.empty((6, COLUMNS)), np.empty(10)
    g = triple(gravity, 0)
    for n in range(position.shape[0]):
        p, v, w = row(position, n), triple(twist[n], 0), triple(twist[n], 3)
        a, b = triple(acceleration[n], 0), triple(acceleration[n], 3)
        turn = rotation(*quadruple(quaternion, n))
        kinematic_pass(base_joints, platform_joints, axes, g, p, turn, v, w, a, b, legs)
        platform_wrench(theta[PLATFORM], turn, g, w, a, b, wrench[n])
        for i in range(6):
            leg = legs[i]
            leg_balance(theta[CYLINDER], theta[ROD], leg, force)
            top = (force[0], force[1], force[2] - forces[n, i])
            whole = plus(triple(force, 4), triple(force, 7))
            put(joints[n, 0, i], 0, _to_base(leg, top))
            put(joints[n, 1, i], 0, _to_base(leg, minus(whole, top)))
            put(joints[n, 2, i], 0, times(force[3], _to_base(leg, (-leg[C], 0.0, leg[Q]))))
            guide = (force[7] - force[0], force[8] - force[1], 0.0)
            put(joints[n, 3, i], 0, _to_base(leg, guide))
