# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Measured strokes and forces of six legs on a uniform grid, piece by piece between gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import Akima1DInterpolator
from stewart_bags.series import JointSeries
from stewart_identification.errors import UnusableRecording
from stewart_identification.recording.checks import (
    absent_columns,
    glitches,
    Remark,
    repeats,
    standing,
    stuck_columns,
    Usable,
    usable,
)
from stewart_identification.recording.clocks import clock_offset, ClockOffset
from stewart_identification.recording.recordings import Recording
from stewart_kinematics.motion import Array

LEAST_TRAVEL = 1e-3
"""Of the leg that moves most; less is called standing still [m]."""
STRETCH, TRAVELLED = 64, 0.02
"""Over so many samples a leg moves whose stroke changes by this share of the longest way [-]."""
POWERED = (2, 3)
"""States of the driver, as its message numbers them: ENABLED and STOPPING."""
GLITCH_OF_STROKES, GLITCH_OF_EFFORTS = 0.05, 3.0
"""Share of the range by which a glitch is off: a stroke cannot jump, a force does at a start."""
LONGEST_DELAY = 0.5
"""Between a commanded and a measured stroke [s]."""


@dataclass(frozen=True, eq=False)
class LegPiece:
    """A stretch without a gap, uniformly sampled.

    Attributes:
        time (n,): Instants, counted from the recording's beginning [s].
        strokes (n, 6): Measured strokes [m].
        forces (n, 6): Drive forces [N]; NaN where a leg has none.
        commands (n, 6): Commanded strokes, as late as the measured ones [m]; None if not wanted.
    """

    time: Array
    strokes: Array
    forces: Array
    commands: Array | None = None

    def __getitem__(self, index: Any) -> LegPiece:
        commands = None if self.commands is None else self.commands[index]
        return LegPiece(self.time[index], self.strokes[index], self.forces[index], commands)


@dataclass(frozen=True, eq=False)
class LegRecord:
    """What the legs did.

    Attributes:
        pieces: In the order of time.
        period: Of the grid [s].
        origin_ns: Stamp at which `LegPiece.time` is 0 [ns].
        begin: The same instant, counted from the beginning of the bag [s].
        remarks: What was odd.
        held: Samples from one new stroke to the next, and from one new force to the next: a driver
            may repeat what it has.
        steps: To which strokes [m] and forces [N] are rounded, where they repeat for that; else
            NaN.
    """

    pieces: tuple[LegPiece, ...]
    period: float
    origin_ns: int
    begin: float
    topic: str
    remarks: tuple[Remark, ...]
    held: tuple[float, float] = (1.0, 1.0)
    steps: tuple[float, float] = (np.nan, np.nan)


def leg_record(
    recording: Recording,
    *,
    forces: bool,
    shortest: float,
    bridged: float = 0.0,
    instruments: bool = False,
) -> LegRecord:
    """Put the legs of a recording on a grid.

    Args:
        forces: Whether drive forces are needed.
        shortest: Pieces that are not longer are left out [s].
        bridged: A step between samples is no gap up to here, as close as a motion needs them; it
            is interpolated across [s].
        instruments: Whether the commanded strokes are needed.

    Raises:
        UnusableRecording: If forces are needed and no leg has any, the platform stood still,
            nothing is left, or strokes or commands are nowhere to be had.
    """
    series = recording.actuators
    if not len(series):
        raise UnusableRecording(f'{recording.path}: there are no actuator states')
    strokes, remarks = _whole_strokes(recording, series)
    asked = None
    if instruments:
        asked, remark = _instruments(recording, series)
        remarks.append(remark)
    refused: dict[str, NDArray[np.bool_]] = {
        'strokes that jump away and back': glitches(strokes, GLITCH_OF_STROKES)
    }
    missing, stuck = absent_columns(series.effort), stuck_columns(series.effort)
    if forces:
        remarks += _about_forces(recording, series, missing, stuck)
        refused |= {
            'efforts not finite': np.asarray(~np.isfinite(series.effort).any(axis=1)),
            'efforts that jump away and back': glitches(series.effort, GLITCH_OF_EFFORTS),
            'drives without power': _unpowered(recording, series),
        }
    origin = int(series.stamp_ns[np.flatnonzero(series.stamp_ns)[:1]].sum())
    good = usable(series, {'strokes': strokes}, origin, recording.begin_ns, refused, bridged)
    _refuse_what_is_useless(recording, series, good, strokes)
    efforts = np.array(series.effort)
    efforts[:, [leg - 1 for leg in stuck]] = np.nan
    ends = standing(efforts)
    remarks += _about_ends(series.topic, efforts, ends)
    efforts[ends] = np.nan
    pieces, short = _pieces(good, strokes, efforts, asked, shortest)
    begin = (origin - recording.begin_ns) / 1e9
    if short:
        text = f'in pieces shorter than {1e3 * shortest:.0f} ms between gaps, left out'
        remarks.append(Remark(series.topic, short[0] + begin, len(short), text))
    if not pieces:
        raise UnusableRecording(
            f'{recording.path}: no piece of {series.topic} without a gap is longer than '
            f'{shortest:.4g} s, {len(good.rows)} samples in '
            f'{good.stamps[-1] - good.stamps[0]:.3g} s have {len(good.breaks) - 1} gaps'
        )
    moving = good.rows[_travelling(strokes[good.rows])]
    (new_stroke, step), (new_effort, force_step) = map(repeats, (strokes[moving], efforts[moving]))
    told = (*remarks, *good.remarks)
    where, held, steps = (origin, begin), (new_stroke, new_effort), (step, force_step)
    return LegRecord(tuple(pieces), good.period, *where, series.topic, told, held, steps)


