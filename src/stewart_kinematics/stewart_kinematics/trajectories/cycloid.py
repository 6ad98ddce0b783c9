# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""The cycloid, the profile from rest to rest that every smooth transition here uses.

.. math:: \sigma(\tau) = \tau - \frac{\sin 2\pi\tau}{2\pi}, \qquad 0 \le \tau \le 1

Velocity and acceleration vanish at both ends (Vigo, Eqs. 24 to 28). A way `h` covered in the time
`T` has the peaks :math:`2h/T`, :math:`2\pi h/T^2` and :math:`4\pi^2 h/T^3`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Array

PEAK_VELOCITY = 2.0
PEAK_ACCELERATION = 2.0 * np.pi
PEAK_JERK = 4.0 * np.pi**2


def cycloid(tau: Array) -> tuple[Array, Array, Array]:
    """Evaluate the profile and its first two derivatives.

    Args:
        tau (...): Fraction of the duration, 0 to 1 [-].

    Returns:
        way, rate, curvature (...): Value, first and second derivative with respect to `tau` [-].
    """
    angle = 2.0 * np.pi * tau
    sine = np.sin(angle)
    return tau - sine / (2.0 * np.pi), 1.0 - np.cos(angle), 2.0 * np.pi * sine


def shortest_duration(
    way: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, jerk: ArrayLike
) -> float:
    """Return the shortest duration that keeps every coordinate inside its limits.

    Args:
        way (...): Way of every coordinate, in m or rad; its sign does not matter.
        velocity, acceleration, jerk: Limits in the same unit per s, s² and s³.

    Returns:
        Duration shared by all coordinates [s]; 0 if there is no way to go.

    Raises:
        TrajectoryError: If a limit is not greater than 0.

    References:
        Vigo (Machines 2022, 10, 711), Eqs. 26 to 28.
    """
    limits = {'velocity': velocity, 'acceleration': acceleration, 'jerk': jerk}
    for name, limit in limits.items():
        if not np.all(np.asarray(limit, dtype=float) > 0.0):
            raise TrajectoryError(f'the {name} limit must be greater than 0, got {limit!r}')
    distance = np.abs(np.asarray(way, dtype=float))
    by_velocity = PEAK_VELOCITY * distance / np.asarray(velocity, dtype=float)
    by_acceleration = np.sqrt(PEAK_ACCELERATION * distance / np.asarray(acceleration, dtype=float))
    by_jerk = np.cbrt(PEAK_JERK * distance / np.asarray(jerk, dtype=float))
    return float(max(by_velocity.max(), by_acceleration.max(), by_jerk.max()))
