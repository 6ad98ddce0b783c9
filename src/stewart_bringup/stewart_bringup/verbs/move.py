# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart move``: send the platform of a running rig to a pose."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from stewart_bags.verbs.graph import add_namespace_argument
from stewart_bringup.verbs.graph import on_the_graph
from stewart_kinematics.verbs.arguments import in_words, SIX, typed_pose
from stewart_tables.numbers import positive, positive_up_to
from stewart_tables.progress import LiveLine, tell

if TYPE_CHECKING:
    from stewart_bringup.nodes.move_operator import MoveOperator
    from stewart_kinematics.motion import Pose

HELP = 'move the platform of a running rig to a pose'

DETAILS = """
The drives must be enabled (stewart drive enable). A move that would break a limit anywhere on its
way is refused, with the reason. Ctrl-C brings the platform to rest on its way; the exit code is
then 1. While `stewart drive speed` is below 100 %, that comes late: quick-stop does not wait.

examples:
  stewart move --to 0 0 0.01 0 0 0 --relative-to here --speed 0.1
  stewart move --to 0 0 0 0 0 0 --relative-to neutral
  stewart move --to 0.05 0 1.70 0 0 10 --duration 8
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add('--to', type=float, nargs=6, required=True, metavar=SIX, help='target [m, deg]')
    add(
        '--relative-to',
        choices=['base', 'zero', 'neutral', 'here'],
        default='base',
        help='what it counts from, in axes of that: base_link, a pose of the platform, or where '
        'it is now (default: %(default)s)',
    )
    add(
        '--duration',
        type=positive,
        metavar='S',
        help='time of the move [s] (default: the shortest that keeps every limit)',
    )
    add(
        '--speed',
        type=positive_up_to(1.0),
        metavar='PART',
        help='fraction of the limits to use, up to 1 (default: speed_scale of the rig)',
    )
    add(
        '--progress',
        action='store_true',
        help='tell how far it is where standard error is no terminal, too',
    )
    add_namespace_argument(parser)


def main(arguments: argparse.Namespace) -> int:
    """Move, and tell how far it is and where it ended."""
    away = typed_pose('--to', arguments.to)
    progress = LiveLine(sys.stderr, always=arguments.progress)

    async def work(operator: MoveOperator) -> tuple[bool, str, Pose]:
        return await operator.move(
            away,
            arguments.relative_to,
            duration=arguments.duration or 0.0,
            speed=arguments.speed or 0.0,
            feedback=lambda done, left: progress.show(f'{100 * done:3.0f} %, {left:5.1f} s left'),
        )

    try:
        reached, said, pose = on_the_graph('move_operator:MoveOperator', work, arguments.namespace)
    finally:
        progress.end()
    if not reached:
        tell(f'stewart move: {said}, at {in_words(pose)}')
        return 1
    print(in_words(pose))
    return 0
