# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of the forward dynamics; they import nothing but numba and each other.

A simulated rig runs them in its cyclic process, which must start quickly.
"""

# mypy: allow-untyped-defs
# Types of kernels stand in their decorators.
from __future__ import annotations

import math

from numba import types
import numpy as np
from stewart_dynamics.leg_kernels import (
    add_tip_inertia,
    COLUMNS,
    CYLINDER,
    kinematic_pass,
    legs_wrench,
    PLATFORM,
    platform_mass_matrix,
    platform_wrench,
    ROD,
    SMALLEST_PIVOT_RATIO,
    wrench_matrix,
)
from stewart_kinematics.kernels.compiled import (
    Array,
    INTEGER,
    kernel,
    MATRIX,
    part,
    SCALAR,
    VECTOR,
    VECTOR_OUT,
)
from stewart_kinematics.kernels.linear_systems import factor, substitute
from stewart_kinematics.kernels.rotations import rotation, Rotation9
from stewart_kinematics.kernels.vectors import Triple, triple

# State vector of the platform.
POSITION, QUATERNION = slice(0, 3), slice(3, 7)
LINEAR_VELOCITY, ANGULAR_VELOCITY = slice(7, 10), slice(10, 13)
STATE_SIZE = 13


Plant = tuple[Array, Array, Array, Array, Array, Array, Array, float]
PLANT = (MATRIX, MATRIX, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, SCALAR)
"""Joints, universal axes, gravity, parameters, viscous, dry friction, its rate [m/s]."""


@part
def _bias(
    base_joints: Array, platform_joints: Array, axes: Array, gravity: Triple, theta: Array,
    position: Triple, turn: Rotation9, velocity: Triple, omega: Triple, legs: Array, push: Array,
    wrench: Array,
) -> None:  # fmt: skip
    """Wrench that the six actuators must exert together, ``J^T f``, at zero acceleration.

    Fills the table of the legs and ``J^T`` in `push` on the way.
    """
    still = (0.0, 0.0, 0.0)
    kinematic_pass(
        base_joints, platform_joints, axes, gravity, position, turn, velocity, omega, still, still,
        legs,
    )  # fmt: skip
    wrench_matrix(legs, push)
    platform_wrench(theta[PLATFORM], turn, gravity, omega, still, still, wrench)
    legs_wrench(theta, legs, push, wrench)


@kernel(SCALAR, *PLANT, VECTOR, VECTOR, VECTOR, VECTOR_OUT)
def loaded_derivative(
    base_joints, platform_joints, axes, gravity, theta, viscous, coulomb, stiction_rate, state,
    forces, load, out,
):  # fmt: skip
    """Time derivative of the state; returns the pivot ratio of the mass matrix.

    `load` is a wrench on the platform beside the legs' forces, about its origin in base axes.
    """
    legs, push, wrench = np.empty((6, COLUMNS)), np.empty((6, 6)), np.empty(6)
    mass, order = np.empty((6, 6)), np.empty(6, np.int64)
    velocity, omega = triple(state, 7), triple(state, 10)
    turn = rotation(state[3], state[4], state[5], state[6])
    _bias(
        base_joints,
        platform_joints,
        axes,
        triple(gravity, 0),
        theta,
        triple(state, 0),
        turn,
        velocity,
        omega,
        legs,
        push,
        wrench,
    )
    platform_mass_matrix(theta[PLATFORM], turn, mass)
    for i in range(6):
        add_tip_inertia(theta[CYLINDER], theta[ROD], legs[i], mass)
    for k in range(6):
        wrench[k] = load[k] - wrench[k]
    for i in range(6):
        rate = 0.0
        for k in range(6):
            rate += push[k, i] * state[7 + k]
        net = forces[i] - viscous[i] * rate - coulomb[i] * math.tanh(rate / stiction_rate)
        for k in range(6):
            wrench[k] += push[k, i] * net
    smallest, largest = factor(mass, order, 6)
    if not largest > 0.0:
        return 0.0
    substitute(mass, order, wrench, out[7:13], 6)
    x, y, z, w = state[3], state[4], state[5], state[6]
    out[0], out[1], out[2] = velocity
    out[3] = 0.5 * (omega[0] * w + omega[1] * z - omega[2] * y)
    out[4] = 0.5 * (omega[1] * w + omega[2] * x - omega[0] * z)
    out[5] = 0.5 * (omega[2] * w + omega[0] * y - omega[1] * x)
    out[6] = -0.5 * (omega[0] * x + omega[1] * y + omega[2] * z)
    return smallest / largest


@kernel(types.boolean, *PLANT, VECTOR_OUT, VECTOR, SCALAR, INTEGER)
def advance_in_place(
    base_joints, platform_joints, axes, gravity, theta, viscous, coulomb, stiction_rate, state,
    forces, step, count,
):  # fmt: skip
    """Advance `state` in place by `count` Runge-Kutta steps with constant forces."""
    k1, k2, k3, k4 = np.empty(13), np.empty(13), np.empty(13), np.empty(13)
    idle = np.zeros(6)
    for _ in range(count):
        ratio = np.inf
        for k, previous, weight in ((k1, k1, 0.0), (k2, k1, 0.5), (k3, k2, 0.5), (k4, k3, 1.0)):
            at = state + (weight * step) * previous if weight > 0.0 else state
            found = loaded_derivative(
                base_joints, platform_joints, axes, gravity, theta, viscous, coulomb,
                stiction_rate, at, forces, idle, k,
            )  # fmt: skip
            ratio = min(ratio, found)
        if not ratio > SMALLEST_PIVOT_RATIO:
            return False
        for j in range(13):
            state[j] += step / 6.0 * (k1[j] + 2.0 * (k2[j] + k3[j]) + k4[j])
        norm = np.sqrt(state[3] ** 2 + state[4] ** 2 + state[5] ** 2 + state[6] ** 2)
        for j in range(3, 7):
            state[j] /= norm
    return True
