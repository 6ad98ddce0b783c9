# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether one sample of a stream can follow another."""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import Violation
from stewart_kinematics.motion import Array, Motion

POSITION_TOLERANCE = 1e-6
"""Rounding of stamps and poses [m], [rad]: a float64 of Unix time resolves 2.4e-7 s."""

LONGEST_STEP = 0.1
"""What acceleration could do in more time than this is not conceded to a gap [s]."""


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
    turn = (
        Rotation.from_quat(motion.quaternion_xyzw) * Rotation.from_quat(last.quaternion_xyzw).inv()
    )
    mean_linear = 0.5 * (last.linear_velocity + motion.linear_velocity)
    mean_angular = 0.5 * (last.angular_velocity + motion.angular_velocity)
    conceded = min(step, LONGEST_STEP)
    quarter = 0.25 * conceded**2
    checks: tuple[tuple[str, Array, float, str], ...] = (
        (
            'position jump',
            motion.position - last.position - mean_linear * step,
            linear_acceleration * quarter + POSITION_TOLERANCE,
            'm',
        ),
        (
            'attitude jump',
            turn.as_rotvec() - mean_angular * step,
            angular_acceleration * quarter + POSITION_TOLERANCE,
            'rad',
        ),
        (
            'linear velocity jump',
            motion.linear_velocity - last.linear_velocity,
            linear_acceleration * conceded + POSITION_TOLERANCE,
            'm/s',
        ),
        (
            'angular velocity jump',
            motion.angular_velocity - last.angular_velocity,
            angular_acceleration * conceded + POSITION_TOLERANCE,
            'rad/s',
        ),
    )
    for name, difference, bound, unit in checks:
        value = float(np.linalg.norm(difference))
        if not value <= bound:
            return Violation(name, value, 0.0, bound, unit)
    return None
