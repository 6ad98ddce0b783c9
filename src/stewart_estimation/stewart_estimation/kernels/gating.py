# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled choice of the legs that a correction uses, and what their noise is learnt from.

With innovation nu and its covariance S, t = S^-1 nu: t_i² / (S^-1)_ii is the squared innovation
of leg i given all the others, in units of its variance. The worst leg by this measure is the one
whose removal lowers the normalised innovation squared the most, by just this number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from stewart_estimation.kernels.tangent import cholesky
from stewart_kinematics.kernels.compiled import part
from stewart_kinematics.motion import Array

LARGEST, LARGEST_REFUSED, LEAST = 400.0, 100.0, 1e-4
"""
One sample counts at most as this many stated variances, a spike must not deafen a leg; the least
share of a stated variance that is learnt.
"""

SUM, CLIP = 8.0, 5.0
"""
Greatest cumulative sum of a leg that is used, and the most that one sample counts, in standard
deviations: two spikes in a row are no fault that stays. Page's test; with an allowance k a sound
leg passes the sum about once in exp(2 k SUM) samples.
"""

ROUNDS = 2
"""Noise and correction depend on each other: both are computed this often in turns."""


class Fit(NamedTuple):
    """Six lengths beside their prediction.

    Attributes:
        certain, spread (6, 6): Covariance of the predicted lengths, without and with their noise.
        crossed (n, 6): Covariance of state and predicted lengths.
        innovation (6,): Measured minus predicted lengths; NaN where a leg is missing.
        legs (6,): Of these the first so many as a count says are used.
        limits (6,): What the squared innovation of each leg is held against.
        inverse, t (6, 6), (6,): Of the legs used, S^-1 and S^-1 nu in the first rows.
    """

    certain: Array
    spread: Array
    crossed: Array
    innovation: Array
    legs: NDArray[np.int64]
    limits: Array
    inverse: Array
    t: Array


@part
def empty_fit(n: int) -> Fit:
    """Return a fit for a tangent of n numbers."""
    return Fit(
        np.empty((6, 6)),
        np.empty((6, 6)),
        np.empty((n, 6)),
        np.empty(6),
        np.empty(6, np.int64),
        np.empty(6),
        np.empty((6, 6)),
        np.empty(6),
    )


@part
def factor_of(fit: Fit, count: int, factor: Array) -> bool:
    """Write the Cholesky factor of S for the legs used; say if there is one."""
    s = np.empty((count, count))
    for i in range(count):
        for j in range(i + 1):
            s[i, j] = fit.spread[fit.legs[i], fit.legs[j]]
    return cholesky(s, factor)


@part
def invert(fit: Fit, count: int) -> float:
    """Write S^-1 and S^-1 nu of the legs used; return their normalised innovation squared.

    It is NaN where S is not positive definite.
    """
    inverse = fit.inverse
    factor = np.empty((count, count))
    if not factor_of(fit, count, factor):
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
            value += inverse[i, j] * fit.innovation[fit.legs[j]]
        fit.t[i] = value
        total += value * fit.innovation[fit.legs[i]]
    return total


@part
def outside(scale: float, band: float) -> bool:
    """Say whether a learnt variance is clearly more, or clearly less, than the stated one.

    Few samples understate a variance more often than they overstate it, so the band is twice as
    wide downwards, counted in decades.
    """
    return scale > band or scale * band * band < 1.0


@part
def leg_variance(setup: np.record, memory: np.record, leg: int) -> float:
    """Return the variance that the noise of a leg is taken to have [m²]."""
    variance = setup.leg_variance[leg]
    scale = memory.leg_scale[leg]
    if setup.leg_window > 0.0 and outside(scale, setup.leg_band):
        return variance * scale
    return variance


@part
def add_leg_noise(setup: np.record, memory: np.record, fit: Fit) -> None:
    """Write S: the covariance of the predicted lengths, the noise of the legs added."""
    for i in range(6):
        for j in range(6):
            fit.spread[i, j] = fit.certain[i, j]
        fit.spread[i, i] += leg_variance(setup, memory, i)


