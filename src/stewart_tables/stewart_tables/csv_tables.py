# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of numbers as CSV: reading and writing, as a whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
import csv
from dataclasses import dataclass
from io import TextIOWrapper
import math
import os
from pathlib import Path
import sys
from typing import Any, IO, TextIO

import numpy as np
from numpy.typing import ArrayLike, NDArray
from stewart_tables.errors import ConfigurationError, LARGEST, listed
from stewart_tables.numbers import is_plain
from stewart_tables.progress import Progress, silent
from stewart_tables.whole_files import whole_file

Array = NDArray[np.float64]

STANDARD_STREAM = '-'  # name that stands for standard input or output

ENCODING = 'utf-8-sig'
"""UTF-8; a mark at its beginning, which spreadsheets write, is no part of the first name."""

REMARK = '#'
ROWS_TOLD = 5000  # rows after which progress is told


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers of a CSV file.

    Attributes:
        source: Name of the file, for messages.
        values (n,): Columns that were asked for and are there.
        lines (n,): Line of the file each row stands on; the first line is 1.
        others: Columns that nobody has asked for.
        header_line: Line with the names of the columns.
    """

    source: str
    values: dict[str, Array]
    lines: Array
    others: tuple[str, ...] = ()
    header_line: int = 1

    @property
    def head(self) -> str:
        """File and line of the names of the columns, for messages."""
        return f'{self.source}:{self.header_line}'

    def line(self, row: int) -> str:
        """Return file and line of a row, for messages."""
        return f'{self.source}:{self.lines[row]}'

    def has(self, columns: Sequence[str]) -> bool:
        """Tell whether a group of columns is there: all of them.

        Raises:
            ConfigurationError: If some are there and others are not.
        """
        there = [name for name in columns if name in self.values]
        if there and len(there) < len(columns):
            self.take(columns)
        return bool(there)

    def take(self, columns: Sequence[str]) -> Array:
        """Return a group of columns (n, len(columns)).

        Raises:
            ConfigurationError: If one is missing.
        """
        missing = [name for name in columns if name not in self.values]
        if missing:
            found = listed([*self.values, *self.others])
            expected = f'the columns {listed(missing)} as well'
            if {f'{name}m' for name in missing if name.endswith('_m')}.intersection(self.others):
                expected += ', in metres'
            raise ConfigurationError(self.head, found, expected)
        return np.column_stack([self.values[name] for name in columns])


def read_table(
    source: str | Path,
    columns: Sequence[str],
    progress: Progress = silent,
    *,
    gaps: Sequence[str] = (),
) -> Table:
    """Read columns of a CSV file, or of standard input, ``-``, whose first line names its columns.

    Wanted columns are read where they are there; all others may hold anything. In the columns
    `gaps` an empty cell or ``nan`` is a missing value, NaN. Lines that begin with ``#`` are left
    out, but for one in front that names wanted columns, as ``numpy.savetxt`` writes it.

    Raises:
        ConfigurationError: If it is no text, there is no header, a column is named twice, a row
            has another number of cells, or a cell of a wanted column is not a number up to
            `LARGEST`; file, line and column are named.
        OSError: If the file cannot be read.
    """
    standard = str(source) == STANDARD_STREAM
    name = 'standard input' if standard else str(source)
    try:
        if standard:
            return _read(_standard_input(), name, columns, gaps, progress)
        with Path(source).open(newline='', encoding=ENCODING) as stream:
            return _read(stream, name, columns, gaps, progress)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ConfigurationError(name, str(error), 'a CSV file in UTF-8') from error


def _standard_input() -> TextIO:
    """Return standard input, read as a file is."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding=ENCODING, errors='strict', newline='')
    return sys.stdin


