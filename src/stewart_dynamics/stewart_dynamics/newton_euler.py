# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""Inverse dynamics of the thirteen bodies by Newton and Euler, leg by leg.

Each leg is cut at its upper, spherical joint. The moments about the universal joint give the
transverse force there; what remains is six unknown axial forces, which the platform's balance
yields through the transposed Jacobian. A leg cannot turn freely about its own axis: the universal
joint imposes a spin, and it can bear a moment about the normal of its two axes.

All forces are linear in the thirty inertial parameters (``inertia.py``); the regressor is the same
kernel applied to unit vectors instead of one parameter vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_dynamics import newton_euler_kernels as kernels
from stewart_dynamics.errors import refuse_not_finite, SingularPose
from stewart_dynamics.inertia import InertialModel, PARAMETERS_PER_BODY
from stewart_kinematics.errors import StewartError
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.jacobian import joint_condition


@dataclass(frozen=True, eq=False)
class Reactions:
    """What the joints and the platform bear, in ``base_link`` axes.

    Attributes:
        actuator_forces (..., 6): Positive pushes the joints apart [N].
        platform_wrench (..., 6): Force and moment about ``platform_link``'s origin that the legs
            exert on the platform so that it moves as asked, gravity included [N, N m].
        spherical_forces (..., 6, 3): On the rods, at the upper joints [N].
        universal_forces (..., 6, 3): On the cylinders, at the base joints [N].
        universal_moments (..., 6, 3): On the cylinders, about the normal of the universal joint's
            axes [N m].
        prismatic_forces (..., 6, 3): On the rods, across the legs [N].
    """

    actuator_forces: Array
    platform_wrench: Array
    spherical_forces: Array
    universal_forces: Array
    universal_moments: Array
    prismatic_forces: Array


def _joints(model: InertialModel) -> tuple[Array, Array, Array, Array]:
    return model.base_joints, model.platform_joints, model.universal_axes, model.gravity


def _solve(model: InertialModel, parameters: Array, motion: Motion) -> Array:
    """Give the forces for every row of `parameters`, shape (samples, rows, 6)."""
    samples = motion.rows()
    forces = np.empty((samples[0].shape[0], parameters.shape[0], 6))
    status, index = kernels.actuator_forces(*_joints(model), parameters, *samples, forces)
    if status != kernels.DONE:
        for name in Motion.__dataclass_fields__:
            refuse_not_finite(name, getattr(motion, name))
        if status == kernels.SINGULAR:
            joints, at = (model.base_joints, model.platform_joints), slice(index, index + 1)
            pose = samples[0][at], samples[1][at]
            condition = joint_condition(*joints, model.length_scale, *pose)[0]
            # A leg without a length has no direction.
            condition = np.inf if np.isnan(condition) else float(condition)
            raise SingularPose(condition, index if motion.shape else None)
        if status == kernels.LOCKED:
            raise StewartError(f"a leg lies along its universal joint's axis at sample {index}")
        raise StewartError(f'the forces at sample {index} are not finite: nor is a parameter')
    return forces


def actuator_forces(model: InertialModel, motion: Motion) -> Array:
    """Return the forces (..., 6) of the actuators for a motion (...); positive pushes apart [N].

    Raises:
        SingularPose: If the legs do not span all wrenches; names the condition number and the
            sample.
        StewartError: If a value is not finite.
    """
    return _solve(model, model.parameters.reshape(1, -1), motion).reshape((*motion.shape, 6))


def regressor(model: InertialModel, motion: Motion, *, columns: slice = slice(None)) -> Array:
    """Return Y (..., 6, 30) with ``actuator_forces = Y @ model.parameters`` for a motion (...).

    Columns are in the order of ``inertia.PARAMETER_NAMES``, or those of them asked for:
    ``leg_kernels.PLATFORM`` gives the platform's ten in a third of the time.

    Raises:
        SingularPose, StewartError: As `actuator_forces`.
    """
    units = np.eye(3 * PARAMETERS_PER_BODY)[columns]
    matrix = np.ascontiguousarray(_solve(model, units, motion).swapaxes(1, 2))
    return matrix.reshape((*motion.shape, 6, units.shape[0]))


def reactions(model: InertialModel, motion: Motion) -> Reactions:
    """Return actuator forces with everything that the joints bear, for a motion (...).

    Raises:
        SingularPose, StewartError: As `actuator_forces`.
    """
    shape, samples = motion.shape, motion.rows()
    count = len(samples[0])
    forces = actuator_forces(model, motion).reshape(count, 6)
    joints, wrench = np.empty((count, 4, 6, 3)), np.empty((count, 6))
    kernels.joint_reactions(*_joints(model), model.parameters, *samples, forces, joints, wrench)
    return Reactions(
        forces.reshape((*shape, 6)),
        wrench.reshape((*shape, 6)),
        *(joints[:, k].reshape((*shape, 6, 3)) for k in range(4)),
    )
