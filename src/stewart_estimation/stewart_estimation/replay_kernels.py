# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loop over the leg samples: the filter travels along the IMU's samples to each of them.

Between two samples of the IMU specific force and angular velocity go straight from one to the
other; a leg sample in between cuts the step. The clock is the IMU's: a leg sample with stamp s is
met at s + delay.
"""

from __future__ import annotations

import numba
import numpy as np
from stewart_estimation.correction_kernels import correct
from stewart_estimation.layout import (
    DELAY,
    DONE,
    IMU_BAND,
    IMU_PERIOD,
    IMU_SCALE,
    IMU_TIMEOUT,
    IMU_VARIANCE,
    IMU_WINDOW,
    INDEFINITE,
    LEG_SCALE,
    MISFIT,
    MISFITS,
    NOTED,
    PAST,
    PAST_COUNT,
    REPAIRS,
    RESTART_AFTER,
    SILENT_VARIANCE,
    SPREAD,
    TIME,
    WAITING,
)
from stewart_estimation.prediction_kernels import advance
from stewart_estimation.report_kernels import report
from stewart_estimation.tangent_kernels import definite_factor
from stewart_kinematics.kernels.compiled import (
    FLAG,
    INTEGER,
    kernel,
    MATRIX,
    MATRIX_OUT,
    SCALAR,
    STACK_OUT,
    VECTOR,
    VECTOR_OUT,
    VOID,
)
from stewart_kinematics.motion import Array

SAME = 1e-7
"""Instants nearer than this are one [s]; what is left is met by the lead of the correction."""

DIFFERENCES = 20.0
"""Sum of the squares of 1, -3, 3, -1: the noise in a third difference."""

LARGEST = 1e4
"""One sample counts at most as this many stated variances."""


@kernel(VOID, VECTOR, SCALAR, VECTOR, VECTOR_OUT)
def note(sample: Array, stamp: float, constants: Array, memory: Array) -> None:
    """Learn the IMU's noise from third differences, in which smooth motion all but vanishes.

    At 100 Hz a motion of 1 Hz comes through with 2.5e-4 of its amplitude, white noise with 4.5
    times its standard deviation. Vibration that the samples cannot follow counts as noise.
    """
    window = constants[IMU_WINDOW]
    memory[NOTED] = stamp
    if window <= 0.0:
        return
    for i in range(6):
        one, two, three = memory[PAST + i], memory[PAST + 6 + i], memory[PAST + 12 + i]
        if memory[PAST_COUNT] >= 3.0:
            third = sample[i] - 3.0 * one + 3.0 * two - three
            ratio = min(third * third / (DIFFERENCES * constants[IMU_VARIANCE + i]), LARGEST)
            mean = (window * memory[IMU_SCALE + i] + ratio) / (window + 1.0)
            memory[IMU_SCALE + i] = max(1.0, mean)
        memory[PAST + 12 + i] = two
        memory[PAST + 6 + i] = one
        memory[PAST + i] = sample[i]
    memory[PAST_COUNT] += 1.0


@kernel(VOID, VECTOR, VECTOR, FLAG, VECTOR_OUT)
def imu_variance(constants: Array, memory: Array, silent: bool, out: Array) -> None:
    """Write the variances that a sample of the IMU is taken to have."""
    for i in range(6):
        out[i] = constants[IMU_VARIANCE + i]
        if constants[IMU_WINDOW] > 0.0 and memory[IMU_SCALE + i] > constants[IMU_BAND]:
            out[i] *= memory[IMU_SCALE + i]
        if silent:
            # It lasts: white noise of the density that so long a push has.
            out[i] += constants[SILENT_VARIANCE + i] * (
                constants[IMU_TIMEOUT] / constants[IMU_PERIOD]
            )


@kernel(INTEGER, VECTOR, SCALAR, INTEGER)
def interval(stamps: Array, time: float, start: int) -> int:
    """Return the last sample at or before a time, -1 before the first; look from `start` on."""
    i = start
    while i >= 0 and stamps[i] > time + SAME:
        i -= 1
    while i + 1 < stamps.size and stamps[i + 1] <= time + SAME:
        i += 1
    return i


@kernel(SCALAR, VECTOR, MATRIX, SCALAR, INTEGER, VECTOR_OUT)
def sample_at(stamps: Array, imu: Array, time: float, i: int, out: Array) -> float:
    """Write the IMU's values at a time between samples i and i + 1; return their noise factor."""
    last = stamps.size - 1
    if i < 0 or i >= last:
        for j in range(6):
            out[j] = imu[max(i, 0), j]
        return 1.0
    share = min(max((time - stamps[i]) / (stamps[i + 1] - stamps[i]), 0.0), 1.0)
    for j in range(6):
        out[j] = imu[i, j] + share * (imu[i + 1, j] - imu[i, j])
    return (1.0 - share) ** 2 + share**2


