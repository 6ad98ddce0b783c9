# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The paper's equations of one sample, written out: C, C_q, C_t and Q_d as arrays.

The solver never forms them: it works leg by leg. Here they stand for inspection, and for tests
that hold the solver's velocities, accelerations and multipliers against their definition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_dynamics.multibody.constraints import leg_constraints, leg_jacobian, leg_quadratic
from stewart_dynamics.multibody.coordinates import (
    attitude,
    rate_axes,
    rate_axes_derivative_times_rates,
)
from stewart_dynamics.multibody.kernel import BODIES
from stewart_dynamics.multibody.model import MultibodyModel, MultibodySolution
from stewart_kinematics.motion import Array

DRIVES = slice(72, 78)


@dataclass(frozen=True, eq=False)
class ConstraintSystem:
    """Constraints of one sample (Eqs. 2 to 4).

    Attributes:
        values (78,): C: twelve a leg, then the six drives [m, -].
        jacobian (78, 78): C_q.
        time_derivative (78,): C_t; only the drives depend on time.
        quadratic (78,): Q_d, for which C_q ddq = Q_d.
    """

    values: Array
    jacobian: Array
    time_derivative: Array
    quadratic: Array


def constraint_system(
    model: MultibodyModel, solution: MultibodySolution, sample: int = 0
) -> ConstraintSystem:
    """Write out the equations at one sample of a solution.

    Args:
        model: The model that was solved.
        solution: Its solution; the platform's own coordinates are what the drives prescribe.
        sample: Which sample.

    Returns:
        C, C_q, C_t and Q_d.
    """
    q = solution.coordinates[sample].reshape(BODIES, 6)
    dq = solution.velocities[sample].reshape(BODIES, 6)
    a, g = np.empty((BODIES, 3, 3)), np.empty((BODIES, 3, 3))
    omega, free = np.empty((BODIES, 3)), np.empty((BODIES, 3))
    for body in range(BODIES):
        attitude(q[body, 3:], model.coordinates.offset, a[body])
        rate_axes(q[body, 3:], g[body])
        omega[body] = g[body] @ dq[body, 3:]
        rate_axes_derivative_times_rates(q[body, 3:], dq[body, 3:], free[body])
    values, jacobian = np.zeros(78), np.zeros((78, 78))
    time_derivative, quadratic = np.zeros(78), np.zeros(78)
    base_arm, rod_arm = -model.centres[1], -model.centres[2]
    for leg in range(6):
        c, r = 1 + leg, 7 + leg
        rows = slice(12 * leg, 12 * leg + 12)
        lever = a[0] @ (model.platform_joints[leg] - model.centres[0])
        cylinder, rod = (q[c, :3], a[c]), (q[r, :3], a[r])
        axis = model.universal_axes[leg]
        leg_constraints(
            model.base_joints[leg],
            axis,
            base_arm,
            cylinder,
            rod_arm,
            rod,
            q[0, :3] + lever,
            values[rows],
        )
        block = np.empty((12, 12))
        leg_jacobian(axis, base_arm, cylinder, g[c], rod_arm, rod, g[r], block)
        jacobian[rows, 6 * c : 6 * c + 6] = block[:, :6]
        jacobian[rows, 6 * r : 6 * r + 6] = block[:, 6:]
        spherical = slice(12 * leg + 9, 12 * leg + 12)
        jacobian[spherical, :3] = np.eye(3)
        jacobian[spherical, 3:6] = np.cross(g[0], lever, axisa=0).T
        leg_quadratic(
            axis,
            base_arm,
            cylinder,
            (dq[c, :3], omega[c], free[c]),
            rod_arm,
            rod,
            (dq[r, :3], omega[r], free[r]),
            quadratic[rows],
        )
        quadratic[spherical] -= np.cross(free[0], lever) + np.cross(
            omega[0], np.cross(omega[0], lever)
        )
    jacobian[DRIVES, :6] = np.eye(6)
    time_derivative[DRIVES] = -dq[0]
    quadratic[DRIVES] = solution.accelerations[sample, :6]
    return ConstraintSystem(values, jacobian, time_derivative, quadratic)
