# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One sample of the 78-coordinate model: positions, velocities, accelerations, multipliers.

Bodies: 0 the platform, 1-6 the cylinders, 7-12 the rods; coordinates of body b are 6b to 6b + 5,
centre of mass then angles. Constraint rows 12 i to 12 i + 11 belong to leg i, 72 to 77 to the
drives, which are the platform's own coordinates (Eq. 2 with C = q_plt - q_plt(t)).
"""

from __future__ import annotations

import numpy as np
from stewart_dynamics.multibody.constraints import (
    leg_constraints,
    leg_jacobian,
    leg_quadratic,
    length_gradient,
)
from stewart_dynamics.multibody.coordinates import (
    angles_of,
    attitude,
    rate_axes,
    rate_axes_derivative_times_rates,
)
from stewart_kinematics.kernels.compiled import (
    inferred,
    INTEGER,
    kernel,
    load_blas,
    MATRIX,
    MATRIX_OUT,
    STACK,
    VECTOR,
    VECTOR_OUT,
)
from stewart_kinematics.kernels.linear_systems import factor, substitute, substitute_transposed
from stewart_kinematics.kernels.vectors import cross, plus, point_acceleration, put, triple

load_blas()

BODIES = 13
PLATFORM = 0
NEWTON_STEPS = 20
TOLERANCE = 1e-13  # [m] and [-]; the smallest that double precision leaves at these sizes
SMALLEST_PIVOT = 1e-9

CONVERGED, SINGULAR_COORDINATES, NOT_CONVERGED, SINGULAR_POSE = 0, 1, 2, 3


@inferred
def _couple(base, universal_axis, upper_point, base_arm, rod_arm, offset, cylinder, rod):  # type: ignore[no-untyped-def]
    """Start cylinder and rod from the loop closure (Eq. 16)."""
    z, y, axes = np.empty(3), np.empty(3), np.empty((3, 3))
    for k in range(3):
        z[k] = upper_point[k] - base[k]
    z /= np.sqrt(z[0] ** 2 + z[1] ** 2 + z[2] ** 2)
    put(y, 0, cross(z, universal_axis))
    y /= np.sqrt(y[0] ** 2 + y[1] ** 2 + y[2] ** 2)
    axes[:, 1], axes[:, 2] = y, z
    put(axes[:, 0], 0, cross(y, z))
    angles_of(axes, offset, cylinder[3:])
    rod[3:] = cylinder[3:]
    cylinder[:3] = base - axes @ base_arm
    rod[:3] = upper_point - axes @ rod_arm


@inferred
def _newton(  # type: ignore[no-untyped-def]
    base, universal_axis, upper_point, base_arm, rod_arm, offset, q, jacobian, order, c
):
    """Close one leg's constraints (Eq. 5); leaves the factored Jacobian at the solution."""
    ac, ar = np.empty((3, 3)), np.empty((3, 3))
    gc, gr = np.empty((3, 3)), np.empty((3, 3))
    step = np.empty(12)
    status = NOT_CONVERGED
    for _ in range(NEWTON_STEPS):
        attitude(q[3:6], offset, ac)
        attitude(q[9:12], offset, ar)
        rate_axes(q[3:6], gc)
        rate_axes(q[9:12], gr)
        leg_constraints(
            base, universal_axis, base_arm, (q[:3], ac), rod_arm, (q[6:9], ar), upper_point, c
        )
        leg_jacobian(
            universal_axis, base_arm, (q[:3], ac), gc, rod_arm, (q[6:9], ar), gr, jacobian
        )
        if not factor(jacobian, order, 12)[0] > SMALLEST_PIVOT:
            return SINGULAR_COORDINATES
        if status == CONVERGED:
            break
        substitute(jacobian, order, c, step, 12)
        q -= step
        if np.abs(step).max() < TOLERANCE:
            status = CONVERGED
    return status


@inferred
def _inertial_force(mass, inertia, gravity, rotation, axes, omega, alpha, acceleration, out):  # type: ignore[no-untyped-def]
    """Q_e - M q'' of one body: generalised forces that the joints must balance."""
    local_w, local_b = rotation.T @ omega, rotation.T @ alpha
    moment = inertia @ local_b
    put(moment, 0, plus(triple(moment, 0), cross(local_w, inertia @ local_w)))
    moment = rotation @ moment
    for k in range(3):
        out[k] = mass * (gravity[k] - acceleration[k])
        out[3 + k] = -(axes[0, k] * moment[0] + axes[1, k] * moment[1] + axes[2, k] * moment[2])


