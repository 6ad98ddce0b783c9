# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Estimates as a table: one row per leg sample, under the column names of ``docs/conventions.md``.

Motions are those of ``platform_link``'s origin in base axes. Standard deviations carry the prefix
``sigma_``; those of the attitude are rotations about the platform's axes, those of the biases are
in sensor axes.
"""

from __future__ import annotations

import numpy as np
from stewart_estimation.estimate import EstimateSeries
from stewart_kinematics.motion import Array
from stewart_tables.columns import ACCELERATION, POSE, TIME, TWIST

ACCELEROMETER = ('bias_fx_mps2', 'bias_fy_mps2', 'bias_fz_mps2')
GYROSCOPE = ('bias_p_radps', 'bias_q_radps', 'bias_r_radps')
SIGMAS = (
    *(f'sigma_{name}' for name in POSE[:3]),
    *(f'sigma_{name}' for name in TWIST[:3]),
    *(f'sigma_r{axis}_rad' for axis in 'xyz'),
    *(f'sigma_{name}' for name in (*ACCELEROMETER, *GYROSCOPE)),
)
"""Standard deviations in the order of the covariance."""
RATE_SIGMAS = tuple(f'sigma_{name}' for name in TWIST[3:])
INNOVATIONS, INNOVATION_SIGMAS, USED = (
    tuple(name.format(leg) for leg in range(1, 7))
    for name in ('innovation_{}_m', 'sigma_innovation_{}_m', 'used_{}')
)
NIS = 'nis'
DELAY = ('imu_delay_s', 'sigma_imu_delay_s')
COLUMNS = (
    TIME,
    *POSE,
    *TWIST,
    *ACCELERATION,
    *ACCELEROMETER,
    *GYROSCOPE,
    *SIGMAS,
    *RATE_SIGMAS,
    *DELAY,
    *INNOVATIONS,
    *INNOVATION_SIGMAS,
    *USED,
    NIS,
)

REACH = 2
"""Rows to either side that the parabola through the angular velocity takes."""


def angular_acceleration(stamps: Array, angular_velocity: Array) -> Array:
    """Return angular accelerations: slopes of parabolas through neighbouring angular velocities.

    The filter has no state for them, so they carry the gyroscope's noise: on even steps of
    length h a standard deviation of 0.32 sigma / h, less than half of a plain difference.

    Args:
        stamps (n,): Increasing, at any steps [s]; n at least 2 `REACH` + 1.
        angular_velocity (n, 3): In axes that do not turn [rad/s].

    Returns:
        (n, 3): [rad/s²]; rows at the ends look to one side. NaN where there are too few rows.
    """
    size, count = 2 * REACH + 1, len(stamps)
    if count < size:
        return np.full_like(angular_velocity, np.nan)
    first = np.clip(np.arange(count) - REACH, 0, count - size)
    rows = first[:, None] + np.arange(size)
    time = stamps[rows] - stamps[:, None]
    # Scaled to about 1, so that the parabola's three columns are alike.
    scale = np.abs(time).max(axis=1, keepdims=True)
    powers = np.stack([np.ones_like(time), time / scale, (time / scale) ** 2], axis=-1)
    weights = np.linalg.pinv(powers)[:, 1, :] / scale
    slopes: Array = np.einsum('ns,nsj->nj', weights, angular_velocity[rows])
    return slopes


def table(series: EstimateSeries) -> Array:
    """Return the rows that have an estimate, (m, len(`COLUMNS`)).

    Innovations and NIS are NaN where no leg was measured, and in the row of a start.
    """
    values = np.column_stack(
        [
            series.stamps,
            series.position,
            series.quaternion_xyzw,
            series.linear_velocity,
            series.angular_velocity,
            series.linear_acceleration,
            angular_acceleration(series.stamps, series.angular_velocity),
            series.accelerometer_bias,
            series.gyroscope_bias,
            np.sqrt(series.variances),
            np.sqrt(series.rate_variances),
            series.delay,
            series.delay_sigma,
            series.innovations,
            series.sigmas,
            series.used,
            series.nis,
        ]
    )
    return np.asarray(values[np.isfinite(series.position[:, 0])])
