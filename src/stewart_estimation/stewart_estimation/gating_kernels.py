# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled choice of the legs that a correction uses, and what their noise is learnt from.

With innovation nu and its covariance S, t = S^-1 nu: t_i² / (S^-1)_ii is the squared innovation
of leg i given all the others, in units of its variance. The worst leg by this measure is the one
whose removal lowers the normalised innovation squared the most, by just this number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from stewart_estimation.layout import (
    DOUBT,
    DRIFT,
    FEWEST_LEGS,
    FROZEN,
    GATE,
    GATE_LEG,
    LAST,
    LEG_BAND,
    LEG_SCALE,
    LEG_VARIANCE,
    LEG_WINDOW,
    MOST_DOUBT,
    STUCK,
)
from stewart_estimation.tangent_kernels import cholesky
from stewart_kinematics.kernels.compiled import (
    INTEGER,
    INTEGERS_OUT,
    kernel,
    MATRIX,
    MATRIX_OUT,
    SCALAR,
    VECTOR,
    VECTOR_OUT,
    VOID,
)
from stewart_kinematics.motion import Array

LARGEST, LARGEST_REFUSED = 400.0, 100.0
"""One sample counts at most as this many stated variances: a spike must not deafen a leg."""

SUM, CLIP = 8.0, 5.0
"""
Greatest cumulative sum of a leg that is used, and the most that one sample counts, in standard
deviations: two spikes in a row are no fault that stays. Page's test; with an allowance k a sound
leg passes the sum about once in exp(2 k SUM) samples.
"""

ROUNDS = 2
"""Noise and correction depend on each other: both are computed this often in turns."""


@kernel(SCALAR, MATRIX, VECTOR, INTEGERS_OUT, INTEGER, MATRIX_OUT, VECTOR_OUT)
def invert(
    spread: Array, innovation: Array, legs: NDArray[np.int64], count: int, inverse: Array, t: Array
) -> float:
    """Write the inverse of the rows and columns `legs` of S and t = S^-1 nu.

    Both stand in the first `count` rows. Returns the normalised innovation squared, NaN where S
    is not positive definite.
    """
    s, factor = np.empty((count, count)), np.empty((count, count))
    for i in range(count):
        for j in range(i + 1):
            s[i, j] = spread[legs[i], legs[j]]
    if not cholesky(s, factor):
        return np.nan
    for k in range(count):
        for i in range(count):
            value = 1.0 if i == k else 0.0
            for j in range(i):
                value -= factor[i, j] * inverse[j, k]
            inverse[i, k] = value / factor[i, i]
        for i in range(count - 1, -1, -1):
            value = inverse[i, k]
            for j in range(i + 1, count):
                value -= factor[j, i] * inverse[j, k]
            inverse[i, k] = value / factor[i, i]
    total = 0.0
    for i in range(count):
        value = 0.0
        for j in range(count):
            value += inverse[i, j] * innovation[legs[j]]
        t[i] = value
        total += value * innovation[legs[i]]
    return total


@kernel(SCALAR, VECTOR, VECTOR, INTEGER)
def leg_variance(constants: Array, memory: Array, leg: int) -> float:
    """Return the variance that the noise of a leg is taken to have [m²]."""
    variance = constants[LEG_VARIANCE + leg]
    scale = memory[LEG_SCALE + leg]
    if constants[LEG_WINDOW] > 0.0 and scale > constants[LEG_BAND]:
        return variance * scale
    return variance


@kernel(VOID, MATRIX, VECTOR, VECTOR, MATRIX_OUT)
def add_leg_noise(certain: Array, constants: Array, memory: Array, spread: Array) -> None:
    """Write S: the covariance of the predicted lengths, the noise of the legs added."""
    for i in range(6):
        for j in range(6):
            spread[i, j] = certain[i, j]
        spread[i, i] += leg_variance(constants, memory, i)


@kernel(INTEGER, VECTOR, VECTOR, VECTOR_OUT, INTEGERS_OUT, VECTOR_OUT)
def offer(
    length: Array, constants: Array, memory: Array, legs: NDArray[np.int64], limits: Array
) -> int:
    """Write the legs that have a number and are not stuck, and what each is held against.

    A leg that says what it said before while others move is held against less. Where few others
    move the platform may rest, or a driver repeats itself: that is no sign of a fault.
    """
    count, moving = 0, 0
    for i in range(6):
        limits[i] = constants[GATE_LEG]
        if np.isnan(length[i]):
            continue
        if length[i] == memory[LAST + i]:
            limits[i] = min(constants[FROZEN], constants[GATE_LEG])
        else:
            moving += 1
            memory[LAST + i] = length[i]
            if memory[STUCK + i] > 0.0:
                memory[STUCK + i] = memory[DOUBT + i] = memory[DOUBT + 6 + i] = 0.0
        if memory[STUCK + i] == 0.0:
            legs[count] = i
            count += 1
    if moving < constants[FEWEST_LEGS]:
        limits[:] = constants[GATE_LEG]
    return count


