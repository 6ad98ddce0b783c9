# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether one sample of a stream can follow another."""

from __future__ import annotations

import math

import numpy as np
from stewart_kinematics.compiled import kernel, SCALAR, VECTOR, VECTOR_OUT, VOID
from stewart_kinematics.errors import Violation
from stewart_kinematics.motion import Array, Motion

TOLERANCE = 1e-6
"""Rounding of stamps, poses and velocities in SI: a float64 of Unix time resolves 2.4e-7 s."""

LONGEST_STEP = 0.1
"""What acceleration could do in more time than this is not conceded to a gap [s]."""


NAMES = ('position jump', 'attitude jump', 'linear velocity jump', 'angular velocity jump')
UNITS = ('m', 'rad', 'm/s', 'rad/s')


@kernel(VOID, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, SCALAR, VECTOR_OUT)
def differences(
    last_position: Array,
    last_quaternion: Array,
    last_linear: Array,
    last_angular: Array,
    position: Array,
    quaternion: Array,
    linear: Array,
    angular: Array,
    step: float,
    out: Array,
) -> None:
    """Write how far a sample is from the last one moved on, in the order of NAMES."""
    ax, ay, az, aw = last_quaternion
    bx, by, bz, bw = quaternion
    # The turn from the last attitude: b times the conjugate of a, as a rotation vector.
    turn = (
        aw * bx - bw * ax - by * az + bz * ay,
        aw * by - bw * ay - bz * ax + bx * az,
        aw * bz - bw * az - bx * ay + by * ax,
    )
    scalar = aw * bw + ax * bx + ay * by + az * bz
    sine = math.sqrt(turn[0] ** 2 + turn[1] ** 2 + turn[2] ** 2)
    stretch = math.copysign(2.0, scalar)
    if sine > 0.0:
        stretch *= math.atan2(sine, abs(scalar)) / sine
    out[:] = 0.0
    for k in range(3):
        mean_linear = 0.5 * (last_linear[k] + linear[k])
        mean_angular = 0.5 * (last_angular[k] + angular[k])
        out[0] += (position[k] - last_position[k] - mean_linear * step) ** 2
        out[1] += (stretch * turn[k] - mean_angular * step) ** 2
        out[2] += (linear[k] - last_linear[k]) ** 2
        out[3] += (angular[k] - last_angular[k]) ** 2
    out[:] = np.sqrt(out)


def jump(
    last_stamp: float,
    last: Motion,
    stamp: float,
    motion: Motion,
    *,
    linear_acceleration: float,
    angular_acceleration: float,
) -> Violation | None:
    """
    Compare a sample with the one before.

    While the acceleration stays below a, the pose differs from the last pose moved on with the
    mean of both velocities by at most a dt²/4, and the velocities differ by at most a dt.

    Parameters
    ----------
    last_stamp, stamp : float
        When the samples hold [s].
    last, motion : Motion
        Two single samples.
    linear_acceleration, angular_acceleration : float
        Greatest accelerations [m/s²], [rad/s²].

    Returns
    -------
    Violation or None
        What cannot be; None if the sample continues the last one.

    """
    step = stamp - last_stamp
    if not step > 0.0:
        return Violation('time step', step, 0.0, math.inf, 's')
    values = np.empty(4)
    differences(*_vectors(last), *_vectors(motion), step, values)
    conceded = min(step, LONGEST_STEP)
    pose, velocity = 0.25 * conceded**2, conceded
    bounds = (
        linear_acceleration * pose,
        angular_acceleration * pose,
        linear_acceleration * velocity,
        angular_acceleration * velocity,
    )
    for name, unit, value, bound in zip(NAMES, UNITS, values.tolist(), bounds, strict=True):
        if not value <= bound + TOLERANCE:
            return Violation(name, value, 0.0, bound + TOLERANCE, unit)
    return None


def _vectors(motion: Motion) -> tuple[Array, Array, Array, Array]:
    """Return what the kernel compares, in memory order."""
    return (
        np.ascontiguousarray(motion.position),
        np.ascontiguousarray(motion.quaternion_xyzw),
        np.ascontiguousarray(motion.linear_velocity),
        np.ascontiguousarray(motion.angular_velocity),
    )
