# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Rigid transforms: 4 x 4 matrices and poses, compose, invert, exp and log.

A twist of SE(3) is (rho, theta): linear part first, as everywhere in the suite. Its exponential
turns by theta and shifts by J_l(theta) rho. Composition of matrices is ``@``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.spatial.rotations import (
    compose_quaternions,
    exp_rotation,
    invert_quaternion,
    left_jacobian,
    left_jacobian_inverse,
    log_rotation,
    matrix_from_quaternion,
    quaternion_from_matrix,
    skew,
    with_trailing,
)


def _assemble(rotation: Array, translation: Array) -> Array:
    """Return 4 x 4 matrices."""
    lead = np.broadcast_shapes(rotation.shape[:-2], translation.shape[:-1])
    matrix = np.zeros((*lead, 4, 4))
    matrix[..., :3, :3] = rotation
    matrix[..., :3, 3] = translation
    matrix[..., 3, 3] = 1.0
    return matrix


def transform_from_pose(position: ArrayLike, quaternion_xyzw: ArrayLike) -> Array:
    """Return the transforms of poses.

    Args:
        position (..., 3): Origin of the moving frame in the fixed one [m].
        quaternion_xyzw (..., 4): Attitude, scalar last.

    Returns:
        (..., 4, 4): Matrices taking homogeneous coordinates of the moving frame to the fixed one.
    """
    return _assemble(
        matrix_from_quaternion(quaternion_xyzw), with_trailing(position, 'position', 3)
    )


def pose_from_transform(transform: ArrayLike) -> tuple[Array, Array]:
    """Return positions (..., 3) and quaternions x, y, z, w (..., 4) of (..., 4, 4) matrices."""
    matrix = with_trailing(transform, 'transform', 4, 4)
    return matrix[..., :3, 3].copy(), quaternion_from_matrix(matrix[..., :3, :3])


def invert_transform(transform: ArrayLike) -> Array:
    """Return the inverses of rigid transforms, shape (..., 4, 4)."""
    matrix = with_trailing(transform, 'transform', 4, 4)
    back = np.swapaxes(matrix[..., :3, :3], -1, -2)
    return _assemble(back, -(back @ matrix[..., :3, 3:])[..., 0])


def transform_points(transform: ArrayLike, points: ArrayLike) -> Array:
    """Return points in the fixed frame.

    Args:
        transform (..., 4, 4): Rigid transforms.
        points (..., n, 3): Points in the moving frame [m].

    Returns:
        (..., n, 3): The same points in the fixed frame [m].
    """
    matrix, rows = with_trailing(transform, 'transform', 4, 4), with_trailing(points, 'points', 3)
    return rows @ np.swapaxes(matrix[..., :3, :3], -1, -2) + matrix[..., None, :3, 3]


def exp_transform(twist: ArrayLike) -> Array:
    """Return the exponential of twists.

    Args:
        twist (..., 6): (rho, theta) [m, rad].

    Returns:
        (..., 4, 4): Rigid transforms.
    """
    xi = with_trailing(twist, 'twist', 6)
    rho, theta = xi[..., :3], xi[..., 3:]
    return _assemble(exp_rotation(theta), (left_jacobian(theta) @ rho[..., None])[..., 0])


def log_transform(transform: ArrayLike) -> Array:
    """Return the twists of rigid transforms, the inverse of `exp_transform`.

    Args:
        transform (..., 4, 4): Rigid transforms.

    Returns:
        (..., 6): (rho, theta) with theta of length at most pi [m, rad].
    """
    matrix = with_trailing(transform, 'transform', 4, 4)
    theta = log_rotation(matrix[..., :3, :3])
    rho = (left_jacobian_inverse(theta) @ matrix[..., :3, 3:])[..., 0]
    return np.concatenate([rho, theta], axis=-1)


def adjoint(transform: ArrayLike) -> Array:
    """Return the adjoints of rigid transforms.

    Args:
        transform (..., 4, 4): Rigid transforms T.

    Returns:
        (..., 6, 6): Ad with ``T exp(xi) T^-1 = exp(Ad xi)``.
    """
    matrix = with_trailing(transform, 'transform', 4, 4)
    rotation = matrix[..., :3, :3]
    result = np.zeros((*matrix.shape[:-2], 6, 6))
    result[..., :3, :3] = rotation
    result[..., 3:, 3:] = rotation
    result[..., :3, 3:] = skew(matrix[..., :3, 3]) @ rotation
    return result


def compose_poses(outer: Pose, inner: Pose) -> Pose:
    """Return the pose of frame C in A from B in A (`outer`) and C in B (`inner`).

    Args:
        outer, inner: Poses.

    Returns:
        Their product.
    """
    return Pose(
        outer.position + outer.rotation @ inner.position,
        compose_quaternions(outer.quaternion_xyzw, inner.quaternion_xyzw),
    )


def invert_pose(pose: Pose) -> Pose:
    """Return the pose of the fixed frame in the moving one."""
    return Pose(-pose.rotation.T @ pose.position, invert_quaternion(pose.quaternion_xyzw))
