# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled correction: six leg lengths against those of the sigma points.

The joints of the platform are given as seen from the IMU, so a length needs no lever arm. A leg
sample that belongs to an instant `lead` after the state's is met by moving every sigma point on
by its own lead, which for the delay as a state differs from point to point.

The covariance after the correction, P - W W' with W = P_xz C^-T and S = C C', is taken into the
tangent space at the new attitude: the turn d of the correction goes in as I - [d x] / 2.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from stewart_estimation.gating_kernels import add_leg_noise, invert, learn_leg_noise, offer, select
from stewart_estimation.layout import (
    CENTRE,
    D_TURN,
    DELAY,
    DELAY_AT,
    DELAY_LOWER,
    DELAY_UPPER,
    GRAVITY,
    LEG_WINDOW,
    MISFITS,
    MOUNTING,
    MOUNTING_AT,
    RESTART,
    SPREAD,
)
from stewart_estimation.prediction_kernels import moving
from stewart_estimation.tangent_kernels import attitude, cholesky, retract, turned
from stewart_kinematics.kernels.compiled import (
    INTEGER,
    INTEGERS_OUT,
    kernel,
    MATRIX,
    MATRIX_OUT,
    part,
    SCALAR,
    VECTOR,
    VECTOR_OUT,
    VOID,
)
from stewart_kinematics.kernels.rotations import exponential, multiply, rotation
from stewart_kinematics.kernels.vectors import cross, Triple
from stewart_kinematics.motion import Array

Course = tuple[Triple, Triple, Triple, Triple]

ROTATED = 9
"""From this column on the factor of the covariance changes neither position nor attitude."""


@part
def lengths_at(
    base: Array,
    platform: Array,
    state: Array,
    change: Array,
    lead: float,
    course: Course,
    out: Array,
) -> None:
    """Write the lengths of the sigma point state + change, moved on by `lead` seconds."""
    px, py, pz = state[0] + change[0], state[1] + change[1], state[2] + change[2]
    q = multiply(attitude(state), exponential(change[6], change[7], change[8]))
    if lead != 0.0:
        pull, jerk, rate, spin = course
        h, k = 0.5 * lead * lead, lead * lead * lead / 6.0
        px += lead * (state[3] + change[3]) + h * pull[0] + k * jerk[0]
        py += lead * (state[4] + change[4]) + h * pull[1] + k * jerk[1]
        pz += lead * (state[5] + change[5]) + h * pull[2] + k * jerk[2]
        turn = (
            lead * rate[0] + h * spin[0],
            lead * rate[1] + h * spin[1],
            lead * rate[2] + h * spin[2],
        )
        q = multiply(q, exponential(turn[0], turn[1], turn[2]))
    r = rotation(*q)
    for i in range(6):
        x, y, z = platform[i, 0], platform[i, 1], platform[i, 2]
        lx = px + r[0] * x + r[1] * y + r[2] * z - base[i, 0]
        ly = py + r[3] * x + r[4] * y + r[5] * z - base[i, 1]
        lz = pz + r[6] * x + r[7] * y + r[8] * z - base[i, 2]
        out[i] = math.sqrt(lx * lx + ly * ly + lz * lz)


@part
def sensed(state: Array, measured: Array, gravity: Triple) -> tuple[Triple, Triple]:
    """Return acceleration (base axes) and angular velocity (stated sensor axes) of a state."""
    force = (measured[0] - state[10], measured[1] - state[11], measured[2] - state[12])
    rate = (measured[3] - state[13], measured[4] - state[14], measured[5] - state[15])
    m = exponential(state[MOUNTING], state[MOUNTING + 1], state[MOUNTING + 2])
    force, rate = turned(m, force), turned(m, rate)
    force = turned(attitude(state), force)
    return (force[0] + gravity[0], force[1] + gravity[1], force[2] + gravity[2]), rate


