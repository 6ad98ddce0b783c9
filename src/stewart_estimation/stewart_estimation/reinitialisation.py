# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the filter begins, and begins again: the pose that forward kinematics finds.

The errors of that pose are the legs' through the inverse Jacobian, correlated as they are. The
velocity is unknown. Biases are unknown at a start; at a restart they keep their values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from stewart_estimation import layout
from stewart_estimation.arrangement import Arrangement
from stewart_estimation.errors import EstimationError, SampleError
from stewart_estimation.estimate import Estimate
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.solvers.forward import forward
from stewart_kinematics.solvers.jacobian import jacobian
from stewart_kinematics.spatial import compose_quaternions, matrix_from_quaternion, skew


@dataclass(frozen=True, eq=False)
class FilterState:
    """Everything that the kernels change; they change these arrays in place.

    Attributes:
        state (20,): As in :mod:`stewart_estimation.layout`.
        covariance (n, n): Over the tangent.
        memory (layout.MEMORY,): Time, counters, learnt noises.
    """

    state: Array
    covariance: Array
    memory: Array

    @property
    def stamp(self) -> float:
        """Where the state is, on the clock of the IMU [s]."""
        return float(self.memory[layout.TIME])

    @property
    def repairs(self) -> int:
        """How often the covariance had to be made positive definite again."""
        return int(self.memory[layout.REPAIRS])

    def copy(self) -> FilterState:
        """Return arrays of its own."""
        return FilterState(self.state.copy(), self.covariance.copy(), self.memory.copy())


def from_estimate(arrangement: Arrangement, estimate: Estimate) -> FilterState:
    """Put the filter where an estimate says.

    Args:
        arrangement: Geometry and settings.
        estimate: Where to begin; its misalignment and delay are taken as first guesses.

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
    mounting = settings.imu.rotation
    lever = attitude @ settings.imu.position
    state = np.zeros(layout.STATE)
    state[:3] = estimate.position + lever
    state[3:6] = estimate.linear_velocity + np.cross(rate, lever)
    state[6:10] = compose_quaternions(estimate.quaternion_xyzw, settings.imu.quaternion_xyzw)
    state[10:13], state[13:16] = estimate.accelerometer_bias, estimate.gyroscope_bias
    state[layout.DELAY] = estimate.delay
    state[layout.MOUNTING : layout.MOUNTING + 3] = estimate.misalignment
    move = np.eye(15)
    move[0:3, 6:9] = -attitude @ skew(settings.imu.position)
    move[3:6, 6:9] = -attitude @ skew(np.cross(attitude.T @ rate, settings.imu.position))
    move[6:9, 6:9] = mounting.T
    whole = np.zeros((size, size))
    whole[:15, :15] = move @ covariance @ move.T
    at = 15
    if settings.delay is not None:
        whole[at, at] = settings.delay.sigma**2
        # Where the platform was when the IMU's sample was taken is known so much less.
        whole[range(3), range(3)] += (settings.start.velocity * settings.delay.sigma) ** 2
        at += 1
    if settings.misalignment is not None:
        whole[range(at, at + 3), range(at, at + 3)] = settings.misalignment.sigma**2
    memory = np.zeros(layout.MEMORY)
    memory[layout.TIME] = estimate.stamp + estimate.delay
    memory[layout.NOTED] = memory[layout.TIME]
    memory[layout.LAST : layout.LAST + 6] = np.nan
    memory[layout.LEG_SCALE : layout.LEG_SCALE + 6] = 1.0
    memory[layout.IMU_SCALE : layout.IMU_SCALE + 6] = 1.0
    if not (np.all(np.isfinite(state)) and np.all(np.isfinite(whole))):
        raise EstimationError(f'an estimate to start from must be finite, got {estimate}')
    return FilterState(state, whole, memory)


def estimate_from_legs(
    arrangement: Arrangement,
    stamp: float,
    lengths: ArrayLike,
    *,
    before: Array | None = None,
    near: Pose | None = None,
) -> Estimate:
    """Return the estimate at a start: the pose that has the lengths.

    Args:
        arrangement: Geometry and settings.
        stamp: Of the lengths [s].
        lengths (6,): Joint-to-joint lengths [m].
        before (20,): State of the filter whose biases, delay and misalignment are kept, with the
            trust of a start.
        near: First iterate of the forward kinematics.

    Returns:
        At rest as far as is known.

    Raises:
        SampleError: If a length is missing or no pose has these lengths.
    """
    row = np.asarray(lengths, dtype=np.float64)
    if not np.all(np.isfinite(row)):
        missing = [int(leg) + 1 for leg in np.flatnonzero(~np.isfinite(row))]
        raise SampleError(f'a start needs all six lengths, legs {missing} are missing')
    result = forward(arrangement.geometry, row, near)
    if not result.converged:
        raise SampleError(f'no start from lengths {row.tolist()} m: {result.reason}')
    settings, zero = arrangement.settings, np.zeros(3)
    start, delay = settings.start, settings.delay
    inverse = np.linalg.inv(
        jacobian(arrangement.geometry, result.position, result.quaternion_xyzw)
    )
    pose = inverse @ np.diag(settings.leg_noise**2) @ inverse.T
    turn = np.eye(6)
    turn[3:, 3:] = matrix_from_quaternion(result.quaternion_xyzw).T
    pose = turn @ pose @ turn.T
    covariance = np.zeros((15, 15))
    where = [0, 1, 2, 6, 7, 8]
    covariance[np.ix_(where, where)] = pose
    covariance[range(3, 6), range(3, 6)] = start.velocity**2
    covariance[range(9, 12), range(9, 12)] = start.accelerometer_bias**2
    covariance[range(12, 15), range(12, 15)] = start.gyroscope_bias**2
    if before is None:
        before = np.zeros(layout.STATE)
        before[layout.DELAY] = 0.0 if delay is None else delay.start
    return Estimate(
        stamp=float(stamp),
        position=result.position,
        quaternion_xyzw=result.quaternion_xyzw,
        linear_velocity=zero,
        angular_velocity=zero,
        linear_acceleration=zero,
        accelerometer_bias=before[10:13].copy(),
        gyroscope_bias=before[13:16].copy(),
        covariance=covariance,
        rate_covariance=np.eye(3) * start.gyroscope_bias**2,
        delay=float(before[layout.DELAY]),
        delay_sigma=0.0 if delay is None else delay.sigma,
        misalignment=before[layout.MOUNTING : layout.MOUNTING + 3].copy(),
    )
