# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""Attitudes that move: quaternion, angular velocity and angular acceleration along a path.

Angular velocity and acceleration are in base axes: :math:`\dot R = [\omega]_\times R`.
Quaternions are x, y, z, w and take platform to base coordinates. What stands still is converted
in `stewart_kinematics.spatial`.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.kernels import attitudes as attitude_kernels
from stewart_kinematics.motion import Array
from stewart_kinematics.spatial import compose_quaternions
from stewart_kinematics.spatial.leading_axes import rows

Attitude = tuple[Array, Array, Array]
"""Quaternion (..., 4), angular velocity (..., 3) [rad/s] and acceleration (..., 3) [rad/s²]."""


def from_euler(
    sequence: str, angles: Array, rates: Array, accelerations: Array, right: Array
) -> Attitude:
    r"""Turn a path in Euler angles (..., 3) [rad] and its derivatives into an attitude that moves.

    :math:`R = R_z(\theta_1) R_x(\theta_2) R_y(\theta_3) R_{right}` for the sequence ``'ZXY'``:
    each about the axes already turned; `right` (4,) is a constant attitude applied before.

    Raises:
        TrajectoryError: If `sequence` is not three of X, Y, Z with neighbours that differ.
    """
    check_sequence(sequence)
    paths = [rows(values, 'angles', 3)[0] for values in (angles, rates, accelerations)]
    axes = ('XYZ'.index(letter) for letter in sequence)
    return _moving(attitude_kernels.euler_path, angles.shape[:-1], *axes, *paths, right)


def check_sequence(sequence: str) -> None:
    """Refuse what are not three axes with neighbours that differ."""
    alike = any(a == b for a, b in itertools.pairwise(sequence))
    if len(sequence) != 3 or set(sequence) - set('XYZ') or alike:
        raise TrajectoryError(
            f'a sequence names three axes, neighbours differing, like ZYX or ZXZ; got {sequence!r}'
        )


def from_quaternion_path(value: Array, first: Array, second: Array) -> Attitude:
    """Turn a path of quaternions (..., 4) of any norm but 0 into an attitude that moves.

    `first` and `second` are its derivatives [1/s, 1/s²].
    """
    paths = [rows(values, 'quaternion', 4)[0] for values in (value, first, second)]
    return _moving(attitude_kernels.quaternion_path, value.shape[:-1], *paths)


def quaternion_derivatives(
    quaternion: Array, velocity: Array, acceleration: Array
) -> tuple[Array, Array]:
    r"""Return the first two time derivatives (..., 4) of unit quaternions [1/s, 1/s²].

    :math:`\dot q = \frac12 \omega q` and
    :math:`\ddot q = \frac12 \alpha q - \frac14 |\omega|^2 q`, with angular velocity and
    acceleration (..., 3) in base axes [rad/s, rad/s²].
    """
    zero = np.zeros((*velocity.shape[:-1], 1))
    first = 0.5 * compose_quaternions(np.concatenate([velocity, zero], axis=-1), quaternion)
    second = 0.5 * compose_quaternions(np.concatenate([acceleration, zero], axis=-1), quaternion)
    squared = (velocity * velocity).sum(axis=-1, keepdims=True)
    return first, second - 0.25 * squared * quaternion


def _moving(kernel: Any, lead: tuple[int, ...], *arguments: Any) -> Attitude:
    """Return what a kernel writes behind its arguments, with leading axes."""
    count = math.prod(lead)
    quaternion, twist, change = (np.empty((count, size)) for size in (4, 6, 6))
    kernel(*arguments, quaternion, twist, change)
    spin, swing = (values[:, 3:].reshape(*lead, 3) for values in (twist, change))
    return quaternion.reshape(*lead, 4), spin, swing