@inferred
def _point(twist, acceleration, arm, velocity_out, acceleration_out):  # type: ignore[no-untyped-def]
    """Velocity and acceleration of a point of the platform, `arm` from platform_link's origin."""
    turn, alpha = triple(twist, 3), triple(acceleration, 3)
    reach = triple(arm, 0)
    put(velocity_out, 0, plus(cross(turn, reach), triple(twist, 0)))
    start = triple(acceleration, 0)
    put(acceleration_out, 0, point_acceleration(start, turn, alpha, reach))


@inferred
def _move_platform(  # type: ignore[no-untyped-def]
    position, rotation, twist, acceleration, arm, offset, q, dq, ddq, axes
):
    """Give the platform's coordinates the motion of the drives; return CONVERGED or why not."""
    free = np.empty(3)
    q[:3] = position + arm
    angles_of(rotation, offset, q[3:])
    if abs(np.sin(q[4])) < SMALLEST_PIVOT:
        return SINGULAR_COORDINATES
    rate_axes(q[3:], axes)
    _point(twist, acceleration, arm, dq[:3], ddq[:3])
    dq[3:] = np.linalg.solve(axes, twist[3:])
    rate_axes_derivative_times_rates(q[3:], dq[3:], free)
    ddq[3:] = np.linalg.solve(axes, acceleration[3:] - free)
    return CONVERGED


@inferred
def _move_leg(  # type: ignore[no-untyped-def]
    base,
    universal_axis,
    upper,
    base_arm,
    rod_arm,
    offset,
    q,
    dq,
    ddq,
    rotations,
    axes,
    omega,
    alpha,
    matrix,
    order,
    violations,
):
    """Let cylinder and rod follow their upper joint; return CONVERGED or why not.

    `upper` (3, 3) is the joint's position, velocity and acceleration. Leaves the factored
    Jacobian in `matrix`, and in `rotations`, `axes` (2, 3, 3), `omega`, `alpha` (2, 3) the
    attitudes, axes of the angles' rates, angular velocities and accelerations of both bodies.
    """
    right, free = np.empty(12), np.empty((2, 3))
    _couple(base, universal_axis, upper[0], base_arm, rod_arm, offset, q[:6], q[6:])
    status = _newton(
        base, universal_axis, upper[0], base_arm, rod_arm, offset, q, matrix, order, right
    )
    if status != CONVERGED:
        return status
    violations[0] = max(violations[0], np.abs(right).max())

    # Velocity: C_q dq = -C_t; only the spherical joint sees the platform move.
    right[:] = 0.0
    right[9:] = -upper[1]
    substitute(matrix, order, right, dq, 12)
    for body in range(2):
        angles, rates = q[6 * body + 3 : 6 * body + 6], dq[6 * body + 3 : 6 * body + 6]
        attitude(angles, offset, rotations[body])
        rate_axes(angles, axes[body])
        omega[body] = axes[body] @ rates
        rate_axes_derivative_times_rates(angles, rates, free[body])

    # Acceleration: C_q ddq = Q_d.
    leg_quadratic(
        universal_axis,
        base_arm,
        (q[:3], rotations[0]),
        (dq[:3], omega[0], free[0]),
        rod_arm,
        (q[6:9], rotations[1]),
        (dq[6:9], omega[1], free[1]),
        right,
    )
    right[9:] -= upper[2]
    substitute(matrix, order, right, ddq, 12)
    for body in range(2):
        alpha[body] = free[body] + axes[body] @ ddq[6 * body + 3 : 6 * body + 6]
    return CONVERGED


@inferred
def _carry(force, upper_arm, arm, axes, sign, out):  # type: ignore[no-untyped-def]
    """Add C_qᵀ of a spherical joint's rows at the platform: force and its generalised moment."""
    lever = cross(upper_arm - arm, force)
    for k in range(3):
        out[k] += sign * force[k]
        out[3 + k] += sign * (
            axes[0, k] * lever[0] + axes[1, k] * lever[1] + axes[2, k] * lever[2]
        )