@kernel(INTEGER, MATRIX, VECTOR, VECTOR, VECTOR_OUT, INTEGERS_OUT, INTEGER, MATRIX)
def believe(
    spread: Array,
    innovation: Array,
    constants: Array,
    memory: Array,
    legs: NDArray[np.int64],
    count: int,
    inverse: Array,
) -> int:
    """Hold back the legs that fit now but have lain on one side; return how many stay.

    `inverse` is that of the legs given. Every leg with a number that is not stuck is summed up,
    by how far it lies off what the others of them say.
    """
    allowance = constants[DRIFT]
    most = SUM + allowance * constants[MOST_DOUBT]
    doubted = np.zeros(6)
    for i in range(6):
        if np.isnan(innovation[i]) or memory[STUCK + i] > 0.0:
            continue
        mean, variance, own = 0.0, spread[i, i], -1
        for k in range(count):
            if legs[k] == i:
                own = k
        if own >= 0:
            # Of a leg that is among them: t_i / (S^-1)_ii and its variance 1 / (S^-1)_ii.
            value = 0.0
            for k in range(count):
                value += inverse[own, k] * innovation[legs[k]]
            off = value / np.sqrt(inverse[own, own])
        else:
            for k in range(count):
                weight = 0.0
                for m in range(count):
                    weight += inverse[k, m] * spread[legs[m], i]
                mean += weight * innovation[legs[k]]
                variance -= weight * spread[legs[k], i]
            off = (innovation[i] - mean) / np.sqrt(variance)
        off = min(max(off, -CLIP), CLIP)
        up, down = memory[DOUBT + i] + off - allowance, memory[DOUBT + 6 + i] - off - allowance
        memory[DOUBT + i] = min(max(up, 0.0), most)
        memory[DOUBT + 6 + i] = min(max(down, 0.0), most)
        doubted[i] = max(memory[DOUBT + i], memory[DOUBT + 6 + i])
    kept = 0
    for k in range(count):
        if doubted[legs[k]] <= SUM:
            legs[kept] = legs[k]
            kept += 1
    return kept


@kernel(
    INTEGER, MATRIX, VECTOR, VECTOR, VECTOR_OUT, INTEGERS_OUT, INTEGER, VECTOR, MATRIX_OUT,
    VECTOR_OUT,
)  # fmt: skip
def select(
    spread: Array,
    innovation: Array,
    constants: Array,
    memory: Array,
    legs: NDArray[np.int64],
    count: int,
    limits: Array,
    inverse: Array,
    t: Array,
) -> int:
    """Leave out the worst leg until the others fit; return how many stay, 0 if none fit."""
    refused = np.zeros(6)
    while count > 0:
        total = invert(spread, innovation, legs, count, inverse, t)
        worst, most = 0, -1.0
        for i in range(count):
            share = t[i] * t[i] / (inverse[i, i] * limits[legs[i]])
            if share > most:
                worst, most = i, share
        if total <= constants[GATE + count] and most <= 1.0:
            break
        refused[legs[worst]] = most
        for i in range(worst, count - 1):
            legs[i] = legs[i + 1]
        count -= 1
        if count < constants[FEWEST_LEGS]:
            return 0
    for i in range(6):
        if refused[i] > 0.0 and limits[i] < constants[GATE_LEG]:
            memory[STUCK + i] = 1.0
    if count > 0 and constants[DRIFT] < np.inf:
        return believe(spread, innovation, constants, memory, legs, count, inverse)
    return count


@kernel(
    VOID, MATRIX, VECTOR, VECTOR, VECTOR_OUT, INTEGERS_OUT, INTEGER, MATRIX_OUT, MATRIX_OUT,
    VECTOR_OUT,
)  # fmt: skip
def learn_leg_noise(
    certain: Array,
    innovation: Array,
    constants: Array,
    memory: Array,
    legs: NDArray[np.int64],
    count: int,
    spread: Array,
    inverse: Array,
    t: Array,
) -> None:
    """Learn the variance of each leg from its expected squared error after the correction.

    With noise variance r this is (r t_i)² + r - r² (S^-1)_ii (Särkkä and Nummenmaa 2009, in the
    form for a diagonal R); a running mean over a window of samples takes it up. The innovation
    itself is among what is learnt from before it is used. A leg left out counts with its
    innovation. Leaves `spread` with the new variances.
    """
    before = memory[LEG_SCALE : LEG_SCALE + 6].copy()
    window = constants[LEG_WINDOW]
    for _ in range(ROUNDS):
        invert(spread, innovation, legs, count, inverse, t)
        fresh = np.full(6, np.nan)
        for i in range(6):
            if not np.isnan(innovation[i]):
                limit = LARGEST_REFUSED * constants[LEG_VARIANCE + i]
                fresh[i] = min(innovation[i] ** 2, limit)
        for k in range(count):
            i = legs[k]
            r = leg_variance(constants, memory, i)
            fresh[i] = (r * t[k]) ** 2 + r - r * r * inverse[k, k]
        for i in range(6):
            if not np.isnan(fresh[i]):
                ratio = min(fresh[i] / constants[LEG_VARIANCE + i], LARGEST)
                memory[LEG_SCALE + i] = max(1.0, (window * before[i] + ratio) / (window + 1.0))
        add_leg_noise(certain, constants, memory, spread)