@kernel(VOID, MATRIX, MATRIX, MATRIX, SCALAR, FLAG, MATRIX_OUT)
def chain(
    covariance: Array, factor: Array, odd: Array, spread: float, first: bool, cross: Array
) -> None:
    """Write the covariance of the state before all steps with that after this one.

    After the first step it is L odd / s; every further one takes C to C L^-T odd / s, L being the
    factor of the covariance in between.
    """
    n = covariance.shape[0]
    middle = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            if first:
                middle[i, j] = factor[i, j]
            else:
                value = cross[i, j]
                for k in range(j):
                    value -= middle[i, k] * factor[j, k]
                middle[i, j] = value / factor[j, j]
    for i in range(n):
        for j in range(n):
            cross[i, j] = 0.0
        for k in range(n):
            value = middle[i, k] / spread
            for j in range(n):
                cross[i, j] += value * odd[k, j]


@kernel(
    INTEGER, VECTOR, MATRIX, SCALAR, VECTOR_OUT, MATRIX_OUT, MATRIX_OUT, VECTOR, VECTOR_OUT, FLAG,
    MATRIX_OUT,
)  # fmt: skip
def travel(
    stamps: Array,
    imu: Array,
    target: float,
    state: Array,
    covariance: Array,
    factor: Array,
    constants: Array,
    memory: Array,
    keep: bool,
    cross: Array,
) -> int:
    """Take the state to a time along the samples of the IMU; return DONE or INDEFINITE."""
    n, last = covariance.shape[0], stamps.size - 1
    odd = np.empty((n, n))
    before, after, variance = np.empty(6), np.empty(6), np.empty(6)
    timeout, first = constants[IMU_TIMEOUT], True
    i = interval(stamps, memory[TIME], np.searchsorted(stamps, memory[TIME]) - 1)
    if keep:
        cross[:] = covariance
    while target - memory[TIME] > SAME:
        time = memory[TIME]
        i = interval(stamps, time, i)
        end = min(target, time + timeout)
        if i < last:
            end = min(end, stamps[i + 1])
            if abs(end - stamps[i + 1]) <= SAME:
                end = stamps[i + 1]
        if i < 0:
            silent = stamps[0] - time > timeout
        elif i == last:
            silent = target - stamps[last] > 1.01 * constants[IMU_PERIOD]
        else:
            silent = stamps[i + 1] - stamps[i] > timeout
            if stamps[i + 1] > memory[NOTED]:
                note(imu[i + 1], stamps[i + 1], constants, memory)
        sample_at(stamps, imu, time, i, before)
        sample_at(stamps, imu, end, i, after)
        imu_variance(constants, memory, silent, variance)
        repairs = definite_factor(covariance, factor)
        if repairs < 0:
            return INDEFINITE
        memory[REPAIRS] += repairs
        advance(state, covariance, factor, end - time, before, after, variance, constants, odd)
        if keep:
            chain(covariance, factor, odd, constants[SPREAD], first, cross)
            first = False
        memory[TIME] = end
    return DONE


@kernel(VOID, VECTOR, MATRIX, VECTOR, VECTOR, VECTOR_OUT, VECTOR_OUT, VECTOR_OUT)
def look(
    stamps: Array,
    imu: Array,
    constants: Array,
    memory: Array,
    measured: Array,
    slope: Array,
    noise: Array,
) -> None:
    """Write what the IMU says at the state, how that changes, and its angular rates' variances."""
    variance, time = np.empty(6), memory[TIME]
    i = interval(stamps, time, np.searchsorted(stamps, time) - 1)
    share = sample_at(stamps, imu, time, i, measured)
    imu_variance(constants, memory, False, variance)
    # On the side that the state came from.
    j = max(min(i if stamps[max(i, 0)] < time - SAME else i - 1, stamps.size - 2), 0)
    for k in range(3):
        noise[k] = share * variance[3 + k]
    for k in range(6):
        slope[k] = 0.0
        if stamps.size > 1:
            slope[k] = (imu[j + 1, k] - imu[j, k]) / (stamps[j + 1] - stamps[j])


@kernel(FLAG, SCALAR, SCALAR, SCALAR, SCALAR, VECTOR)
def ready(
    stamp: float, delay: float, imu_stamp: float, leg_stamp: float, constants: Array
) -> bool:
    """Say whether the IMU has passed a leg sample, or has been silent for too long."""
    passed = stamp + delay <= imu_stamp + SAME
    return passed or leg_stamp - stamp > constants[IMU_TIMEOUT] + delay


@kernel(
    INTEGER, VECTOR, MATRIX, SCALAR, VECTOR_OUT, MATRIX_OUT, MATRIX_OUT, VECTOR, VECTOR_OUT, FLAG,
    MATRIX_OUT, VECTOR_OUT, VECTOR_OUT, VECTOR_OUT,
)  # fmt: skip
def arrive(
    stamps: Array,
    imu: Array,
    stamp: float,
    state: Array,
    covariance: Array,
    factor: Array,
    constants: Array,
    memory: Array,
    keep: bool,
    cross: Array,
    measured: Array,
    slope: Array,
    noise: Array,
) -> int:
    """Take the state to a leg sample, factor its covariance and look at the IMU there."""
    target = stamp + state[DELAY]
    status = travel(stamps, imu, target, state, covariance, factor, constants, memory, keep, cross)
    if status != DONE:
        return status
    repairs = definite_factor(covariance, factor)
    if repairs < 0:
        return INDEFINITE
    memory[REPAIRS] += repairs
    look(stamps, imu, constants, memory, measured, slope, noise)
    return DONE


