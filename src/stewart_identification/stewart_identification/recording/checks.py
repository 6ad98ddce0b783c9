# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is odd about a recorded topic, said in one sentence each, and which samples remain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import median_filter
from stewart_bags.findings import GAP_FACTOR
from stewart_bags.series import Series
from stewart_identification.errors import UnusableRecording
from stewart_kinematics.motion import Array
from stewart_tables.errors import counted

NS = 1e-9
WRONG_CLOCK = 1.0
"""A stamp that jumps by more, and so beside the recorder's clock, is of another clock [s]."""
OTHER_RATE, DRIFT = 1e-3, 0.1
"""Of two clocks, no two crystals of which differ by as much [-], and what it has to make [s]."""
PAIRS = 8
"""The rate of two clocks is that of samples so large a part of a recording apart."""
GLITCH_WINDOW, GLITCH_FACTOR = 7, 10.0
"""A value is a glitch if it is off from the median of so many neighbours, itself included, by so
many times what 99 % of the others are."""
SET_BACK = 10
"""More samples that are stamped late for each step back are no matter of their order."""
LEAST_REPEATS = 1.3
"""Samples from one new value to the next from which on values count as repeated."""
EARLY = 0.15
"""Of the median time between changes, before which what comes late does not change again."""
SINGLE, UNROUNDED = 0.75, 0.01
"""Share of single steps after repeats from which on they are those of rounding, and how far what
is rounded may be off from multiples of a step [steps]."""
STANDING, STANDING_SHARE = 20, 0.01
"""So many samples in a row, and in all such a share, at one end of a signal's range or at 0."""
BRIDGED = 0.01
"""Share of the samples that may be interpolated without a word."""
LEAST_GLITCH = 1e-3
"""In the unit of the signal: steps of a rounded signal at rest are none."""

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Remark:
    """One thing that was odd, and what was made of it.

    Attributes:
        topic: Where.
        time: When at first, counted from the beginning of the bag [s]; NaN where it has no time.
        count: How many samples.
        text: What, as a clause after the count.
    """

    topic: str
    time: float
    count: int
    text: str

    def __str__(self) -> str:
        """Say it in one sentence."""
        samples = counted(self.count, 'sample')
        when = '' if np.isnan(self.time) else f', from {round(self.time, 3) + 0.0:.3f} s on'
        return f'{self.topic}: {samples}{when}: {self.text}'


@dataclass(frozen=True, eq=False)
class Usable:
    """What of a topic can be used.

    Attributes:
        rows (k,): Samples of the series, in the order of their stamps.
        stamps (k,): Their stamps, strictly rising, counted from an origin [s].
        breaks: Samples of `rows` that begin anew after a gap; the first sample is always one.
        period: Median step [s]; NaN of less than two samples.
        longest: A longer step is a gap [s].
        remarks: What was odd.
    """

    rows: Rows
    stamps: Array
    breaks: Rows
    period: float
    longest: float
    remarks: tuple[Remark, ...]

    def pieces(self) -> list[slice]:
        """Return the stretches without a gap."""
        ends = np.append(self.breaks[1:], len(self.rows))
        return [slice(int(a), int(b)) for a, b in zip(self.breaks, ends, strict=True)]


def usable(
    series: Series,
    values: Mapping[str, Array],
    origin_ns: int,
    begin_ns: int,
    refused: Mapping[str, NDArray[np.bool_]] | None = None,
    bridged: float = 0.0,
) -> Usable:
    """Find the samples of a topic that can be used.

    Args:
        values (n, ...): What has to be finite, by what it is called in a sentence.
        origin_ns: Instant from which the stamps are counted [ns].
        begin_ns: Beginning of the bag, for the times in remarks [ns].
        refused (n,): Samples that are to be left out for another reason, by that reason.
        bridged: A step is no gap up to here, however many samples it lacks [s].
    """
    if series.overlap:
        raise UnusableRecording(series.overlap)
    remarks: list[Remark] = []
    # By bag time, for a wrong stamp says nothing about when it was.
    when = (series.bag_time_ns - begin_ns) * NS

    def remark(rows: Rows, text: str) -> None:
        if rows.size:
            remarks.append(Remark(series.topic, float(when[rows[0]]), rows.size, text))

    stamps = series.stamp_ns
    rows = _in_order(series, _trusted(series, values, refused or {}, remark), remark)
    time = np.asarray((stamps[rows] - origin_ns) * NS, dtype=np.float64)
    steps = np.diff(time)
    period = float(np.median(steps)) if steps.size else float('nan')
    longest = max(GAP_FACTOR * period, bridged)
    gaps = np.flatnonzero(steps > longest)
    short = np.flatnonzero((steps > 1.5 * period) & (steps <= longest))
    lost = int(np.round(steps[short] / period - 1.0).sum())
    if bridged > 0.0 and lost > BRIDGED * len(rows):
        begin = float((stamps[rows[short[0]]] - begin_ns) * NS)
        text = f'missing for up to {1e3 * steps[short].max():.3g} ms, interpolated'
        remarks.append(Remark(series.topic, begin, lost, text))
    if gaps.size:
        begin = float((stamps[rows[gaps[0]]] - begin_ns) * NS)
        lost = int(np.round(steps[gaps] / period - 1.0).sum())
        text = (
            f'missing in {counted(gaps.size, "gap")} of up to {steps.max():.3g} s, '
            'what lies between is used piece by piece'
        )
        remarks.append(Remark(series.topic, begin, lost, text))
    breaks = np.concatenate([[0], gaps + 1]).astype(np.intp)[: len(rows)]
    return Usable(rows, time, breaks, period, longest, tuple(remarks))