@part
def course_of(state: Array, measured: Array, slope: Array, gravity: Triple) -> Course:
    """Return acceleration, jerk (base axes), angular velocity and acceleration (sensor axes)."""
    pull, rate = sensed(state, measured, gravity)
    m = exponential(state[MOUNTING], state[MOUNTING + 1], state[MOUNTING + 2])
    change = turned(m, (slope[0], slope[1], slope[2]))
    spin = turned(m, (slope[3], slope[4], slope[5]))
    force = (measured[0] - state[10], measured[1] - state[11], measured[2] - state[12])
    swing = cross(rate, turned(m, force))
    jerk = turned(
        attitude(state), (change[0] + swing[0], change[1] + swing[1], change[2] + swing[2])
    )
    return pull, jerk, rate, spin


@kernel(
    VOID,
    MATRIX,
    MATRIX,
    VECTOR,
    MATRIX,
    SCALAR,
    VECTOR,
    VECTOR,
    VECTOR,
    VECTOR_OUT,
    MATRIX_OUT,
    MATRIX_OUT,
)
def predict_lengths(
    base: Array,
    platform: Array,
    state: Array,
    factor: Array,
    lead: float,
    measured: Array,
    slope: Array,
    constants: Array,
    mean: Array,
    certain: Array,
    crossed: Array,
) -> None:
    """Write predicted lengths, their covariance (6, 6) and that with the state (n, 6)."""
    n = factor.shape[0]
    spread, delay_at = constants[SPREAD], int(constants[DELAY_AT])
    gravity = (constants[GRAVITY], constants[GRAVITY + 1], constants[GRAVITY + 2])
    course = course_of(state, measured, slope, gravity)
    # Column j of a lower factor begins at row j: biases alone change no length.
    columns = n if delay_at >= 0 else ROTATED
    change, centre, up, down = np.zeros(n), np.empty(6), np.empty(6), np.empty(6)
    odd, even, shift = np.empty((columns, 6)), np.empty((columns, 6)), np.zeros(6)
    lengths_at(base, platform, state, change, lead, course, centre)
    weight, own = 1.0 / (spread * spread), lead
    for j in range(columns):
        for i in range(n):
            change[i] = spread * factor[i, j]
        if delay_at >= 0:
            own = lead + change[delay_at]
        lengths_at(base, platform, state, change, own, course, up)
        for i in range(n):
            change[i] = -change[i]
        if delay_at >= 0:
            own = lead + change[delay_at]
        lengths_at(base, platform, state, change, own, course, down)
        for i in range(6):
            odd[j, i] = 0.5 * (up[i] - down[i])
            even[j, i] = 0.5 * ((up[i] - centre[i]) + (down[i] - centre[i]))
            shift[i] += weight * even[j, i]
    for i in range(6):
        mean[i] = centre[i] + shift[i]
        for j in range(6):
            certain[i, j] = constants[CENTRE] * shift[i] * shift[j]
    for i in range(n):
        for j in range(6):
            crossed[i, j] = 0.0
    for k in range(columns):
        for i in range(6):
            one, two = weight * odd[k, i], weight * even[k, i]
            for j in range(6):
                certain[i, j] += one * odd[k, j] + two * even[k, j]
        for i in range(k, n):
            value = factor[i, k] / spread
            for j in range(6):
                crossed[i, j] += value * odd[k, j]


@kernel(VOID, MATRIX_OUT, VECTOR)
def transport(covariance: Array, change: Array) -> None:
    """Take a covariance to the tangent space at the attitude turned by the change."""
    n, x = covariance.shape[0], 0.5 * change[D_TURN]
    y, z = 0.5 * change[D_TURN + 1], 0.5 * change[D_TURN + 2]
    for j in range(n):
        a, b, c = covariance[6, j], covariance[7, j], covariance[8, j]
        covariance[6, j] = a + z * b - y * c
        covariance[7, j] = b + x * c - z * a
        covariance[8, j] = c + y * a - x * b
    for i in range(n):
        a, b, c = covariance[i, 6], covariance[i, 7], covariance[i, 8]
        covariance[i, 6] = a + z * b - y * c
        covariance[i, 7] = b + x * c - z * a
        covariance[i, 8] = c + y * a - x * b


