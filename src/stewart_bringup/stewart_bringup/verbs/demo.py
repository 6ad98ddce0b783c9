# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart demo``: play waves on a real ROS 2 graph and report how well that went."""

from __future__ import annotations

import argparse
from pathlib import Path
import sys

from stewart_bringup.demo.scenarios import choose, WAVES

HELP = 'play waves on a ROS 2 graph in real time, record them, write a report'

DETAILS = """
Without options: a JONSWAP sea and the paper's random wave on Vigo, and Eq. 18 on the EX800.
A rig is composed in this process, switched on, moved, brought home and switched off; everything
is recorded, and the report is made from the bag. The exit code is 1 if a message was lost, the
driver faulted, the tracking error or the latency left its bound, or a rate fell below 95 %.

examples:
  stewart demo
  stewart demo --wave jonswap --seed 7 --duration 60
  stewart demo --platform srs --output build/demo_srs
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """
    Add the options.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of the verb.

    """
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = DETAILS
    parser.add_argument('--platform', metavar='NAME', help="rig to move; default: each wave's own")
    parser.add_argument('--wave', choices=sorted(WAVES), help='only this wave')
    parser.add_argument(
        '--duration',
        type=_seconds,
        default=15.0,
        metavar='S',
        help='how long each wave is played before it fades out [s], default 15',
    )
    parser.add_argument(
        '--seed', type=_whole, default=1, metavar='N', help='seed of the sea, default 1'
    )
    parser.add_argument(
        '--backend', default='simulated', metavar='NAME', help='what moves the legs'
    )
    parser.add_argument(
        '--output',
        type=Path,
        default=Path('build', 'demo'),
        metavar='FOLDER',
        help='folder of the bags and of report.html, default build/demo',
    )


def main(arguments: argparse.Namespace) -> int:
    """
    Run the demo.

    Parameters
    ----------
    arguments : argparse.Namespace
        What `add_arguments` asked for.

    Returns
    -------
    int
        0 if every check held, otherwise 1.

    """
    from stewart_node_support.stop_signals import StopSignals

    with StopSignals() as stop:
        from stewart_bringup.demo.run import run_demo

        scenarios = choose(
            arguments.platform,
            arguments.wave,
            arguments.duration,
            arguments.seed,
            arguments.backend,
        )
        passed = run_demo(scenarios, arguments.output, stop)
    if passed is None:
        print(
            'stewart demo: stopped; the platform was brought to rest and the bag is closed, '
            'there is no report',
            file=sys.stderr,
        )
    return 0 if passed else 1


def _seconds(text: str) -> float:
    value = float(text)
    if not 0.0 < value <= 3600.0:
        raise argparse.ArgumentTypeError(f'{text} s is not between 0 and 3600 s')
    return value


def _whole(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f'{text} is negative')
    return value
