# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The verb ``stewart fk``: from lengths or strokes of the legs to poses of the platform."""

from __future__ import annotations

import argparse
import sys

import numpy as np
from stewart_kinematics.errors import LegFamilyError
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.motion_csv import lengths_of, poses_from_base, rpy_columns
from stewart_kinematics.solvers.assembly_modes import assembly_modes, AssemblyModes
from stewart_kinematics.solvers.forward import forward_batch, forward_batch_from_positions
from stewart_kinematics.verbs.arguments import (
    add_table_arguments,
    read_watched,
    report,
    write_beside,
    write_watched,
)
from stewart_kinematics.verbs.outside_stroke import outside_stroke
from stewart_tables.columns import LENGTH, POSE, RPY, TIME
from stewart_tables.csv_tables import STANDARD_STREAM, Table
from stewart_tables.progress import each, show_part

HELP = 'turn lengths or strokes of the legs into poses of the platform'

EXAMPLES = """
A line that has no pose which can be trusted is written as nan with converged 0 and named on
standard error; the exit code is then 1. Columns are described in docs/conventions.md.

With --all, for linear legs, a line becomes as many rows as there are poses with these lengths, up
to 40: first the connected one, which the neutral pose becomes when the legs change together, then
the others by their distance from it; a table on a terminal, else CSV. A line without any has one
row, mode 0.
Lines where modes may be missing, or are next to a singularity, are named; the exit code is 1 if
modes may be missing or there are none.

examples:
  stewart fk legs.csv -o poses.csv
  stewart ik poses.csv | stewart fk
  stewart fk strokes.csv --relative-to zero --platform my_platform.yaml
  stewart fk --all legs.csv -o modes.csv
"""

QUALITY = ('converged', 'iterations', 'residual_m', 'condition_number')

MODES = ('line', 'mode', 'connected', *POSE, *RPY, *QUALITY[2:], 'mirrored', 'certified')
"""Columns with `--all`, behind the time."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_table_arguments(
        parser,
        'lengths (leg_1_m ...), strokes (stroke_1_m ...), or angles or places of the joints',
        EXAMPLES,
    )
    parser.add_argument(
        '--all', action='store_true', help='write every assembly mode of a line; of linear legs'
    )


def main(arguments: argparse.Namespace) -> int:
    """Read legs, write poses, name lines that have none; return the exit code."""
    platform = Platform.from_yaml(arguments.platform)
    geometry, columns = platform.geometry, platform.kind.columns()
    positions = columns['position']
    # `stewart ik` writes them behind the positions, and a pose does not depend on them.
    unneeded = *columns['rate'], *columns['acceleration']
    reference = geometry.named_pose(arguments.relative_to)
    if geometry.rods is None:
        table = read_watched(arguments.table, (TIME, *LENGTH, *positions), unneeded=unneeded)
        lengths = lengths_of(table, geometry)
        if arguments.all:
            return _write_modes(arguments.output, table, geometry, lengths, reference)
        result, reached = forward_batch(geometry, lengths), lengths - geometry.retracted_length
        there = np.ones(len(lengths), dtype=np.bool_)
    else:
        if arguments.all:
            raise LegFamilyError(platform.name, platform.kind.name)
        # `stewart ik` writes nan where a rod does not reach.
        table = read_watched(arguments.table, (TIME, *positions), positions, unneeded)
        reached = table.take(positions)
        there = np.asarray(np.isfinite(reached).all(axis=1))
        result = forward_batch_from_positions(geometry, reached[there])
    converged = np.asarray(result.converged)
    pose = poses_from_base(result.position, result.quaternion_xyzw, reference)
    found = np.where(converged[:, None], np.concatenate(pose, axis=1), np.nan)
    condition = np.where(converged, result.condition_number, np.nan)
    quality = [converged, result.iterations, result.residual, condition]
    values = np.full((len(reached), len(POSE + RPY + QUALITY)), np.nan)
    values[there] = np.column_stack([found, rpy_columns(found[:, 3:]), *quality])
    solved = there.copy()
    solved[there] = converged
    values[~solved, len(POSE + RPY)] = 0.0
    write_beside(arguments.output, table, POSE + RPY + QUALITY, [values])
    lost = [(k, row) for k, row in enumerate(np.flatnonzero(there).tolist()) if not solved[row]]
    # Legs that the platform does not have are told as such, whether or not there is a pose.
    told = {row: f'{table.line(row)}: {result.report(k)}' for k, row in lost}
    told |= outside_stroke(table, reached, platform)
    report([told[row] for row in sorted(told)], 'lines')
    return int(not solved.all())


def _write_modes(
    output: str, table: Table, geometry: Geometry, lengths: Array, reference: Pose
) -> int:
    """Find and write the modes of every line, name what is doubtful; return the exit code."""
    with show_part('modes') as progress:
        results = [assembly_modes(geometry, row) for row in each(lengths, progress)]
    pairs = list(zip(table.lines.tolist(), results, strict=True))
    blocks = [_rows(line, modes, reference) for line, modes in pairs]
    names, values = list(MODES), np.concatenate([np.empty((0, len(MODES))), *blocks])
    if table.has([TIME]):
        times = np.repeat(table.take([TIME]), [len(block) for block in blocks], axis=0)
        names, values = [TIME, *names], np.concatenate([times, values], axis=1)
    if output == STANDARD_STREAM and sys.stdout.isatty():
        sys.stdout.write(_shown(names, values))
    else:
        write_watched(output, names, values)
    doubts = ((line, doubt) for line, modes in pairs for doubt in _doubts(modes))
    report([f'{table.source}:{line}: {doubt}' for line, doubt in doubts], 'remarks')
    return int(any(modes.lost or not len(modes.position) for modes in results))


def _rows(line: int, modes: AssemblyModes, reference: Pose) -> Array:
    """Return the rows of one line, one a mode, or one of mode 0 where there is none."""
    count = len(modes.position)
    if count == 0:
        return np.array([[line, 0.0, 0.0, *[np.nan] * (len(MODES) - 5), 0.0, 0.0]])
    pose = poses_from_base(modes.position, modes.quaternion_xyzw, reference)
    own = [modes.residual, modes.condition_number, modes.mirrored, modes.certified]
    number = np.arange(1, count + 1)
    turned = rpy_columns(pose[1])
    return np.column_stack([np.full(count, line), number, modes.connected, *pose, turned, *own])


def _doubts(modes: AssemblyModes) -> list[str]:
    """Return what is to be known of the modes of one line."""
    count, singular = len(modes.position), int(np.sum(~modes.certified))
    sentences = []
    if modes.lost:
        sentences.append(f'{modes.lost} paths were lost: as many modes may be missing')
    if count == 0:
        sentences.append('no pose has these lengths')
    elif not np.any(modes.connected):
        sentences.append('no mode is connected: a singularity lies on the way from neutral')
    if singular:
        sentences.append(f'{singular} of {count} modes are not certified: next to a singularity')
    return sentences


def _shown(names: list[str], values: Array) -> str:
    """Return rows as a table for people: whole numbers, poses in 5 digits behind the point."""
    short = {**dict.fromkeys(POSE, 'z.5f'), **dict.fromkeys(RPY, 'z.3f')}
    short |= {'residual_m': '.1e', 'condition_number': '.4g', TIME: '.6g'}
    rows = [names]
    for row in values:
        pairs = zip(names, row, strict=True)
        rows.append([f'{v:{short.get(n, ".0f")}}' for n, v in pairs])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ''.join(
        '  '.join(f'{cell:>{width}}' for cell, width in zip(row, widths, strict=True)) + '\n'
        for row in rows
    )