@kernel(
    VOID, VECTOR_OUT, MATRIX_OUT, MATRIX, MATRIX, VECTOR, INTEGERS_OUT, INTEGER, VECTOR, VECTOR
)
def apply(
    state: Array,
    covariance: Array,
    crossed: Array,
    spread: Array,
    innovation: Array,
    legs: NDArray[np.int64],
    count: int,
    measured: Array,
    constants: Array,
) -> None:
    """Move the state by W C^-1 nu, lower the covariance by W W', for the legs given.

    While the platform does not move the delay is considered, not estimated (Schmidt): it keeps
    its value and its variance.
    """
    n = covariance.shape[0]
    s, factor = np.empty((count, count)), np.empty((count, count))
    for i in range(count):
        for j in range(i + 1):
            s[i, j] = spread[legs[i], legs[j]]
    cholesky(s, factor)
    delay_at, kept = int(constants[DELAY_AT]), 0.0
    frozen = delay_at >= 0 and not moving(state, covariance, measured, constants)
    if frozen:
        kept = covariance[delay_at, delay_at]
    gain, white, change = np.empty((count, n)), np.empty(count), np.zeros(n)
    for k in range(count):
        value = innovation[legs[k]]
        for i in range(n):
            gain[k, i] = crossed[i, legs[k]]
        for m in range(k):
            value -= factor[k, m] * white[m]
            for i in range(n):
                gain[k, i] -= factor[k, m] * gain[m, i]
        white[k] = value / factor[k, k]
        for i in range(n):
            gain[k, i] /= factor[k, k]
            change[i] += gain[k, i] * white[k]
        for i in range(n):
            for j in range(n):
                covariance[i, j] -= gain[k, i] * gain[k, j]
    if frozen:
        covariance[delay_at, delay_at] = kept
        change[delay_at] = 0.0
    retract(state, change, int(constants[DELAY_AT]), int(constants[MOUNTING_AT]))
    state[DELAY] = min(max(state[DELAY], constants[DELAY_LOWER]), constants[DELAY_UPPER])
    transport(covariance, change)


@kernel(
    INTEGER, MATRIX, MATRIX, VECTOR_OUT, MATRIX_OUT, MATRIX, VECTOR, SCALAR, VECTOR, VECTOR,
    VECTOR, VECTOR_OUT, VECTOR_OUT, VECTOR_OUT, VECTOR_OUT,
)  # fmt: skip
def correct(
    base: Array,
    platform: Array,
    state: Array,
    covariance: Array,
    factor: Array,
    length: Array,
    lead: float,
    measured: Array,
    slope: Array,
    constants: Array,
    memory: Array,
    innovation: Array,
    sigma: Array,
    verdict: Array,
) -> int:
    """Correct state and covariance by the lengths that are numbers and pass the gate.

    Writes the innovations, their standard deviations, and into `verdict` the normalised
    innovation squared of the legs used (NaN where none was) and 1 or 0 for each leg. Returns how
    many legs were used.
    """
    n = covariance.shape[0]
    mean, certain, crossed = np.empty(6), np.empty((6, 6)), np.empty((n, 6))
    predict_lengths(
        base, platform, state, factor, lead, measured, slope, constants, mean, certain, crossed
    )
    spread, inverse, t = np.empty((6, 6)), np.empty((6, 6)), np.empty(6)
    add_leg_noise(certain, constants, memory, spread)
    legs, limits, silent = np.empty(6, np.int64), np.empty(6), True
    for i in range(6):
        innovation[i] = length[i] - mean[i]
        sigma[i] = math.sqrt(spread[i, i])
        verdict[1 + i] = 0.0
        silent = silent and math.isnan(length[i])
    verdict[0] = math.nan
    if silent:
        return 0
    count = offer(length, constants, memory, legs, limits)
    count = select(spread, innovation, constants, memory, legs, count, limits, inverse, t)
    if constants[LEG_WINDOW] > 0.0:
        learn_leg_noise(certain, innovation, constants, memory, legs, count, spread, inverse, t)
        for i in range(6):
            sigma[i] = math.sqrt(spread[i, i])
    if count == 0:
        memory[MISFITS] += 1.0
        return 0
    verdict[0] = invert(spread, innovation, legs, count, inverse, t)
    memory[MISFITS] = memory[MISFITS] + 1.0 if verdict[0] > constants[RESTART + count] else 0.0
    for k in range(count):
        verdict[1 + legs[k]] = 1.0
    apply(state, covariance, crossed, spread, innovation, legs, count, measured, constants)
    return count
