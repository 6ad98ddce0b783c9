# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart demo``: play waves on a real ROS 2 graph and report how well that went."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stewart_bringup.demo.scenarios import choose, ends_with_identification, Scenario, WAVES
from stewart_bringup.errors import BringupError
from stewart_bringup.rigs import config_file
from stewart_bringup.verbs.graph import speed_option
from stewart_tables.numbers import positive_up_to, whole_from
from stewart_tables.outputs import output_folder
from stewart_tables.progress import tell

HELP = 'play waves on a ROS 2 graph, record them, write a report'

DETAILS = """
Without options, in simulated time, as fast as the machine can: a JONSWAP sea on Vigo; Eq. 18 on
the EX800 with and without feed-forward. Then against the real clock, with a virtual rig behind the
wires: the paper's random wave on Vigo over EtherCAT frames; Eq. 18 on the EX800 over an analogue
card, with its IMU on a serial line and the state estimator live.
At the end, in simulated time, an EX800 with a payload that its description
does not know plays an optimal motion; ten parameters are identified from the bag and fed forward.
A rig is composed in this process, switched on, moved, brought home and switched off; everything
is recorded, and the report is made from the bag. The exit code is 1 if a message was lost, the
driver faulted, or the path, in simulated time latency or a rate, too, left its bound. Real time
that was not kept is told, with what helps, and is no error: rates and latency, and what a machine
has spoilt that was late, as measured meanwhile.

examples:
  stewart demo
  stewart demo --wave jonswap --seed 7 --duration 60
  stewart demo --platform vigo --backend ethercat
  stewart demo --time simulated
  stewart demo --platform srs --output build/demo_srs
  stewart demo --at-sea
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        '--platform', metavar='NAME', help="rig to move (default: each wave's own)"
    )
    parser.add_argument('--wave', choices=sorted(WAVES), help='only this wave')
    parser.add_argument(
        '--duration',
        type=positive_up_to(3600.0),
        metavar='S',
        help='how long each wave is played before it fades out [s] (default: 15, over wires 8)',
    )
    parser.add_argument(
        '--seed', type=whole_from(0), default=1, metavar='N', help='seed of the sea (default: 1)'
    )
    parser.add_argument(
        '--backend',
        metavar='NAME',
        help="what moves the legs (default: each scenario's own, see below)",
    )
    parser.add_argument(
        '--time',
        choices=('simulated', 'real'),
        help='whose time passes in all chapters but the identification, which is simulated '
        "(default: each chapter's own, see below)",
    )
    parser.add_argument(
        '--speed',
        type=speed_option,
        metavar='FACTOR',
        help='simulated seconds per second in the chapters with a wave, or max (default: max)',
    )
    parser.add_argument(
        '--without-identification',
        action='store_true',
        help='leave out the last chapter: find an unknown payload, feed it forward',
    )
    parser.add_argument(
        '--at-sea',
        action='store_true',
        help='instead of all that: two rigs in simulated time, one makes the sea, the other lives '
        'on its platform and keeps level',
    )
    parser.add_argument(
        '--output',
        type=output_folder,
        default=Path('build', 'demo'),
        metavar='FOLDER',
        help='folder of the bags and of report.html (default: build/demo)',
    )


def main(arguments: argparse.Namespace) -> int:
    """Run the demo."""
    from stewart_node_support.stop_signals import StopSignals

    own = ('platform', 'wave', 'duration', 'backend', 'time', 'speed')
    given = [name for name in own if getattr(arguments, name) is not None]
    if arguments.at_sea and given:
        raise BringupError(f'--at-sea has rigs and a sea of its own: leave out --{given[0]}')
    with StopSignals() as stop:
        from stewart_bringup.demo.run import run_demo

        if arguments.at_sea:
            passed = run_demo([], arguments.output, stop, sea=arguments.seed)
        else:
            identifying = not arguments.without_identification and ends_with_identification(
                arguments.platform, arguments.wave, arguments.backend
            )
            chosen = _chosen(arguments)
            passed = run_demo(chosen, arguments.output, stop, identifying=identifying)
    if passed is None:
        tell(
            'stewart demo: stopped; the platform was brought to rest and the bag is closed in '
            f'{arguments.output / "unfinished"}, there is no new report'
        )
    return 0 if passed else 1


def _chosen(arguments: argparse.Namespace) -> list[Scenario]:
    scenarios = choose(
        arguments.platform,
        arguments.wave,
        arguments.duration,
        arguments.seed,
        arguments.backend,
        arguments.time,
    )
    _check(scenarios)
    if arguments.speed is None:
        return scenarios
    if not any(scenario.simulated for scenario in scenarios):
        raise BringupError('--speed is for simulated time, real time has its own')
    return [replace(scenario, speed=arguments.speed) for scenario in scenarios]


def _check(scenarios: Sequence[Scenario]) -> None:
    """Refuse what is not there before anything takes time; loading a back end does."""
    from stewart_driver.backend import installed_backends
    from stewart_driver.errors import UnknownBackend

    known = tuple(installed_backends())
    for scenario in scenarios:
        if scenario.backend not in known:
            raise UnknownBackend(scenario.backend, known)
        config_file('rig', scenario.rig)
