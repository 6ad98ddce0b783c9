# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
The verb ``stewart fk``: from lengths or strokes of the legs to poses of the platform.

A line without a pose that can be trusted is written with ``nan`` for pose and condition number
and 0 for ``converged``; it is named, and the exit code is 1.

"""

from __future__ import annotations

import argparse

import numpy as np
from stewart_kinematics.forward import forward_batch, ForwardResult
from stewart_kinematics.motion_csv import lengths_of, poses_from_base
from stewart_kinematics.platform import Platform
from stewart_kinematics.verbs.table_arguments import (
    add_table_arguments,
    read_watched,
    reference_pose,
    report,
    write_watched,
)
from stewart_tables.columns import LENGTH, POSE, STROKE, TIME
from stewart_tables.csv_tables import Table

HELP = 'turn lengths or strokes of the legs into poses of the platform'

EXAMPLES = """
A line that has no pose which can be trusted is written as nan with converged 0 and named on
standard error; the exit code is then 1. Columns are described in docs/conventions.md.

examples:
  stewart fk legs.csv -o poses.csv
  stewart ik poses.csv | stewart fk
  stewart fk strokes.csv --relative-to zero --platform my_platform.yaml
"""

QUALITY = ('converged', 'iterations', 'residual_m', 'condition_number')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_table_arguments(parser, 'lengths (leg_1_m ...) or strokes (stroke_1_m ...)', EXAMPLES)


def main(arguments: argparse.Namespace) -> int:
    """
    Read legs, write poses, name lines that have none.

    Parameters
    ----------
    arguments : Namespace
        As `add_arguments` defines them.

    Returns
    -------
    int
        0, or 1 if a line has no pose.

    Raises
    ------
    ConfigurationError
        If the table or the platform cannot be used.
    OSError
        If a file cannot be read or written.

    """
    geometry = Platform.from_yaml(arguments.platform).geometry
    table = read_watched(arguments.table, (TIME, *LENGTH, *STROKE))
    result = forward_batch(geometry, lengths_of(table, geometry))
    converged = np.asarray(result.converged)
    reference = reference_pose(geometry, arguments.relative_to)
    pose = poses_from_base(result.position, result.quaternion_xyzw, reference)
    quality = [converged, result.iterations, result.residual, result.condition_number]
    known = np.where(converged[:, None], np.concatenate(pose, axis=1), np.nan)
    quality[3] = np.where(converged, quality[3], np.nan)
    names, values = [*POSE, *QUALITY], [known, *quality]
    if table.has([TIME]):
        names, values = [TIME, *names], [table.take([TIME]), *values]
    write_watched(arguments.output, names, np.column_stack(values))
    lost = _lost(table, result)
    report(lost, 'lines without a pose')
    return 1 if lost else 0


def _lost(table: Table, result: ForwardResult) -> list[str]:
    """Return a sentence for every line without a pose."""
    return [
        f'{table.source}:{table.lines[row]}: {result.report(int(row))}'
        for row in np.flatnonzero(~np.asarray(result.converged))
    ]