def _about_forces(
    recording: Recording, series: JointSeries, missing: tuple[int, ...], stuck: tuple[int, ...]
) -> list[Remark]:
    """Tell of legs whose forces are not used; raises `UnusableRecording` if that is all of them.

    Args:
        missing, stuck: Legs without an effort, and those with one and the same all the time.
    """
    if len(missing) == 6:
        raise UnusableRecording(
            f'{recording.path}: none of the {len(series)} messages of {series.topic} has an '
            'effort, so there is no drive torque to identify from'
        )
    if len({*missing, *stuck}) == 6:
        raise UnusableRecording(
            f'{recording.path}: no effort of {series.topic} ever changes in '
            f'{len(series)} messages, so no drive torque was measured'
        )
    told = []
    if missing:
        told.append(_leg_remark(series, missing, 'no effort, their forces are not used'))
    if stuck:
        text = 'one effort all the time, which no drive measures, their forces are not used'
        told.append(_leg_remark(series, stuck, text))
    return [*told, *_about_holes(recording, series, missing)]


def _about_ends(topic: str, efforts: Array, ends: NDArray[np.bool_]) -> list[Remark]:
    """Tell of efforts (n, 6) that stand at an end of their range or at 0 where `ends` says so."""
    told = []
    for leg in np.flatnonzero(ends.any(axis=0)):
        there = ends[:, leg]
        text = (
            f'leg {leg + 1}: effort stands at {efforts[there.argmax(), leg]:.4g} N, as of a '
            'sensor that is overloaded or off, and is not used there'
        )
        told.append(Remark(topic, float('nan'), int(there.sum()), text))
    return told


def _travelling(strokes: Array) -> Array:
    """Return which of some strokes (n, 6) belong to a stretch in which a leg moves (n,).

    At rest what a coarse encoder says repeats, too.
    """
    begins = np.arange(0, len(strokes), STRETCH)
    spans = np.maximum.reduceat(strokes, begins) - np.minimum.reduceat(strokes, begins)
    moving = spans.max(axis=1) > TRAVELLED * np.ptp(strokes, axis=0).max()
    return np.asarray(np.repeat(moving, STRETCH)[: len(strokes)])


def _refuse_what_is_useless(
    recording: Recording, series: JointSeries, good: Usable, strokes: Array
) -> None:
    if not series.stamp_ns.any():
        raise UnusableRecording(
            f'{recording.path}: all stamps of {series.topic} are zero, and when it was received '
            'is too rough for derivatives: have its program stamp it'
        )
    if len(good.rows) < 2:
        why = '; '.join(map(str, good.remarks)) or 'there are no more'
        raise UnusableRecording(
            f'{recording.path}: {len(good.rows)} of the {len(series)} messages of {series.topic} '
            f'can be used ({why})'
        )
    travel = float(np.ptp(strokes[good.rows], axis=0).max())
    if travel < LEAST_TRAVEL:
        raise UnusableRecording(
            f'{recording.path}: {series.topic} stands still, no leg moves by more than '
            f'{1e3 * travel:.3g} mm in {good.stamps[-1] - good.stamps[0]:.3g} s '
            f'({len(good.rows)} samples); {1e3 * LEAST_TRAVEL:g} mm are needed'
        )


def _pieces(
    good: Usable, strokes: Array, efforts: Array, asked: Array | None, shortest: float
) -> tuple[list[LegPiece], list[float]]:
    """Interpolate between gaps; return the pieces and the instants of those too short."""
    pieces: list[LegPiece] = []
    short: list[float] = []
    for part in good.pieces():
        rows, time = good.rows[part], good.stamps[part]
        if len(rows) < 4 or time[-1] - time[0] <= shortest:
            short += time.tolist()
            continue
        count = int(np.floor((time[-1] - time[0]) / good.period + 1e-6)) + 1
        grid = time[0] + good.period * np.arange(count)
        grid[-1] = min(grid[-1], time[-1])
        # Stamps jitter about the grid by little: a local cubic keeps the shape between them.
        smooth = Akima1DInterpolator(time, strokes[rows], axis=0)(grid)
        forces = np.column_stack([_across(grid, time, c, good.longest) for c in efforts[rows].T])
        commands = None if asked is None else Akima1DInterpolator(time, asked[rows], axis=0)(grid)
        pieces.append(LegPiece(grid, smooth, forces, commands))
    return pieces, short


