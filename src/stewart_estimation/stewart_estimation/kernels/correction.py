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
from stewart_estimation.kernels.gating import (
    add_leg_noise,
    empty_fit,
    factor_of,
    Fit,
    invert,
    learn_leg_noise,
    offer,
    select,
)
from stewart_estimation.kernels.prediction import moving
from stewart_estimation.kernels.records import (
    D_TURN,
    DELAY,
    FILTER_TYPE,
    FilterState,
    FORCE_BIAS,
    MOUNTING,
    RATE_BIAS,
    SETUP_TYPE,
    V_NIS,
    V_SIGMA,
    V_USED,
    VERDICTS,
)
from stewart_estimation.kernels.tangent import attitude, retract, turned
from stewart_kinematics.kernels.compiled import kernel, part, section, VECTOR, VOID
from stewart_kinematics.kernels.rotations import exponential, multiply, rotation
from stewart_kinematics.kernels.vectors import cross, Triple, triple
from stewart_kinematics.motion import Array

Course = tuple[Triple, Triple, Triple, Triple]

SECOND_ORDER = 4.0
"""
Variance of the misalignment's second-order terms over (m |f|)²: its squares about two axes, and
its product with the part of the bias that only the misalignment tells.
"""

ROTATED = 9
"""From this column on the factor of the covariance changes neither position nor attitude."""


