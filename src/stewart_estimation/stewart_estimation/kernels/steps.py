# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loop over the leg samples: the filter travels along the IMU's samples to each of them.

Between two samples of the IMU specific force and angular velocity go straight from one to the
other; a leg sample in between cuts the step. The clock is the IMU's: a leg sample with stamp s is
met at s + delay.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from stewart_estimation.kernels.correction import correct
from stewart_estimation.kernels.gating import outside
from stewart_estimation.kernels.prediction import advance
from stewart_estimation.kernels.records import (
    D_TURN,
    DELAY,
    DONE,
    EXTERNAL,
    FILTER_TYPE,
    FILTERS_TYPE,
    FilterState,
    GAP,
    INDEFINITE,
    MISFIT,
    POSE,
    R_SILENT,
    Rows,
    ROWS_TYPE,
    SETUP_TYPE,
    STRAYED,
    TANGENT,
    WAITING,
)
from stewart_estimation.kernels.report import report, write_errors
from stewart_estimation.kernels.tangent import definite_factor
from stewart_kinematics.kernels.compiled import (
    FLAG,
    INTEGER,
    kernel,
    MATRIX,
    part,
    SCALAR,
    section,
    VECTOR,
)
from stewart_kinematics.motion import Array

SAME = 1e-7
"""Instants nearer than this are one [s]; what is left is met by the lead of the correction."""

DIFFERENCES = 20.0
"""Sum of the squares of 1, -3, 3, -1: the noise in a third difference."""

SLOW = 3.0
"""Within so many of its usual steps a sensor is slow or lost a sample; then it is silent."""

STRAY = 5e-3
"""
A place less certain than this is not corrected, but found anew. The correction is linear: from d
off it lands up to d² / 2 L beside the legs, which at 3 of these standard deviations is less than a
start is off before it knows the velocity [m].
"""

HELD = 0.5
"""
After a longer silence of both sensors fewer than six lengths tell no place: the legs have several
poses, and the correction may find another one [s].
"""

LARGEST, LEAST = 1e4, 1e-4
"""One sample counts at most as this many stated variances; the least that is learnt."""


@part
def note(setup: np.record, sample: Array, stamp: float, memory: np.record) -> None:
    """Learn the IMU's noise from third differences, in which smooth motion all but vanishes.

    At 100 Hz a motion of 1 Hz comes through with 2.5e-4 of its amplitude, white noise with 4.5
    times its standard deviation. Vibration that the samples cannot follow counts as noise.
    """
    window, past = setup.imu_window, memory.past
    memory.noted = stamp
    if window <= 0.0:
        return
    for i in range(6):
        if memory.past_count >= 3:
            third = sample[i] - 3.0 * past[0, i] + 3.0 * past[1, i] - past[2, i]
            ratio = min(third * third / (DIFFERENCES * setup.imu_variance[i]), LARGEST)
            mean = (window * memory.imu_scale[i] + ratio) / (window + 1.0)
            memory.imu_scale[i] = max(mean, LEAST)
        past[2, i] = past[1, i]
        past[1, i] = past[0, i]
        past[0, i] = sample[i]
    memory.past_count += 1


@part
def imu_variance(setup: np.record, memory: np.record, silent: bool, out: Array) -> None:
    """Write the variances that a sample of the IMU is taken to have."""
    for i in range(6):
        out[i] = setup.imu_variance[i]
        if setup.imu_window > 0.0 and outside(memory.imu_scale[i], setup.imu_band):
            out[i] *= memory.imu_scale[i]
        if silent:
            # It lasts: white noise of the density that so long a push has.
            out[i] += setup.silent_variance[i] * (setup.imu_timeout / setup.imu_period)


@part
def interval(stamps: Array, time: float, start: int) -> int:
    """Return the last sample at or before a time, -1 before the first; look from `start` on."""
    i = start
    while i >= 0 and stamps[i] > time + SAME:
        i -= 1
    while i + 1 < stamps.size and stamps[i + 1] <= time + SAME:
        i += 1
    return i


@part
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


@part
def chain(factor: Array, odd: Array, spread: float, first: bool, cross: Array) -> None:
    """Write the covariance of the state before all steps with that after this one.

    After the first step it is L odd / s; every further one takes C to C L^-T odd / s, L being the
    factor of the covariance in between.
    """
    n = factor.shape[0]
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
    cross[:] = 0.0
    for i in range(n):
        for k in range(n):
            value = middle[i, k] / spread
            for j in range(n):
                cross[i, j] += value * odd[k, j]


@part
def is_silent(setup: np.record, stamps: Array, time: float, i: int) -> bool:
    """Say whether the IMU is silent around a time between its samples i and i + 1."""
    last = stamps.size - 1
    if i < 0:
        return stamps[0] - time > setup.imu_timeout
    if i == last:
        return time - stamps[last] > 1.01 * setup.imu_period
    return stamps[i + 1] - stamps[i] > setup.imu_timeout


