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

STAMP_TOLERANCE = 1e-6
"""
Time by which two stamps may seem too close, when a jerk is judged [s].

At 200 Hz that concedes 0.02 % of the jerk, at 1 kHz 0.1 %.
"""

LONGEST_STEP = 0.1
"""What acceleration could do in more time than this is not conceded to a gap [s]."""


NAMES = (
    'position jump',
    'attitude jump',
    'linear velocity jump',
    'angular velocity jump',
    'linear acceleration jump',
    'angular acceleration jump',
)
UNITS = ('m', 'rad', 'm/s', 'rad/s', 'm/s²', 'rad/s²')


@kernel(VOID, *(VECTOR,) * 12, SCALAR, VECTOR_OUT)
def differences(
    last_position: Array,
    last_quaternion: Array,
    last_linear: Array,
    last_angular: Array,
    last_linear_acceleration: Array,
    last_angular_acceleration: Array,
    position: Array,
    quaternion: Array,
    linear: Array,
    angular: Array,
    linear_acceleration: Array,
    angular_acceleration: Array,
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
        out[4] += (linear_acceleration[k] - last_linear_acceleration[k]) ** 2
        out[5] += (angular_acceleration[k] - last_angular_acceleration[k]) ** 2
    out[:] = np.sqrt(out)


def jump(
    last_stamp: float,
    last: Motion,
    stamp: float,
    motion: Motion,
    *,
    linear_acceleration: float,
    angular_acceleration: float,
    linear_jerk: float,
    angular_jerk: float,
) -> Violation | None:
    """
    Compare a sample with the one before.

    While the acceleration stays below a, the pose differs from the last pose moved on with the
    mean of both velocities by at most a dt²/4, and the velocities differ by at most a dt; while
    the jerk stays below j, the accelerations differ by at most j dt.

    Parameters
    ----------
    last_stamp, stamp : float
        When the samples hold [s].
    last, motion : Motion
        Two single samples.
    linear_acceleration, angular_acceleration : float
        Greatest accelerations [m/s²], [rad/s²].
    linear_jerk, angular_jerk : float
        Greatest jerks [m/s³], [rad/s³].

    Returns
    -------
    Violation or None
        What cannot be; None if the sample continues the last one.

    """
    step = stamp - last_stamp
    if not step > 0.0:
        return Violation('time step', step, 0.0, math.inf, 's')
    values = np.empty(6)
    differences(*_vectors(last), *_vectors(motion), step, values)
    conceded = min(step, LONGEST_STEP)
    pose, velocity = 0.25 * conceded**2, conceded
    bounds = (
        linear_acceleration * pose,
        angular_acceleration * pose,
        linear_acceleration * velocity,
        angular_acceleration * velocity,
        linear_jerk * (conceded + STAMP_TOLERANCE),
        angular_jerk * (conceded + STAMP_TOLERANCE),
    )
    for name, unit, value, bound in zip(NAMES, UNITS, values.tolist(), bounds, strict=True):
        if not value <= bound + TOLERANCE:
            return Violation(name, value, 0.0, bound + TOLERANCE, unit)
    return None


def _vectors(motion: Motion) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Return what the kernel compares, in memory order."""
    return (
        np.ascontiguousarray(motion.position),
        np.ascontiguousarray(motion.quaternion_xyzw),
        np.ascontiguousarray(motion.linear_velocity),
        np.ascontiguousarray(motion.angular_velocity),
        np.ascontiguousarray(motion.linear_acceleration),
        np.ascontiguousarray(motion.angular_acceleration),
    )
