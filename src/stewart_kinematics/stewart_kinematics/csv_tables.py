# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of samples as CSV: the columns of ``docs/conventions.md``, reading and writing."""

from __future__ import annotations

from collections.abc import Sequence
import csv
from dataclasses import dataclass
import math
from pathlib import Path
import sys
from typing import Any, IO, TextIO

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.spatial import compose_quaternions, invert_pose
from stewart_kinematics.whole_files import whole_file

STANDARD_STREAM = '-'
"""Name that stands for standard input or output."""

TIME = 'time_s'
POSE = ('x_m', 'y_m', 'z_m', 'qx', 'qy', 'qz', 'qw')
TWIST = tuple(f'{q}{axis}_base_{u}' for q, u in (('v', 'mps'), ('w', 'radps')) for axis in 'xyz')
ACCELERATION = tuple(
    f'{q}{axis}_base_{u}' for q, u in (('a', 'mps2'), ('alpha', 'radps2')) for axis in 'xyz'
)
LENGTH, STROKE, RATE, LEG_ACCELERATION = (
    tuple(f'{quantity}_{leg}_{unit}' for leg in range(1, 7))
    for quantity, unit in (('leg', 'm'), ('stroke', 'm'), ('leg', 'mps'), ('leg', 'mps2'))
)

NORM_TOLERANCE = 1e-3
"""How far a quaternion's norm may be from 1: enough for four printed digits."""


@dataclass(frozen=True, eq=False)
class Table:
    """
    Numbers of a CSV file.

    Attributes
    ----------
    source : str
        Name of the file, for messages.
    values : dict of str to ndarray, shape (n,)
        Columns that were asked for and are there.
    lines : ndarray of int, shape (n,)
        Line of the file each row stands on; the first line is 1.

    """

    source: str
    values: dict[str, Array]
    lines: Array

    def has(self, columns: Sequence[str]) -> bool:
        """
        Tell whether a group of columns is there.

        Parameters
        ----------
        columns : sequence of str
            The group.

        Returns
        -------
        bool
            True if all are there, False if none is.

        Raises
        ------
        ConfigurationError
            If some are there and others are not.

        """
        there = [name for name in columns if name in self.values]
        if there and len(there) < len(columns):
            self.take(columns)
        return bool(there)

    def take(self, columns: Sequence[str]) -> Array:
        """
        Return a group of columns.

        Parameters
        ----------
        columns : sequence of str
            The group.

        Returns
        -------
        ndarray, shape (n, len(columns))
            Their numbers.

        Raises
        ------
        ConfigurationError
            If one is missing.

        """
        missing = [name for name in columns if name not in self.values]
        if missing:
            found = ', '.join(self.values) or 'none of them'
            expected = f'the columns {", ".join(missing)} as well'
            raise ConfigurationError(f'{self.source}:1', found, expected)
        return np.column_stack([self.values[name] for name in columns])


def read_table(source: str | Path, columns: Sequence[str]) -> Table:
    """
    Read a CSV file whose first line names the columns.

    Parameters
    ----------
    source : str or Path
        File, or ``-`` for standard input.
    columns : sequence of str
        Columns to read where they are there; all others may hold anything.

    Returns
    -------
    Table
        The numbers.

    Raises
    ------
    ConfigurationError
        If there is no header, a column is named twice, a row has another number of cells, or a
        cell of a wanted column is not a finite number; file, line and column are named.
    OSError
        If the file cannot be read.

    """
    if str(source) == STANDARD_STREAM:
        return _read(sys.stdin, 'standard input', columns)
    with Path(source).open(newline='', encoding='utf-8') as stream:
        return _read(stream, str(source), columns)


