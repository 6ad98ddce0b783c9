# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled covariances of an estimate as ROS has it; `odometry` says what they mean.

A node publishes them with every leg sample, where numpy spends its time on beginning: each is one
sandwich J P J'. The kernels return False, and write nothing, where the quaternion has no
direction: its norm is zero or not a number.
"""

from __future__ import annotations

import numpy as np
from stewart_estimation.layout import D_FORCE_BIAS, D_SPEED, D_TURN, TANGENT
from stewart_estimation.report_kernels import sandwich, times_cross
from stewart_kinematics.kernels.compiled import (
    FLAG,
    INTEGER,
    kernel,
    MATRIX,
    MATRIX_OUT,
    SCALAR,
    STACK,
    VECTOR,
    VECTOR_OUT,
    VOID,
)
from stewart_kinematics.kernels.rotations import multiply, rotation, squared_norm
from stewart_kinematics.kernels.vectors import cross
from stewart_kinematics.motion import Array

NOT_MEASURED = -1.0
"""Variance of what is not measured."""


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
    """Write the covariance of the linear acceleration, (3, 3), in base axes.

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


@kernel(VOID, SCALAR, VECTOR, VECTOR, MATRIX, MATRIX, VECTOR_OUT, MATRIX_OUT)
def angular_acceleration(
    step: float,
    omega: Array,
    omega_before: Array,
    rate_errors: Array,
    rate_errors_before: Array,
    angular: Array,
    errors: Array,
) -> None:
    """Write the angular acceleration and a (6, 6) covariance with its block alone.

    It is the difference of two angular velocities; a step of 0 means that there is none before.
    """
    errors[:] = 0.0
    for i in range(3):
        angular[i] = 0.0
        errors[3 + i, 3 + i] = NOT_MEASURED
        if step > 0.0:
            angular[i] = (omega[i] - omega_before[i]) / step
            for j in range(3):
                both = rate_errors[i, j] + rate_errors_before[i, j]
                errors[3 + i, 3 + j] = both / step**2


@kernel(
    INTEGER, MATRIX, STACK, STACK, VECTOR, VECTOR, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR,
    SCALAR, MATRIX_OUT, MATRIX_OUT,
)  # fmt: skip
def messages(
    report: Array,
    errors: Array,
    rate_errors: Array,
    steps: Array,
    rate_before: Array,
    rate_errors_before: Array,
    mounting: Array,
    position: Array,
    gravity: Array,
    force_sigma: Array,
    rate_sigma: Array,
    period: float,
    odometry: Array,
    accelerations: Array,
) -> int:
    """Write n estimates as the messages have them; return the first that cannot be written, or n.

    `report` and the errors are as `replay_kernels.run` writes them, `steps` the times since the
    estimates before, 0 where there is none, and what follows is of the estimate before the first.
    A row of `odometry` is pose, its covariance, twist and its covariance; one of `accelerations`
    linear and angular acceleration and their covariance.
    """
    errors_out, linear = np.empty((6, 6)), np.empty((3, 3))
    for n in range(report.shape[0]):
        row, out = report[n], odometry[n]
        if not pose(row[3:7], errors[n], errors_out):
            return n
        out[:7] = row[:7]
        out[7:43] = errors_out.reshape(36)
        errors_out[:] = 0.0
        twist(
            row[3:7], row[7:10], row[10:13], errors[n], rate_errors[n], out[43:46], out[46:49],
            errors_out,
        )  # fmt: skip
        out[49:85] = errors_out.reshape(36)
        whole = accelerations[n]
        whole[:3] = row[13:16]
        before = report[n - 1, 10:13] if n else rate_before
        errors_before = rate_errors[n - 1] if n else rate_errors_before
        angular_acceleration(
            steps[n], row[10:13], before, rate_errors[n], errors_before, whole[3:6], errors_out
        )
        acceleration(
            row[3:7], row[13:16], errors[n], mounting, position, gravity, force_sigma, rate_sigma,
            period, linear,
        )  # fmt: skip
        errors_out[:3, :3] = linear
        whole[6:42] = errors_out.reshape(36)
    return report.shape[0]