@kernel(
    INTEGER, MATRIX, MATRIX, VECTOR, VECTOR, MATRIX, SCALAR, VECTOR, VECTOR_OUT, MATRIX_OUT,
    MATRIX_OUT, VECTOR_OUT, VECTOR_OUT,
)  # fmt: skip
def meet(
    base: Array,
    platform: Array,
    constants: Array,
    stamps: Array,
    imu: Array,
    stamp: float,
    length: Array,
    state: Array,
    covariance: Array,
    factor: Array,
    memory: Array,
    verdict: Array,
) -> int:
    """Take the state to a leg sample and correct it; `verdict` as in `run`."""
    measured, slope, noise = np.empty(6), np.empty(6), np.empty(3)
    status = arrive(
        stamps, imu, stamp, state, covariance, factor, constants, memory, False, covariance,
        measured, slope, noise,
    )  # fmt: skip
    if status == DONE:
        lead = stamp + state[DELAY] - memory[TIME]
        correct(
            base, platform, state, covariance, factor, length, lead, measured, slope, constants,
            memory, verdict[:6], verdict[6:12], verdict[12:19],
        )  # fmt: skip
    return status


@kernel(
    numba.types.UniTuple(INTEGER, 2), MATRIX, MATRIX, VECTOR, VECTOR, MATRIX, VECTOR, MATRIX,
    INTEGER, VECTOR_OUT, MATRIX_OUT, VECTOR_OUT, FLAG, MATRIX_OUT, STACK_OUT, STACK_OUT,
    MATRIX_OUT, MATRIX_OUT, MATRIX_OUT, STACK_OUT, FLAG, MATRIX_OUT, STACK_OUT, MATRIX_OUT,
)  # fmt: skip
def run(
    base: Array,
    platform: Array,
    constants: Array,
    stamps: Array,
    imu: Array,
    leg_stamps: Array,
    lengths: Array,
    first: int,
    state: Array,
    covariance: Array,
    memory: Array,
    keep: bool,
    rows: Array,
    errors: Array,
    rate_errors: Array,
    verdicts: Array,
    scales: Array,
    steps: Array,
    step_errors: Array,
    live: bool,
    past_states: Array,
    past_covariances: Array,
    past_memories: Array,
) -> tuple[int, int]:
    """Filter the leg samples from row `first` on; return how it ended and at which row.

    Writes per sample: the report, its two covariances; `verdicts` (innovations, their standard
    deviations, normalised innovation squared, legs used); `scales` of the noises. With `keep`
    also `steps` (state predicted, filtered, IMU's values, angular acceleration, noise) and
    `step_errors` (predicted, filtered, crossed, one after another, 3 n). With `live` it ends with
    WAITING before a sample that the IMU has not yet passed, unless the legs are far ahead of it,
    and writes the filter before each sample, where that is still NaN.
    """
    n = covariance.shape[0]
    factor, cross = np.empty((n, n)), np.empty((n, n))
    measured, slope, noise = np.empty(6), np.empty(6), np.empty(3)
    for r in range(first, leg_stamps.size):
        if live:
            if not ready(leg_stamps[r], state[DELAY], stamps[-1], leg_stamps[-1], constants):
                return WAITING, r
            if np.isnan(past_memories[r, TIME]):
                past_states[r] = state
                past_covariances[r] = covariance
                past_memories[r] = memory
        status = arrive(
            stamps, imu, leg_stamps[r], state, covariance, factor, constants, memory, keep, cross,
            measured, slope, noise,
        )  # fmt: skip
        if status != DONE:
            return status, r
        if keep:
            steps[r, :20] = state
            step_errors[r, :n] = covariance
            step_errors[r, 2 * n :] = cross
        lead = leg_stamps[r] + state[DELAY] - memory[TIME]
        correct(
            base, platform, state, covariance, factor, lengths[r], lead, measured, slope,
            constants, memory, verdicts[r, :6], verdicts[r, 6:12], verdicts[r, 12:19],
        )  # fmt: skip
        lead = leg_stamps[r] + state[DELAY] - memory[TIME]
        report(
            state, covariance, measured, slope[3:], noise, lead, constants, rows[r], errors[r],
            rate_errors[r],
        )  # fmt: skip
        for k in range(6):
            scales[r, k] = memory[LEG_SCALE + k]
            scales[r, 6 + k] = memory[IMU_SCALE + k]
        if keep:
            steps[r, 20:40] = state
            steps[r, 40:46] = measured
            steps[r, 46:49] = slope[3:]
            steps[r, 49:52] = noise
            step_errors[r, n : 2 * n] = covariance
        if 0.0 < constants[RESTART_AFTER] <= memory[MISFITS]:
            return MISFIT, r
    return DONE, leg_stamps.size
