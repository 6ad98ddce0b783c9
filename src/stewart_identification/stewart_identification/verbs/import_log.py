# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart import``: an IMU's log into a bag."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone
from pathlib import Path
import sys

import numpy as np
from stewart_bags.verbs.numbers import positive
from stewart_bags.writing import Storage
from stewart_identification.importing.imu_log import NoImuLog, write_log
from stewart_identification.importing.mat_log import read_mat_log, ROLES
from stewart_identification.importing.text_log import read_text_log
from stewart_kinematics.errors import ConfigurationError

HELP = "turn a WitMotion log or the EX800 paper's .mat file into a bag"

EXAMPLES = """
Text logs are known by the names of their columns, in all versions of the vendor's program. The
variables of a .mat file are known by the same names; what is called otherwise is named:
--name acceleration=data1. The bag has one topic, /imu/data, in sensor axes.

examples:
  stewart import imu_log.txt -o imu_run
  stewart import data_0.csv --device WT901BLE -o imu_run
  stewart import waves_meter_range45_omega3.75.mat --rate 100 -o imu_run
  stewart import run.mat --name time=t --name acceleration=a --start 2026-01-14T09:30:00 -o run
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    parser.add_argument('log', type=Path, help='text log of the sensor, or .mat file')
    parser.add_argument(
        '-o', '--output', type=Path, required=True, help='directory of the bag; must not exist'
    )
    parser.add_argument(
        '--device', default='', help="part of the sensor's name, where a log holds several"
    )
    parser.add_argument(
        '--name',
        action='append',
        default=[],
        metavar='ROLE=VARIABLE',
        help=f'variable of a .mat file for one of: {", ".join(ROLES)}',
    )
    parser.add_argument(
        '--rate',
        type=positive,
        metavar='HZ',
        help='sampling rate of a .mat file without times [Hz]',
    )
    parser.add_argument(
        '--start',
        default='1970-01-01T00:00:01',
        help='when the log begins, where it has no date (UTC, default: %(default)s)',
    )
    parser.add_argument('--frame', default='imu_link', help='frame (default: %(default)s)')
    parser.add_argument(
        '--storage',
        choices=[item.value for item in Storage],
        default=Storage.MCAP.value,
        help='how messages lie on disk (default: %(default)s)',
    )


def main(arguments: argparse.Namespace) -> int:
    """Import; return the exit code, 0."""
    start_ns = _instant(arguments.start)
    names = _names(arguments.name)
    if arguments.log.suffix.lower() == '.mat':
        log = read_mat_log(arguments.log, names=names, rate=arguments.rate, start_ns=start_ns)
    else:
        log = read_text_log(arguments.log, device=arguments.device, start_ns=start_ns)
    both = np.hstack([log.specific_force, log.angular_velocity])
    measured = np.asarray(np.isfinite(both).all(axis=1))
    if not measured.any():
        raise NoImuLog(f'{arguments.log}: none of its {len(measured)} samples is finite')
    count = write_log(
        log, arguments.output, frame=arguments.frame, storage=Storage(arguments.storage)
    )
    duration = (int(log.stamps_ns[-1]) - int(log.stamps_ns[0])) / 1e9
    gravity = float(np.linalg.norm(log.specific_force[measured].mean(axis=0)))
    for remark in log.remarks:
        print(remark, file=sys.stderr)
    if not measured.all():
        bad = np.flatnonzero(~measured)
        print(
            f'{arguments.log}: {bad.size} of {measured.size} samples '
            f'{"is" if bad.size == 1 else "are"} not finite, at first sample {bad[0] + 1}; '
            'the bag has them as they are',
            file=sys.stderr,
        )
    print(
        f'{arguments.output}: {count} messages over {duration:.3f} s, mean specific force '
        f'{gravity:.3f} m/s²',
        file=sys.stderr,
    )
    return 0


def _names(pairs: list[str]) -> dict[str, str]:
    for pair in pairs:
        if '=' not in pair:
            raise ConfigurationError('--name', pair, 'ROLE=VARIABLE, as acceleration=acc')
    return dict(pair.split('=', 1) for pair in pairs)


def _instant(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        expected = 'a date with time, as 2026-01-14T09:30:00'
        raise ConfigurationError('--start', text, expected) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return int(moment.timestamp()) * 1_000_000_000 + moment.microsecond * 1000
