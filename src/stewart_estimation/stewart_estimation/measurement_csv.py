# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Measurements in CSV files: what the IMU and the six length sensors said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from stewart_estimation.series import ImuSeries, LegSeries
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array
from stewart_kinematics.motion_csv import lengths_of
from stewart_tables.columns import LENGTH, STROKE, TIME
from stewart_tables.csv_tables import read_table, Table
from stewart_tables.progress import Progress, silent

SPECIFIC_FORCE = ('fx_mps2', 'fy_mps2', 'fz_mps2')
ANGULAR_VELOCITY = ('p_radps', 'q_radps', 'r_radps')


def read_imu(source: str | Path, progress: Progress = silent) -> ImuSeries:
    """Read samples of an IMU.

    Args:
        source: CSV file with `TIME`, `SPECIFIC_FORCE` and `ANGULAR_VELOCITY`, in sensor axes;
            ``-`` is standard input.
        progress: Told how far it has come.

    Returns:
        The samples.

    Raises:
        ConfigurationError: If a column is missing, a cell is not a finite number or a time is not
            later than the one before; file, line and column are named.
        OSError: If the file cannot be read.
    """
    columns = (TIME, *SPECIFIC_FORCE, *ANGULAR_VELOCITY)
    table = read_table(source, columns, progress)
    values = table.take(columns)
    return ImuSeries(_increasing(table), values[:, 1:4], values[:, 4:])


def read_legs(source: str | Path, geometry: Geometry, progress: Progress = silent) -> LegSeries:
    """Read samples of the six legs.

    Args:
        source: CSV file with `TIME` and either `LENGTH` or `STROKE`; ``-`` is standard input.
        geometry: Says how long a leg of no stroke is.
        progress: Told how far it has come.

    Returns:
        The samples.

    Raises:
        ConfigurationError: If a column is missing, a cell is not a finite number, a leg has no
            length or a time is not later than the one before; file, line and column are named.
        OSError: If the file cannot be read.
    """
    table = read_table(source, (TIME, *LENGTH, *STROKE), progress)
    return LegSeries(_increasing(table), lengths_of(table, geometry))


def _increasing(table: Table) -> Array:
    """Return the times of a table; refuse one without rows, or a time out of order."""
    time = table.take((TIME,))[:, 0]
    if time.size < 2:
        raise ConfigurationError(table.source, time.size, 'two rows or more')
    late = np.flatnonzero(~(np.diff(time) > 0.0))
    if late.size:
        row = int(late[0]) + 1
        raise ConfigurationError(
            f'{table.source}:{table.lines[row]}: {TIME}',
            float(time[row]),
            f'a time later than {time[row - 1]:.9g} s in the row before',
        )
    return time
