# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Dates and times of day in the cells of a log, as programs of several countries write them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
import re

import numpy as np
from stewart_identification.importing.imu_log import NoImuLog, Stamps, stamps_at

DAY = re.compile(
    r'^(?:(?P<year>\d{4})[-/.年](?P<month>\d{1,2})[-/.月](?P<day>\d{1,2})日?'
    r'|(?P<first>\d{1,2})(?P<sign>[./-])(?P<second>\d{1,2})(?P=sign)(?P<last>\d{4}))$'
)
CLOCK = re.compile(
    r'^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.:,](?P<part>\d+))?\s*(?P<half>[AP]M)?'
    r'(?:Z|(?P<east>[+-]\d{2}):?(?P<minutes>\d{2}))?$',
    re.IGNORECASE,
)
DAY_NS = 86_400_000_000_000
Cells = Sequence[tuple[int, str]]
"""Lines and what stands there."""


def is_moment(cell: str) -> bool:
    """Tell whether a cell holds a time of day, with a date or without."""
    return CLOCK.match(_halves(cell)[1]) is not None


def _halves(cell: str) -> tuple[str, str]:
    """Split a cell into a date, empty if there is none, and a time of day."""
    date, _, clock = cell.strip().replace('T', ' ').replace(', ', ' ').partition(' ')
    return (date, clock.strip()) if DAY.match(date) else ('', cell.strip())


def stamps_of_moments(cells: Cells, start_ns: int, path: Path) -> tuple[Stamps, list[str]]:
    """Return stamps (n,) of times of day, which begin at `start_ns` where there is no date.

    Also what was assumed.

    Raises:
        NoImuLog: If a cell is none, or a message cannot hold its time.
    """
    halves = [_halves(cell) for _, cell in cells]
    remarks: list[str] = []
    dated = any(date for date, _ in halves)
    clocks = [CLOCK.match(clock) for _, clock in halves]
    for (number, cell), (date, _), clock in zip(cells, halves, clocks, strict=True):
        if clock is None or bool(date) != dated:
            what = 'no date with a time' if dated else 'no time of day'
            raise NoImuLog(f'{path}:{number}: {cell!r} is {what}')
    found = [clock for clock in clocks if clock is not None]
    if dated:
        days, remarks = _days([date for date, _ in halves], cells, path)
    else:
        days = np.full(len(cells), start_ns)
    times = days + np.array([_of_day(clock) for clock in found])
    digits = [clock['part'] or '' for clock in found]
    whole = np.array([int(part.ljust(9, '0')[:9]) for part in digits], np.int64)
    if len(set(map(len, digits))) > 1 and max(map(len, digits)) <= 3:
        # Some programs write 9:30:00.5 for five milliseconds.
        counted = np.array([int(part or 0) * 1_000_000 for part in digits], np.int64)
        if _backward(times + counted) < _backward(times + whole):
            whole = counted
            remarks.append(f'{path}: fractions of a second are read as counts of milliseconds')
    times += whole
    if not dated:
        # A day more wherever the clock goes back by more than half of one.
        times += DAY_NS * np.cumsum(np.diff(times, prepend=times[0]) < -DAY_NS // 2)
    return stamps_at(times.tolist(), str(path)), remarks


def _backward(times: Stamps) -> int:
    return int((np.diff(times) < 0).sum())


def _of_day(clock: re.Match[str]) -> int:
    """Return the whole seconds of a time of day, UTC where it has a zone [ns]."""
    hour, minute, second = map(int, clock.groups()[:3])
    if clock['half']:
        hour = hour % 12 + (12 if clock['half'].lower() == 'pm' else 0)
    hours, minutes = int(clock['east'] or 0), int(clock['minutes'] or 0)
    east = 3600 * hours + (-60 * minutes if (clock['east'] or '+')[0] == '-' else 60 * minutes)
    return (3600 * hour + 60 * minute + second - east) * 1_000_000_000


def _days(dates: Sequence[str], cells: Cells, path: Path) -> tuple[Stamps, list[str]]:
    """Return the beginnings of days, shape (n,) [ns since the epoch], and what was assumed."""
    matches = {date: found for date in dates if (found := DAY.match(date))}
    american = all(found['sign'] == '/' for found in matches.values())
    american &= all(int(found['first'] or 0) <= 12 for found in matches.values())
    known = {}
    for date, found in matches.items():
        day, month = ('second', 'first') if american else ('first', 'second')
        if found['year']:
            day, month = 'day', 'month'
        try:
            moment = datetime(
                int(found['year'] or found['last']),
                int(found[month]),
                int(found[day]),
                tzinfo=timezone.utc,
            )
        except ValueError as error:
            number, cell = cells[dates.index(date)]
            raise NoImuLog(f'{path}:{number}: {cell!r} is no date with a time') from error
        known[date] = int(moment.timestamp()) * 1_000_000_000
    remarks = []
    if american and all(int(found['second']) <= 12 for found in matches.values()):
        remarks.append(f'{path}: in dates as {dates[0]} the month is assumed to come first')
    return stamps_at([known[date] for date in dates], str(path)), remarks
