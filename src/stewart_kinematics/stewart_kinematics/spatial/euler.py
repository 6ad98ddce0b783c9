# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Euler angles of any axis sequence, their rates and accelerations.

Sequences are written as in scipy: ``'ZYX'`` turns about moving axes (intrinsic),
R = R_z(q1) R_y(q2) R_x(q3); ``'zyx'`` about fixed axes (extrinsic), R = R_x(q3) R_y(q2) R_z(q1).
Angles come in the order of the letters. Angular velocities and accelerations are expressed in
the fixed frame, as in :class:`stewart_kinematics.motion.Motion`. Conversions are scipy's, rates
and accelerations are ours: scipy has none.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ConfigurationError, StewartError
from stewart_kinematics.motion import Array
from stewart_kinematics.spatial.rotations import with_trailing

SMALLEST_DETERMINANT = 1e-9
"""Below this |det E| angles have no rates that could be computed."""


def _axes(sequence: str) -> list[int]:
    """Return the three axes of a sequence as indices."""
    letters = sequence.upper()
    uniform = sequence in {letters, sequence.lower()}
    known = len(letters) == 3 and set(letters) <= set('XYZ')
    if not (uniform and known) or letters[0] == letters[1] or letters[1] == letters[2]:
        expected = "three axes of x, y, z, no two alike in a row, as 'ZYX' or 'zyx'"
        raise ConfigurationError('sequence', sequence, expected)
    return ['XYZ'.index(letter) for letter in letters]


def quaternion_from_euler(sequence: str, angles: ArrayLike) -> Array:
    """Return the quaternions of Euler angles.

    Args:
        sequence: ``'ZYX'``, ``'ZXZ'``, ``'xyz'``, ...
        angles (..., 3): Angles in the order of the letters [rad].

    Returns:
        (..., 4): Unit quaternions, scalar last.

    Raises:
        ConfigurationError: If the sequence is none.
        ShapeError: If the last axis has not three numbers.
    """
    _axes(sequence)
    q = with_trailing(angles, 'angles', 3)
    return Rotation.from_euler(sequence, q.reshape(-1, 3)).as_quat().reshape(*q.shape[:-1], 4)


def euler_from_quaternion(sequence: str, quaternion_xyzw: ArrayLike) -> Array:
    """Return Euler angles.

    Args:
        sequence: ``'ZYX'``, ``'ZXZ'``, ``'xyz'``, ...
        quaternion_xyzw (..., 4): Quaternions, scalar last.

    Returns:
        (..., 3): Angles in the order of the letters [rad]. The middle one lies in [-pi/2, pi/2],
        in [0, pi] where first and last axis are the same. Where the sequence is singular the third
        is zero.

    Raises:
        ConfigurationError: If the sequence is none.
    """
    _axes(sequence)
    q = with_trailing(quaternion_xyzw, 'quaternion_xyzw', 4)
    with warnings.catch_warnings():
        # What scipy does at a singular attitude is documented above; it is no surprise.
        warnings.filterwarnings('ignore', message='Gimbal lock', category=UserWarning)
        angles = Rotation.from_quat(q.reshape(-1, 4)).as_euler(sequence)
    return angles.reshape(*q.shape[:-1], 3)


def _turn(axis: int, angle: Array, vector: Array) -> Array:
    """Turn vectors about a coordinate axis."""
    c, s = np.cos(angle), np.sin(angle)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    result = vector.copy()
    result[..., j] = c * vector[..., j] - s * vector[..., k]
    result[..., k] = s * vector[..., j] + c * vector[..., k]
    return result


def _order(sequence: str) -> list[int]:
    """Return which angle is applied outermost, next, innermost."""
    return [0, 1, 2] if sequence.isupper() else [2, 1, 0]


def euler_rate_matrix(sequence: str, angles: ArrayLike) -> Array:
    r"""Return the matrix from Euler rates to angular velocity.

    Args:
        sequence: Axis sequence.
        angles (..., 3): Angles in the order of the letters [rad].

    Returns:
        (..., 3, 3): E with :math:`\omega = E(q)\, \dot q` in the fixed frame. Column j is the axis
        about which angle j turns.
    """
    axes, q = _axes(sequence), with_trailing(angles, 'angles', 3)
    matrix = np.zeros((*q.shape[:-1], 3, 3))
    order = _order(sequence)
    for depth, column in enumerate(order):
        axis = np.zeros_like(q)
        axis[..., axes[column]] = 1.0
        for outer in reversed(order[:depth]):
            axis = _turn(axes[outer], q[..., outer], axis)
        matrix[..., :, column] = axis
    return matrix


