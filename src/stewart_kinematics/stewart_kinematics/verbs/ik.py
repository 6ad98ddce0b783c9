# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The verb ``stewart ik``: from poses of the platform to its legs.

Where the table has twists (and accelerations) of the platform, the rates (and accelerations) of
the legs are written, too. Poses outside the stroke are written as well, and named. Of cranks the
angles are written, of carriages the positions; where a rod does not reach, ``nan``.
"""

from __future__ import annotations

import argparse

import numpy as np
from stewart_kinematics.model.leg_kinds import LegKind, LINEAR
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_kinematics.motion_csv import motion_in_base
from stewart_kinematics.solvers.inverse import inverse, LegKinematics
from stewart_kinematics.verbs.arguments import (
    add_table_arguments,
    read_watched,
    report,
    write_beside,
)
from stewart_kinematics.verbs.outside_stroke import outside_stroke
from stewart_tables.columns import ACCELERATION, LENGTH, MOTION, TWIST
from stewart_tables.csv_tables import Table

HELP = 'turn poses of the platform into lengths, strokes and rates of its legs'

EXAMPLES = """
Columns are described in docs/conventions.md; every name carries its unit. An attitude is a
quaternion (qx, qy, qz, qw) or roll_deg, pitch_deg, yaw_deg.

examples:
  stewart ik poses.csv -o legs.csv
  stewart trajectory ocean --platform vigo | stewart ik --strict > legs.csv
  stewart ik displacements.csv --relative-to neutral --platform ex800
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_table_arguments(parser, 'poses', EXAMPLES)
    parser.add_argument(
        '--strict', action='store_true', help='write nothing if a pose is outside the stroke'
    )


def main(arguments: argparse.Namespace) -> int:
    """Read poses, write legs, name poses outside the stroke; return the exit code.

    It is 1 where a pose has no legs, too: rods may not reach.
    """
    platform = Platform.from_yaml(arguments.platform)
    table = read_watched(arguments.table, MOTION)
    reference = platform.geometry.named_pose(arguments.relative_to)
    motion = motion_in_base(table, reference)
    legs = inverse(platform.geometry, motion)
    outside = outside_stroke(table, legs.stroke, platform)
    refused = bool(outside) and arguments.strict
    if not refused:
        write_beside(arguments.output, table, *_result(table, platform.kind, legs))
    what = 'stroke' if platform.kind is LINEAR else f'range of the {platform.kind.quantity}'
    report(list(outside.values()), f'poses outside the {what}')
    return int(refused or bool(np.isnan(legs.stroke).any()))


def _result(table: Table, kind: LegKind, legs: LegKinematics) -> tuple[list[str], list[Array]]:
    """Return names and blocks of the columns to write."""
    names = kind.columns()
    columns, values = [*names['position']], [legs.stroke]
    if kind is LINEAR:
        columns, values = [*LENGTH, *columns], [legs.length, *values]
    if table.has(TWIST):
        columns, values = [*columns, *names['rate']], [*values, legs.rate]
    if table.has(ACCELERATION):
        columns, values = [*columns, *names['acceleration']], [*values, legs.acceleration]
    return columns, values
