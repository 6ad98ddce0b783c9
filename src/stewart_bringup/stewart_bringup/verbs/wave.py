# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart wave``: let a running rig play its wave, and end it."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from stewart_bags.verbs.graph import add_namespace_argument
from stewart_bringup.verbs.graph import on_the_graph
from stewart_kinematics.verbs.arguments import in_words

if TYPE_CHECKING:
    from stewart_bringup.nodes.operator import Operator
    from stewart_bringup.nodes.stop_operator import StopOperator

HELP = 'start and stop the wave of a running rig'

DETAILS = """
start: the platform goes to the wave's centre and the wave grows; the command ends at once. stop:
the wave fades out and the platform returns to its neutral pose; the command ends when it rests
there, and tells where. With --no-wait it ends at once; the motion goes on then, and after Ctrl-C.
A start that Ctrl-C interrupts is taken back.
A wave that is cut off on its way home, by the driver for example, is told with exit code 1.

examples:
  stewart wave start
  stewart wave stop
  stewart wave stop --no-wait
  stewart wave start --of excitation
"""

# Who serves the start and the stop of what.
NODES = {
    'ocean': 'ocean_trajectory',
    'excitation': 'excitation_trajectory',
    'cueing': 'motion_cueing',
    'stabilisation': 'stabilisation',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument('action', choices=['start', 'stop'], help='what to do')
    parser.add_argument(
        '--of',
        choices=list(NODES),
        default='ocean',
        help='the trajectory node that plays it (default: %(default)s)',
    )
    parser.add_argument('--no-wait', action='store_true', help='stop: end at once')
    add_namespace_argument(parser)


def main(arguments: argparse.Namespace) -> int:
    """Ask the trajectory node, print what it says, and see the platform come to rest."""
    service = f'{arguments.of}/{arguments.action}'

    async def ask(operator: Operator) -> str:
        undo = f'{arguments.of}/stop' if arguments.action == 'start' else ''
        return await operator.request(service, undo=undo)

    async def stop(operator: StopOperator) -> str:
        told = partial(print, flush=True)
        return f'at rest at {in_words(await operator.stop(NODES[arguments.of], service, told))}'

    if arguments.action == 'stop' and not arguments.no_wait:
        print(on_the_graph('stop_operator:StopOperator', stop, arguments.namespace))
    else:
        print(on_the_graph('operator:Operator', ask, arguments.namespace))
    return 0
