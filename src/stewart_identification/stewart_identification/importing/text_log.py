# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Logs as text with a line of column names: WitMotion's, and those of other programs.

Columns are separated by tabulators, commas, semicolons or blanks; where it is not the comma,
numbers may have a decimal comma. A second line may hold the units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import csv
from datetime import datetime, timezone
from pathlib import Path
import re

import numpy as np
from stewart_identification.importing.imu_log import (
    NoImuLog,
    Stamps,
    stamps_after,
    stamps_at,
    stamps_of_numbers,
)
from stewart_identification.importing.leg_log import has_legs, UNITS
from stewart_identification.importing.named_columns import (
    DEVICE,
    LogTable,
    plain,
    split_unit,
    TIMES,
    vector_places,
)
from stewart_kinematics.motion import Array

HEADER_WITHIN = 20
"""Lines; some versions write when the recording began before the names."""
CLOCK = re.compile(r'^(\d{1,2}):(\d{2}):(\d{2})(?:[.:,](\d+))?$')
DATE = re.compile(
    r'^(\d{4})[-/](\d{1,2})[-/](\d{1,2})[T ](\d{1,2}):(\d{2}):(\d{2})(?:[.:,](\d+))?'
    r'(?:Z|([+-]\d{2}):?(\d{2}))?$'
)
SPOKEN = {'sec', 'g', 'm/s2', 'm/s²', 'deg/s', '°/s', 'deg', '°', 'rad/s', 'hh:mm:ss'}
"""Units in a line of their own, beside those that a name may end in."""
DAY_NS = 86_400_000_000_000


def text_table(
    path: Path,
    *,
    device: str = '',
    names: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    rate: float | None = None,
) -> LogTable:
    """Read the columns of a log.

    Args:
        path: Text file.
        device: Part of the sensor's name, where one log holds several.
        names: Columns for roles that are not found by their names: ``time``, or six of the legs.
        units: What the user says of units, by quantity.
        rate: Sampling rate, for a log without times [Hz].

    Raises:
        NoImuLog: If no line names columns that are known, or there are several devices.
        OSError: If the file cannot be read.
    """
    chosen, said = dict(names or {}), dict(units or {})
    for role in sorted(set(chosen) - {'time', *UNITS}):
        roles = ', '.join(('time', *UNITS))
        raise NoImuLog(f'{path}: no role {role!r} that a column of text can be given: {roles}')
    text = _decoded(path)
    lines = text.splitlines()
    first, split, heads = _header(lines, chosen, path)
    remarks = []
    if len(lines) > first + 2 and not text.endswith(('\n', '\r')):
        # Whoever logs ends every line; half a number reads as a number.
        remarks.append(f'{path}:{len(lines)}: the last line has no end and is left out')
        lines.pop()
    rows = [
        (number, split(line))
        for number, line in enumerate(lines[first + 1 :], first + 2)
        # Some versions repeat the names whenever a recording is taken up again.
        if line.strip() and [plain(cell) for cell in split(line)] != [plain(n) for n in heads]
    ]
    if rows and _are_units(rows[0][1]):
        units_of = [cell.strip('[]()') for cell in rows.pop(0)[1]]
        heads = [f'{name}({unit})' for name, unit in zip(heads, units_of, strict=False)]
    if not rows:
        raise NoImuLog(f'{path}: there are names of columns and no samples')
    rows = _of_device(rows, heads, device, path)
    listed = ', '.join(heads)

    def stamps(start_ns: int) -> Stamps:
        if rate is not None:
            return stamps_after(start_ns, np.arange(len(rows)) / rate, str(path))
        found, about = _stamps(rows, heads, start_ns, path, chosen.get('time'), said.get('time'))
        remarks.extend(text for text in about if text not in remarks)
        return found

    return LogTable(
        f'{path}:{first + 1}',
        heads,
        lambda places: _numbers(rows, places, heads, path),
        stamps,
        f'{path.name}, text with the columns {listed}',
        f'columns {listed}',
        said,
        remarks,
    )