def euler_rate_matrix_derivative(sequence: str, angles: ArrayLike, rates: ArrayLike) -> Array:
    r"""Return the time derivative of the matrix from Euler rates to angular velocity.

    Args:
        sequence: Axis sequence.
        angles, rates (..., 3): Angles and their rates in the order of the letters [rad], [rad/s].

    Returns:
        (..., 3, 3): :math:`\dot E`, so that :math:`\dot\omega = E \ddot q + \dot E \dot q` [1/s].
    """
    speed = with_trailing(rates, 'rates', 3)
    matrix = euler_rate_matrix(sequence, angles)
    derivative = np.zeros(np.broadcast_shapes(matrix.shape, (*speed.shape[:-1], 3, 3)))
    # Each axis is carried along by the angles outside of it.
    carried = np.zeros(derivative.shape[:-1])
    for column in _order(sequence):
        derivative[..., :, column] = np.cross(carried, matrix[..., :, column])
        carried = carried + matrix[..., :, column] * speed[..., column, None]
    return derivative


def angular_velocity(sequence: str, angles: ArrayLike, rates: ArrayLike) -> Array:
    """Return the angular velocity [rad/s] in the fixed frame from Euler rates, shape (..., 3)."""
    return _times(euler_rate_matrix(sequence, angles), with_trailing(rates, 'rates', 3))


def angular_acceleration(
    sequence: str, angles: ArrayLike, rates: ArrayLike, accelerations: ArrayLike
) -> Array:
    """Return the angular acceleration in the fixed frame.

    Args:
        sequence: Axis sequence.
        angles, rates, accelerations (..., 3): Euler angles and their derivatives [rad], [rad/s],
            [rad/s²].

    Returns:
        (..., 3): Angular acceleration [rad/s²].
    """
    second = with_trailing(accelerations, 'accelerations', 3)
    moving = euler_rate_matrix_derivative(sequence, angles, rates)
    return _times(euler_rate_matrix(sequence, angles), second) + _times(
        moving, with_trailing(rates, 'rates', 3)
    )


def euler_rates(sequence: str, angles: ArrayLike, angular_velocity: ArrayLike) -> Array:
    """Return Euler rates, the inverse of `angular_velocity`.

    Args:
        sequence: Axis sequence.
        angles (..., 3): Angles in the order of the letters [rad].
        angular_velocity (..., 3): Angular velocity in the fixed frame [rad/s].

    Returns:
        (..., 3): Rates in the order of the letters [rad/s].

    Raises:
        StewartError: If the sequence is singular at one of the attitudes.
    """
    matrix = _regular(sequence, angles)
    return _solve(matrix, with_trailing(angular_velocity, 'angular_velocity', 3))


def euler_accelerations(
    sequence: str, angles: ArrayLike, rates: ArrayLike, angular_acceleration: ArrayLike
) -> Array:
    """Return the second derivatives of Euler angles, the inverse of `angular_acceleration`.

    Args:
        sequence: Axis sequence.
        angles, rates (..., 3): Angles and rates in the order of the letters [rad], [rad/s].
        angular_acceleration (..., 3): Angular acceleration in the fixed frame [rad/s²].

    Returns:
        (..., 3): Second derivatives in the order of the letters [rad/s²].

    Raises:
        StewartError: If the sequence is singular at one of the attitudes.
    """
    matrix = _regular(sequence, angles)
    moving = euler_rate_matrix_derivative(sequence, angles, rates)
    carried = _times(moving, with_trailing(rates, 'rates', 3))
    return _solve(matrix, with_trailing(angular_acceleration, 'angular_acceleration', 3) - carried)


def _regular(sequence: str, angles: ArrayLike) -> Array:
    """Return the rate matrix, or refuse the angles where it has no inverse."""
    matrix = euler_rate_matrix(sequence, angles)
    smallest = np.min(np.abs(np.linalg.det(matrix)), initial=1.0)
    if not smallest > SMALLEST_DETERMINANT:
        raise StewartError(
            f'{sequence} angles are singular here: |det E| is {smallest:.3g}, '
            f'needed is more than {SMALLEST_DETERMINANT:g}'
        )
    return matrix


def _times(matrix: Array, vector: Array) -> Array:
    return (matrix @ vector[..., None])[..., 0]


def _solve(matrix: Array, vector: Array) -> Array:
    return np.asarray(np.linalg.solve(matrix, vector[..., None])[..., 0], dtype=np.float64)
