# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Run a software EtherCAT segment, and a master beside it.

``python -m stewart_simulation.ethercat -- python my_master.py``
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import sys

from stewart_simulation.ethercat.errors import SegmentError
from stewart_simulation.ethercat.launcher import CONTROL, INTERFACE, serve, Setup, start
from stewart_simulation.ethercat.omron_1s import DriveType, SYNC_ERROR_LIMIT


def parser() -> argparse.ArgumentParser:
    """Describe the arguments."""
    result = argparse.ArgumentParser(
        prog='python -m stewart_simulation.ethercat',
        description='CiA 402 drives on a software EtherCAT segment, without root.',
    )
    result.add_argument('--drives', type=int, default=6, help='number of drives [6]')
    result.add_argument('--mailbox', type=int, default=128, help='mailbox length [128]')
    result.add_argument(
        '--read-only-maps', action='store_true', help='1600h and 1A00h cannot be written'
    )
    result.add_argument(
        '--without-sync0', action='store_true', help='SAFEOP does not need distributed clocks'
    )
    result.add_argument(
        '--sync-error-limit',
        type=int,
        default=SYNC_ERROR_LIMIT,
        help=f'10F1h:2: SYNC0 may lack outputs so often; 0: always [{SYNC_ERROR_LIMIT}]',
    )
    result.add_argument(
        '--controlword-delay', type=int, default=2, help='targets that 6040h acts behind 607Ah [2]'
    )
    result.add_argument(
        '--emergencies', action='store_true', help='emergencies without being asked (10F3h:5)'
    )
    result.add_argument('--model', default='', help='module:function that makes the mechanics')
    result.add_argument('--control', type=Path, help='Unix socket to make, for faults')
    result.add_argument('--script', type=Path, help='timed faults, one JSON object per line')
    result.add_argument('--seed', type=int, default=0, help='of frames lost at random [0]')
    where = result.add_mutually_exclusive_group(required=True)
    where.add_argument('--interface', help='answer on this interface until Ctrl-C')
    where.add_argument(
        'command',
        nargs='*',
        default=[],
        help=f'master to run in a private network; the variable {INTERFACE} names its interface',
    )
    return result


def main() -> int:
    """Serve on an interface, or become the master."""
    arguments = parser().parse_args()
    drive = DriveType(
        mailbox=arguments.mailbox,
        free_maps=not arguments.read_only_maps,
        needs_sync0=not arguments.without_sync0,
        sync_error_limit=arguments.sync_error_limit,
        controlword_delay=arguments.controlword_delay,
        emergencies=arguments.emergencies,
    )
    setup = Setup(
        [drive] * arguments.drives,
        arguments.model,
        arguments.control,
        arguments.script,
        arguments.seed,
    )
    if arguments.interface:
        return serve(setup, arguments.interface, os.getppid())
    try:
        os.environ[INTERFACE] = start(setup)
        if arguments.control:
            os.environ[CONTROL] = str(arguments.control)
        os.execvp(arguments.command[0], arguments.command)
    except (SegmentError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == '__main__':
    sys.exit(main())
