# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart sequence``: play, check, write and teach a file of waypoints."""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
from typing import Any

from stewart_bags.verbs.graph import add_namespace_argument
from stewart_bringup.errors import BringupError
from stewart_bringup.verbs.graph import on_the_graph
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.waypoints import plan_route, WaypointList
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.schema import read_yaml
from stewart_kinematics.verbs.arguments import in_words
from stewart_kinematics.verbs.trajectory import write_motion
from stewart_tables.numbers import positive, whole_from
from stewart_tables.outputs import output_stream
from stewart_tables.progress import LiveLine, tell

OPERATOR = 'sequence_operator:SequenceOperator'
HELP = 'move the platform of a running rig through the waypoints of a file'

DETAILS = """
The whole way is planned and judged before anything moves; the platform rests at every waypoint.
The drives must be enabled (stewart drive enable). Ctrl-C brings the platform to rest before the
next waypoint; the exit code is then 1. --check and -o need no rig: the way begins at the neutral
pose. --teach appends the pose at which the platform rests. docs/move_by_hand.md has the format.

examples:
  stewart sequence cell.yaml --check --platform ex800
  stewart sequence cell.yaml -o cell.csv
  stewart sequence cell.yaml
  stewart sequence --teach cell.yaml --name pick
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add('file', type=Path, metavar='FILE', help='YAML file of waypoints')
    what = parser.add_mutually_exclusive_group()
    text = 'only plan it, and print when each waypoint is reached'
    what.add_argument('--check', action='store_true', help=text)
    text = 'only plan it, and write the samples as CSV; - is stdout'
    what.add_argument('-o', '--output', type=output_stream, metavar='CSV', help=text)
    text = 'append the present pose to FILE, which is made if there is none'
    what.add_argument('--teach', action='store_true', help=text)
    add('--name', default='', metavar='NAME', help='of the waypoint that is taught')
    add('--repeat', type=whole_from(0), default=0, metavar='N', help='rounds, 0: as in FILE')
    text = 'for --check and -o: name or YAML file (default: vigo)'
    add('--platform', metavar='PLATFORM', help=text)
    text = 'samples per second of the CSV [Hz] (default: %(default)g)'
    add('--rate', type=positive, default=100.0, metavar='HZ', help=text)
    add_namespace_argument(parser)


def main(arguments: argparse.Namespace) -> int:
    """Play, check, write or teach; return the exit code."""
    if arguments.name and not arguments.teach:
        raise BringupError('--name is for --teach')
    if arguments.check or arguments.output is not None:
        return _plan(arguments)
    if arguments.platform is not None:
        raise BringupError('--platform is for --check and -o: a rig says which platform it is')
    if arguments.file.exists() or not arguments.teach:
        # What is no such file is said before a rig is waited for.
        read_yaml(arguments.file)
    if arguments.teach:
        return _teach(arguments)
    return _play(arguments)


def _plan(arguments: argparse.Namespace) -> int:
    """Plan without a rig, from the neutral pose."""
    platform = Platform.from_yaml(arguments.platform or 'vigo')
    found = WaypointList.from_yaml(arguments.file, platform)
    guard, start = MotionGuard(platform), platform.geometry.neutral_pose
    route = plan_route(start, found.waypoints, guard, arguments.repeat or found.repeat)
    if arguments.output is not None:
        write_motion(arguments.output, route, arguments.rate)
    else:
        for number, (waypoint, arrival) in enumerate(
            zip(found.waypoints, route.arrivals, strict=False), 1
        ):
            name = f' {waypoint.name}' if waypoint.name else ''
            print(f'{number}{name}: after {arrival:.2f} s, {in_words(waypoint.pose)}')
    tell(
        f'{platform.name}: {len(route.arrivals)} waypoints in {route.duration:.2f} s, '
        'inside every limit'
    )
    return 0


def _teach(arguments: argparse.Namespace) -> int:
    number, pose = on_the_graph(
        OPERATOR, lambda it: it.teach(arguments.file, arguments.name), arguments.namespace
    )
    print(f'waypoint {number} of {arguments.file}: {in_words(pose)}')
    return 0


def _play(arguments: argparse.Namespace) -> int:
    progress = LiveLine(sys.stderr)

    def show(told: Any) -> None:
        progress.show(
            f'{100.0 * told.progress:3.0f} %, round {told.round}, waypoint {told.waypoint}, '
            f'{told.time_remaining:5.1f} s left'
        )

    try:
        reached, said, visited, pose = on_the_graph(
            OPERATOR,
            lambda it: it.follow(arguments.file, arguments.repeat, show),
            arguments.namespace,
        )
    finally:
        progress.end()
    if not reached:
        where = f'at {in_words(pose)}, after {visited} waypoints'
        tell(f'stewart sequence: {said}, {where}')
        return 1
    print(f'{visited} waypoints visited, at {in_words(pose)}')
    return 0
