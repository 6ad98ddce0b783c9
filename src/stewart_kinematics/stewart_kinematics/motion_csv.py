# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Motions of the platform in CSV files."""

from __future__ import annotations

from pathlib import Path

from stewart_tables.csv_tables import ACCELERATION, POSE, read_table, Table, TIME, TWIST
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.motion import Array
from stewart_kinematics.trajectories import Sampled


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
    table = read_table(path, (TIME, *POSE, *TWIST, *ACCELERATION))
    pose = table.take((TIME, *POSE))
    twist, acceleration = derivatives(table)
    lines = table.lines.tolist()
    return Sampled(pose[:, 0], pose[:, 1:4], pose[:, 4:], twist, acceleration, lines)


def derivatives(table: Table) -> tuple[Array | None, Array | None]:
    """
    Return the twists and the accelerations of a table, where it has them.

    Parameters
    ----------
    table : Table
        Read with the columns `TWIST` and `ACCELERATION`.

    Returns
    -------
    ndarray or None
        Twists, shape (n, 6) [m/s, rad/s].
    ndarray or None
        Accelerations, shape (n, 6) [m/s², rad/s²].

    Raises
    ------
    ConfigurationError
        If a group is there in part, or accelerations come without twists.

    """
    twist, acceleration = (
        table.take(group) if table.has(group) else None for group in (TWIST, ACCELERATION)
    )
    if acceleration is not None and twist is None:
        missing = f'the columns {", ".join(TWIST)} as well'
        raise ConfigurationError(f'{table.source}:1', 'accelerations without twists', missing)
    return twist, acceleration