def _trusted(
    series: Series,
    values: Mapping[str, Array],
    refused: Mapping[str, NDArray[np.bool_]],
    remark: Callable[[Rows, str], None],
) -> Rows:
    """Return the samples with a stamp and finite values that nobody refused."""
    stamps = series.stamp_ns
    keep = np.ones(len(stamps), np.bool_)

    def leave_out(bad: ArrayLike, text: str) -> None:
        places = np.flatnonzero(np.asarray(bad) & keep)
        remark(places, f'{text}, left out')
        keep[places] = False

    leave_out(stamps == 0, 'no stamp')
    rows = np.flatnonzero(keep)
    if rows.size:
        stamp, bag = ((each[rows] - each[rows[0]]) * NS for each in (stamps, series.bag_time_ns))
        rate = rate_of(stamp, bag)
        off = np.zeros(len(stamps), np.bool_)
        off[rows] = of_another_clock(stamp, stamp - rate * bag)
        leave_out(off, 'stamps of another clock than the rest')
        drift = abs(rate - 1.0) * float(np.ptp(bag))
        if abs(rate - 1.0) > OTHER_RATE and drift > DRIFT:
            remark(
                np.flatnonzero(keep),
                f'stamps run {rate:.4g} times as fast as the clock of the recorder, as those of a '
                'simulation or a replay do; they count',
            )
    for name, array in values.items():
        leave_out(~np.isfinite(array).reshape(len(stamps), -1).all(axis=1), f'{name} not finite')
    for reason, mask in refused.items():
        leave_out(mask, reason)
    return np.flatnonzero(keep)