def _read(
    stream: TextIO,
    source: str,
    columns: Sequence[str],
    gaps: Sequence[str],
    progress: Progress,
) -> Table:
    """Read an open stream."""
    size = _size(stream)
    # One quote in a remark would take in the lines behind it, as a cell that goes on.
    reader = csv.reader(
        line.replace('"', '') if line.startswith(REMARK) else line for line in stream
    )
    header = _header(reader, columns)
    header_line = max(reader.line_num, 1)
    where = f'{source}:{header_line}'
    if not header:
        expected = f'a line with the names of the columns, as {columns[0]}'
        raise ConfigurationError(where, '', expected)
    for separator, spoken in ((';', 'semicolons'), ('\t', 'tabulators')):
        if len(header) < 3 and separator in ''.join(header):
            expected = 'commas between the columns, and decimal points'
            raise ConfigurationError(where, f'{spoken} between them', expected)
    wanted = [name for name in columns if name in header]
    for name in wanted:
        if header.count(name) > 1:
            raise ConfigurationError(where, name, 'every column once')
    others = tuple(name for name in header if name not in wanted)
    places = [header.index(name) for name in wanted]
    lines, rows = [], []
    for cells in reader:
        if not cells or cells[0].startswith(REMARK):
            continue
        line = reader.line_num
        if len(cells) != len(header):
            raise ConfigurationError(f'{source}:{line}', len(cells), f'{len(header)} cells')
        lines.append(line)
        found = [cells[place] for place in places]
        try:
            row = [*map(float, found)]
        except ValueError:
            row = [math.nan]
        # One comparison for the row, which NaN fails, too.
        if not (sum(map(abs, row)) <= LARGEST and is_plain(''.join(found))):
            row = _checked_row(cells, places, header, f'{source}:{line}', gaps)
        rows.append(row)
        if len(rows) % ROWS_TOLD == 0:
            progress(stream.buffer.tell() / size if size else None)
    numbers = np.array(rows, dtype=np.float64).reshape(len(rows), len(wanted))
    return Table(
        source,
        dict(zip(wanted, numbers.T, strict=True)),
        np.array(lines, dtype=int),
        others,
        header_line,
    )


def _header(lines: Iterable[list[str]], columns: Sequence[str]) -> list[str]:
    """Return the names of the columns; lines that say something else before them are skipped."""
    for cells in filter(None, lines):
        names = [cell.strip() for cell in cells]
        if not names[0].startswith(REMARK):
            return names
        names[0] = names[0].removeprefix(REMARK).strip()
        if not set(names).isdisjoint(columns):
            return names
    return []


def _size(stream: TextIO) -> int:
    """Return how many bytes a stream has [B], 0 where that is not known."""
    try:
        return os.fstat(stream.fileno()).st_size
    except OSError:
        return 0


def _checked_row(
    cells: list[str], places: list[int], header: list[str], where: str, gaps: Sequence[str]
) -> list[float]:
    """Return the numbers of a row with gaps; name the first cell that is neither, if any."""
    row = []
    for place in places:
        name, cell = f'{where}: {header[place]}', cells[place]
        if header[place] in gaps and cell.strip().lower() in {'', 'nan'}:
            row.append(math.nan)
            continue
        if not is_plain(cell):
            raise ConfigurationError(name, cell, 'a number of plain digits')
        try:
            value = float(cell)
        except ValueError as error:
            expected = 'a number with a decimal point' if ',' in cell else 'a number'
            raise ConfigurationError(name, cell, expected) from error
        if not math.isfinite(value):
            raise ConfigurationError(name, cell, 'a finite number')
        if abs(value) > LARGEST:
            raise ConfigurationError(name, cell, f'a number from {-LARGEST:g} to {LARGEST:g}')
        row.append(value)
    return row


def write_table(
    target: str | Path, columns: Sequence[str], values: ArrayLike, progress: Progress = silent
) -> None:
    """Write values (n, len(columns)) as CSV with 15 significant digits, as a whole or not at all.

    The target is that of `output_text`; what is not a number is written as ``nan``.
    """
    table = np.asarray(values, dtype=np.float64).reshape(-1, len(columns))
    with output_text(target) as stream:
        stream.write(','.join(columns) + '\n')
        for begin in range(0, len(table), ROWS_TOLD):
            # Adding 0 turns -0 into 0.
            rows = table[begin : begin + ROWS_TOLD] + 0.0
            np.savetxt(stream, rows, fmt='%.15g', delimiter=',')
            progress((begin + len(rows)) / len(table))


def output_text(target: str | Path) -> AbstractContextManager[IO[Any]]:
    """Open a file that will be written as a whole or not at all, or standard output, ``-``."""
    return nullcontext(sys.stdout) if str(target) == STANDARD_STREAM else whole_file(target)