@kernel(
    INTEGER,
    *(MATRIX, MATRIX, MATRIX, VECTOR, VECTOR, MATRIX, STACK, MATRIX),
    *(VECTOR, MATRIX, VECTOR, VECTOR),
    *(VECTOR_OUT, VECTOR_OUT, VECTOR_OUT, VECTOR_OUT, MATRIX_OUT, VECTOR_OUT, VECTOR_OUT),
)
def solve_sample(  # type: ignore[no-untyped-def]
    base_joints,
    platform_joints,
    universal_axes,
    gravity,
    masses,
    centres,
    inertias,
    offset,
    position,
    rotation,
    twist,
    acceleration,
    q,
    dq,
    ddq,
    multipliers,
    generalised,
    forces,
    violations,
):
    """Solve one sample; return CONVERGED or why not.

    `masses` (3,), `centres` (3, 3) and `inertias` (3, 3, 3) are those of platform (from
    platform_link's origin), cylinder (from the base joint) and rod (from the upper joint).
    `violations` receives the largest of C and of C_q dq.
    """
    base_arm, rod_arm, arm = -centres[1], -centres[2], rotation @ centres[0]
    axes, balance = np.empty((3, 3)), generalised[PLATFORM]
    status = _move_platform(
        position, rotation, twist, acceleration, arm, offset, q[:6], dq[:6], ddq[:6], axes
    )
    if status != CONVERGED:
        return status
    _inertial_force(
        masses[0], inertias[0], gravity, rotation, axes, twist[3:], acceleration[3:], ddq[:3],
        balance,
    )  # fmt: skip

    remaining, push = balance.copy(), np.zeros((6, 6))
    violations[:] = 0.0
    matrix, order = np.empty((12, 12)), np.empty(12, np.int64)
    right, gradient, unit, work = np.empty(12), np.empty(12), np.empty(12), np.empty(12)
    upper = np.empty((3, 3))
    leg_q, leg_dq, leg_ddq = np.empty(12), np.empty(12), np.empty(12)
    leg_rotations, leg_axes = np.empty((2, 3, 3)), np.empty((2, 3, 3))
    leg_omega, leg_alpha = np.empty((2, 3)), np.empty((2, 3))
    for i in range(6):
        upper_arm = rotation @ platform_joints[i]
        upper[0] = position + upper_arm
        _point(twist, acceleration, upper_arm, upper[1], upper[2])
        status = _move_leg(
            base_joints[i], universal_axes[i], upper, base_arm, rod_arm, offset, leg_q, leg_dq,
            leg_ddq, leg_rotations, leg_axes, leg_omega, leg_alpha, matrix, order, violations,
        )  # fmt: skip
        if status != CONVERGED:
            return status
        for body, kind, at in ((1 + i, 1, 0), (7 + i, 2, 6)):
            _inertial_force(
                masses[kind], inertias[kind], gravity, leg_rotations[kind - 1], leg_axes[kind - 1],
                leg_omega[kind - 1], leg_alpha[kind - 1], leg_ddq[at : at + 3], generalised[body],
            )  # fmt: skip
            right[at : at + 6] = generalised[body]
            q[6 * body : 6 * body + 6] = leg_q[at : at + 6]
            dq[6 * body : 6 * body + 6] = leg_dq[at : at + 6]
            ddq[6 * body : 6 * body + 6] = leg_ddq[at : at + 6]

        # Multipliers of the driven leg, and what a unit actuator force adds to them.
        cylinder, rod = (leg_q[:3], leg_rotations[0]), (leg_q[6:9], leg_rotations[1])
        own = multipliers[12 * i : 12 * i + 12]
        substitute_transposed(matrix, order, right, own, work, 12)
        length_gradient(base_arm, cylinder, leg_axes[0], rod_arm, rod, leg_axes[1], gradient)
        substitute_transposed(matrix, order, gradient, unit, work, 12)
        # The spherical joint's rows, seen from the platform: a force at its joint.
        _carry(own[9:], upper_arm, arm, axes, -1.0, remaining)
        _carry(unit[9:], upper_arm, arm, axes, 1.0, push[:, i])

        leg_jacobian(
            universal_axes[i], base_arm, cylinder, leg_axes[0], rod_arm, rod, leg_axes[1], matrix
        )
        right[:] = matrix @ leg_dq
        right[9:] += upper[1]
        violations[1] = max(violations[1], np.abs(right).max())

    multipliers[72:] = remaining
    # Actuators instead of drives: sum of push f balances what the drives had to give.
    if not factor(push, order, 6)[0] > SMALLEST_PIVOT:
        return SINGULAR_POSE
    substitute(push, order, remaining, forces, 6)
    return CONVERGED