@part
def offer(setup: np.record, memory: np.record, fit: Fit, length: Array) -> int:
    """Write the legs that have a number and are not stuck, and what each is held against.

    A leg that says what it said before while others move is held against less. Where few others
    move the platform may rest, or a driver repeats itself: that is no sign of a fault.
    """
    count, moving, limits = 0, 0, fit.limits
    for i in range(6):
        limits[i] = setup.gate_leg
        if np.isnan(length[i]):
            continue
        if length[i] == memory.last[i]:
            limits[i] = min(setup.frozen, setup.gate_leg)
        else:
            moving += 1
            memory.last[i] = length[i]
            if memory.stuck[i] > 0.0:
                memory.stuck[i] = memory.doubt[0, i] = memory.doubt[1, i] = 0.0
        if memory.stuck[i] == 0.0:
            fit.legs[count] = i
            count += 1
    if moving < setup.fewest_legs:
        limits[:] = setup.gate_leg
    return count


@part
def believe(setup: np.record, memory: np.record, fit: Fit, count: int) -> int:
    """Hold back the legs that fit now but have lain on one side; return how many stay.

    Every leg with a number that is not stuck is summed up,
    by how far it lies off what the others of them say.
    """
    _, spread, _, innovation, legs, _, inverse, _ = fit
    allowance = setup.drift
    most = SUM + allowance * setup.most_doubt
    doubted = np.zeros(6)
    for i in range(6):
        if np.isnan(innovation[i]) or memory.stuck[i] > 0.0:
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
        up, down = memory.doubt[0, i] + off - allowance, memory.doubt[1, i] - off - allowance
        memory.doubt[0, i] = min(max(up, 0.0), most)
        memory.doubt[1, i] = min(max(down, 0.0), most)
        doubted[i] = max(memory.doubt[0, i], memory.doubt[1, i])
    kept = 0
    for k in range(count):
        if doubted[legs[k]] <= SUM:
            legs[kept] = legs[k]
            kept += 1
    return kept


@part
def select(setup: np.record, memory: np.record, fit: Fit, count: int) -> int:
    """Leave out the worst leg until the others fit; return how many stay, 0 if none fit."""
    _, _, _, _, legs, limits, inverse, t = fit
    refused = np.zeros(6)
    while count > 0:
        total = invert(fit, count)
        worst, most = 0, -1.0
        for i in range(count):
            share = t[i] * t[i] / (inverse[i, i] * limits[legs[i]])
            if share > most:
                worst, most = i, share
        if total <= setup.gate[count] and most <= 1.0:
            break
        refused[legs[worst]] = most
        for i in range(worst, count - 1):
            legs[i] = legs[i + 1]
        count -= 1
        if count < setup.fewest_legs:
            return 0
    for i in range(6):
        if refused[i] > 0.0 and limits[i] < setup.gate_leg:
            memory.stuck[i] = 1.0
    if count > 0 and setup.drift < np.inf:
        return believe(setup, memory, fit, count)
    return count


@part
def learn_leg_noise(setup: np.record, memory: np.record, fit: Fit, count: int) -> None:
    """Learn the variance of each leg from its expected squared error after the correction.

    With noise variance r this is (r t_i)² + r - r² (S^-1)_ii (Särkkä and Nummenmaa 2009, in the
    form for a diagonal R); a running mean over a window of samples takes it up. The innovation
    itself is among what is learnt from before it is used. A leg left out counts with its
    innovation. Leaves S with the new variances.
    """
    innovation, t, inverse = fit.innovation, fit.t, fit.inverse
    before = memory.leg_scale.copy()
    window = setup.leg_window
    for _ in range(ROUNDS):
        invert(fit, count)
        fresh = np.full(6, np.nan)
        for i in range(6):
            if not np.isnan(innovation[i]):
                limit = LARGEST_REFUSED * setup.leg_variance[i]
                fresh[i] = min(innovation[i] ** 2, limit)
        for k in range(count):
            i = fit.legs[k]
            r = leg_variance(setup, memory, i)
            fresh[i] = (r * t[k]) ** 2 + r - r * r * inverse[k, k]
        for i in range(6):
            if not np.isnan(fresh[i]):
                ratio = min(fresh[i] / setup.leg_variance[i], LARGEST)
                memory.leg_scale[i] = max(LEAST, (window * before[i] + ratio) / (window + 1.0))
        add_leg_noise(setup, memory, fit)
