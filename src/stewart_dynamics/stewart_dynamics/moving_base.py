# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a moving base adds to the dynamics of the thirteen bodies, as a wrench on the platform.

Everything stays in ``base_link`` axes. There a moving base is a *field* (9,): gravity less the
acceleration of ``base_link``'s origin, angular velocity and angular acceleration of the base. It
stands in the place of gravity (3,) in a model; its first three numbers act through the ordinary
kernels, the rest (centrifugal, Euler, Coriolis and gyroscopic terms) is the wrench made here. A
model with gravity alone never comes here.
"""

# mypy: allow-untyped-defs
# Types of kernels stand in their decorators.
from __future__ import annotations

import numpy as np
from stewart_dynamics.forward_kernels import PLANT
from stewart_dynamics.leg_kernels import (
    ALPHA,
    COLUMNS,
    EX,
    EY,
    EZ,
    kinematic_pass,
    legs_wrench,
    LOWER,
    OMEGA,
    PLATFORM,
    platform_wrench,
    UPPER,
    wrench_matrix,
)
from stewart_kinematics.kernels.compiled import Array, kernel, part, VECTOR, VECTOR_OUT, VOID
from stewart_kinematics.kernels.rotations import rotate, rotation
from stewart_kinematics.kernels.vectors import (
    cross,
    dot,
    plus,
    put,
    row,
    times,
    Triple,
    triple,
)


@part
def carried(field: Array, arm: Triple, velocity: Triple) -> Triple:
    """Acceleration that the base's rotation adds to a point at `arm` that moves on the base."""
    turn, change = triple(field, 3), triple(field, 6)
    inner = plus(cross(turn, arm), times(2.0, velocity))
    return plus(cross(change, arm), cross(turn, inner))


@part
def _add(leg: Array, start: int, v: Triple) -> None:
    """Add a vector in base axes to one of the leg table in leg axes."""
    leg[start] += dot(triple(leg, EX), v)
    leg[start + 1] += dot(triple(leg, EY), v)
    leg[start + 2] += dot(triple(leg, EZ), v)


@kernel(VOID, *PLANT, VECTOR, VECTOR_OUT)
def add_base_wrench(
    base_joints, platform_joints, axes, field, theta, viscous, coulomb, stiction_rate, state, load,
):  # fmt: skip
    """Add the wrench of a turning base to a load on the platform, about its origin."""
    legs, push = np.empty((6, COLUMNS)), np.empty((6, 6))
    alone, moved = np.empty(6), np.empty(6)
    position, velocity, omega = triple(state, 0), triple(state, 7), triple(state, 10)
    turn, gravity, still = triple(field, 3), triple(field, 0), (0.0, 0.0, 0.0)
    r = rotation(state[3], state[4], state[5], state[6])
    kinematic_pass(
        base_joints, platform_joints, axes, gravity, position, r, velocity, omega, still,
        still, legs,
    )  # fmt: skip
    wrench_matrix(legs, push)
    platform_wrench(theta[PLATFORM], r, gravity, omega, still, still, alone)
    legs_wrench(theta, legs, push, alone)
    for i in range(6):
        leg = legs[i]
        arm = rotate(r, row(platform_joints, i))
        swing = plus(times(leg[OMEGA], triple(leg, EX)), times(leg[OMEGA + 1], triple(leg, EY)))
        swing = plus(swing, times(leg[OMEGA + 2], triple(leg, EZ)))
        _add(leg, ALPHA, plus(triple(field, 6), cross(turn, swing)))
        _add(leg, OMEGA, turn)
        tip = plus(velocity, cross(omega, arm))
        _add(leg, UPPER, carried(field, plus(position, arm), tip))
        _add(leg, LOWER, carried(field, row(base_joints, i), still))
    platform_wrench(
        theta[PLATFORM], r, gravity, plus(omega, turn),
        carried(field, position, velocity), plus(triple(field, 6), cross(turn, omega)), moved,
    )  # fmt: skip
    legs_wrench(theta, legs, push, moved)
    for k in range(6):
        load[k] += alone[k] - moved[k]


@kernel(VOID, VECTOR, VECTOR, VECTOR, VECTOR_OUT, VECTOR_OUT)
def absolute(field, state, acceleration, out, absolute_acceleration):
    """Fill state (13,) and acceleration (6,) as the world sees them, in base axes.

    Pose and linear velocity stay those on the base; rates and accelerations get the base's part,
    except for the acceleration of the base's origin, which is in the field's gravity.
    """
    velocity, omega, turn = triple(state, 7), triple(state, 10), triple(field, 3)
    out[:] = state
    put(out, 10, plus(omega, turn))
    added = carried(field, triple(state, 0), velocity)
    put(absolute_acceleration, 0, plus(triple(acceleration, 0), added))
    change = plus(triple(field, 6), cross(turn, omega))
    put(absolute_acceleration, 3, plus(triple(acceleration, 3), change))
