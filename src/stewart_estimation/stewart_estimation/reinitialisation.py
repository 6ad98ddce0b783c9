# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the filter begins, and begins again: the pose that forward kinematics finds.

The errors of that pose are the legs' through the inverse Jacobian, correlated as they are. The
velocity is unknown. Biases are unknown at a start; at a restart they keep their values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from stewart_estimation.arrangement import Arrangement
from stewart_estimation.errors import EstimationError, SampleError
from stewart_estimation.estimate import Estimate
from stewart_estimation.kernels.records import (
    DELAY,
    EXTERNAL,
    FilterState,
    FORCE_BIAS,
    MEMORY,
    MOUNTING,
    RATE_BIAS,
    STATE,
)
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.forward import forward
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.solvers.jacobian import jacobian
from stewart_kinematics.spatial import compose_quaternions, matrix_from_quaternion, skew

START_VELOCITY, START_FORCE_BIAS, START_RATE_BIAS = 1.0, 1.0, 0.1
"""Standard deviations at a start [m/s], [m/s²], [rad/s]; those of the pose follow the legs'."""

PLACED = [0, 1, 2, 6, 7, 8]
"""Position and attitude in the covariance of an estimate."""


def from_estimate(
    arrangement: Arrangement, estimate: Estimate, known: Array | None = None
) -> FilterState:
    """Put the filter where an estimate says.

    Args:
        estimate: Where to begin; its misalignment and delay are taken as first guesses.
        known (n - 15, n - 15): Covariance of delays and misalignment, where more is known of them
            than the settings say.

    Returns:
        The state at the IMU, at the estimate's stamp.

    Raises:
        EstimationError: If the covariance has another size or a value is not finite.
    """
    settings, size, rate = arrangement.settings, arrangement.size, estimate.angular_velocity
    covariance = np.asarray(estimate.covariance, dtype=np.float64)
    if covariance.shape != (15, 15):
        raise EstimationError(f'covariance: expected shape (15, 15), got {covariance.shape}')
    attitude = matrix_from_quaternion(estimate.quaternion_xyzw)
    lever = attitude @ settings.imu.position
    state = np.zeros(STATE)
    state[:3] = estimate.position + lever
    state[3:6] = estimate.linear_velocity + np.cross(rate, lever)
    state[6:10] = compose_quaternions(estimate.quaternion_xyzw, settings.imu.quaternion_xyzw)
    state[FORCE_BIAS:RATE_BIAS] = estimate.accelerometer_bias
    state[RATE_BIAS:DELAY] = estimate.gyroscope_bias
    state[DELAY], state[MOUNTING:EXTERNAL] = estimate.delay, estimate.misalignment
    move = np.eye(15)
    move[0:3, 6:9] = -attitude @ skew(settings.imu.position)
    move[3:6, 6:9] = -attitude @ skew(np.cross(attitude.T @ rate, settings.imu.position))
    move[6:9, 6:9] = settings.imu.rotation.T
    whole = np.zeros((size, size))
    whole[:15, :15] = move @ covariance @ move.T
    if settings.delay is not None:
        late = arrangement.setup.delay_at
        whole[late, late] = settings.delay.sigma**2
    if settings.misalignment is not None:
        angles = range(arrangement.setup.mounting_at, arrangement.setup.mounting_at + 3)
        whole[angles, angles] = settings.misalignment.sigma**2
    if settings.external is not None:
        at = arrangement.setup.external_at
        state[EXTERNAL], whole[at, at] = settings.external.start, settings.external.sigma**2
    if known is not None:
        whole[15:, 15:] = known
    if settings.delay is not None:
        # Where the platform was when the IMU's sample was taken is known so much less.
        whole[range(3), range(3)] += START_VELOCITY**2 * whole[late, late]
    memory = np.zeros(1, MEMORY)[0]
    memory.posed, memory.pose_due = estimate.stamp, np.inf
    memory.time = memory.noted = memory.heard = estimate.stamp + estimate.delay
    memory.last = np.nan
    memory.leg_scale = memory.imu_scale = 1.0
    if not (np.all(np.isfinite(state)) and np.all(np.isfinite(whole))):
        raise EstimationError(f'an estimate to start from must be finite, got {estimate}')
    return FilterState(state, whole, memory)


def start_covariance(pose: Array) -> Array:
    """Return the covariance (15, 15) at a start, with that of the pose (6, 6) in platform axes."""
    sigmas = (0.0, START_VELOCITY, 0.0, START_FORCE_BIAS, START_RATE_BIAS)
    covariance = np.diag(np.repeat(sigmas, 3) ** 2)
    covariance[np.ix_(PLACED, PLACED)] = pose
    return covariance


def estimate_from_legs(
    arrangement: Arrangement, stamp: float, lengths: ArrayLike, before: Array | None = None
) -> Estimate:
    """Return the estimate at a start: the pose that has the lengths, at rest as far as is known.

    Args:
        stamp: Of the lengths [s].
        lengths (6,): Joint-to-joint lengths [m].
        before (21,): State of the filter whose biases, delay and misalignment are kept, with the
            trust of a start.

    Raises:
        SampleError: If a length is missing or no pose has these lengths.
    """
    row = np.asarray(lengths, dtype=np.float64)
    if not np.all(np.isfinite(row)):
        missing = [int(leg) + 1 for leg in np.flatnonzero(~np.isfinite(row))]
        raise SampleError(f'a start needs all six lengths, legs {missing} are missing')
    result = forward(arrangement.geometry, row)
    if not result.converged:
        home = arrangement.geometry.neutral_pose
        neutral = leg_lengths(arrangement.geometry, home.position, home.quaternion_xyzw).mean()
        raise SampleError(
            f'no start from lengths {row.tolist()} m: {result.reason}; '
            f'those of {arrangement.geometry.name} are about {neutral:.3g} m at its neutral pose: '
            'check the platform, the units, and that strokes count from the retracted leg'
        )
    settings, turn = arrangement.settings, np.eye(6)
    turn[3:, 3:] = matrix_from_quaternion(result.quaternion_xyzw).T
    inverse = turn @ np.linalg.inv(
        jacobian(arrangement.geometry, result.position, result.quaternion_xyzw)
    )
    if before is None:
        before = np.zeros(STATE)
        before[DELAY] = settings.first_delay
    return Estimate(
        stamp=float(stamp),
        position=result.position,
        quaternion_xyzw=result.quaternion_xyzw,
        covariance=start_covariance((inverse * settings.leg_noise**2) @ inverse.T),
        accelerometer_bias=before[FORCE_BIAS:RATE_BIAS].copy(),
        gyroscope_bias=before[RATE_BIAS:DELAY].copy(),
        delay=float(before[DELAY]),
        misalignment=before[MOUNTING:EXTERNAL].copy(),
    )
