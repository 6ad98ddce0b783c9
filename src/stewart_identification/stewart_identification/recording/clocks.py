# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Two recorders, two clocks: the offset between them, from what both have seen of one motion.

Both signals are put on one grid, the normalised cross-correlation gives the offset to a sample,
and least squares the rest. A periodic motion correlates as well
one period later; then the smallest of the offsets that are as good is taken, and it is said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its part for signals is loaded at the first use, and takes 0.5 s
from stewart_identification.errors import UnusableRecording
from stewart_kinematics.motion import Array

LEAST_CORRELATION = 0.7
AS_GOOD = 0.98
REFINEMENTS = 8
LEAST_OVERLAP = 1.0
"""Of the two recordings, so that a correlation means something [s]."""
REST_ENERGY = 1e-12
"""Share of a signal's largest energy below which it rests."""


@dataclass(frozen=True)
class ClockOffset:
    """How far one clock is ahead of another.

    Attributes:
        offset: What the second clock shows, minus what the first shows, at one instant [s].
        correlation: Of the two signals with the offset taken out, 1 at best.
        ambiguous: Whether another offset within the search is as good.
    """

    offset: float
    correlation: float
    ambiguous: bool


def clock_offset(
    first_time: Array,
    first: Array,
    second_time: Array,
    second: Array,
    *,
    longest: float,
    where: str,
) -> ClockOffset:
    """Find how far a second clock is ahead of a first.

    Args:
        first_time, second_time (n,): Strictly rising, each by its own clock [s].
        first, second (n, k): The same k signals, of any scale, seen by both.
        longest: Largest offset to be looked for, either way [s].
        where: Recording and topic, for messages.

    Raises:
        UnusableRecording: If no signal moves, the recordings do not overlap, or nothing
            correlates.
    """
    step = min(float(np.median(np.diff(first_time))), float(np.median(np.diff(second_time))))
    one, other = _standard(first), _standard(second)
    moving = np.isfinite(one).all(axis=0) & np.isfinite(other).all(axis=0)
    if not moving.any():
        raise UnusableRecording(
            f'{where}: two clocks cannot be compared, for nothing moves that both have seen'
        )
    one, other = one[:, moving], other[:, moving]
    begin = max(first_time[0], second_time[0] - longest)
    end = min(first_time[-1], second_time[-1] + longest)
    # What the second lasts is all that can lie above the first, wherever it is shifted.
    common = min(float(end - begin), float(second_time[-1] - second_time[0]))
    if common < LEAST_OVERLAP + 2.0 * step:
        raise UnusableRecording(
            f'{where}: two recordings have {max(common, 0.0):.3g} s in common even when shifted '
            f'by {longest:.6g} s, more than {LEAST_OVERLAP:g} s are needed'
        )
    grid = np.arange(begin, end, step)
    lags, score = _correlation(_at(grid, first_time, one), second_time, other, grid, step, longest)
    places, _ = scipy.signal.find_peaks(np.concatenate([[-1.0], score, [-1.0]]))
    peaks = places - 1
    good = peaks[score[peaks] >= AS_GOOD * score.max()]
    best = good[np.argmin(np.abs(lags[good]))]
    if score[best] < LEAST_CORRELATION:
        raise UnusableRecording(
            f'{where}: two clocks cannot be compared, for what they saw correlates by '
            f'{score[best]:.2f} at best (offset {lags[best]:.3f} s), {LEAST_CORRELATION:g} '
            'is needed'
        )
    offset = _refined(grid, first_time, one, second_time, other, float(lags[best]), step)
    return ClockOffset(offset, float(score[best]), good.size > 1)


def _standard(signals: Array) -> Array:
    """Take out the means and the common scale of each signal; NaN where nothing moves."""
    centred = signals - signals.mean(axis=0)
    scale = centred.std(axis=0)
    still = scale <= 1e-9 * np.abs(signals).max(initial=1e-300)
    return np.asarray(centred / np.where(still, np.nan, scale))


def _at(grid: Array, time: Array, signals: Array) -> Array:
    return np.column_stack([np.interp(grid, time, column) for column in signals.T])


def _correlation(
    one: Array, second_time: Array, other: Array, grid: Array, step: float, longest: float
) -> tuple[Array, Array]:
    """Return offsets and the normalised correlation of what overlaps there."""
    reach = int(np.ceil(longest / step))
    wide = grid[0] + step * np.arange(-reach, grid.size + reach)
    there = (wide >= second_time[0]) & (wide <= second_time[-1])
    second = np.where(there[:, None], _at(wide, second_time, other), 0.0)
    product = np.zeros(2 * reach + 1)
    energy_one, energy_other = np.zeros_like(product), np.zeros_like(product)
    mask = there.astype(float)
    for column in range(one.shape[1]):
        a, b = one[:, column], second[:, column]
        product += scipy.signal.correlate(b, a, 'valid')
        energy_one += scipy.signal.correlate(mask, a**2, 'valid')
        energy_other += scipy.signal.correlate(b**2, np.ones_like(a), 'valid')
    common = scipy.signal.correlate(mask, np.ones(grid.size), 'valid') * step
    norm = np.sqrt(np.maximum(energy_one * energy_other, 1e-300))
    # A short overlap correlates by chance, and rest with anything.
    empty = common < max(LEAST_OVERLAP, 0.5 * common.max())
    for energy in (energy_one, energy_other):
        empty |= energy < REST_ENERGY * energy.max()
    score = np.where(empty, -1.0, product / norm)
    lags = np.asarray(step * np.arange(-reach, reach + 1), dtype=np.float64)
    return lags, np.asarray(score)


def _refined(
    grid: Array,
    first_time: Array,
    one: Array,
    second_time: Array,
    other: Array,
    start: float,
    step: float,
) -> float:
    """Find the rest of the offset by least squares.

    The second signal is taken as mean + scale * (first + rest * derivative of the first), in
    which it is linear. So its noise, which interpolation lessens between samples, does not draw
    the offset to where the samples of both are halfway.
    """
    reach = 4.0 * step
    inside = (grid + start - reach >= second_time[0]) & (grid + start + reach <= second_time[-1])
    instants = grid[inside]
    known = _standard(_at(instants, first_time, one))
    slope = np.gradient(known, instants, axis=0)
    slope = slope - slope.mean(axis=0)
    across = slope - known * np.mean(known * slope, axis=0)
    offset = start
    for _ in range(REFINEMENTS):
        seen = _at(instants + offset, second_time, other)
        seen = seen - seen.mean(axis=0)
        scale = np.mean(known * seen, axis=0)
        weight = np.sum((scale * across) ** 2)
        rest = np.sum(scale * across * (seen - scale * known)) / weight
        offset += float(np.clip(-rest, -step, step))
    return float(np.clip(offset, start - reach, start + reach))
