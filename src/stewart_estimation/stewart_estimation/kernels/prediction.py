# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled prediction: the IMU moves the sigma points.

Over a step dt the specific force goes straight from f0 to f1 and the angular velocity from w0 to
w1 (biases b taken off, misalignment e put right). With R0 the attitude before,

    phi = dt (w0 + w1) / 2 - dt b_w + dt² (w0 x w1) / 12      R1 = R0 Exp(phi)
    a0  = R0 (f0 - b_f) + g                                   a1 = R1 (f1 - b_f) + g
    v1  = v0 + dt (a0 + a1) / 2                               p1 = p0 + dt v0 + dt² (2 a0 + a1) / 6

so the attitude turns with the rate of the middle, and the trapezium runs over accelerations in
base axes, which are smooth where gravity in sensor axes is not. Forward Euler, which the paper
uses, is wrong by 2.4e-3 m/s at 100 Hz on its motion profile 1.

Of each pair of sigma points +-s_j the half difference o_j and the half sum less the centre e_j
are kept; then the scaled unscented transform is the sum of squares

    P = sum_j (o_j o_j' + e_j e_j') / s² + (beta - alpha²) m m' + Q,   m = sum_j e_j / s²

which equals Merwe's weights exactly but has no negative one, and cancels nothing.
"""

from __future__ import annotations

import numpy as np
from stewart_estimation.kernels.records import FORCE_BIAS, MOUNTING, RATE_BIAS
from stewart_estimation.kernels.tangent import attitude, mirror, put_attitude, turned
from stewart_kinematics.kernels.compiled import part
from stewart_kinematics.kernels.rotations import exponential, logarithm, multiply, rotation
from stewart_kinematics.kernels.vectors import cross, Triple, triple
from stewart_kinematics.motion import Array

CLEAR = 100.0
"""A rate is clear where its square is so many times its variance."""

Moved = tuple[Triple, Triple, tuple[float, float, float, float]]


@part
def move(
    setup: np.record,
    state: Array,
    change: Array,
    dt: float,
    before: Array,
    after: Array,
    coning: Triple,
) -> Moved:
    """Return position, velocity and attitude of the sigma point state + change after dt."""
    gravity = triple(setup.gravity, 0)
    mounting_at = setup.mounting_at
    q = multiply(attitude(state), exponential(change[6], change[7], change[8]))
    bx = state[FORCE_BIAS] + change[9]
    by = state[FORCE_BIAS + 1] + change[10]
    bz = state[FORCE_BIAS + 2] + change[11]
    first = (before[0] - bx, before[1] - by, before[2] - bz)
    last = (after[0] - bx, after[1] - by, after[2] - bz)
    rate = (
        0.5 * (before[3] + after[3]) - state[RATE_BIAS] - change[12],
        0.5 * (before[4] + after[4]) - state[RATE_BIAS + 1] - change[13],
        0.5 * (before[5] + after[5]) - state[RATE_BIAS + 2] - change[14],
    )
    if mounting_at >= 0:
        m = exponential(
            state[MOUNTING] + change[mounting_at],
            state[MOUNTING + 1] + change[mounting_at + 1],
            state[MOUNTING + 2] + change[mounting_at + 2],
        )
        first, last, rate = turned(m, first), turned(m, last), turned(m, rate)
    end = multiply(
        q,
        exponential(dt * rate[0] + coning[0], dt * rate[1] + coning[1], dt * rate[2] + coning[2]),
    )
    a, b = turned(q, first), turned(end, last)
    vx, vy, vz = state[3] + change[3], state[4] + change[4], state[5] + change[5]
    h, k = 0.5 * dt, dt * dt / 6.0
    return (
        (
            state[0] + change[0] + dt * vx + k * (2.0 * a[0] + b[0]) + h * dt * gravity[0],
            state[1] + change[1] + dt * vy + k * (2.0 * a[1] + b[1]) + h * dt * gravity[1],
            state[2] + change[2] + dt * vz + k * (2.0 * a[2] + b[2]) + h * dt * gravity[2],
        ),
        (
            vx + h * (a[0] + b[0]) + dt * gravity[0],
            vy + h * (a[1] + b[1]) + dt * gravity[1],
            vz + h * (a[2] + b[2]) + dt * gravity[2],
        ),
        end,
    )


@part
def deviation(out: Array, moved: Moved, centre: Moved) -> None:
    """Write a moved point less the moved centre: position, velocity, attitude."""
    for i in range(3):
        out[i] = moved[0][i] - centre[0][i]
        out[3 + i] = moved[1][i] - centre[1][i]
    c = centre[2]
    turn = logarithm(multiply((-c[0], -c[1], -c[2], c[3]), moved[2]))
    for i in range(3):
        out[6 + i] = turn[i]


@part
def moving(setup: np.record, state: Array, covariance: Array, measured: Array) -> bool:
    """Say whether the platform moves fast enough, and clearly enough, to see a delay.

    A delay shows as the lengths' rate times its error. At rest the error of the estimated rate
    would take that place, and the filter would believe to know what nothing has told it.
    """
    arm = setup.delay_arm
    rate, doubt = 0.0, 0.0
    for i in range(3):
        turn = arm * (measured[3 + i] - state[RATE_BIAS + i])
        rate += state[3 + i] ** 2 + turn * turn
        doubt += covariance[3 + i, 3 + i] + arm * arm * covariance[12 + i, 12 + i]
    return rate > setup.delay_moving**2 and rate > CLEAR * doubt


@part
def add_noise(
    setup: np.record, covariance: Array, state: Array, dt: float, measured: Array, variance: Array
) -> None:
    """Add the noise of a step to the lower half: dt² G Q G' with the variances of one sample.

    Over a step shorter than the sample time the noise is white of the same density. A force n
    adds dt R n to the velocity and half dt² R n to the position, a rate n adds dt n to the turn.
    """
    r = rotation(*attitude(state))
    span = dt * max(dt, setup.imu_period)
    for i in range(3):
        for j in range(i + 1):
            force = 0.0
            for k in range(3):
                force += r[3 * i + k] * variance[k] * r[3 * j + k]
            force *= span
            covariance[3 + i, 3 + j] += force
            covariance[i, j] += 0.25 * dt * dt * force
            covariance[3 + i, j] += 0.5 * dt * force
            if i != j:
                covariance[3 + j, i] += 0.5 * dt * force
        covariance[6 + i, 6 + i] += span * variance[3 + i]
    for i in range(6):
        covariance[9 + i, 9 + i] += dt * setup.walk_variance[i]
    delay_at = setup.delay_at
    if delay_at >= 0 and moving(setup, state, covariance, measured):
        covariance[delay_at, delay_at] += dt * setup.delay_walk


@part
def square(
    out: Array, odd: Array, even: Array, shift: Array, weight: float, centre: float
) -> None:
    """Write the lower half of the sum of squares; `even` and `shift` have nine entries."""
    n = out.shape[0]
    for i in range(n):
        for j in range(n):
            out[i, j] = 0.0
    for k in range(n):
        for i in range(n):
            value = weight * odd[k, i]
            for j in range(i + 1):
                out[i, j] += value * odd[k, j]
        for i in range(9):
            value = weight * even[k, i]
            for j in range(i + 1):
                out[i, j] += value * even[k, j]
    for i in range(9):
        for j in range(i + 1):
            out[i, j] += centre * shift[i] * shift[j]


@part
def advance(
    setup: np.record,
    state: Array,
    covariance: Array,
    factor: Array,
    dt: float,
    before: Array,
    after: Array,
    variance: Array,
    odd: Array,
) -> None:
    """Move state and covariance over one step; `factor` is the covariance's Cholesky factor.

    `before` and `after` are specific force and angular velocity at the ends of the step,
    `variance` those of one sample. Row j of `odd` is left as half the difference of pair j, from
    which the covariance of before with after follows as factor odd / s.
    """
    n = covariance.shape[0]
    spread = setup.spread
    change, up, down = np.zeros(n), np.empty(9), np.empty(9)
    even, shift = np.empty((n, 9)), np.zeros(9)
    mean = cross(
        (before[3] - state[13], before[4] - state[14], before[5] - state[15]),
        (after[3] - state[13], after[4] - state[14], after[5] - state[15]),
    )
    k = dt * dt / 12.0
    coning = (k * mean[0], k * mean[1], k * mean[2])
    centre = move(setup, state, change, dt, before, after, coning)
    weight = 1.0 / (spread * spread)
    for j in range(n):
        for i in range(j, n):
            change[i] = spread * factor[i, j]
        for i in range(j):
            change[i] = 0.0
        deviation(up, move(setup, state, change, dt, before, after, coning), centre)
        for i in range(9, n):
            odd[j, i] = change[i]
        for i in range(n):
            change[i] = -change[i]
        deviation(down, move(setup, state, change, dt, before, after, coning), centre)
        for i in range(9):
            odd[j, i] = 0.5 * (up[i] - down[i])
            even[j, i] = 0.5 * (up[i] + down[i])
            shift[i] += weight * even[j, i]
    square(covariance, odd, even, shift, weight, setup.centre)
    for i in range(3):
        state[i] = centre[0][i] + shift[i]
        state[3 + i] = centre[1][i] + shift[3 + i]
    put_attitude(state, multiply(centre[2], exponential(shift[6], shift[7], shift[8])))
    add_noise(setup, covariance, state, dt, after, variance)
    mirror(covariance)
