# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Rotations as quaternions x, y, z, w, matrices and rotation vectors.

A rotation takes the coordinates of one frame to another; products read from right to left.
Quaternions of matrices come from scipy; the rest goes through `kernels.rotations`, as nodes turn
single attitudes many times in every period.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ShapeError, StewartError
from stewart_kinematics.kernels import rotations as rotation_kernels
from stewart_kinematics.motion import Array
from stewart_kinematics.spatial.leading_axes import rows

CONJUGATE = np.array([-1.0, -1.0, -1.0, 1.0])


def _directed(quaternion_xyzw: ArrayLike) -> tuple[Array, tuple[int, ...]]:
    """Return quaternions as rows, and their leading axes; refuse a norm of 0."""
    q, lead = rows(quaternion_xyzw, 'quaternion_xyzw', 4)
    least = rotation_kernels.least_squared_norm(q)
    if not least > 0.0:
        raise StewartError(
            f'quaternion_xyzw: a quaternion must have a norm above 0, got {least**0.5}'
        )
    return q, lead


def matrix_from_quaternion(quaternion_xyzw: ArrayLike) -> Array:
    """Return rotation matrices (..., 3, 3) of quaternions (..., 4) of any norm but zero.

    Raises:
        ShapeError: If the last axis has not four numbers.
        StewartError: If a norm is zero or not a number.
    """
    q, lead = _directed(quaternion_xyzw)
    matrix = np.empty((len(q), 3, 3))
    rotation_kernels.matrices(q, matrix)
    return matrix.reshape(*lead, 3, 3)


def quaternion_from_matrix(matrix: ArrayLike) -> Array:
    """Return unit quaternions (..., 4), w >= 0, of rotation matrices (..., 3, 3)."""
    stack = np.asarray(matrix, dtype=np.float64)
    if stack.shape[-2:] != (3, 3):
        raise ShapeError('matrix', '(..., 3, 3)', stack.shape)
    flat = stack.reshape(-1, 3, 3)
    # scipy before 1.17 refuses an empty stack.
    found = Rotation.from_matrix(flat).as_quat() if flat.shape[0] else np.empty((0, 4))
    q = found.reshape(*stack.shape[:-2], 4)
    return np.where(q[..., 3:] < 0.0, -q, q)


def rpy_from_quaternion(quaternion_xyzw: ArrayLike) -> Array:
    """Return roll, pitch and yaw (..., 3) of quaternions (..., 4), R = R_z R_y R_x [rad].

    Pitch lies in [-pi/2, pi/2]; at its ends, where roll and yaw turn about one axis, roll is 0.
    """
    q, lead = _directed(quaternion_xyzw)
    angles = np.empty((len(q), 3))
    rotation_kernels.rolls_pitches_yaws(q, angles)
    return angles.reshape(*lead, 3)


def compose_quaternions(second: ArrayLike, first: ArrayLike) -> Array:
    """Return the Hamilton product, the quaternion of ``R(second) R(first)``.

    Both are (..., 4), scalar last; leading axes broadcast.
    """
    a, lead = rows(second, 'second', 4)
    b, other = rows(first, 'first', 4)
    if lead != other:
        lead = np.broadcast_shapes(lead, other)
        a, b = (np.broadcast_to(values, (*lead, 4)) for values in (second, first))
        a, b = rows(a, 'second', 4)[0], rows(b, 'first', 4)[0]
    product = np.empty(b.shape)
    rotation_kernels.products(a, b, product)
    return product.reshape(*lead, 4)


def invert_quaternion(quaternion_xyzw: ArrayLike) -> Array:
    """Return the inverse of unit quaternions, shape (..., 4)."""
    q = np.asarray(quaternion_xyzw, dtype=np.float64)
    if q.shape[-1:] != (4,):
        raise ShapeError('quaternion_xyzw', '(..., 4)', q.shape)
    return q * CONJUGATE


def continuous_quaternions(quaternion_xyzw: ArrayLike) -> Array:
    """Return n quaternions (n, 4), each with the sign that is closer to its predecessor."""
    values = np.asarray(quaternion_xyzw, dtype=np.float64)
    flips = np.sum(values[1:] * values[:-1], axis=1) < 0.0
    signs = np.where(np.cumsum(np.concatenate([[False], flips])) % 2, -1.0, 1.0)
    return values * signs[:, None]


def exp_quaternion(rotation_vector: ArrayLike) -> Array:
    """Return the unit quaternions of rotation vectors [rad], (..., 3) -> (..., 4)."""
    vector, lead = rows(rotation_vector, 'rotation_vector', 3)
    quaternion = np.empty((len(vector), 4))
    rotation_kernels.exponentials(vector, quaternion)
    return quaternion.reshape(*lead, 4)


def log_quaternion(quaternion_xyzw: ArrayLike) -> Array:
    """Return the shortest rotation vectors [rad] of quaternions, (..., 4) -> (..., 3)."""
    q, lead = _directed(quaternion_xyzw)
    vector = np.empty((len(q), 3))
    rotation_kernels.logarithms(q, vector)
    return vector.reshape(*lead, 3)


def skew(vector: ArrayLike) -> Array:
    """Return the matrices S(a) with S(a) b = a x b, (..., 3) -> (..., 3, 3)."""
    a, lead = rows(vector, 'vector', 3)
    matrix = np.zeros((len(a), 3, 3))
    matrix[:, 2, 1], matrix[:, 0, 2], matrix[:, 1, 0] = a.T
    return (matrix - matrix.swapaxes(-1, -2)).reshape(*lead, 3, 3)
