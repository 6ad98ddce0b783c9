# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
Compiled covariances of an estimate as ROS has it; `odometry` says what they mean.

A node publishes them with every leg sample, where numpy spends its time on beginning: each is one
sandwich J P J'. The kernels return False, and write nothing, where the quaternion has no
direction: its norm is zero or not a number.

"""

from __future__ import annotations

import numpy as np
from stewart_estimation.layout import D_FORCE_BIAS, D_SPEED, D_TURN, TANGENT
from stewart_estimation.report_kernels import sandwich, times_cross
from stewart_kinematics.compiled import (
    FLAG,
    kernel,
    MATRIX,
    MATRIX_OUT,
    SCALAR,
    VECTOR,
    VECTOR_OUT,
)
from stewart_kinematics.leg_kernels import cross
from stewart_kinematics.motion import Array
from stewart_kinematics.spatial.rotation_kernels import multiply, rotation, squared_norm


@kernel(FLAG, VECTOR, MATRIX, MATRIX_OUT)
def pose(quaternion: Array, covariance: Array, errors: Array) -> bool:
    """Write the covariance of position and turn, (6, 6), both along the axes of the base."""
    q = (quaternion[0], quaternion[1], quaternion[2], quaternion[3])
    if not squared_norm(q) > 0.0:
        return False
    r, jacobian = rotation(*q), np.zeros((6, TANGENT))
    for i in range(3):
        jacobian[i, i] = 1.0
        for j in range(3):
            jacobian[3 + i, D_TURN + j] = r[3 * i + j]
    sandwich(jacobian, covariance, errors)
    return True


@kernel(FLAG, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX, VECTOR_OUT, VECTOR_OUT, MATRIX_OUT)
def twist(
    quaternion: Array,
    linear_velocity: Array,
    angular_velocity: Array,
    covariance: Array,
    rate_covariance: Array,
    linear: Array,
    angular: Array,
    errors: Array,
) -> bool:
    """Write both velocities in platform axes and the two (3, 3) blocks of their covariance."""
    q = (quaternion[0], quaternion[1], quaternion[2], quaternion[3])
    if not squared_norm(q) > 0.0:
        return False
    r, inverse = rotation(*q), np.empty((3, 3))
    for i in range(3):
        linear[i] = angular[i] = 0.0
        for j in range(3):
            inverse[i, j] = r[3 * j + i]
            linear[i] += inverse[i, j] * linear_velocity[j]
            angular[i] += inverse[i, j] * angular_velocity[j]
    jacobian = np.zeros((3, TANGENT))
    jacobian[:, D_SPEED : D_SPEED + 3] = inverse
    jacobian[0, D_TURN + 1], jacobian[0, D_TURN + 2] = -linear[2], linear[1]
    jacobian[1, D_TURN], jacobian[1, D_TURN + 2] = linear[2], -linear[0]
    jacobian[2, D_TURN], jacobian[2, D_TURN + 1] = -linear[1], linear[0]
    sandwich(jacobian, covariance, errors[:3, :3])
    sandwich(inverse, rate_covariance, errors[3:, 3:])
    return True


@kernel(
    FLAG, VECTOR, VECTOR, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, SCALAR, MATRIX_OUT
)  # fmt: skip
def acceleration(
    quaternion: Array,
    linear_acceleration: Array,
    covariance: Array,
    mounting: Array,
    position: Array,
    gravity: Array,
    force_sigma: Array,
    rate_sigma: Array,
    period: float,
    errors: Array,
) -> bool:
    """
    Write the covariance of the linear acceleration, (3, 3), in base axes.

    `mounting` (a quaternion) and `position` are those of the sensor on the platform, the sigmas
    those of one sample of it.

    """
    q = (quaternion[0], quaternion[1], quaternion[2], quaternion[3])
    if not squared_norm(q) > 0.0:
        return False
    r = rotation(*q)
    to_base = rotation(*multiply(q, (mounting[0], mounting[1], mounting[2], mounting[3])))
    pull = (
        linear_acceleration[0] - gravity[0],
        linear_acceleration[1] - gravity[1],
        linear_acceleration[2] - gravity[2],
    )
    force = (
        r[0] * pull[0] + r[3] * pull[1] + r[6] * pull[2],
        r[1] * pull[0] + r[4] * pull[1] + r[7] * pull[2],
        r[2] * pull[0] + r[5] * pull[1] + r[8] * pull[2],
    )
    arm = (
        r[0] * position[0] + r[1] * position[1] + r[2] * position[2],
        r[3] * position[0] + r[4] * position[1] + r[5] * position[2],
        r[6] * position[0] + r[7] * position[1] + r[8] * position[2],
    )
    # Accelerometer, attitude, and gyroscope: three sources that count as independent.
    jacobian, sources = np.empty((3, 9)), np.zeros((9, 9))
    for i in range(3):
        tilt = times_cross(r, force, i)
        lever = cross(arm, (to_base[i], to_base[3 + i], to_base[6 + i]))
        for j in range(3):
            jacobian[i, j] = to_base[3 * i + j]
            jacobian[i, 3 + j] = tilt[j]
            jacobian[j, 6 + i] = lever[j]
            sources[i, j] = covariance[D_FORCE_BIAS + i, D_FORCE_BIAS + j]
            sources[3 + i, 3 + j] = covariance[D_TURN + i, D_TURN + j]
        sources[i, i] += force_sigma[i] ** 2
        sources[6 + i, 6 + i] = 2.0 * (rate_sigma[i] / period) ** 2
    sandwich(jacobian, sources, errors)
    return True