@section
def travel(
    setup: np.record,
    stamps: Array,
    imu: Array,
    target: float,
    filtered: FilterState,
    factor: Array,
    keep: bool,
    cross: Array,
) -> int:
    """Take the state to a time along the samples of the IMU; return DONE or INDEFINITE."""
    state, covariance, memory = filtered
    n, last = covariance.shape[0], stamps.size - 1
    odd = np.empty((n, n))
    before, after, variance = np.empty(6), np.empty(6), np.empty(6)
    timeout, first = setup.imu_timeout, True
    i = interval(stamps, memory.time, np.searchsorted(stamps, memory.time) - 1)
    if keep:
        cross[:] = covariance
    while target - memory.time > SAME:
        time = memory.time
        i = interval(stamps, time, i)
        end = min(target, time + timeout)
        if i < last:
            end = min(end, stamps[i + 1])
            if abs(end - stamps[i + 1]) <= SAME:
                end = stamps[i + 1]
        silent = is_silent(setup, stamps, time if i < 0 else target, i)
        if 0 <= i < last and stamps[i + 1] > memory.noted:
            note(setup, imu[i + 1], stamps[i + 1], memory)
        sample_at(stamps, imu, time, i, before)
        sample_at(stamps, imu, end, i, after)
        imu_variance(setup, memory, silent, variance)
        repairs = definite_factor(covariance, factor)
        if repairs < 0:
            return INDEFINITE
        memory.repairs += repairs
        advance(setup, state, covariance, factor, end - time, before, after, variance, odd)
        if keep:
            chain(factor, odd, setup.spread, first, cross)
            first = False
        memory.time = end
    return DONE


@part
def look(
    setup: np.record,
    stamps: Array,
    imu: Array,
    memory: np.record,
    measured: Array,
    slope: Array,
    noise: Array,
) -> bool:
    """Write what the IMU says at the state, how that changes, and its angular rates' variances.

    Return whether it is silent, further than a period from its samples: nothing is measured there.
    """
    variance, time = np.empty(6), memory.time
    i = interval(stamps, time, np.searchsorted(stamps, time) - 1)
    share = sample_at(stamps, imu, time, i, measured)
    imu_variance(setup, memory, False, variance)
    near = time - stamps[i] if i >= 0 else stamps[0] - time
    if 0 <= i < stamps.size - 1:
        near = min(near, stamps[i + 1] - time)
    silent = near > 1.01 * setup.imu_period and is_silent(setup, stamps, time, i)
    # On the side that the state came from.
    j = max(min(i if stamps[max(i, 0)] < time - SAME else i - 1, stamps.size - 2), 0)
    for k in range(3):
        noise[k] = share * variance[3 + k]
        if silent:
            noise[k] += setup.silent_variance[3 + k]
    for k in range(6):
        slope[k] = 0.0
        if stamps.size > 1:
            slope[k] = (imu[j + 1, k] - imu[j, k]) / (stamps[j + 1] - stamps[j])
    return silent


@part
def silence(stamps: Array, target: float, memory: np.record) -> float:
    """Return the longest time in which no sensor spoke since the state, up to a time [s]."""
    last, longest = stamps.size - 1, 0.0
    i = interval(stamps, memory.time, np.searchsorted(stamps, memory.time) - 1)
    while True:
        begin = memory.heard if i < 0 else max(stamps[i], memory.heard)
        end = target if i == last else min(stamps[i + 1], target)
        longest = max(longest, end - begin)
        if i == last or stamps[i + 1] >= target:
            return longest
        i += 1


@part
def adrift(setup: np.record, stamps: Array, target: float, memory: np.record) -> bool:
    """Note whether both sensors were silent; say whether for so long that any place is as good."""
    limit = max(setup.imu_timeout, SLOW * setup.imu_period)
    # At most samples the legs have just spoken.
    if target - memory.heard > limit:
        silent = silence(stamps, target, memory)
        if silent > limit:
            memory.adrift = max(memory.adrift, 2 if silent > max(HELD, limit) else 1)
    return memory.adrift > 1


@part
def strayed(setup: np.record, covariance: Array, memory: np.record) -> bool:
    """Say whether the legs were silent for so long that the IMU alone has lost the place."""
    silent = memory.time - memory.heard
    if memory.stride <= 0.0 or silent <= max(setup.imu_timeout, SLOW * memory.stride):
        return False
    variance, square = 0.0, setup.delay_arm * setup.delay_arm
    for i in range(3):
        variance += covariance[i, i] + square * covariance[D_TURN + i, D_TURN + i]
    return variance > STRAY * STRAY


@part
def measured_legs(length: Array) -> int:
    """Return how many of six lengths are numbers."""
    count = 0
    for i in range(6):
        count += not math.isnan(length[i])
    return count


