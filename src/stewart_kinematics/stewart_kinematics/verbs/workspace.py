# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart workspace``: where the platform can be, and what stops it."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, TextIO

import numpy as np
from stewart_kinematics.errors import Violation
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.workspace import (
    display_unit,
    MOST_CELLS,
    plane,
    Reach,
    reach,
    Volume,
    volume,
)
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.spatial import rpy_deg
from stewart_kinematics.verbs.arguments import (
    add_examples,
    add_platform,
    in_words,
    SIX,
    typed_pose,
    write_watched,
)
from stewart_tables.columns import POSE
from stewart_tables.numbers import whole_from
from stewart_tables.outputs import add_picture_argument, output_stream, save_picture
from stewart_tables.progress import each, show_part

HELP = 'show how far the platform can go, and what stops it'

SLICES = (('x', 'y'), ('x', 'z'), ('roll', 'pitch'))
SLICE_SAMPLES = 161
COLUMNS = (*POSE, 'margin')
NO_STOP = 'nothing'

EXAMPLES = """
Ranges are displacements along one axis at a time, at rest. The volume keeps the attitude; the
margin in the CSV file is 0 at a limit and grows inwards.

examples:
  stewart workspace --platform ex800
  stewart workspace --pose 0.1 0 1.6 0 5 0 --plot reach.svg
  stewart workspace --platform srs --csv positions.csv --cells 60
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_examples(parser, EXAMPLES)
    add_platform(parser)
    where, add = parser.add_mutually_exclusive_group(), parser.add_argument
    text = 'named pose (default: %(default)s)'
    where.add_argument('--at', choices=['neutral', 'zero'], default='neutral', help=text)
    text = 'any other pose of platform_link in base_link [m, deg]'
    where.add_argument('--pose', nargs=6, type=float, metavar=SIX, help=text)
    add('--volume', action='store_true', help='also measure the volume with this attitude')
    text = 'cells along each edge of the volume (default: %(default)s)'
    add('--cells', type=whole_from(2, MOST_CELLS), default=40, help=text)
    text = 'write the reachable positions; - is stdout'
    add('--csv', type=output_stream, metavar='FILE', help=text)
    add_picture_argument(parser)
    parser.add_argument('--json', action='store_true', help='print the ranges as JSON')


def main(arguments: argparse.Namespace) -> int:
    """Print the ranges; write the volume and the picture where asked; return 0."""
    platform = Platform.from_yaml(arguments.platform)
    if arguments.pose is None:
        pose = platform.geometry.named_pose(arguments.at)
    else:
        pose = typed_pose('--pose', arguments.pose)
    guard = MotionGuard(platform)
    ranges = reach(guard, pose)
    cloud = None
    if arguments.volume or arguments.csv or arguments.plot:
        with show_part('volume') as progress:
            cloud = volume(guard, pose, arguments.cells, progress)
    if cloud is not None and arguments.csv:
        _write_csv(arguments.csv, cloud)
    if cloud is not None and arguments.plot:
        _write_plot(arguments.plot, platform, guard, pose, cloud)
    # Standard output holds one thing: the positions, where they were sent there.
    out = sys.stderr if arguments.csv == '-' else sys.stdout
    if arguments.json:
        json.dump(_as_json(platform, pose, ranges, cloud), out, indent=2)
        out.write('\n')
    else:
        _print_table(out, platform, pose, ranges, cloud)
    return 0


def _stop(violation: Violation | None) -> str:
    """Say in a few words what stops the platform."""
    return NO_STOP if violation is None else violation.subject


def _print_table(
    out: TextIO, platform: Platform, pose: Pose, ranges: tuple[Reach, ...], cloud: Volume | None
) -> None:
    """Print one line an axis."""
    out.write(f'{platform.title}, displacements from {in_words(pose)}\n')
    out.write(f'{"axis":<6}{"from":>10}{"to":>10}      {"lower end: limit":<28}upper end: limit\n')
    for item in ranges:
        scale, unit = display_unit(item.axis)
        out.write(
            f'{item.axis:<6}{item.lower * scale:10.2f}{item.upper * scale:10.2f} {unit:<4} '
            f'{_stop(item.below):<28}{_stop(item.above)}\n'
        )
    if cloud is not None:
        out.write(f'volume with this attitude {cloud.volume:.6g} m³\n')


def _as_json(
    platform: Platform, pose: Pose, ranges: tuple[Reach, ...], cloud: Volume | None
) -> dict[str, Any]:
    """Return the table as plain data, numbers in full."""
    result: dict[str, Any] = {
        'platform': platform.name,
        'pose': {'position_m': pose.position.tolist(), 'rpy_deg': rpy_deg(pose)},
        'ranges': [],
    }
    for item in ranges:
        factor, unit = display_unit(item.axis)
        ends = {'lower': item.lower * factor, 'upper': item.upper * factor}
        stops = {'stopped_below_by': _stop(item.below), 'stopped_above_by': _stop(item.above)}
        result['ranges'].append({'axis': item.axis, 'unit': unit, **ends, **stops})
    if cloud is not None:
        result['volume_m3'] = cloud.volume
        result['cell_m'] = cloud.cell.tolist()
    return result


def _write_csv(target: str, cloud: Volume) -> None:
    """Write the reachable positions with the least margin at each."""
    attitude = np.broadcast_to(cloud.quaternion_xyzw, (len(cloud.positions), 4))
    write_watched(target, COLUMNS, np.column_stack([cloud.positions, attitude, cloud.margin]))


def _write_plot(
    target: str, platform: Platform, guard: MotionGuard, pose: Pose, cloud: Volume
) -> None:
    from stewart_kinematics.plotting import workspace_figure

    with show_part('slices') as show:
        slices = [plane(guard, pose, axes, SLICE_SAMPLES) for axes in each(SLICES, show)]
    save_picture(workspace_figure(platform.title, pose, slices, cloud), target)
