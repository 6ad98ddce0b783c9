# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
One sample of the 78-coordinate model: positions, velocities, accelerations, multipliers.

Bodies: 0 the platform, 1-6 the cylinders, 7-12 the rods; coordinates of body b are 6b to 6b + 5,
centre of mass then angles. Constraint rows 12 i to 12 i + 11 belong to leg i, 72 to 77 to the
drives, which are the platform's own coordinates (Eq. 2 with C = q_plt - q_plt(t)).
"""

from __future__ import annotations

from numba import njit
import numpy as np
from stewart_dynamics.multibody.blocks import factor, solve, solve_transposed
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

BODIES = 13
PLATFORM = 0
NEWTON_STEPS = 20
TOLERANCE = 1e-13  # [m] and [-]; the smallest that double precision leaves at these sizes
SMALLEST_PIVOT = 1e-9

CONVERGED, SINGULAR_COORDINATES, NOT_CONVERGED, SINGULAR_POSE = 0, 1, 2, 3


@njit(cache=True)
def _cross(a, b, out):  # type: ignore[no-untyped-def]
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@njit(cache=True)
def _couple(base, universal_axis, upper_point, base_arm, rod_arm, offset, cylinder, rod):  # type: ignore[no-untyped-def]
    """Start cylinder and rod from the loop closure (Eq. 16)."""
    z, y, axes = np.empty(3), np.empty(3), np.empty((3, 3))
    for k in range(3):
        z[k] = upper_point[k] - base[k]
    z /= np.sqrt(z[0] ** 2 + z[1] ** 2 + z[2] ** 2)
    _cross(z, universal_axis, y)
    y /= np.sqrt(y[0] ** 2 + y[1] ** 2 + y[2] ** 2)
    axes[:, 1], axes[:, 2] = y, z
    _cross(y, z, axes[:, 0])
    angles_of(axes, offset, cylinder[3:])
    rod[3:] = cylinder[3:]
    cylinder[:3] = base - axes @ base_arm
    rod[:3] = upper_point - axes @ rod_arm


@njit(cache=True)
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
        if not factor(jacobian, order) > SMALLEST_PIVOT:
            return SINGULAR_COORDINATES
        if status == CONVERGED:
            break
        solve(jacobian, order, c, step)
        q -= step
        if np.abs(step).max() < TOLERANCE:
            status = CONVERGED
    return status


@njit(cache=True)
def _inertial_force(mass, inertia, gravity, rotation, axes, omega, alpha, acceleration, out):  # type: ignore[no-untyped-def]
    """Q_e - M q'' of one body: generalised forces that the joints must balance."""
    local_w, local_b = rotation.T @ omega, rotation.T @ alpha
    momentum, moment = inertia @ local_w, np.empty(3)
    _cross(local_w, momentum, moment)
    moment = rotation @ (moment + inertia @ local_b)
    for k in range(3):
        out[k] = mass * (gravity[k] - acceleration[k])
        out[3 + k] = -(axes[0, k] * moment[0] + axes[1, k] * moment[1] + axes[2, k] * moment[2])


@njit(cache=True)
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
    """
    Solve one sample; return CONVERGED or why not.

    `masses` (3,), `centres` (3, 3) and `inertias` (3, 3, 3) are those of platform (from
    platform_link's origin), cylinder (from the base joint) and rod (from the upper joint).
    `violations` receives the largest of C and of C_q dq.
    """
    a = np.empty((BODIES, 3, 3))
    g = np.empty((BODIES, 3, 3))
    w = np.empty((BODIES, 3))
    free = np.empty((BODIES, 3))
    alpha = np.empty((BODIES, 3))
    balance = np.empty((BODIES, 6))
    matrix, order = np.empty((12, 12)), np.empty(12, np.int64)
    right, gradient, unit = np.empty(12), np.empty(12), np.empty((6, 12))
    three, centripetal = np.empty(3), np.empty(3)
    base_arm, rod_arm = -centres[1], -centres[2]

    # The platform's coordinates are given (drives).
    omega, alpha[PLATFORM] = twist[3:], acceleration[3:]
    arm = rotation @ centres[0]
    a[PLATFORM], w[PLATFORM] = rotation, omega
    q[:3] = position + arm
    angles_of(rotation, offset, q[3:6])
    _cross(omega, arm, three)
    dq[:3] = twist[:3] + three
    _cross(omega, three, centripetal)
    _cross(alpha[PLATFORM], arm, three)
    ddq[:3] = acceleration[:3] + three + centripetal
    rate_axes(q[3:6], g[PLATFORM])
    if abs(np.sin(q[4])) < SMALLEST_PIVOT:
        return SINGULAR_COORDINATES
    dq[3:6] = np.linalg.solve(g[PLATFORM], omega)
    rate_axes_derivative_times_rates(q[3:6], dq[3:6], free[PLATFORM])
    ddq[3:6] = np.linalg.solve(g[PLATFORM], alpha[PLATFORM] - free[PLATFORM])
    _inertial_force(
        masses[0],
        inertias[0],
        gravity,
        rotation,
        g[PLATFORM],
        omega,
        alpha[PLATFORM],
        ddq[:3],
        balance[PLATFORM],
    )

    push = np.empty((6, 6))
    remaining = balance[PLATFORM].copy()
    violations[:] = 0.0
    leg_q, leg_dq, leg_ddq = np.empty(12), np.empty(12), np.empty(12)
    for i in range(6):
        c, r = 1 + i, 7 + i
        upper_arm = rotation @ platform_joints[i]
        upper = position + upper_arm
        base, axis = base_joints[i], universal_axes[i]
        _couple(base, axis, upper, base_arm, rod_arm, offset, leg_q[:6], leg_q[6:])
        status = _newton(base, axis, upper, base_arm, rod_arm, offset, leg_q, matrix, order, right)
        if status != CONVERGED:
            return status
        violations[0] = max(violations[0], np.abs(right).max())

        # Velocity: C_q dq = -C_t; only the spherical joint sees the platform move.
        _cross(omega, upper_arm, three)
        right[:] = 0.0
        right[9:] = -(twist[:3] + three)
        solve(matrix, order, right, leg_dq)
        _cross(omega, three, centripetal)
        _cross(alpha[PLATFORM], upper_arm, three)
        upper_acceleration = acceleration[:3] + three + centripetal

        for body, at in ((c, 0), (r, 6)):
            attitude(leg_q[at + 3 : at + 6], offset, a[body])
            rate_axes(leg_q[at + 3 : at + 6], g[body])
            w[body] = g[body] @ leg_dq[at + 3 : at + 6]
            rate_axes_derivative_times_rates(
                leg_q[at + 3 : at + 6], leg_dq[at + 3 : at + 6], free[body]
            )

        # Acceleration: C_q ddq = Q_d.
        cylinder, rod = (leg_q[:3], a[c]), (leg_q[6:9], a[r])
        leg_quadratic(
            axis,
            base_arm,
            cylinder,
            (leg_dq[:3], w[c], free[c]),
            rod_arm,
            rod,
            (leg_dq[6:9], w[r], free[r]),
            right,
        )
        right[9:] -= upper_acceleration
        solve(matrix, order, right, leg_ddq)
        for body, at, kind in ((c, 0, 1), (r, 6, 2)):
            alpha[body] = free[body] + g[body] @ leg_ddq[at + 3 : at + 6]
            _inertial_force(
                masses[kind],
                inertias[kind],
                gravity,
                a[body],
                g[body],
                w[body],
                alpha[body],
                leg_ddq[at : at + 3],
                balance[body],
            )
            q[6 * body : 6 * body + 6] = leg_q[at : at + 6]
            dq[6 * body : 6 * body + 6] = leg_dq[at : at + 6]
            ddq[6 * body : 6 * body + 6] = leg_ddq[at : at + 6]

        # Multipliers of the driven leg, and what a unit actuator force adds to them.
        right[:6], right[6:] = balance[c], balance[r]
        solve_transposed(matrix, order, right, multipliers[12 * i : 12 * i + 12])
        length_gradient(base_arm, cylinder, g[c], rod_arm, rod, g[r], gradient)
        solve_transposed(matrix, order, gradient, unit[i])
        # The spherical joint's rows, seen from the platform: a force at its joint.
        _carry(multipliers[12 * i + 9 : 12 * i + 12], upper_arm, arm, g[PLATFORM], -1.0, remaining)
        push[:, i] = 0.0
        _carry(unit[i, 9:], upper_arm, arm, g[PLATFORM], 1.0, push[:, i])

        leg_jacobian(axis, base_arm, cylinder, g[c], rod_arm, rod, g[r], matrix)
        _cross(omega, upper_arm, three)
        right[:] = matrix @ leg_dq
        right[9:] += twist[:3] + three
        violations[1] = max(violations[1], np.abs(right).max())

    multipliers[72:] = remaining
    # Actuators instead of drives: sum of push f balances what the drives had to give.
    order6 = np.empty(6, np.int64)
    if not factor(push, order6) > SMALLEST_PIVOT:
        return SINGULAR_POSE
    solve(push, order6, remaining, forces)
    for body in range(BODIES):
        generalised[body] = balance[body]
    return CONVERGED


@njit(cache=True)
def _carry(force, upper_arm, arm, axes, sign, out):  # type: ignore[no-untyped-def]
    """Add C_qᵀ of a spherical joint's rows at the platform: force and its generalised moment."""
    lever = np.empty(3)
    _cross(upper_arm - arm, force, lever)
    for k in range(3):
        out[k] += sign * force[k]
        out[3 + k] += sign * (
            axes[0, k] * lever[0] + axes[1, k] * lever[1] + axes[2, k] * lever[2]
        )
