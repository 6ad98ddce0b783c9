# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Read a motion of the platform from a CSV file."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.motion import Array
from stewart_kinematics.trajectories import Sampled

TIME = 'time_s'
POSE = ('x_m', 'y_m', 'z_m', 'qx', 'qy', 'qz', 'qw')
TWIST = tuple(f'{q}{axis}_base_{u}' for q, u in (('v', 'mps'), ('w', 'radps')) for axis in 'xyz')
ACCELERATION = tuple(
    f'{q}{axis}_base_{u}' for q, u in (('a', 'mps2'), ('alpha', 'radps2')) for axis in 'xyz'
)


def read_motion(path: Path) -> Sampled:
    """
    Read samples of poses, and of twists and accelerations where the file has them.

    Parameters
    ----------
    path : Path
        CSV file whose first line names the columns: `TIME` and `POSE`, and optionally all of
        `TWIST`, and with it all of `ACCELERATION`. Other columns are left alone.

    Returns
    -------
    Sampled
        The motion; its time 0 is the first line.

    Raises
    ------
    ConfigurationError
        If a column is missing or a cell is not a number; the message names the line.
    TrajectoryError
        If the samples make no trajectory.
    OSError
        If the file cannot be read.

    """
    with path.open(newline='', encoding='utf-8') as file:
        rows = list(csv.reader(file))
    names = [name.strip() for name in rows[0]] if rows else []
    missing = [name for name in (TIME, *POSE) if name not in names]
    if missing:
        raise ConfigurationError(str(path), names, f'the columns {", ".join(missing)} as well')
    cells = _numbers(path, names, rows[1:])
    groups = [
        cells[:, [names.index(name) for name in group]] if set(group) <= set(names) else None
        for group in (TWIST, ACCELERATION)
    ]
    pose = cells[:, [names.index(name) for name in POSE]]
    return Sampled(
        cells[:, names.index(TIME)], pose[:, :3], pose[:, 3:], groups[0], groups[1], first_line=2
    )


def _numbers(path: Path, names: list[str], rows: list[list[str]]) -> Array:
    """Return the cells; a column that is none of ours may hold anything."""
    wanted = {TIME, *POSE, *TWIST, *ACCELERATION}
    cells = np.zeros((len(rows), len(names)))
    for number, row in enumerate(rows, 2):
        if len(row) != len(names):
            raise ConfigurationError(f'{path}:{number}', len(row), f'{len(names)} cells')
        for column, name in enumerate(names):
            if name not in wanted:
                continue
            try:
                cells[number - 2, column] = float(row[column])
            except ValueError as error:
                place = f'{path}:{number}: {name}'
                raise ConfigurationError(place, row[column], 'a number') from error
    return cells