@part
def lengths_at(
    setup: np.record, state: Array, change: Array, lead: float, course: Course, out: Array
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
        turn = exponential(
            lead * rate[0] + h * spin[0],
            lead * rate[1] + h * spin[1],
            lead * rate[2] + h * spin[2],
        )
        q = multiply(q, turn)
    r = rotation(*q)
    for i in range(6):
        x, y, z = triple(setup.platform_joints[i], 0)
        lx = px + r[0] * x + r[1] * y + r[2] * z - setup.base_joints[i, 0]
        ly = py + r[3] * x + r[4] * y + r[5] * z - setup.base_joints[i, 1]
        lz = pz + r[6] * x + r[7] * y + r[8] * z - setup.base_joints[i, 2]
        out[i] = math.sqrt(lx * lx + ly * ly + lz * lz)


@part
def unbiased(state: Array, values: Array, first: int, bias: int) -> Triple:
    """Return three of the IMU's values less their bias, in stated sensor axes."""
    m = exponential(state[MOUNTING], state[MOUNTING + 1], state[MOUNTING + 2])
    return turned(
        m,
        (
            values[first] - state[bias],
            values[first + 1] - state[bias + 1],
            values[first + 2] - state[bias + 2],
        ),
    )


@part
def sensed(state: Array, measured: Array, gravity: Array) -> tuple[Triple, Triple]:
    """Return acceleration (base axes) and angular velocity (stated sensor axes) of a state."""
    force = turned(attitude(state), unbiased(state, measured, 0, FORCE_BIAS))
    rate = unbiased(state, measured, 3, RATE_BIAS)
    return (force[0] + gravity[0], force[1] + gravity[1], force[2] + gravity[2]), rate


@part
def course_of(state: Array, measured: Array, slope: Array, gravity: Array) -> Course:
    """Return acceleration, jerk (base axes), angular velocity and acceleration (sensor axes)."""
    pull, rate = sensed(state, measured, gravity)
    m = exponential(state[MOUNTING], state[MOUNTING + 1], state[MOUNTING + 2])
    change, spin = turned(m, triple(slope, 0)), turned(m, triple(slope, 3))
    swing = cross(rate, unbiased(state, measured, 0, FORCE_BIAS))
    jerk = (change[0] + swing[0], change[1] + swing[1], change[2] + swing[2])
    return pull, turned(attitude(state), jerk), rate, spin


@part
def predict_lengths(
    setup: np.record,
    state: Array,
    factor: Array,
    lead: float,
    measured: Array,
    slope: Array,
    mean: Array,
    fit: Fit,
) -> None:
    """Write predicted lengths, their covariance and that with the state."""
    certain, crossed = fit.certain, fit.crossed
    n, spread, delay_at = factor.shape[0], setup.spread, setup.delay_at
    course = course_of(state, measured, slope, setup.gravity)
    # Column j of a lower factor begins at row j: biases alone change no length.
    columns = n if delay_at >= 0 else ROTATED
    change, centre, up, down = np.zeros(n), np.empty(6), np.empty(6), np.empty(6)
    odd, even, shift = np.empty((columns, 6)), np.empty((columns, 6)), np.zeros(6)
    lengths_at(setup, state, change, lead, course, centre)
    weight, own = 1.0 / (spread * spread), lead
    for j in range(columns):
        for i in range(n):
            change[i] = spread * factor[i, j]
        if delay_at >= 0:
            own = lead + change[delay_at]
        lengths_at(setup, state, change, own, course, up)
        for i in range(n):
            change[i] = -change[i]
        if delay_at >= 0:
            own = lead + change[delay_at]
        lengths_at(setup, state, change, own, course, down)
        for i in range(6):
            odd[j, i] = 0.5 * (up[i] - down[i])
            even[j, i] = 0.5 * ((up[i] - centre[i]) + (down[i] - centre[i]))
            shift[i] += weight * even[j, i]
    for i in range(6):
        mean[i] = centre[i] + shift[i]
        for j in range(6):
            certain[i, j] = setup.centre * shift[i] * shift[j]
    crossed[:] = 0.0
    for k in range(columns):
        for i in range(6):
            one, two = weight * odd[k, i], weight * even[k, i]
            for j in range(6):
                certain[i, j] += one * odd[k, j] + two * even[k, j]
        for i in range(k, n):
            value = factor[i, k] / spread
            for j in range(6):
                crossed[i, j] += value * odd[k, j]


@part
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


@part
def unknown_turn(setup: np.record, covariance: Array) -> float:
    """Return the mean variance of the misalignment about an axis, squared; 0 where it is none."""
    at, trace = setup.mounting_at, 0.0
    if at < 0:
        return 0.0
    for i in range(3):
        trace += covariance[at + i, at + i]
    return (trace / 3.0) ** 2


@part
def apply(setup: np.record, filtered: FilterState, fit: Fit, count: int, measured: Array) -> None:
    """Move the state by W C^-1 nu, lower the covariance by W W', for the legs given.

    While the platform does not move the delay is considered, not estimated (Schmidt): it keeps
    its value and its variance.
    """
    state, covariance, _ = filtered
    n, factor = covariance.shape[0], np.empty((count, count))
    factor_of(fit, count, factor)
    unknown = unknown_turn(setup, covariance)
    delay_at, kept = setup.delay_at, 0.0
    frozen = delay_at >= 0 and not moving(setup, state, covariance, measured)
    if frozen:
        kept = covariance[delay_at, delay_at]
    gain, white, change = np.empty((count, n)), np.empty(count), np.zeros(n)
    for k in range(count):
        value = fit.innovation[fit.legs[k]]
        for i in range(n):
            gain[k, i] = fit.crossed[i, fit.legs[k]]
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
    if setup.mounting_at >= 0:
        # What a misalignment of variance m does in second order, m |f|, looks like a bias as long
        # as the misalignment is unknown; what has become known of it is free to leave the bias.
        known = SECOND_ORDER * max(unknown - unknown_turn(setup, covariance), 0.0)
        for i in range(6):
            first = i - i % 3
            size = measured[first] ** 2 + measured[first + 1] ** 2 + measured[first + 2] ** 2
            covariance[9 + i, 9 + i] += size * known
    retract(state, change, setup)
    state[DELAY] = min(max(state[DELAY], setup.delay_lower), setup.delay_upper)
    transport(covariance, change)


@kernel(VOID, SETUP_TYPE, FILTER_TYPE, VECTOR)
def shift(setup: np.record, filtered: FilterState, change: Array) -> None:
    """Move the state by a vector of the tangent, of an external pose, and its covariance along."""
    retract(filtered.state, change, setup)
    transport(filtered.covariance, change)


@section
def correct(
    setup: np.record,
    filtered: FilterState,
    factor: Array,
    length: Array,
    lead: float,
    measured: Array,
    slope: Array,
    verdict: Array,
) -> None:
    """Correct state and covariance by the lengths that are numbers and pass the gate.

    Writes the innovations, their standard deviations, the normalised innovation squared of the
    legs used (NaN where none was), and 1 or 0 for each leg.
    """
    state, covariance, memory = filtered
    sigma, used = verdict[V_SIGMA:V_NIS], verdict[V_USED:VERDICTS]
    fit, mean = empty_fit(covariance.shape[0]), np.empty(6)
    predict_lengths(setup, state, factor, lead, measured, slope, mean, fit)
    add_leg_noise(setup, memory, fit)
    silent = True
    for i in range(6):
        fit.innovation[i] = verdict[i] = length[i] - mean[i]
        sigma[i] = math.sqrt(fit.spread[i, i])
        used[i] = 0.0
        silent = silent and math.isnan(length[i])
    verdict[V_NIS] = math.nan
    if silent:
        return
    count = select(setup, memory, fit, offer(setup, memory, fit, length))
    if setup.leg_window > 0.0:
        learn_leg_noise(setup, memory, fit, count)
        for i in range(6):
            sigma[i] = math.sqrt(fit.spread[i, i])
    if count == 0:
        memory.misfits += 1
        return
    verdict[V_NIS] = invert(fit, count)
    memory.misfits = memory.misfits + 1 if verdict[V_NIS] > setup.restart[count] else 0
    for k in range(count):
        used[fit.legs[k]] = 1.0
    apply(setup, filtered, fit, count, measured)
