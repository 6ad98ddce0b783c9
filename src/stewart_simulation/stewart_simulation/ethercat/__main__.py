# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Run a software EtherCAT segment, and a master beside it.

``python -m stewart_simulation.ethercat -- python my_master.py``
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import signal
import sys

from stewart_simulation.errors import SegmentError
from stewart_simulation.ethercat.launcher import CONTROL, INTERFACE, serve, Setup, start
from stewart_simulation.ethercat.omron_1s import DriveType, SYNC_ERROR_LIMIT
from stewart_tables.progress import tell

NUMBERS = (
    ('--drives', 6, 'number of drives'),
    ('--mailbox', 128, 'mailbox length'),
    ('--sync-error-limit', SYNC_ERROR_LIMIT, '10F1h:2: so often SYNC0 may lack outputs; 0: any'),
    ('--controlword-delay', 2, 'targets that 6040h acts behind 607Ah'),
    ('--seed', 0, 'of frames lost at random'),
)
SWITCHES = (
    ('--read-only-maps', '1600h and 1A00h cannot be written'),
    ('--without-sync0', 'SAFEOP does not need distributed clocks'),
    ('--emergencies', 'emergencies without being asked (10F3h:5)'),
)


def parser() -> argparse.ArgumentParser:
    """Describe the arguments."""
    result = argparse.ArgumentParser(
        prog='python -m stewart_simulation.ethercat',
        description='CiA 402 drives on a software EtherCAT segment, without root.',
    )
    for name, default, meaning in NUMBERS:
        result.add_argument(name, type=int, default=default, help=f'{meaning} [{default}]')
    for name, meaning in SWITCHES:
        result.add_argument(name, action='store_true', help=meaning)
    result.add_argument('--control', type=Path, help='Unix socket to make, for faults')
    result.add_argument('--script', type=Path, help='timed faults, one JSON object per line')
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
    given = parser().parse_args()
    drive = DriveType(
        mailbox=given.mailbox,
        free_maps=not given.read_only_maps,
        needs_sync0=not given.without_sync0,
        sync_error_limit=given.sync_error_limit,
        controlword_delay=given.controlword_delay,
        emergencies=given.emergencies,
    )
    setup = Setup([drive] * given.drives, given.control, given.script, given.seed)
    try:
        if given.interface:
            # In the foreground: a Ctrl-C is meant for it, not for a master beside it.
            ending = (signal.SIGINT, signal.SIGTERM)
            serve(setup, given.interface, os.getppid(), signals=ending)
            return 0
        os.environ[INTERFACE] = start(setup)
        if given.control:
            os.environ[CONTROL] = str(given.control)
        os.execvp(given.command[0], given.command)
    except (SegmentError, OSError) as error:
        tell(error)
        return 1


if __name__ == '__main__':
    sys.exit(main())