def _across(grid: Array, time: Array, values: Array, longest: float) -> Array:
    """Interpolate across missing values; NaN where they are missing for longer than a gap."""
    known = np.flatnonzero(np.isfinite(values))
    if not known.size:
        return np.full(len(grid), np.nan)
    there = time[known]
    found = np.interp(grid, there, values[known], left=np.nan, right=np.nan)
    for first in np.flatnonzero(np.diff(there) > longest):
        if known[first + 1] > known[first] + 1:
            found[(grid > there[first]) & (grid < there[first + 1])] = np.nan
    return np.asarray(found)


def _about_holes(
    recording: Recording, series: JointSeries, missing: tuple[int, ...]
) -> list[Remark]:
    """Say which legs lack their force for a while; `missing` have none at all."""
    finite = np.isfinite(series.effort)
    absent = finite.any(axis=1, keepdims=True) & ~finite
    remarks = []
    for leg in (leg for leg in range(1, 7) if leg not in missing and absent[:, leg - 1].any()):
        rows = np.flatnonzero(absent[:, leg - 1])
        begin = (int(series.bag_time_ns[rows[0]]) - recording.begin_ns) / 1e9
        text = f'{_legs((leg,))}: effort not finite, its force is not used'
        remarks.append(Remark(series.topic, begin, rows.size, text))
    return remarks


def _unpowered(recording: Recording, series: JointSeries) -> NDArray[np.bool_]:
    """Tell when brakes and not drives held the legs; then a force of 0 was not measured."""
    states = recording.driver_states
    if states is None or not len(states):
        # Six drives never have a force of exactly 0 at once while they hold a weight.
        return np.asarray(~np.nan_to_num(series.effort, nan=0.0).any(axis=1))
    order = np.argsort(states.stamp_ns, kind='stable')
    last = np.searchsorted(states.stamp_ns[order], series.stamp_ns, side='right') - 1
    state = np.where(last >= 0, states.state[order][np.maximum(last, 0)], -1.0)
    return np.asarray(~np.isin(state, POWERED))


def _whole_strokes(recording: Recording, series: JointSeries) -> tuple[Array, list[Remark]]:
    """Return measured strokes; those of a leg without any are the commanded ones, delayed."""
    if series.parted:
        raise UnusableRecording(f'{recording.path}: {series.parted}')
    missing = absent_columns(series.position)
    if not missing:
        return series.position, []
    if len(missing) == 6:
        raise UnusableRecording(
            f'{recording.path}: none of the {len(series)} messages of {series.topic} has the '
            'stroke of a leg_1 ... leg_6'
        )
    commands = recording.commands
    if commands is None or not len(commands):
        raise UnusableRecording(
            f'{recording.path}: {series.topic} lacks the strokes of {_legs(missing)} in all '
            f'{len(series)} messages, and without joint_commands nothing stands in for them'
        )
    asked, found = _late_commands(recording, commands, series)
    strokes = np.where(np.isin(np.arange(1, 7), missing), asked, series.position)
    text = (
        f'no stroke, the commanded one stands in, {1e3 * found.offset:.2f} ms later as the other '
        f'legs are (correlation {found.correlation:.5f})'
    )
    return strokes, [_leg_remark(series, missing, text)]


def _instruments(recording: Recording, series: JointSeries) -> tuple[Array, Remark]:
    """Return the commanded strokes of all legs at the stamps of the measured ones."""
    commands = recording.commands
    if commands is None or not len(commands):
        raise UnusableRecording(
            f'{recording.path}: there are no joint_commands; without the commanded strokes of all '
            'six legs identify without instruments'
        )
    asked, found = _late_commands(recording, commands, series)
    text = (
        f'instruments, {1e3 * found.offset:.2f} ms later as the measured strokes are (correlation '
        f'{found.correlation:.5f})'
    )
    return asked, Remark(commands.topic, float('nan'), len(commands), text)


def _late_commands(
    recording: Recording, commands: JointSeries, series: JointSeries
) -> tuple[Array, ClockOffset]:
    """Return commanded strokes, shape (n, 6), as late as measured ones, and how late that is."""
    origin = int(series.stamp_ns[0])
    asked = usable(commands, {'strokes': commands.position}, origin, recording.begin_ns)
    absent = absent_columns(series.position)
    present = [leg for leg in range(6) if leg + 1 not in absent]
    known = (series.stamp_ns != 0) & np.isfinite(series.position[:, present]).all(axis=1)
    stamps = series.seconds(origin)
    rows = np.flatnonzero(known)[np.unique(stamps[known], return_index=True)[1]]
    found = clock_offset(
        asked.stamps,
        commands.position[asked.rows][:, present],
        stamps[rows],
        series.position[rows][:, present],
        longest=LONGEST_DELAY,
        where=f'{recording.path}: {commands.topic} and {series.topic}',
    )
    moments = stamps - found.offset
    columns = commands.position[asked.rows].T
    return np.column_stack([np.interp(moments, asked.stamps, c) for c in columns]), found


def _leg_remark(series: JointSeries, legs: tuple[int, ...], text: str) -> Remark:
    return Remark(series.topic, float('nan'), len(series), f'{_legs(legs)}: {text}')


def _legs(legs: tuple[int, ...]) -> str:
    return f'leg{"s" if len(legs) > 1 else ""} {", ".join(map(str, legs))}'
