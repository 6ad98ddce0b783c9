# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled way from the filter's state at the IMU to the motion of ``platform_link``.

With the origin at o in sensor axes (Miletovic et al. 2017, Eq. 27 with its sign put right),

    p_o = p + R o        v_o = v + R (w x o)        a_o = a + R (alpha x o + w x (w x o))

The angular velocity is the gyroscope's sample less its bias, so beside the IMU the noise of one
sample enters the velocity; no filter that has the gyroscope as input can take it out.
"""

from __future__ import annotations

import math

import numpy as np
from stewart_estimation.kernels.correction import sensed
from stewart_estimation.kernels.records import (
    DELAY,
    FORCE_BIAS,
    MOUNTING,
    R_ACCELERATION,
    R_DELAY,
    R_DELAY_SIGMA,
    R_FORCE_BIAS,
    R_MOUNTING,
    R_RATE,
    R_RATE_BIAS,
    R_SPIN,
    R_TURN,
    R_VELOCITY,
    RATE_BIAS,
    Rows,
    SETUP_TYPE,
    TANGENT,
)
from stewart_estimation.kernels.tangent import attitude, turned
from stewart_kinematics.kernels.compiled import (
    kernel,
    MATRIX,
    MATRIX_OUT,
    part,
    SCALAR,
    VECTOR,
    VECTOR_OUT,
    VOID,
)
from stewart_kinematics.kernels.rotations import exponential, multiply, rotation, Rotation9
from stewart_kinematics.kernels.vectors import cross, Triple, triple
from stewart_kinematics.motion import Array


@part
def times_cross(r: Rotation9, o: Triple, i: int) -> Triple:
    """Return row i of R [o x]."""
    a, b, c = r[3 * i], r[3 * i + 1], r[3 * i + 2]
    return b * o[2] - c * o[1], c * o[0] - a * o[2], a * o[1] - b * o[0]


@part
def sandwich(jacobian: Array, covariance: Array, out: Array) -> None:
    """Write J P J', skipping what J has not."""
    rows, n = jacobian.shape
    half = np.zeros((rows, n))
    for i in range(rows):
        for k in range(n):
            value = jacobian[i, k]
            if value != 0.0:
                for j in range(n):
                    half[i, j] += value * covariance[k, j]
    for i in range(rows):
        for j in range(rows):
            out[i, j] = 0.0
    for j in range(rows):
        for k in range(n):
            value = jacobian[j, k]
            if value != 0.0:
                for i in range(rows):
                    out[i, j] += half[i, k] * value


@kernel(
    VOID, SETUP_TYPE, VECTOR, MATRIX, VECTOR, VECTOR, VECTOR, SCALAR, VECTOR_OUT, MATRIX_OUT,
    MATRIX_OUT,
)  # fmt: skip
def report(
    setup: np.record,
    state: Array,
    covariance: Array,
    measured: Array,
    angular_acceleration: Array,
    noise: Array,
    lead: float,
    row: Array,
    errors: Array,
    rate_errors: Array,
) -> None:
    """Write the motion of ``platform_link``, `lead` seconds after the state, and its covariances.

    `measured` is what the IMU says there, `angular_acceleration` in sensor axes, `noise` the
    variances of the angular velocity in `measured`.
    """
    n = covariance.shape[0]
    origin = triple(setup.origin, 0)
    pull, rate = sensed(state, measured, setup.gravity)
    q = attitude(state)
    if lead != 0.0:
        q = multiply(q, exponential(lead * rate[0], lead * rate[1], lead * rate[2]))
    m = exponential(state[MOUNTING], state[MOUNTING + 1], state[MOUNTING + 2])
    alpha = turned(m, triple(angular_acceleration, 0))
    arm, swing = turned(q, origin), cross(rate, origin)
    turn, spin, bend = turned(q, swing), cross(alpha, origin), cross(rate, swing)
    extra = turned(q, (spin[0] + bend[0], spin[1] + bend[1], spin[2] + bend[2]))
    a = setup.to_platform_turn
    axes = multiply(q, (a[0], a[1], a[2], a[3]))
    spun, spins = turned(q, rate), turned(q, alpha)
    for i in range(3):
        row[i] = state[i] + lead * state[3 + i] + 0.5 * lead * lead * pull[i] + arm[i]
        row[R_VELOCITY + i] = state[3 + i] + lead * pull[i] + turn[i]
        row[R_RATE + i] = spun[i]
        row[R_SPIN + i] = spins[i]
        row[R_ACCELERATION + i] = pull[i] + extra[i]
        row[R_FORCE_BIAS + i] = state[FORCE_BIAS + i]
        row[R_RATE_BIAS + i] = state[RATE_BIAS + i]
        row[R_MOUNTING + i] = state[MOUNTING + i]
    for i in range(4):
        row[R_TURN + i] = axes[i]
    delay_at, mounting_at = setup.delay_at, setup.mounting_at
    row[R_DELAY] = state[DELAY]
    row[R_DELAY_SIGMA] = math.sqrt(covariance[delay_at, delay_at]) if delay_at >= 0 else 0.0
    r, real, jacobian = rotation(*q), rotation(*m), np.zeros((TANGENT, n))
    mounted = np.zeros((3, n))
    for i in range(3):
        jacobian[i, i] = jacobian[3 + i, 3 + i] = 1.0
        jacobian[9 + i, 9 + i] = jacobian[12 + i, 12 + i] = 1.0
        lever, whirl = times_cross(r, origin, i), times_cross(r, swing, i)
        for j in range(3):
            jacobian[i, 6 + j] = -lever[j]
            jacobian[3 + i, 6 + j] = -whirl[j]
            jacobian[6 + i, 6 + j] = setup.to_platform[i, j]
            mounted[i, 12 + j] = -(
                r[3 * i] * real[j] + r[3 * i + 1] * real[3 + j] + r[3 * i + 2] * real[6 + j]
            )
            for k in range(3):
                jacobian[3 + i, 12 + j] += lever[k] * real[3 * k + j]
        if mounting_at >= 0:
            moment = cross(lever, rate)
            axis = times_cross(r, rate, i)
            for j in range(3):
                jacobian[3 + i, mounting_at + j] = moment[j]
                mounted[i, mounting_at + j] = -axis[j]
        if delay_at >= 0:
            jacobian[i, delay_at] = row[R_VELOCITY + i]
            jacobian[3 + i, delay_at] = row[R_ACCELERATION + i]
            for k in range(3):
                jacobian[6 + i, delay_at] += setup.to_platform[i, k] * rate[k]
    sandwich(jacobian, covariance, errors)
    sandwich(mounted, covariance, rate_errors)
    for i in range(3):
        for j in range(3):
            for k in range(3):
                # Columns of R [o x] M and of R M: how the noise of one sample comes in.
                errors[3 + i, 3 + j] += (
                    jacobian[3 + i, 12 + k] * noise[k] * jacobian[3 + j, 12 + k]
                )
                rate_errors[i, j] += mounted[i, 12 + k] * noise[k] * mounted[j, 12 + k]


@part
def write_errors(errors: Array, rate_errors: Array, rows: Rows, row: int) -> None:
    """Write the covariances of a row, or their diagonals where it has room for no more."""
    if rows.errors.shape[1] == errors.shape[0]:
        rows.errors[row] = errors
        rows.rate_errors[row] = rate_errors
        return
    for i in range(errors.shape[0]):
        rows.errors[row, 0, i] = errors[i, i]
    for i in range(rate_errors.shape[0]):
        rows.rate_errors[row, 0, i] = rate_errors[i, i]
