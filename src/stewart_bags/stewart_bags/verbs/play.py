# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart play``: publish what a bag holds."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from stewart_bags.verbs.graph import graph_prefix, ros_session
from stewart_tables.errors import counted
from stewart_tables.numbers import not_negative, positive
from stewart_tables.progress import LiveLine, tell

HELP = 'publish what a bag holds, in its rhythm'

DETAILS = """
A player of recorded setpoints moves whatever listens to them: give it a --prefix unless that is
what you want.

examples:
  stewart play run_1 --prefix /replay
  stewart play run_1 /actuator_states /imu/data --rate 0.5 --clock 100
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add = parser.add_argument
    add('bag', help='directory, .mcap or .db3 file, also compressed')
    add('topics', nargs='*', help='topics to play (default: all)')
    add('--rate', type=positive, default=1.0, help='how much faster (default: 1)')
    add('--start', type=not_negative, default=0.0, metavar='SECONDS', help='where to start [s]')
    add('--loop', action='store_true', help='begin anew at the end')
    before = 'put before every topic, such as /replay'
    add('--prefix', type=graph_prefix, default='', help=before)
    stamps = 'stamps of headers as recorded, or shifted to now (default: %(default)s)'
    add('--stamps', choices=['recorded', 'now'], default='recorded', help=stamps)
    clock = 'publish /clock this often [Hz] (default: not at all)'
    add('--clock', type=not_negative, default=0.0, metavar='HZ', help=clock)


def main(arguments: argparse.Namespace) -> int:
    """Play."""
    progress = LiveLine(sys.stderr)
    with ros_session() as stop:
        from rclpy.parameter import Parameter
        from stewart_bags.nodes.player import Player
        from stewart_node_support.running import spin

        values = _parameters(arguments)
        player = Player(
            parameter_overrides=[Parameter(name, value=item) for name, item in values.items()]
        )
        duration = player.bag.duration
        player.create_timer(
            0.2, lambda: progress.show(f'{player.position:7.1f} s of {duration:.1f} s')
        )
        spin([player], stop=stop)
    progress.end()
    tell(f'{arguments.bag}: {counted(player.count, "message")} played')
    return 0


def _parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    values = {
        'bag': arguments.bag,
        'rate': arguments.rate,
        'start_offset': arguments.start,
        'loop': arguments.loop,
        'prefix': arguments.prefix,
        'stamps': arguments.stamps,
        'publish_clock': arguments.clock,
        'exit_at_end': True,
    }
    # rclpy cannot tell the type of an empty list.
    return {**values, 'topics': arguments.topics} if arguments.topics else values
