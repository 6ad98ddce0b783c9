# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Logs as text with a line of column names: WitMotion's, and those of other programs.

Columns are separated by tabulators, commas, semicolons or blanks; where it is not the comma,
numbers may have a decimal comma. A second line may hold the units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
import csv
from functools import partial
import math
from pathlib import Path
import re

import numpy as np
from stewart_identification.importing.imu_log import (
    about_order,
    NoImuLog,
    refuse_taken_up,
    Stamps,
    stamps_after,
    stamps_of_numbers,
)
from stewart_identification.importing.leg_log import has_legs, UNITS
from stewart_identification.importing.named_columns import (
    DATES,
    DEVICE,
    LogTable,
    plain,
    spelt,
    split_unit,
    TIMES,
    vector_places,
)
from stewart_identification.importing.text_times import (
    Cells,
    DAY,
    is_moment,
    stamps_of_moments,
)
from stewart_kinematics.motion import Array

Rows = list[tuple[int, list[str]]]
"""Lines and their cells."""

BLANK_IN_DATE = re.compile(r'(\d[-/.]\d{1,4}) +(?=\d{1,2}:\d{2})')
HEADER_WITHIN = 20
"""Lines; some versions write when the recording began before the names."""
SPOKEN = {'g', 'm/s2', 'deg/s', '°/s', 'deg', '°', 'rad/s', 'hh:mm:ss'}
"""Units in a line of their own, beside those that a name may end in."""
MISSING = {'', 'null', 'none', 'na', 'n/a', '#n/a', '-', '--'}
"""What programs write for a number that they do not have, beside nan."""
CHINESE = re.compile('[加角时设]')
"""In the names that the vendor's program writes in China."""
STANDING = 0.5
"""Share of samples with the time of the one before, from which on times tell no rate."""


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
        device: Part of the sensor's name, where one log holds several.
        names: Columns for roles that are not found by their names: ``time``, or six of the legs.
        units: What the user says of units, by quantity.
        rate: Sampling rate, for a log without times [Hz].

    Raises:
        NoImuLog: If no line names columns that are known, there are several devices, or (of its
            stamps) times that begin again.
        OSError: If the file cannot be read.
    """
    chosen, said = dict(names or {}), dict(units or {})
    for role in sorted(set(chosen) - {'time', *UNITS}):
        roles = ', '.join(('time', *UNITS))
        raise NoImuLog(f'{path}: no role {role!r} that a column of text can be given: {roles}')
    first, heads, rows, remarks = _samples(_decoded(path.read_bytes()), chosen, path)
    rows = _of_device(rows, heads, device, path)
    listed = ', '.join(filter(None, heads))

    def stamps(start_ns: int) -> Stamps:
        def of(rows: Rows) -> tuple[Stamps, list[str]]:
            return _stamps(rows, heads, start_ns, path, chosen.get('time'), said.get('time'))

        if rate is not None:
            with suppress(NoImuLog):
                start_ns = int(of(rows[:1])[0][0])
            return stamps_after(start_ns, np.arange(len(rows)) / rate, str(path))
        found, about = of(rows)
        about += _about_times(found, path)
        refuse_taken_up(found, lambda sample: f'{path}:{rows[sample][0]}')
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


def _samples(
    text: str, chosen: Mapping[str, str], path: Path
) -> tuple[int, list[str], Rows, list[str]]:
    """Return the place of the names, the names with their units, what follows, and remarks."""
    lines = text.splitlines()
    first, split, heads = _header(lines, chosen, path)
    remarks = []
    if len(lines) > first + 2 and not text.endswith(('\n', '\r')):
        # Whoever logs ends every line; half a number reads as a number.
        remarks.append(f'{path}:{len(lines)}: the last line has no end and is left out')
        lines.pop()
    rows = [
        (number, _trimmed(split(line), len(heads)))
        for number, line in enumerate(lines[first + 1 :], first + 2)
        if line.strip()
    ]
    units_of: list[str] = []
    if rows and _are_units(rows[0][1]):
        units_of = rows[0][1]
    # Some versions repeat the names whenever a recording is taken up again.
    rows = [row for row in rows if row[1] not in (heads, units_of)]
    if units_of:
        pairs = zip(heads, units_of, strict=False)
        heads = [f'{name}({unit.strip("[]()")})' for name, unit in pairs]
    rows = _whole(rows, heads, path, remarks)
    if not rows:
        raise NoImuLog(f'{path}: there are names of columns and no samples')
    return first, heads, rows, remarks


def is_text(content: bytes) -> bool:
    """Tell whether a file with zeros in it is text: of two bytes a letter, or ending in zeros."""
    start = content[:64]
    return _two_bytes(start) is not None or (
        len(start) > 40 and re.search(rb'[\0-\x08]', start) is None
    )


def _two_bytes(content: bytes) -> str | None:
    """Return the encoding of text with two bytes a letter, as Windows writes Unicode."""
    if content[:2] in {b'\xff\xfe', b'\xfe\xff'}:
        return 'utf-16'
    zeros = [content[first:64:2].count(0) for first in (0, 1)]
    if max(zeros) >= 16 and min(zeros) == 0:
        return 'utf-16-le' if zeros[1] else 'utf-16-be'
    return None


def _decoded(content: bytes) -> str:
    """Return text; its first lines tell the encoding, what it does not have is replaced."""
    encoding = _two_bytes(content)
    if encoding is None:
        start = b'\n'.join(content.split(b'\n', HEADER_WITHIN)[:HEADER_WITHIN])
        try:
            start.decode(encoding := 'utf-8-sig')
        except UnicodeDecodeError:
            chinese = CHINESE.search(start.decode('gb18030', errors='replace'))
            encoding = 'gb18030' if chinese else 'cp1252'
    # A card that lost its supply ends in zeros.
    return content.decode(encoding, errors='replace').replace('\0', '')


def _header(
    lines: list[str], chosen: Mapping[str, str], path: Path
) -> tuple[int, Callable[[str], list[str]], list[str]]:
    """Find the line of names; return its place, how cells are split, and the names."""
    for number, line in enumerate(lines[:HEADER_WITHIN]):
        for separator in ('\t', ',', ';', None):
            split = partial(_split, by=separator)
            names = _trimmed(split(line.lstrip('#%')))
            if vector_places(names, 'acceleration') is not None or has_legs(names, chosen):
                return number, split, names
    raise NoImuLog(
        f'{path}: none of the first {HEADER_WITHIN} lines names accelerations, as AccX(g) or '
        'ax(g), or six legs, as stroke_1_mm or L1[mm]'
    )


def _split(text: str, by: str | None) -> list[str]:
    """Return the cells of a line."""
    if by is None:
        text = BLANK_IN_DATE.sub(r'\1T', text)
    cells = next(csv.reader([text], delimiter=by)) if by and '"' in text else text.split(by)
    return [cell.strip() for cell in cells]


def _trimmed(cells: list[str], least: int = 0) -> list[str]:
    """Return cells without the empty ones at their end, but `least` at least."""
    while len(cells) > least and not cells[-1]:
        cells = cells[:-1]
    return cells


def _whole(rows: Rows, heads: list[str], path: Path, remarks: list[str]) -> Rows:
    """Leave out rows that were cut; refuse a table with more cells than names."""
    many = [number for number, cells in rows if len(cells) > len(heads)]
    if len(many) > len(rows) // 2:
        raise NoImuLog(
            f'{path}:{many[0]}: more cells than the {len(heads)} names: are there decimal commas '
            'between commas? Separate the columns by semicolons or tabulators'
        )
    good = [row for row in rows if len(row[1]) == len(heads)]
    if len(good) <= len(rows) // 2:
        return rows
    if len(good) < len(rows):
        bad = next(number for number, cells in rows if len(cells) != len(heads))
        remarks.append(
            f'{path}: {len(rows) - len(good)} of {len(rows)} lines, line {bad} first, do not '
            f'have {len(heads)} cells and are left out'
        )
    return good


def _are_units(cells: list[str]) -> bool:
    """Tell whether a row holds units and no numbers."""
    words = {spelt(cell.strip('[]() ')) for cell in cells} - {'', '-'}
    return bool(words) and all(split_unit(f'x_{word}')[1] or word in SPOKEN for word in words)


def _of_device(rows: Rows, names: list[str], device: str, path: Path) -> Rows:
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
    rows: Rows,
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
        if any(is_moment(cell) for _, cell in cells[:HEADER_WITHIN]):
            return stamps_of_moments(_with_dates(cells, rows, names), start_ns, path)
        try:
            values = np.array([number_in(cell) for _, cell in cells])
        except ValueError:
            continue
        if np.isfinite(values).any():  # not null throughout, where the sensor has no clock
            unit = unit or split_unit(names[column])[1]
            return stamps_of_numbers(values, unit, start_ns, str(path))
    raise NoImuLog(
        f'{path}: no column of times among {", ".join(filter(None, names))}: say which, as --name '
        'time=NAME, or the sampling rate, as --rate 100'
    )


def _with_dates(cells: Cells, rows: Rows, names: list[str]) -> Cells:
    """Return times of day with the dates that stand in a column of their own."""
    place = next((i for i, name in enumerate(names) if plain(name) in DATES), None)
    if place is None or not all(len(row) > place and DAY.match(row[place]) for _, row in rows):
        return cells
    return [(n, f'{row[place]} {cell}') for (n, cell), (_, row) in zip(cells, rows, strict=True)]


def _about_times(stamps: Stamps, path: Path) -> list[str]:
    """Say how many times are not later than the one before; refuse times that mostly stand."""
    steps = np.diff(stamps)
    standing = int((steps == 0).sum())
    if len(steps) and standing > STANDING * len(steps):
        span = float(np.ptp(stamps)) / 1e9
        guess = f'{len(stamps) / span:.3g}, if it is even' if span else '100'
        raise NoImuLog(
            f'{path}: {standing} of {len(stamps)} samples have the time of the one before: say '
            f'the sampling rate, as --rate {guess}'
        )
    return [f'{path}: {text}' for text in about_order(steps)]


def number_in(cell: str) -> float:
    """Return the number in a cell, which may have a decimal comma; NaN where there is none."""
    if cell.lower() in MISSING:
        return math.nan
    if ',' in cell:
        # The last of the two is the decimal sign, the other one parts thousands.
        point, comma = ('.', ',') if cell.rfind(',') > cell.rfind('.') else (',', '.')
        cell = cell.replace(point, '').replace(comma, '.')
    return float(cell)


def _numbers(rows: Rows, columns: list[int], names: list[str], path: Path) -> Array:
    out = np.empty((len(rows), len(columns)))
    for index, (number, cells) in enumerate(rows):
        for place, column in enumerate(columns):
            try:
                out[index, place] = number_in(cells[column]) if column < len(cells) else math.nan
            except ValueError as error:
                raise NoImuLog(
                    f'{path}:{number}: {names[column]} is {cells[column]!r}, expected a number'
                ) from error
    return out
