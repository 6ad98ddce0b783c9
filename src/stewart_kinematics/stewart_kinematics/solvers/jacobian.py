# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The Jacobian from the platform's twist to the leg rates, its derivative and its condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.kernels import legs as leg_kernels
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.spatial.leading_axes import pose_rows

if TYPE_CHECKING:
    from stewart_kinematics.model.geometry import Geometry


def jacobian(geometry: Geometry, position: ArrayLike, quaternion_xyzw: ArrayLike) -> Array:
    """Return the Jacobian (..., 6, 6); poses are those of `inverse.leg_lengths`.

    Row i takes linear [m/s] and angular velocity [rad/s] of ``platform_link``'s origin, in base
    axes, to the rate of leg i + 1's joint. It is (d_i, R b_i x d_i) with the leg's direction d_i;
    on a rod that is divided by d_i . B_q, what a unit rate of the joint is along the rod. The
    transpose takes efforts of the joints to force and moment on the platform.

    Raises:
        ShapeError: If a shape differs.
    """
    p, q, lead = pose_rows(position, quaternion_xyzw)
    if geometry.rods is not None:
        matrix, _, _ = geometry.rods.jacobians(p, q, np.zeros((p.shape[0], 6)))
        return matrix.reshape(*lead, 6, 6)
    matrix = np.empty((p.shape[0], 6, 6))
    leg_kernels.jacobian(geometry.base_joints, geometry.platform_joints, p, q, matrix)
    return matrix.reshape(*lead, 6, 6)


def jacobian_derivative(geometry: Geometry, motion: Motion) -> Array:
    """Return the time derivative J' (..., 6, 6) of the Jacobian along a motion (...).

    l'' = J (a, alpha) + J' (v, omega); the motion's acceleration plays no part.
    """
    (p, q, twist, _), lead = motion.rows(), motion.shape
    if geometry.rods is not None:
        return geometry.rods.jacobians(p, q, twist)[1].reshape(*lead, 6, 6)
    matrix = np.empty((p.shape[0], 6, 6))
    leg_kernels.jacobian_derivative(
        geometry.base_joints, geometry.platform_joints, p, q, twist, matrix
    )
    return matrix.reshape(*lead, 6, 6)


def condition_number(geometry: Geometry, position: ArrayLike, quaternion_xyzw: ArrayLike) -> Array:
    """Return the condition number (...) of the Jacobian with moments divided by the length scale.

    Infinite at a singularity, NaN where the pose is not a number; poses are those of `jacobian`.
    """
    p, q, lead = pose_rows(position, quaternion_xyzw)
    if geometry.rods is not None:
        return geometry.rods.conditions(p, q, geometry.length_scale).reshape(lead)
    joints = geometry.base_joints, geometry.platform_joints
    return joint_condition(*joints, geometry.length_scale, p, q).reshape(lead)


def joint_condition(
    base_joints: Array, platform_joints: Array, length_scale: float, position: Array, q: Array
) -> Array:
    """Return the condition number (n,) of joints (6, 3) at positions (n, 3) and quaternions."""
    matrix = np.empty((len(position), 6, 6))
    leg_kernels.jacobian(base_joints, platform_joints, position, q, matrix)
    return conditions_of(matrix, length_scale)


def conditions_of(matrix: Array, length_scale: float) -> Array:
    """Return the condition numbers (n,) of Jacobians (n, 6, 6), whose moments are then scaled."""
    matrix[..., 3:] /= length_scale
    finite = np.all(np.isfinite(matrix), axis=(-1, -2))
    values = np.linalg.svd(np.where(finite[..., None, None], matrix, 0.0), compute_uv=False)
    with np.errstate(divide='ignore', invalid='ignore'):
        condition = values[..., 0] / values[..., -1]
    return np.asarray(np.where(finite, condition, np.nan))
