# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A look at every sample before it may enter a filter."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from stewart_estimation.errors import SampleError
from stewart_kinematics.errors import ShapeError
from stewart_kinematics.motion import Array

ONES = np.ones(6)


def imu_sample(stamp: float, specific_force: ArrayLike, angular_velocity: ArrayLike) -> Array:
    """Return the six numbers of an IMU sample after a look at them.

    Args:
        stamp: [s].
        specific_force, angular_velocity (3,): In sensor axes [m/s²], [rad/s].

    Returns:
        (6,): Both.

    Raises:
        ShapeError: If there are not three numbers in each.
        SampleError: If a number or the stamp is not finite.
    """
    if np.shape(specific_force) != (3,):
        raise ShapeError('specific_force', '(3,)', np.shape(specific_force))
    if np.shape(angular_velocity) != (3,):
        raise ShapeError('angular_velocity', '(3,)', np.shape(angular_velocity))
    values = np.empty(6)
    values[:3], values[3:] = specific_force, angular_velocity
    # One sum is enough to find what is not finite, and this is done at every sample.
    if not math.isfinite(values.dot(ONES) + stamp):
        raise SampleError(
            f'an IMU sample must be finite, got {values.tolist()} [m/s², rad/s] at {stamp} s'
        )
    return values


def leg_sample(stamp: float, lengths: ArrayLike) -> Array:
    """Return six lengths after a look at them.

    Args:
        stamp: [s].
        lengths (6,): Joint-to-joint lengths [m]; NaN is a missing leg.

    Returns:
        (6,): The lengths, a copy.

    Raises:
        ShapeError: If there are not six.
        SampleError: If a length is infinite or not positive, or the stamp is not finite.
    """
    row = np.array(lengths, dtype=np.float64)
    if row.shape != (6,):
        raise ShapeError('lengths', '(6,)', row.shape)
    for leg, length in enumerate(row.tolist(), 1):
        if not (0.0 < length < math.inf or math.isnan(length)):
            raise SampleError(
                f'a length must be finite and above 0 m, or NaN where missing, got {length:.6g} m '
                f'on leg {leg} at {stamp} s'
            )
    if not math.isfinite(stamp):
        raise SampleError(f'a stamp must be finite, got {stamp} s')
    return row