def rate_of(stamps: Array, bag_times: Array) -> float:
    """Return how fast stamps, (n,), run beside the recorder's clock, (n,) [s], whatever jumps."""
    apart = max(len(stamps) // PAIRS, 1)
    passed = bag_times[apart:] - bag_times[:-apart]
    rates = (stamps[apart:] - stamps[:-apart])[passed > 0.0] / passed[passed > 0.0]
    return float(np.median(rates)) if rates.size else 1.0


def of_another_clock(stamps: Array, beside: Array) -> NDArray[np.bool_]:
    """Tell which stamps jump away from the others, shape (n,).

    A clock may run at a rate of its own, and a simulation at a changing one or with pauses: then
    stamps go on from one to the next, and are good. Around those that go on for longest the others
    are good where they go on from the good ones.

    Args:
        stamps (n,): In the order in which they were recorded [s].
        beside (n,): What they are off from the recorder's clock at the usual rate [s].
    """

    def goes_on(one: int, other: int) -> bool:
        steps = abs(stamps[other] - stamps[one]), abs(beside[other] - beside[one])
        return bool(min(steps) <= WRONG_CLOCK)

    jumps = np.minimum(np.abs(np.diff(stamps)), np.abs(np.diff(beside))) > WRONG_CLOCK
    edges = np.concatenate([[0], np.flatnonzero(jumps) + 1, [len(stamps)]])
    longest = int(np.argmax(np.diff(edges)))
    wrong = np.ones(len(stamps), np.bool_)
    first = last = slice(edges[longest], edges[longest + 1])
    wrong[first] = False
    for begin, end in zip(edges[longest + 1 : -1], edges[longest + 2 :], strict=True):
        if goes_on(last.stop - 1, begin):
            last = slice(begin, end)
            wrong[last] = False
    for begin, end in zip(edges[:longest][::-1], edges[1 : longest + 1][::-1], strict=True):
        if goes_on(first.start, end - 1):
            first = slice(begin, end)
            wrong[first] = False
    return wrong


def _in_order(series: Series, rows: Rows, remark: Callable[[Rows, str], None]) -> Rows:
    """Return the samples with strictly rising stamps.

    Raises:
        UnusableRecording: If a clock was set back, so that the same instants come twice.
    """
    stamps = series.stamp_ns
    later = np.maximum.accumulate(stamps[rows])
    behind = rows[stamps[rows] < later]
    if behind.size:
        back = np.flatnonzero(np.diff(stamps[rows]) < 0)
        if behind.size > SET_BACK * back.size:
            raise UnusableRecording(
                f'{series.topic}: {behind.size} samples in a row are stamped up to '
                f'{(later - stamps[rows]).max() * NS:.3g} s before earlier ones, from sample '
                f'{rows[back[0]] + 2} on: the clock was set back, cut the recording there'
            )
        back = (later - stamps[rows]).max() * NS
        remark(behind, f'stamps up to {back:.3g} s back, put in order')
        rows = rows[np.argsort(stamps[rows], kind='stable')]
    twice = np.flatnonzero(np.diff(stamps[rows]) == 0) + 1
    remark(rows[twice], 'stamps that were there before, left out')
    return np.delete(rows, twice)


def glitches(values: Array, share: float) -> NDArray[np.bool_]:
    """Find single samples that jump away and back, as a bit that was lost on a wire makes them.

    Args:
        values (n, m): Signals in the order of time; what is not finite is none of these samples.
        share: Of the signal's range, by which a glitch is off at least.

    Returns:
        (n,): Samples with a glitch in any signal.
    """
    found = np.zeros(len(values), np.bool_)
    for column in values.T:
        finite = np.flatnonzero(np.isfinite(column))
        if not finite.size:
            continue
        known = column[finite]
        off = np.abs(known - median_filter(known, GLITCH_WINDOW, mode='nearest'))
        low, high = np.percentile(known, [1.0, 99.0])
        usual = GLITCH_FACTOR * float(np.percentile(off, 99.0))
        found[finite[off > max(usual, share * (high - low), LEAST_GLITCH)]] = True
    return found


def stuck_columns(values: Array) -> tuple[int, ...]:
    """Return the columns, counted from 1, that hold one number all the time, twice at least."""
    found = []
    for place, column in enumerate(values.T, 1):
        known = column[np.isfinite(column)]
        if known.size > 1 and np.ptp(known) == 0.0:
            found.append(place)
    return tuple(found)


def standing(values: Array) -> NDArray[np.bool_]:
    """Find where signals (n, m) stand at an end of their range or at 0, shape (n, m).

    So does a sensor that is overloaded, or whose wire is off, and none that is noisy; nothing is
    said of a rounded signal, which stands at its turning points.
    """
    found = np.zeros(values.shape, np.bool_)
    for place, column in enumerate(values.T):
        if not np.isfinite(column).any() or np.isfinite(rounding_step(column[:, None])):
            continue
        ends = np.nanmin(column), np.nanmax(column), 0.0
        begins = np.flatnonzero(np.diff(column, prepend=np.nan) != 0.0)
        lengths = np.diff(begins, append=len(column))
        stands = (lengths >= STANDING) & np.isin(column[begins], ends)
        found[:, place] = np.repeat(stands, lengths)
        if found[:, place].mean() < STANDING_SHARE:
            found[:, place] = False
    return found


def repeats(values: Array) -> tuple[float, float]:
    """Return why signals, shape (n, m), repeat: a driver has nothing new, or rounds what it has.

    While the platform stands, rounded ones do not change either, once for long.

    Returns:
        Samples from one new value to the next, all signals changing together; 1 where most samples
        are new, or are rounded to what the one before was.
        The largest step to which they are rounded, in their unit, where they repeat for it; else
        NaN.
    """
    known = values[:, np.isfinite(values).any(axis=0)]
    changes = np.flatnonzero((np.diff(np.nan_to_num(known), axis=0) != 0.0).any(axis=1))
    runs = np.diff(changes)
    if not runs.size:
        return 1.0, float('nan')
    usual = float(np.mean(runs[runs <= 3.0 * np.median(runs)]))
    if usual < LEAST_REPEATS:
        return 1.0, float('nan')
    if np.isnan(step := rounding_step(known)):
        return usual, step
    # What is rounded changes at any time, what comes late at its times, or after several of them.
    shortest = float(np.percentile(runs, 5.0))
    if shortest < max(2.0, EARLY * float(np.median(runs))):
        return 1.0, step
    return float(np.mean(runs[runs <= shortest + 1.0])), step


def rounding_step(values: Array) -> float:
    """Return the step for which signals, shape (n, m), repeat; NaN if it is for something else.

    Rounded signals are multiples of a step, one of each signal, and go on by one of these after
    they have repeated; those that wait for a new value go on by as much as they have missed.
    """
    steps, leaps = [], []
    for column in values.T:
        known = column[np.isfinite(column)]
        levels = np.unique(known)
        if levels.size < 2:
            continue
        steps.append(float(np.diff(levels).min()))
        multiples = (levels - levels[0]) / steps[-1]
        if np.abs(multiples - np.rint(multiples)).max() > UNROUNDED:
            return float('nan')
        moved = np.rint(np.abs(np.diff(known)) / steps[-1])
        leaps.append(moved[1:][(moved[1:] > 0.0) & (moved[:-1] == 0.0)])
    after = np.concatenate([np.empty(0), *leaps])
    if not after.size or np.mean(after == 1.0) < SINGLE:
        return float('nan')
    return max(steps)


def absent_columns(values: Array) -> tuple[int, ...]:
    """Return the columns, counted from 1, that hold no number at all."""
    return tuple(int(i) + 1 for i in np.flatnonzero(~np.isfinite(values).any(axis=0)))