def _decoded(path: Path) -> str:
    content = path.read_bytes()
    for encoding in ('utf-8-sig', 'gb18030'):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise NoImuLog(f'{path}: no text, byte 0 to 3 are {content[:4].hex(" ")}')


def _header(
    lines: list[str], chosen: Mapping[str, str], path: Path
) -> tuple[int, Callable[[str], list[str]], list[str]]:
    """Find the line of names; return its place, how cells are split, and the names."""
    for number, line in enumerate(lines[:HEADER_WITHIN]):
        for separator in ('\t', ',', ';', None):
            names = [name.strip() for name in line.split(separator)]
            if vector_places(names, 'acceleration') is not None or has_legs(names, chosen):
                by = separator

                def split(text: str, by: str | None = by) -> list[str]:
                    text = text.rstrip('\r\n\t,; ')
                    if by is not None and '"' in text:
                        return [cell.strip() for cell in next(csv.reader([text], delimiter=by))]
                    return [cell.strip() for cell in text.split(by)]

                return number, split, [name for name in names if name]
    raise NoImuLog(
        f'{path}: none of the first {HEADER_WITHIN} lines names accelerations, as AccX(g) or '
        'ax(g), or six legs, as stroke_1_mm or L1[mm]'
    )


def _are_units(cells: list[str]) -> bool:
    """Tell whether a row holds units and no numbers."""
    words = {cell.strip('[]() ').lower() for cell in cells} - {'', '-'}
    return bool(words) and all(split_unit(f'x_{word}')[1] or word in SPOKEN for word in words)


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
    rows: list[tuple[int, list[str]]],
    names: list[str],
    start_ns: int,
    path: Path,
    chosen: str | None,
    unit: str | None,
) -> tuple[Stamps, list[str]]:
    """Return stamps; the sensor's own clock is better than that of the program that logged."""
    columns = {
        plain(name): i
        for i, name in enumerate(names)
        if name == chosen or (chosen is None and plain(split_unit(name)[0]) in TIMES)
    }
    order = [*(n for n in columns if n in {'chiptime', '片上时间'}), *columns]
    for name in order:
        column = columns[name]
        cells = [(number, row[column] if column < len(row) else '') for number, row in rows]
        if DATE.match(cells[0][1]):
            return stamps_at([_dated(cell, number, path) for number, cell in cells], str(path)), []
        if CLOCK.match(cells[0][1]):
            times = _over_midnight([_clock(cell, number, path) for number, cell in cells])
            return stamps_at([start_ns + time for time in times], str(path)), []
        try:
            values = np.array([number_in(cell) for _, cell in cells])
        except ValueError:
            continue  # such as null, where the sensor has no clock
        unit = unit or split_unit(names[column])[1]
        return stamps_of_numbers(values, unit, start_ns, str(path))
    raise NoImuLog(
        f'{path}: no column of times among {", ".join(names)}: say which, as --name time=NAME, '
        'or the sampling rate, as --rate 100'
    )


def number_in(cell: str) -> float:
    """Return the number in a cell, which may have a decimal comma."""
    if ',' in cell:
        # The last of the two is the decimal sign, the other one parts thousands.
        point, comma = ('.', ',') if cell.rfind(',') > cell.rfind('.') else (',', '.')
        cell = cell.replace(point, '').replace(comma, '.')
    return float(cell)


def _dated(cell: str, number: int, path: Path) -> int:
    found = DATE.match(cell)
    if not found:
        raise NoImuLog(f'{path}:{number}: {cell!r} is no date with a time')
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
    except ValueError as error:
        raise NoImuLog(f'{path}:{number}: {cell!r} is no date with a time') from error
    hours, minutes = (int(part or 0) for part in found.groups()[7:])
    east = 3600 * hours + (60 * minutes if hours >= 0 else -60 * minutes)
    return (int(moment.timestamp()) - east) * 1_000_000_000 + _fraction(found.group(7))


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
                out[index, place] = number_in(cells[column])
            except (ValueError, IndexError) as error:
                cell = cells[column] if column < len(cells) else ''
                raise NoImuLog(
                    f'{path}:{number}: {names[column]} is {cell!r}, expected a number'
                ) from error
    return out
