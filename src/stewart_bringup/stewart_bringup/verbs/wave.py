# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart wave``: let a running rig play its wave, and end it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from stewart_bringup.verbs.graph import add_namespace_argument, on_the_graph

if TYPE_CHECKING:
    from stewart_bringup.nodes.operator import Operator

HELP = 'start and stop the wave of a running rig'

DETAILS = """
start: the platform goes to the wave's centre and the wave grows. stop: it fades out and the
platform returns to its neutral pose. The command ends at once, the motion goes on.

examples:
  stewart wave start
  stewart wave stop
  stewart wave start --of excitation
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument('action', choices=['start', 'stop'], help='what to do')
    parser.add_argument(
        '--of',
        choices=['ocean', 'excitation', 'cueing', 'stabilisation'],
        default='ocean',
        help='the trajectory node that plays it (default: %(default)s)',
    )
    add_namespace_argument(parser)


def main(arguments: argparse.Namespace) -> int:
    """Ask the trajectory node and print what it says."""
    service = f'{arguments.of}/{arguments.action}'

    async def ask(operator: Operator) -> str:
        return await operator.request(service)

    print(on_the_graph('operator:Operator', ask, arguments.namespace))
    return 0
