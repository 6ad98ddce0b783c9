# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Rotations: quaternions (x, y, z, w), matrices and rotation vectors, and the Jacobians of exp.

A rotation takes the coordinates of one frame to another; products read from right to left.
Matrices become quaternions by scipy; the rest goes through `rotation_kernels`, as nodes turn
single attitudes many times in every period.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ShapeError, StewartError
from stewart_kinematics.motion import Array
from stewart_kinematics.spatial import rotation_kernels

SMALL_ANGLE = 0.1
"""Below this angle [rad] the coefficients come from their series, which cancel nothing."""


def with_trailing(values: ArrayLike, name: str, *trailing: int) -> Array:
    """Return `values` as float64 after a look at its last axes.

    Args:
        values: What came from the caller.
        name: Name of the argument, for the error.
        *trailing: Sizes of the last axes.

    Returns:
        The same values.

    Raises:
        ShapeError: If the last axes have other sizes.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.shape[max(array.ndim - len(trailing), 0) :] != trailing:
        raise ShapeError(name, f'(..., {", ".join(map(str, trailing))})', array.shape)
    return array


def _flat(values: Array) -> Array:
    """Return the samples as C-ordered rows, for the kernels."""
    return np.ascontiguousarray(values).reshape(-1, values.shape[-1])


def _directed(quaternion_xyzw: ArrayLike) -> Array:
    """Return the quaternions after a look at shape and norm."""
    q = with_trailing(quaternion_xyzw, 'quaternion_xyzw', 4)
    least = rotation_kernels.least_squared_norm(_flat(q))
    if not least > 0.0:
        raise StewartError(
            f'quaternion_xyzw: a quaternion must have a norm above 0, got {least**0.5}'
        )
    return q


def matrix_from_quaternion(quaternion_xyzw: ArrayLike) -> Array:
    """Return rotation matrices.

    Args:
        quaternion_xyzw (..., 4): Quaternions, scalar last, of any norm but zero.

    Returns:
        (..., 3, 3): Rotation matrices.

    Raises:
        ShapeError: If the last axis has not four numbers.
        StewartError: If a norm is zero or not a number.
    """
    q = _directed(quaternion_xyzw)
    matrix = np.empty((*q.shape[:-1], 3, 3))
    rotation_kernels.matrices(_flat(q), matrix.reshape(-1, 3, 3))
    return matrix


def quaternion_from_matrix(matrix: ArrayLike) -> Array:
    """Return the quaternions of rotation matrices, with w >= 0.

    Args:
        matrix (..., 3, 3): Rotation matrices.

    Returns:
        (..., 4): Unit quaternions, scalar last.
    """
    stack = with_trailing(matrix, 'matrix', 3, 3)
    flat = stack.reshape(-1, 3, 3)
    # scipy before 1.17 refuses an empty stack.
    rows = Rotation.from_matrix(flat).as_quat() if flat.shape[0] else np.empty((0, 4))
    q = rows.reshape(*stack.shape[:-2], 4)
    return np.where(q[..., 3:] < 0.0, -q, q)


def compose_quaternions(second: ArrayLike, first: ArrayLike) -> Array:
    """Return the quaternion of ``R(second) R(first)``.

    Args:
        second, first (..., 4): Unit quaternions, scalar last; leading axes broadcast.

    Returns:
        (..., 4): The Hamilton product.
    """
    a, b = with_trailing(second, 'second', 4), with_trailing(first, 'first', 4)
    if a.shape != b.shape:
        a, b = np.broadcast_arrays(a, b)
    product = np.empty(b.shape)
    rotation_kernels.products(_flat(a), _flat(b), product.reshape(-1, 4))
    return product


def invert_quaternion(quaternion_xyzw: ArrayLike) -> Array:
    """Return the inverse of unit quaternions, shape (..., 4)."""
    return with_trailing(quaternion_xyzw, 'quaternion_xyzw', 4) * np.array([-1.0, -1.0, -1.0, 1.0])


def exp_quaternion(rotation_vector: ArrayLike) -> Array:
    """Return the unit quaternions of rotation vectors [rad], (..., 3) -> (..., 4)."""
    vector = with_trailing(rotation_vector, 'rotation_vector', 3)
    quaternion = np.empty((*vector.shape[:-1], 4))
    rotation_kernels.exponentials(_flat(vector), quaternion.reshape(-1, 4))
    return quaternion


def log_quaternion(quaternion_xyzw: ArrayLike) -> Array:
    """Return the shortest rotation vectors [rad] of quaternions, (..., 4) -> (..., 3)."""
    q = _directed(quaternion_xyzw)
    vector = np.empty((*q.shape[:-1], 3))
    rotation_kernels.logarithms(_flat(q), vector.reshape(-1, 3))
    return vector


def exp_rotation(rotation_vector: ArrayLike) -> Array:
    """Return the rotation matrices of rotation vectors [rad], (..., 3) -> (..., 3, 3)."""
    return matrix_from_quaternion(exp_quaternion(rotation_vector))


def log_rotation(matrix: ArrayLike) -> Array:
    """Return the shortest rotation vectors of rotation matrices.

    Args:
        matrix (..., 3, 3): Rotation matrices.

    Returns:
        (..., 3): Rotation vectors of length at most pi [rad]; at pi either of the two.
    """
    return log_quaternion(quaternion_from_matrix(matrix))


def rotation_angle(quaternion_xyzw: ArrayLike) -> Array:
    """Return the angles [rad] of rotations, 0 to pi, (..., 4) -> (...)."""
    q = _directed(quaternion_xyzw)
    sine = np.linalg.norm(q[..., :3], axis=-1)
    return np.asarray(2.0 * np.arctan2(sine, np.abs(q[..., 3])), dtype=np.float64)


def skew(vector: ArrayLike) -> Array:
    """Return the matrices S(a) with S(a) b = a x b, (..., 3) -> (..., 3, 3)."""
    a = with_trailing(vector, 'vector', 3)
    matrix = np.zeros((*a.shape[:-1], 3, 3))
    matrix[..., 2, 1] = a[..., 0]
    matrix[..., 0, 2] = a[..., 1]
    matrix[..., 1, 0] = a[..., 2]
    return matrix - np.swapaxes(matrix, -1, -2)


def unskew(matrix: ArrayLike) -> Array:
    """Return the vectors of skew matrices, (..., 3, 3) -> (..., 3); averages both triangles."""
    m = with_trailing(matrix, 'matrix', 3, 3)
    difference = [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0]]
    difference.append(m[..., 1, 0] - m[..., 0, 1])
    return 0.5 * np.stack(difference, axis=-1)


def _series(square: Array, *coefficients: float) -> Array:
    """Return a polynomial in the squared angle."""
    return np.asarray(np.polynomial.polynomial.polyval(square, coefficients), dtype=np.float64)


def _coefficients(angle: Array) -> tuple[Array, Array]:
    """Return (1 - cos t) / t² and (t - sin t) / t³."""
    square = angle**2
    safe = np.where(angle < SMALL_ANGLE, 1.0, angle)
    first = np.where(
        angle < SMALL_ANGLE,
        _series(square, 1 / 2, -1 / 24, 1 / 720, -1 / 40320, 1 / 3628800),
        (1.0 - np.cos(safe)) / safe**2,
    )
    second = np.where(
        angle < SMALL_ANGLE,
        _series(square, 1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800),
        (safe - np.sin(safe)) / safe**3,
    )
    return first[..., None, None], second[..., None, None]


def left_jacobian(rotation_vector: ArrayLike) -> Array:
    r"""Return the left Jacobian of the exponential map.

    It takes the rate of the rotation vector to the angular velocity in the fixed frame:
    :math:`\omega = J_l(\theta) \dot\theta`.

    Args:
        rotation_vector (..., 3): Rotation vectors [rad].

    Returns:
        (..., 3, 3): Jacobians; singular at an angle of 2 pi.
    """
    vector = with_trailing(rotation_vector, 'rotation_vector', 3)
    first, second = _coefficients(np.linalg.norm(vector, axis=-1))
    s = skew(vector)
    return np.eye(3) + first * s + second * (s @ s)


def left_jacobian_inverse(rotation_vector: ArrayLike) -> Array:
    r"""Return the inverse of the left Jacobian.

    Args:
        rotation_vector (..., 3): Rotation vectors, shorter than 2 pi [rad].

    Returns:
        (..., 3, 3): :math:`\dot\theta = J_l^{-1}(\theta)\, \omega` with omega in the fixed frame.
    """
    vector = with_trailing(rotation_vector, 'rotation_vector', 3)
    angle = np.linalg.norm(vector, axis=-1)
    safe = np.where(angle < SMALL_ANGLE, 1.0, angle)
    # (1 - (t / 2) cot(t / 2)) / t²; the cotangent form stays exact up to pi and beyond.
    factor = np.where(
        angle < SMALL_ANGLE,
        _series(angle**2, 1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160),
        (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2,
    )
    s = skew(vector)
    return np.eye(3) - 0.5 * s + factor[..., None, None] * (s @ s)


def right_jacobian(rotation_vector: ArrayLike) -> Array:
    """Return J_r(theta) = J_l(-theta): rate of theta to angular velocity in the moving frame."""
    return left_jacobian(-with_trailing(rotation_vector, 'rotation_vector', 3))


def right_jacobian_inverse(rotation_vector: ArrayLike) -> Array:
    """Return the inverse of the right Jacobian, (..., 3) -> (..., 3, 3)."""
    return left_jacobian_inverse(-with_trailing(rotation_vector, 'rotation_vector', 3))