def _read(stream: TextIO, source: str, columns: Sequence[str]) -> Table:
    """Read an open stream."""
    reader = csv.reader(stream)
    header = [name.strip() for name in next(reader, [])]
    if not header:
        raise ConfigurationError(
            f'{source}:1', '', f'a line with the names of the columns, as {columns[0]}'
        )
    wanted = [name for name in columns if name in header]
    for name in wanted:
        if header.count(name) > 1:
            raise ConfigurationError(f'{source}:1', name, 'every column once')
    places = [header.index(name) for name in wanted]
    lines, rows = [], []
    for cells in reader:
        if not cells:
            continue
        line = reader.line_num
        if len(cells) != len(header):
            raise ConfigurationError(f'{source}:{line}', len(cells), f'{len(header)} cells')
        lines.append(line)
        try:
            row = [float(cells[place]) for place in places]
        except ValueError:
            row = [math.nan]
        if not all(map(math.isfinite, row)):
            _refuse_cell(cells, places, header, f'{source}:{line}')
        rows.append(row)
    numbers = np.array(rows, dtype=np.float64).reshape(len(rows), len(wanted))
    return Table(source, dict(zip(wanted, numbers.T, strict=True)), np.array(lines, dtype=int))


def _refuse_cell(cells: list[str], places: list[int], header: list[str], where: str) -> None:
    """Name the first cell of a row that is not a finite number."""
    for place in places:
        name, cell = f'{where}: {header[place]}', cells[place]
        try:
            value = float(cell)
        except ValueError as error:
            raise ConfigurationError(name, cell, 'a number') from error
        if not math.isfinite(value):
            raise ConfigurationError(name, cell, 'a finite number')


def write_table(target: str | Path, columns: Sequence[str], values: ArrayLike) -> None:
    """
    Write a CSV file with twelve digits, as a whole or not at all.

    Parameters
    ----------
    target : str or Path
        File, or ``-`` for standard output.
    columns : sequence of str
        Names for the first line.
    values : array_like, shape (n, len(columns))
        Numbers; what is not a number is written as ``nan``.

    Raises
    ------
    OSError
        If the file cannot be written.

    """
    table = np.asarray(values, dtype=np.float64).reshape(-1, len(columns))
    if str(target) == STANDARD_STREAM:
        _write(sys.stdout, columns, table)
        return
    with whole_file(target) as stream:
        _write(stream, columns, table)


def _write(stream: IO[Any], columns: Sequence[str], table: Array) -> None:
    # Adding 0 turns -0 into 0.
    header = ','.join(columns)
    np.savetxt(stream, table + 0.0, fmt='%.12g', delimiter=',', header=header, comments='')


def poses_in_base(table: Table, reference: Pose) -> tuple[Array, Array]:
    """
    Return the poses of a table in ``base_link``.

    Parameters
    ----------
    table : Table
        Has the columns `POSE`.
    reference : Pose
        Frame in ``base_link`` that the table counts from.

    Returns
    -------
    ndarray, shape (n, 3)
        Positions [m].
    ndarray, shape (n, 4)
        Unit quaternions, scalar last.

    Raises
    ------
    ConfigurationError
        If a column is missing or a quaternion has not norm 1; the line is named.

    """
    pose = table.take(POSE)
    norm = np.linalg.norm(pose[:, 3:], axis=1)
    off = np.flatnonzero(np.abs(norm - 1.0) > NORM_TOLERANCE)
    if off.size:
        place = f'{table.source}:{table.lines[off[0]]}: qx, qy, qz, qw'
        raise ConfigurationError(place, float(norm[off[0]]), 'a quaternion of norm 1')
    return _move(reference, pose[:, :3], pose[:, 3:] / norm[:, None])


def poses_from_base(
    position: Array, quaternion_xyzw: Array, reference: Pose
) -> tuple[Array, Array]:
    """Return poses of ``base_link`` as counted from a reference, (n, 3) and (n, 4)."""
    return _move(invert_pose(reference), position, quaternion_xyzw)


def _move(frame: Pose, position: Array, quaternion_xyzw: Array) -> tuple[Array, Array]:
    """Return the product of one pose and many."""
    return (
        frame.position + position @ frame.rotation.T,
        compose_quaternions(frame.quaternion_xyzw, quaternion_xyzw),
    )
