# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""Attitudes that move: quaternion, angular velocity and angular acceleration along a path.

Angular velocity and acceleration are in base axes: :math:`\dot R = [\omega]_\times R`.
Quaternions are x, y, z, w and take platform to base coordinates. What stands still is converted
in `stewart_kinematics.spatial`.
"""

from __future__ import annotations

import itertools

import numpy as np
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Array
from stewart_kinematics.spatial import compose_quaternions
from stewart_kinematics.trajectories import attitude_kernels

Attitude = tuple[Array, Array, Array]
"""Quaternion (..., 4), angular velocity (..., 3) [rad/s] and acceleration (..., 3) [rad/s²]."""

_NO_TURN = np.array([0.0, 0.0, 0.0, 1.0])


def turned(quaternion: Array, vector: Array, fraction: Array) -> Array:
    """Turn an attitude about a fixed axis.

    Args:
        quaternion (4,): Attitude before the turn.
        vector (3,): Rotation vector of the whole turn, in base axes [rad].
        fraction (...): Part of it [-].

    Returns:
        (..., 4): Unit quaternions.
    """
    angle = float(np.linalg.norm(vector))
    axis = vector / angle if angle > 0.0 else vector
    half = 0.5 * angle * fraction
    turn = np.concatenate([np.sin(half)[..., None] * axis, np.cos(half)[..., None]], axis=-1)
    return compose_quaternions(turn, quaternion)


def from_euler(
    sequence: str,
    angles: Array,
    rates: Array,
    accelerations: Array,
    right: Array = _NO_TURN,
) -> Attitude:
    r"""Turn a path in Euler angles into an attitude that moves.

    Args:
        sequence: Axes of three rotations, each about the axes already turned: ``'ZXY'`` stands for
            :math:`R_z(\theta_1) R_x(\theta_2) R_y(\theta_3)`.
        angles, rates, accelerations (..., 3): Angles in the order of `sequence` and their
            derivatives [rad, rad/s, rad/s²].
        right (4,): Constant attitude applied before the three rotations.

    Returns:
        Quaternion, angular velocity and angular acceleration.

    Raises:
        TrajectoryError: If `sequence` is not three of X, Y, Z with neighbours that differ.
    """
    check_sequence(sequence)
    outputs = _empty(angles.size // 3)
    first, second, third = ('XYZ'.index(letter) for letter in sequence)
    attitude_kernels.euler_path(
        first,
        second,
        third,
        _rows(angles, 3),
        _rows(rates, 3),
        _rows(accelerations, 3),
        right,
        *outputs,
    )
    return _shaped(outputs, angles.shape[:-1])


def check_sequence(sequence: str) -> str:
    """Return `sequence`; refuse what are not three axes with neighbours that differ."""
    alike = any(a == b for a, b in itertools.pairwise(sequence))
    if len(sequence) != 3 or set(sequence) - set('XYZ') or alike:
        raise TrajectoryError(
            f'a sequence names three axes, neighbours differing, like ZYX or ZXZ; got {sequence!r}'
        )
    return sequence


def from_quaternion_path(value: Array, first: Array, second: Array) -> Attitude:
    """Turn a path of quaternions of any norm into an attitude that moves.

    Args:
        value, first, second (..., 4): Quaternion that is not zero, scalar last, and its
            derivatives [-, 1/s, 1/s²].

    Returns:
        Unit quaternion, angular velocity and angular acceleration.
    """
    outputs = _empty(value.size // 4)
    attitude_kernels.quaternion_path(_rows(value, 4), _rows(first, 4), _rows(second, 4), *outputs)
    return _shaped(outputs, value.shape[:-1])


def quaternion_derivatives(
    quaternion: Array, velocity: Array, acceleration: Array
) -> tuple[Array, Array]:
    r"""Return the first two time derivatives of unit quaternions.

    :math:`\dot q = \frac12 \omega q` and
    :math:`\ddot q = \frac12 \alpha q - \frac14 |\omega|^2 q`.

    Args:
        quaternion (..., 4): Unit quaternions, scalar last.
        velocity, acceleration (..., 3): Angular, in base axes [rad/s, rad/s²].

    Returns:
        first, second (..., 4): Derivatives [1/s, 1/s²].
    """
    zero = np.zeros((*velocity.shape[:-1], 1))
    first = 0.5 * compose_quaternions(np.concatenate([velocity, zero], axis=-1), quaternion)
    second = 0.5 * compose_quaternions(np.concatenate([acceleration, zero], axis=-1), quaternion)
    squared = (velocity * velocity).sum(axis=-1, keepdims=True)
    return first, second - 0.25 * squared * quaternion


def scaled(attitude: Attitude, centre: Array, factor: Attitude) -> Attitude:
    r"""Multiply the deviation of a moving attitude from a centre by a factor of time.

    The vector :math:`\tan(\theta/2)\, n` of the turn from the centre is multiplied, which keeps
    its axis and has smooth derivatives at :math:`\theta = 0`.

    Args:
        attitude: Less than 180° from the centre.
        centre (4,): What a factor of 0 gives.
        factor (...): The factor and its first two time derivatives [-, 1/s, 1/s²].

    Returns:
        Same shapes.
    """
    quaternion, velocity, acceleration = attitude
    outputs = _empty(quaternion.size // 4)
    attitude_kernels.scaled_turn(
        _rows(quaternion, 4),
        _rows(velocity, 3),
        _rows(acceleration, 3),
        centre,
        _rows(np.stack(factor, axis=-1), 3),
        *outputs,
    )
    return _shaped(outputs, quaternion.shape[:-1])


def _rows(values: Array, size: int) -> Array:
    """Return contiguous rows, shape (n, size)."""
    return np.ascontiguousarray(values).reshape(-1, size)


def _empty(count: int) -> Attitude:
    """Return room for `count` attitudes."""
    return np.empty((count, 4)), np.empty((count, 3)), np.empty((count, 3))


def _shaped(outputs: Attitude, shape: tuple[int, ...]) -> Attitude:
    """Return the outputs with the leading axes of the inputs."""
    quaternion, velocity, acceleration = outputs
    return (
        quaternion.reshape(*shape, 4),
        velocity.reshape(*shape, 3),
        acceleration.reshape(*shape, 3),
    )
