# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Estimates as ROS has them, with their covariances: each is one sandwich J P J'."""

from __future__ import annotations

import numba
import numpy as np
from stewart_estimation.kernels.records import (
    D_FORCE_BIAS,
    D_SPEED,
    D_TURN,
    R_ACCELERATION,
    R_SILENT,
    R_SPIN,
    record,
    TANGENT,
)
from stewart_estimation.kernels.report import sandwich, times_cross
from stewart_kinematics.kernels.compiled import INTEGER, kernel, MATRIX, MATRIX_OUT, part, STACK
from stewart_kinematics.kernels.rotations import rotation, Rotation9, squared_norm
from stewart_kinematics.kernels.vectors import cross, triple
from stewart_kinematics.motion import Array

SENSOR = record(
    # Axes and place on the platform [m].
    ('axes', 'f8', (3, 3)),
    ('position', 'f8', 3),
    ('gravity', 'f8', 3),
    # Of one sample, and the time between two.
    ('variance', 'f8', 6),
    ('period', 'f8'),
    # Of specific force, angular velocity and acceleration while it is silent.
    ('silent_variance', 'f8', 9),
)
"""The IMU."""


@part
def pose(r: Rotation9, covariance: Array, errors: Array) -> None:
    """Write the covariance of position and turn, (6, 6), both along the axes of the base."""
    jacobian = np.zeros((6, TANGENT))
    for i in range(3):
        jacobian[i, i] = 1.0
        for j in range(3):
            jacobian[3 + i, D_TURN + j] = r[3 * i + j]
    sandwich(jacobian, covariance, errors)


@part
def twist(
    r: Rotation9, row: Array, covariance: Array, rate_covariance: Array, out: Array, errors: Array
) -> None:
    """Write both velocities in platform axes and the two (3, 3) blocks of their covariance."""
    inverse, jacobian = np.empty((3, 3)), np.zeros((3, TANGENT))
    out[:] = 0.0
    for i in range(3):
        for j in range(3):
            inverse[i, j] = r[3 * j + i]
            out[i] += inverse[i, j] * row[7 + j]
            out[3 + i] += inverse[i, j] * row[10 + j]
    jacobian[:, D_SPEED : D_SPEED + 3] = inverse
    jacobian[0, D_TURN + 1], jacobian[0, D_TURN + 2] = -out[2], out[1]
    jacobian[1, D_TURN], jacobian[1, D_TURN + 2] = out[2], -out[0]
    jacobian[2, D_TURN], jacobian[2, D_TURN + 1] = -out[1], out[0]
    errors[:] = 0.0
    sandwich(jacobian, covariance, errors[:3, :3])
    sandwich(inverse, rate_covariance, errors[3:, 3:])


@part
def acceleration(
    r: Rotation9, row: Array, covariance: Array, sensor: np.record, errors: Array
) -> None:
    """Write the covariance of linear and angular acceleration, (6, 6), without what they share.

    With the specific force f felt by the platform and the sensor at r, the linear acceleration is
    R (f - b) + g - alpha x r - ...: noise and bias of the accelerometer, the attitude by which
    gravity is taken off, and the angular acceleration, a difference of two gyroscope samples, are
    three sources that count as independent. What a silent IMU does not measure comes on top.
    """
    to_base, arm, force = np.zeros((3, 3)), np.zeros(3), np.zeros(3)
    for i in range(3):
        for k in range(3):
            arm[i] += r[3 * i + k] * sensor.position[k]
            force[i] += r[3 * k + i] * (row[R_ACCELERATION + k] - sensor.gravity[k])
            for j in range(3):
                to_base[i, j] += r[3 * i + k] * sensor.axes[k, j]
    jacobian, sources, spin = np.empty((3, 9)), np.zeros((9, 9)), np.zeros((3, 3))
    for i in range(3):
        tilt = times_cross(r, triple(force, 0), i)
        lever = cross(triple(arm, 0), (to_base[0, i], to_base[1, i], to_base[2, i]))
        for j in range(3):
            jacobian[i, j] = to_base[i, j]
            jacobian[i, 3 + j] = tilt[j]
            jacobian[j, 6 + i] = lever[j]
            sources[i, j] = covariance[D_FORCE_BIAS + i, D_FORCE_BIAS + j]
            sources[3 + i, 3 + j] = covariance[D_TURN + i, D_TURN + j]
        sources[i, i] += sensor.variance[i]
        spin[i, i] = sources[6 + i, 6 + i] = 2.0 * sensor.variance[3 + i] / sensor.period**2
        if row[R_SILENT] > 0.0:
            sources[i, i] += sensor.silent_variance[i]
            spin[i, i] += sensor.silent_variance[6 + i]
            sources[6 + i, 6 + i] = spin[i, i]
    errors[:] = 0.0
    sandwich(jacobian, sources, errors[:3, :3])
    sandwich(to_base, spin, errors[3:, 3:])


@kernel(INTEGER, numba.from_dtype(SENSOR), MATRIX, STACK, STACK, MATRIX_OUT, MATRIX_OUT)
def messages(
    sensor: np.record,
    report: Array,
    errors: Array,
    rate_errors: Array,
    odometry: Array,
    accelerations: Array,
) -> int:
    """Write n estimates as the messages have them; return the first that cannot be written, or n.

    `report` and the errors are as `steps.run` writes them. A row of `odometry` is pose, its
    covariance, twist and its covariance; one of `accelerations` linear and angular acceleration
    and their covariance. What cannot be written has a quaternion of norm zero or NaN.
    """
    block = np.empty((6, 6))
    for n in range(report.shape[0]):
        row, out, whole = report[n], odometry[n], accelerations[n]
        q = (row[3], row[4], row[5], row[6])
        if not squared_norm(q) > 0.0:
            return n
        r = rotation(*q)
        pose(r, errors[n], block)
        out[:7], out[7:43] = row[:7], block.reshape(36)
        twist(r, row, errors[n], rate_errors[n], out[43:49], block)
        out[49:85] = block.reshape(36)
        acceleration(r, row, errors[n], sensor, block)
        whole[:3], whole[3:6] = row[R_ACCELERATION : R_ACCELERATION + 3], row[R_SPIN : R_SPIN + 3]
        whole[6:42] = block.reshape(36)
    return report.shape[0]
