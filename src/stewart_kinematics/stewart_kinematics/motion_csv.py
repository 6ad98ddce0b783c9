# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Read a motion of the platform from a CSV file."""

from __future__ import annotations

from pathlib import Path

from stewart_kinematics.csv_tables import ACCELERATION, POSE, read_table, TIME, TWIST
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
    twist, acceleration = (
        table.take(group) if table.has(group) else None for group in (TWIST, ACCELERATION)
    )
    return Sampled(pose[:, 0], pose[:, 1:4], pose[:, 4:], twist, acceleration, first_line=2)
