# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The verb ``stewart ik``: from poses of the platform to its legs.

Where the table has twists (and accelerations) of the platform, the rates (and accelerations) of
the legs are written, too. Poses outside the stroke are written as well, and named.
"""

from __future__ import annotations

import argparse

import numpy as np
from stewart_kinematics.errors import Violation
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_kinematics.motion_csv import motion_in_base
from stewart_kinematics.solvers.inverse import inverse, LegMotion
from stewart_kinematics.verbs.arguments import (
    add_table_arguments,
    read_watched,
    reference_pose,
    report,
    write_watched,
)
from stewart_tables.columns import (
    ACCELERATION,
    LEG_ACCELERATION,
    LENGTH,
    POSE,
    RATE,
    STROKE,
    TIME,
    TWIST,
)
from stewart_tables.csv_tables import Table

HELP = 'turn poses of the platform into lengths, strokes and rates of its legs'

EXAMPLES = """
Columns are described in docs/conventions.md; every name carries its unit.

examples:
  stewart ik poses.csv -o legs.csv
  stewart trajectory ocean --platform vigo | stewart ik --strict > legs.csv
  stewart ik displacements.csv --relative-to neutral --platform ex800
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_table_arguments(parser, 'poses', EXAMPLES)
    parser.add_argument(
        '--strict', action='store_true', help='exit with 1 if a pose is outside the stroke'
    )


def main(arguments: argparse.Namespace) -> int:
    """Read poses, write legs, name poses outside the stroke; return the exit code."""
    platform = Platform.from_yaml(arguments.platform)
    table = read_watched(arguments.table, (TIME, *POSE, *TWIST, *ACCELERATION))
    reference = reference_pose(platform.geometry, arguments.relative_to)
    motion = motion_in_base(table, reference)
    legs = inverse(platform.geometry, motion)
    columns, values = _result(table, legs)
    write_watched(arguments.output, columns, np.concatenate(values, axis=1))
    outside = _outside(table, legs.stroke, platform.limits.stroke)
    report(outside, 'poses outside the stroke')
    return 1 if outside and arguments.strict else 0


def _result(table: Table, legs: LegMotion) -> tuple[list[str], list[Array]]:
    """Return names and blocks of the columns to write."""
    columns, values = [*LENGTH, *STROKE], [legs.length, legs.stroke]
    if table.has([TIME]):
        columns, values = [TIME, *columns], [table.take([TIME]), *values]
    if table.has(TWIST):
        columns, values = [*columns, *RATE], [*values, legs.rate]
    if table.has(ACCELERATION):
        columns, values = [*columns, *LEG_ACCELERATION], [*values, legs.acceleration]
    return columns, values


def _outside(table: Table, stroke: Array, limits: Array) -> list[str]:
    """Return a sentence for every row outside the stroke, about the leg that is farthest out."""
    beyond = np.maximum(limits[:, 0] - stroke, stroke - limits[:, 1])
    sentences = []
    for row in np.flatnonzero(np.any(beyond > 0.0, axis=1)):
        leg = int(np.argmax(beyond[row]))
        lower, upper = limits[leg]
        violation = Violation('stroke', stroke[row, leg], lower, upper, 'm', leg + 1)
        sentences.append(f'{table.source}:{table.lines[row]}: {violation}')
    return sentences