@kernel(FLAG, SCALAR, SCALAR, SCALAR, SCALAR, SCALAR)
def ready(timeout: float, stamp: float, delay: float, imu_stamp: float, leg_stamp: float) -> bool:
    """Say whether the IMU has passed a leg sample, or has been silent for too long."""
    passed = stamp + delay <= imu_stamp + SAME
    return passed or leg_stamp - stamp > timeout + delay


@section
def step(
    setup: np.record,
    stamps: Array,
    imu: Array,
    stamp: float,
    length: Array,
    filtered: FilterState,
    rows: Rows,
    row: int,
) -> int:
    """Take the filter to a leg sample, correct it and write a row.

    Returns DONE, INDEFINITE, or STRAYED where the filter should rather have begun anew there.
    """
    state, covariance, memory = filtered
    n, steps = covariance.shape[0], rows.steps
    keep = steps.noise.shape[0] > 0
    factor, cross = np.empty((n, n)), np.empty((n, n))
    measured, slope, noise = np.empty(6), np.empty(6), np.empty(3)
    errors, rate_errors = np.empty((TANGENT, TANGENT)), np.empty((3, 3))
    target = stamp + state[DELAY]
    status = travel(setup, stamps, imu, target, filtered, factor, keep, cross)
    if status != DONE:
        return status
    repairs = definite_factor(covariance, factor)
    if repairs < 0:
        return INDEFINITE
    memory.repairs += repairs
    silent = look(setup, stamps, imu, memory, measured, slope, noise)
    legs = measured_legs(length)
    if legs == 6 and strayed(setup, covariance, memory):
        status = STRAYED
    if legs > 0:
        memory.stride, memory.heard = memory.time - memory.heard, memory.time
    if keep:
        steps.predicted[row] = state
        steps.predicted_covariance[row] = covariance
        steps.cross_covariance[row] = cross
    lead = stamp + state[DELAY] - memory.time
    correct(setup, filtered, factor, length, lead, measured, slope, rows.verdicts[row])
    lead = stamp + state[DELAY] - memory.time
    report(
        setup, state, covariance, measured, slope[3:], noise, lead, rows.report[row], errors,
        rate_errors,
    )  # fmt: skip
    rows.report[row, R_SILENT] = 1.0 if silent else 0.0
    write_errors(errors, rate_errors, rows, row)
    rows.scales[row, :6] = memory.leg_scale
    rows.scales[row, 6:] = memory.imu_scale
    if keep:
        steps.filtered[row] = state
        steps.filtered_covariance[row] = covariance
        steps.inputs[row] = measured
        steps.angular_accelerations[row] = slope[3:]
        steps.noise[row] = noise
    return status


@kernel(
    numba.types.UniTuple(INTEGER, 2), SETUP_TYPE, VECTOR, MATRIX, VECTOR, MATRIX, INTEGER,
    FILTER_TYPE, ROWS_TYPE, FLAG, FILTERS_TYPE,
)  # fmt: skip
def run(
    setup: np.record,
    stamps: Array,
    imu: Array,
    leg_stamps: Array,
    lengths: Array,
    first: int,
    filtered: FilterState,
    rows: Rows,
    live: bool,
    past: FilterState,
) -> tuple[int, int]:
    """Filter the leg samples from row `first` on; return how it ended and at which row.

    With `live` it ends with WAITING before a sample that the IMU has not yet passed, unless the
    legs are far ahead of it, and writes the filter before each sample into `past`, where that is
    not yet there. It ends with POSE after the sample that an external pose is due at, with GAP
    before one of six lengths after a silence of both sensors, with STRAYED after one that came too
    late to be a correction. Rows after a longer silence stay NaN until six lengths come.
    """
    for r in range(first, leg_stamps.size):
        stamp = leg_stamps[r]
        if live:
            delay, timeout = filtered.state[DELAY], setup.imu_timeout
            if not ready(timeout, stamp, delay, stamps[-1], leg_stamps[-1]):
                return WAITING, r
            if np.isnan(past.memory[r].time):
                past.state[r] = filtered.state
                past.covariance[r] = filtered.covariance
                past.memory[r] = filtered.memory
        gone = adrift(setup, stamps, stamp + filtered.state[DELAY], filtered.memory)
        if filtered.memory.adrift > 0 and measured_legs(lengths[r]) == 6:
            return GAP, r
        if gone:
            continue
        status = step(setup, stamps, imu, stamp, lengths[r], filtered, rows, r)
        if status != DONE:
            return status, r
        if 0.0 < setup.restart_after <= filtered.memory.misfits:
            return MISFIT, r
        if filtered.memory.pose_due - filtered.state[EXTERNAL] <= stamp:
            return POSE, r
    return DONE, leg_stamps.size
