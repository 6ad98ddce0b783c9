# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart run``: a rig in one process, where there is no ``ros2 launch``."""

from __future__ import annotations

import argparse
from pathlib import Path

from stewart_bags.verbs.graph import add_namespace_argument
from stewart_bringup.errors import BringupError
from stewart_bringup.rigs import config_file
from stewart_bringup.verbs.graph import add_time_arguments, chosen_speed
from stewart_tables.numbers import positive_up_to

HELP = 'run the nodes of a rig in one process, until Ctrl-C'

DETAILS = """
The same nodes with the same YAML files as `ros2 launch stewart_bringup simulation.launch.py`,
which starts this command for `time:=simulated`.
Ctrl-C or SIGTERM brings the platform to rest, switches it off and ends with exit code 0.

examples:
  stewart run
  stewart run ex800 --wave eq18 --record build/eq18
  stewart run my_rig.yaml --namespace hexapod
  stewart run --time simulated --speed max --wave jonswap
  stewart run vigo_at_sea --time simulated --play 60
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        'rig', nargs='?', default='vigo', help='name of a rig, or its YAML file (default: vigo)'
    )
    parser.add_argument(
        '--wave',
        action='append',
        default=[],
        metavar='NAME',
        help='what a trajectory node plays: a name, or a YAML file; may be repeated',
    )
    add_time_arguments(parser)
    parser.add_argument(
        '--play',
        type=positive_up_to(86400.0),
        metavar='S',
        help="switch on, play the rig's wave for so long, switch off and end [s]; for --time "
        'simulated, where no metal moves',
    )
    add_namespace_argument(parser)
    parser.add_argument('--record', type=Path, metavar='BAG', help='record into this new bag')
    parser.add_argument(
        '--log-level',
        choices=['debug', 'info', 'warn', 'error', 'fatal'],
        default='info',
        help='what is logged (default: info)',
    )


def main(arguments: argparse.Namespace) -> int:
    """Run the rig."""
    from stewart_node_support.stop_signals import StopSignals

    speed = chosen_speed(arguments)
    if arguments.play is not None and speed is None:
        raise BringupError('--play is for --time simulated: in real time a person enables drives')
    with StopSignals() as stop:
        files = [config_file('rig', arguments.rig)]
        files += [config_file('wave', name) for name in arguments.wave]

        from stewart_bringup.composition import run_rig

        run_rig(
            files,
            namespace=arguments.namespace,
            record=arguments.record,
            stop=stop,
            speed=speed,
            play=arguments.play,
            log_level=arguments.log_level,
        )
    return 0
