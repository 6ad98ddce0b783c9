# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""
Inverse dynamics of the thirteen bodies by Newton and Euler, leg by leg.

Each leg is cut at its upper, spherical joint. The moments about the universal joint give the
transverse force there; what remains is six unknown axial forces, which the platform's balance
yields through the transposed Jacobian. A leg cannot turn freely about its own axis: the universal
joint imposes a spin, and it can bear a moment about the normal of its two axes.

All forces are linear in the thirty inertial parameters (``inertia.py``); the regressor is the same
kernel applied to unit vectors instead of one parameter vector.
"""

from __future__ import annotations

from dataclasses import dataclass

from numba import njit
import numpy as np
from stewart_dynamics.errors import refuse_not_finite, SingularPose
from stewart_dynamics.forward_kernels import actuator_wrench
from stewart_dynamics.inertia import InertialModel, PARAMETERS_PER_BODY
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
    rotation_matrix,
    SMALLEST_PIVOT_RATIO,
    wrench_matrix,
)
from stewart_dynamics.six_by_six import factor, substitute
from stewart_kinematics.motion import Array, Motion


@njit(cache=True)
def _forces_kernel(  # type: ignore[no-untyped-def]
    base_joints,
    platform_joints,
    axes,
    gravity,
    parameters,
    position,
    quaternion,
    velocity,
    omega,
    acceleration,
    alpha,
    forces,
):
    """
    Actuator forces for every sample and every row of `parameters`.

    Returns the sample at which it gave up for a singular pose, or -1.
    """
    rotation, legs = np.empty((3, 3)), np.empty((6, COLUMNS))
    matrix, order = np.empty((6, 6)), np.empty(6, np.int64)
    wrench, leg_forces = np.empty(6), np.empty((6, 10))
    for n in range(position.shape[0]):
        rotation_matrix(quaternion[n], rotation)
        kinematic_pass(
            base_joints,
            platform_joints,
            axes,
            gravity,
            position[n],
            rotation,
            velocity[n],
            omega[n],
            acceleration[n],
            alpha[n],
            legs,
        )
        wrench_matrix(legs, matrix)
        if not factor(matrix, order) > SMALLEST_PIVOT_RATIO:
            return n
        for p in range(parameters.shape[0]):
            theta = parameters[p]
            platform_wrench(
                theta[PLATFORM], rotation, gravity, omega[n], acceleration[n], alpha[n], wrench
            )
            for i in range(6):
                leg_balance(theta[CYLINDER], theta[ROD], legs[i], leg_forces[i])
                add_transverse(legs[i], leg_forces[i], wrench)
            substitute(matrix, order, wrench, forces[n, p])
            for i in range(6):
                forces[n, p, i] += leg_forces[i, 2]
    return -1


@njit(cache=True)
def _reactions_kernel(  # type: ignore[no-untyped-def]
    base_joints,
    platform_joints,
    axes,
    gravity,
    theta,
    position,
    quaternion,
    velocity,
    omega,
    acceleration,
    alpha,
    forces,
    joints,
    wrench,
):
    """Joint reactions (rows as in `Reactions`) and platform wrench for known actuator forces."""
    rotation, legs, force = np.empty((3, 3)), np.empty((6, COLUMNS)), np.empty(10)
    for n in range(position.shape[0]):
        rotation_matrix(quaternion[n], rotation)
        kinematic_pass(
            base_joints,
            platform_joints,
            axes,
            gravity,
            position[n],
            rotation,
            velocity[n],
            omega[n],
            acceleration[n],
            alpha[n],
            legs,
        )
        platform_wrench(
            theta[PLATFORM], rotation, gravity, omega[n], acceleration[n], alpha[n], wrench[n]
        )
        for i in range(6):
            leg = legs[i]
            leg_balance(theta[CYLINDER], theta[ROD], leg, force)
            axial = force[2] - forces[n, i]
            for k in range(3):
                x, y, z = leg[EX + k], leg[EY + k], leg[EZ + k]
                joints[n, 0, i, k] = x * force[0] + y * force[1] + z * axial
                joints[n, 1, i, k] = (
                    x * (force[4] + force[7] - force[0])
                    + y * (force[5] + force[8] - force[1])
                    + z * (force[6] + force[9] - axial)
                )
                joints[n, 2, i, k] = force[3] * (z * leg[Q] - x * leg[C])
                joints[n, 3, i, k] = x * (force[7] - force[0]) + y * (force[8] - force[1])


@dataclass(frozen=True, eq=False)
class Reactions:
    """
    What the joints and the platform bear, in ``base_link`` axes.

    Attributes
    ----------
    actuator_forces : ndarray, shape (..., 6)
        Positive pushes the joints apart [N].
    platform_wrench : ndarray, shape (..., 6)
        Force and moment about ``platform_link``'s origin that the legs exert on the platform so
        that it moves as asked, gravity included [N, N m].
    spherical_forces : ndarray, shape (..., 6, 3)
        On the rods, at the upper joints [N].
    universal_forces : ndarray, shape (..., 6, 3)
        On the cylinders, at the base joints [N].
    universal_moments : ndarray, shape (..., 6, 3)
        On the cylinders, about the normal of the universal joint's axes [N m].
    prismatic_forces : ndarray, shape (..., 6, 3)
        On the rods, across the legs [N].

    """

    actuator_forces: Array
    platform_wrench: Array
    spherical_forces: Array
    universal_forces: Array
    universal_moments: Array
    prismatic_forces: Array


def _samples(motion: Motion) -> tuple[Array, ...]:
    """Fields of `motion` with the leading axes made one, as the kernels take them."""
    return (
        motion.position.reshape(-1, 3),
        motion.quaternion_xyzw.reshape(-1, 4),
        motion.linear_velocity.reshape(-1, 3),
        motion.angular_velocity.reshape(-1, 3),
        motion.linear_acceleration.reshape(-1, 3),
        motion.angular_acceleration.reshape(-1, 3),
    )


def _joints(model: InertialModel) -> tuple[Array, ...]:
    return model.base_joints, model.platform_joints, model.universal_axes, model.gravity


def _solve(model: InertialModel, parameters: Array, motion: Motion) -> Array:
    """Give the forces for every row of `parameters`, shape (samples, rows, 6)."""
    samples = _samples(motion)
    forces = np.empty((samples[0].shape[0], parameters.shape[0], 6))
    failed = _forces_kernel(*_joints(model), parameters, *samples, forces)
    if failed >= 0:
        _explain(model, samples, failed, many=bool(motion.shape))
    return forces


def _explain(model: InertialModel, samples: tuple[Array, ...], index: int, *, many: bool) -> None:
    """Say why the kernel stopped at sample `index`: not finite, or singular."""
    for name, values in zip(Motion.__dataclass_fields__, samples, strict=True):
        refuse_not_finite(name, values)
    legs, matrix, wrench = np.empty((6, COLUMNS)), np.empty((6, 6)), np.empty(6)
    rotation = np.empty((3, 3))
    rotation_matrix(samples[1][index], rotation)
    actuator_wrench(
        *_joints(model),
        model.parameters,
        samples[0][index],
        rotation,
        *(values[index] for values in samples[2:]),
        legs,
        matrix,
        wrench,
    )
    matrix[3:] /= model.length_scale
    raise SingularPose(float(np.linalg.cond(matrix)), index if many else None)


def actuator_forces(model: InertialModel, motion: Motion) -> Array:
    """
    Give the forces of the six actuators for a motion.

    Parameters
    ----------
    model : InertialModel
        The platform.
    motion : Motion
        Pose, twist and acceleration, shape (...).

    Returns
    -------
    ndarray, shape (..., 6)
        Along the legs, positive pushes the joints apart [N].

    Raises
    ------
    SingularPose
        If the legs do not span all wrenches; names the condition number and the sample.
    StewartError
        If a value is not finite.

    """
    forces = _solve(model, model.parameters.reshape(1, -1), motion)
    if not np.isfinite(forces).all():
        for name, values in zip(Motion.__dataclass_fields__, _samples(motion), strict=True):
            refuse_not_finite(name, values)
    return forces.reshape((*motion.shape, 6))


def regressor(model: InertialModel, motion: Motion) -> Array:
    """
    Matrix Y with ``actuator_forces = Y @ model.parameters``.

    Parameters
    ----------
    model : InertialModel
        The platform; its parameters are not used.
    motion : Motion
        Pose, twist and acceleration, shape (...).

    Returns
    -------
    ndarray, shape (..., 6, 30)
        Columns in the order of ``inertia.PARAMETER_NAMES``.

    Raises
    ------
    SingularPose, StewartError
        As `actuator_forces`.

    """
    columns = _solve(model, np.eye(3 * PARAMETERS_PER_BODY), motion)
    return np.ascontiguousarray(columns.swapaxes(1, 2)).reshape(
        (*motion.shape, 6, 3 * PARAMETERS_PER_BODY)
    )


def reactions(model: InertialModel, motion: Motion) -> Reactions:
    """
    Actuator forces with everything that the joints bear.

    Parameters
    ----------
    model : InertialModel
        The platform.
    motion : Motion
        Pose, twist and acceleration, shape (...).

    Returns
    -------
    Reactions
        Forces and moments in ``base_link`` axes.

    Raises
    ------
    SingularPose, StewartError
        As `actuator_forces`.

    """
    forces = actuator_forces(model, motion)
    samples = _samples(motion)
    count = samples[0].shape[0]
    joints, wrench = np.empty((count, 4, 6, 3)), np.empty((count, 6))
    _reactions_kernel(
        *_joints(model), model.parameters, *samples, forces.reshape(-1, 6), joints, wrench
    )
    shape = motion.shape
    return Reactions(
        forces,
        wrench.reshape((*shape, 6)),
        *(joints[:, k].reshape((*shape, 6, 3)) for k in range(4)),
    )
