# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Logs of WitMotion's programs: text with a line of column names, separated as it may be.

The attitude is the quaternion where it was logged, otherwise roll, pitch and yaw.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
import re

import numpy as np
from stewart_identification.importing.imu_log import (
    attitude_of,
    ImuLog,
    NoImuLog,
    Stamps,
    stamps_after,
    stamps_at,
)
from stewart_identification.importing.named_columns import (
    DEVICE,
    NamedColumns,
    plain,
    TIMES,
    vector_places,
)
from stewart_kinematics.motion import Array

HEADER_WITHIN = 20
"""Lines; some versions write when the recording began before the names."""
CLOCK = re.compile(r'^(\d{1,2}):(\d{2}):(\d{2})(?:[.:,](\d+))?$')
DATE = re.compile(
    r'^(\d{4})[-/](\d{1,2})[-/](\d{1,2})[T ](\d{1,2}):(\d{2}):(\d{2})(?:[.:,](\d+))?$'
)
DAY_NS = 86_400_000_000_000


def read_text_log(path: Path, *, device: str = '', start_ns: int = 0) -> ImuLog:
    """Read a log, in SI units.

    Args:
        path: Text file.
        device: Part of the sensor's name, where one log holds several.
        start_ns: When the log begins, where it has no date: the day is added to clock times,
            seconds count from here [ns since the epoch].

    Raises:
        NoImuLog: If columns are missing, a cell is not a number, or there are several devices.
        OSError: If the file cannot be read.
    """
    text = _decoded(path)
    lines = text.splitlines()
    first, split, names = _header(lines, path)
    remarks = []
    if len(lines) > first + 2 and not text.endswith(('\n', '\r')):
        # Whoever logs ends every line; half a number reads as a number.
        remarks.append(f'{path}:{len(lines)}: the last line has no end and is left out')
        lines.pop()
    rows = [
        (number, split(line))
        for number, line in enumerate(lines[first + 1 :], first + 2)
        # Some versions repeat the names whenever a recording is taken up again.
        if line.strip() and [plain(cell) for cell in split(line)] != [plain(n) for n in names]
    ]
    if not rows:
        raise NoImuLog(f'{path}: there are names of columns and no samples')
    rows = _of_device(rows, names, device, path)
    columns = NamedColumns(
        f'{path}:{first + 1}', names, lambda places: _numbers(rows, places, names, path)
    )
    return ImuLog(
        _stamps(rows, names, start_ns, path),
        columns.needed('acceleration'),
        columns.needed('angular velocity'),
        attitude_of(columns.quaternion(), columns.vector('angle')),
        f'{path.name}, text with the columns {", ".join(names)}',
        tuple(remarks),
    )


def _decoded(path: Path) -> str:
    content = path.read_bytes()
    for encoding in ('utf-8-sig', 'gb18030'):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise NoImuLog(f'{path}: no text, byte 0 to 3 are {content[:4].hex(" ")}')


def _header(lines: list[str], path: Path) -> tuple[int, Callable[[str], list[str]], list[str]]:
    """Find the line of names; return its place, how cells are split, and the names."""
    for number, line in enumerate(lines[:HEADER_WITHIN]):
        for separator in ('\t', ',', ';', None):
            names = [name.strip() for name in line.split(separator)]
            if vector_places(names, 'acceleration') is not None:
                chosen = separator

                def split(text: str, chosen: str | None = chosen) -> list[str]:
                    return [cell.strip() for cell in text.rstrip('\r\n\t,; ').split(chosen)]

                return number, split, [name for name in names if name]
    raise NoImuLog(
        f'{path}: none of the first {HEADER_WITHIN} lines names accelerations, as AccX(g) or ax(g)'
    )


def _of_device(
    rows: list[tuple[int, list[str]]], names: list[str], device: str, path: Path
) -> list[tuple[int, list[str]]]:
    """Keep the rows of one sensor."""
    column = next((i for i, name in enumerate(names) if plain(name) in DEVICE), None)
    if column is None:
        return rows
    present = sorted({cells[column] for _, cells in rows if len(cells) > column})
    chosen = [name for name in present if device in name]
    if len(chosen) != 1:
        wanted = f'{device!r} fits {len(chosen)}' if device else 'choose one by its name'
        raise NoImuLog(f'{path}: {len(present)} devices ({", ".join(present)}), {wanted}')
    return [row for row in rows if len(row[1]) > column and row[1][column] == chosen[0]]


def _stamps(
    rows: list[tuple[int, list[str]]], names: list[str], start_ns: int, path: Path
) -> Stamps:
    """Return stamps; the sensor's own clock is better than that of the program that logged."""
    columns = {plain(name): i for i, name in enumerate(names) if plain(name) in TIMES}
    order = [*(n for n in columns if n in {'chiptime', '片上时间'}), *columns]
    for name in order:
        column = columns[name]
        cells = [(number, row[column] if column < len(row) else '') for number, row in rows]
        if DATE.match(cells[0][1]):
            return stamps_at([_dated(cell, number, path) for number, cell in cells], str(path))
        if CLOCK.match(cells[0][1]):
            times = _over_midnight([_clock(cell, number, path) for number, cell in cells])
            return stamps_at([start_ns + time for time in times], str(path))
        try:
            seconds = np.array([float(cell) for _, cell in cells])
        except ValueError:
            continue  # such as null, where the sensor has no clock
        return stamps_after(start_ns, seconds, str(path))
    raise NoImuLog(f'{path}: no column of times among {", ".join(names)}')


def _dated(cell: str, number: int, path: Path) -> int:
    found = DATE.match(cell)
    if not found:
        raise NoImuLog(f'{path}:{number}: {cell!r} is no date with a time')
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
    except ValueError as error:
        raise NoImuLog(f'{path}:{number}: {cell!r} is no date with a time') from error
    return int(moment.timestamp()) * 1_000_000_000 + _fraction(found.group(7))


def _clock(cell: str, number: int, path: Path) -> int:
    found = CLOCK.match(cell)
    if not found:
        raise NoImuLog(f'{path}:{number}: {cell!r} is no time of day')
    hour, minute, second = map(int, found.groups()[:3])
    return (3600 * hour + 60 * minute + second) * 1_000_000_000 + _fraction(found.group(4))


def _fraction(digits: str | None) -> int:
    return int((digits or '0').ljust(9, '0')[:9])


def _over_midnight(times: list[int]) -> list[int]:
    """Add a day wherever the clock goes back by more than half of one."""
    days = np.cumsum(np.diff(times, prepend=times[0]) < -DAY_NS // 2)
    return [time + DAY_NS * int(day) for time, day in zip(times, days, strict=True)]


def _numbers(
    rows: list[tuple[int, list[str]]], columns: list[int], names: list[str], path: Path
) -> Array:
    out = np.empty((len(rows), len(columns)))
    for index, (number, cells) in enumerate(rows):
        for place, column in enumerate(columns):
            try:
                out[index, place] = float(cells[column])
            except (ValueError, IndexError) as error:
                cell = cells[column] if column < len(cells) else ''
                raise NoImuLog(
                    f'{path}:{number}: {names[column]} is {cell!r}, expected a number'
                ) from error
    return out
