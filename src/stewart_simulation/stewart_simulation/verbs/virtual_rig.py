# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart virtual-rig``: a machine that is not there, on wires that are."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import signal
import sys
import time
from typing import Any

from stewart_driver.errors import ConfigurationError
from stewart_tables.progress import tell

HELP = 'run a simulated machine behind EtherCAT frames, an analogue card and a serial IMU'
LOOK = 0.05

DETAILS = """
Prints where the wires end, one a line, and runs until Ctrl-C. No root is needed. In another
terminal, or by the service simulation/inject_fault of the node virtual_rig:

  stewart virtual-rig --directory build/rig --inject ethercat.cut '{"after": 3}'

examples:
  stewart virtual-rig
  stewart virtual-rig --platform ex800 --moved-by card --directory build/rig
  stewart virtual-rig --set payload_mass=3.0 --script faults.jsonl
  stewart virtual-rig --list-faults --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = DETAILS
    parser.add_argument('--platform', default='vigo', help='name or YAML file (default: vigo)')
    parser.add_argument('--directory', type=Path, help='where the wires end')
    parser.add_argument(
        '--moved-by',
        choices=('ethercat', 'card'),
        default='ethercat',
        help='wire that moves it (default: ethercat)',
    )
    for wire in ('ethercat', 'card', 'imu'):
        parser.add_argument(f'--no-{wire}', action='store_true', help='leave this wire out')
    parser.add_argument('--script', type=Path, help='faults with times, a JSON object per line')
    parser.add_argument(
        '--set',
        action='append',
        default=[],
        metavar='NAME=VALUE',
        help='any other parameter of the node virtual_rig; may be repeated',
    )
    parser.add_argument(
        '--inject',
        nargs='+',
        metavar=('FAULT', 'JSON'),
        help='break the rig that runs in --directory, with arguments as a JSON object',
    )
    parser.add_argument('--list-faults', action='store_true', help='list what can be injected')
    parser.add_argument('--json', action='store_true', help='print faults or ends as JSON')


def takes_platform(arguments: argparse.Namespace) -> bool:
    """Tell whether the platform counts: for a rig, or for the folder where one is looked for."""
    return not (arguments.list_faults or (arguments.inject and arguments.directory))


def main(arguments: argparse.Namespace) -> int:
    """Run a rig until Ctrl-C, or break the one that runs; return 1 if the rig ended by itself.

    Raises:
        ConfigurationError: If an argument does not fit.
    """
    directory: Path | None = arguments.directory
    if directory is not None and directory.exists() and not directory.is_dir():
        raise ConfigurationError('--directory', str(directory), 'a folder, new or not')
    if arguments.list_faults:
        return _list(as_json=arguments.json)
    if arguments.inject:
        return _inject(arguments)
    from stewart_simulation.rig.launcher import RigProcess
    from stewart_simulation.rig.settings import RigSettings

    settings = RigSettings.from_plain(_values(arguments))
    # A shell without job control starts what runs in its background with SIGINT ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        with RigProcess(settings, directory) as rig:
            if arguments.json:
                # One line: nobody knows when what goes on running has said all.
                print(json.dumps(rig.ends), flush=True)
            else:
                for name, place in rig.ends.items():
                    print(f'{name:10} {place}', flush=True)
            while rig.alive:
                time.sleep(LOOK)
            tell(rig.exit_reason())
    except KeyboardInterrupt:
        tell('ended')
        return 0
    return 1


def _values(arguments: argparse.Namespace) -> dict[str, Any]:
    values: dict[str, Any] = {'platform': arguments.platform, 'moved_by': arguments.moved_by}
    for wire in ('ethercat', 'card', 'imu'):
        values[wire] = not getattr(arguments, f'no_{wire}')
    if arguments.script:
        values['script'] = str(arguments.script.absolute())
    for text in arguments.set:
        name, equals, value = text.partition('=')
        if not equals:
            raise ConfigurationError('--set', text, 'NAME=VALUE')
        try:
            values[name] = json.loads(value)
        except json.JSONDecodeError:
            values[name] = value
    return values


def _list(*, as_json: bool) -> int:
    from stewart_simulation.rig.faults import listing

    rows = listing()
    if as_json:
        heads = 'fault', 'arguments', 'meaning'
        json.dump([dict(zip(heads, row, strict=True)) for row in rows], sys.stdout, indent=2)
        print()
        return 0
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, arguments, meaning in rows:
        print(f'{name:{widths[0]}}  {arguments:{widths[1]}}  {meaning}')
    return 0


def _inject(arguments: argparse.Namespace) -> int:
    from stewart_simulation.control import ControlClient
    from stewart_simulation.rig.directory import CONTROL, default_directory

    fault, *texts = arguments.inject
    try:
        values = json.loads(texts[0]) if texts else {}
    except json.JSONDecodeError:
        values = None
    if not isinstance(values, dict) or len(texts) > 1:
        raise ConfigurationError('--inject', arguments.inject, 'a fault and one JSON object')
    directory = arguments.directory or default_directory(arguments.platform)
    with ControlClient(directory / CONTROL) as control:
        answer = control.call(fault, **values)
    if answer is not None:
        print(json.dumps(answer))
    return 0
