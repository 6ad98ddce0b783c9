# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart import``: a log of an IMU or of legs into a bag."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
from stewart_bags.writing import Storage
from stewart_identification.importing.bag import write_logs
from stewart_identification.importing.frame_log import frames_of, read_frame_log
from stewart_identification.importing.imu_log import ImuLog, NoImuLog, TIME_UNITS
from stewart_identification.importing.leg_log import has_legs, leg_log, LegLog
from stewart_identification.importing.leg_log import UNITS as LEG_UNITS
from stewart_identification.importing.mat_log import mat_table, ROLES
from stewart_identification.importing.named_columns import spelt, UNITS
from stewart_identification.importing.text_log import is_text, text_table
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_tables.numbers import positive
from stewart_tables.progress import tell

HELP = 'turn a WitMotion log, or strokes and forces of another program, into a bag'

DETAILS = """
The IMU's log may be text, a .mat file, or the frames as an SD card, a serial port or Bluetooth
has them (55 51 ..., 55 61 ...). Legs may be six strokes or lengths and six forces, text or .mat.
Columns are known by their names and units; what is called otherwise is named, # for the leg. What
has to be assumed is said. The bag has /imu/data, in sensor axes, and /actuator_states.

examples:
  stewart import imu_log.txt -o imu_run
  stewart import data_0.csv --device WT901BLE -o imu_run
  stewart import WIT00001.TXT --rate 200 --start 2026-01-14T09:30:00 -o imu_run
  stewart import waves_meter_range45_omega3.75.mat --rate 100 -o imu_run
  stewart import legs.csv --platform ex800 -o run
  stewart import daq.csv --platform ex800 --name forces=ch# --unit forces=kN -o run
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add, storages = parser.add_argument, [item.value for item in Storage]
    add('log', type=Path, help='text, .mat file, or frames as sent')
    text = 'directory of the bag; must not exist'
    add('-o', '--output', type=Path, required=True, help=text)
    add('--device', default='', help="part of the sensor's name, where a log holds several")
    for option, metavar, text in (
        (
            '--name',
            'ROLE=VARIABLE',
            'column for the time, six columns of legs as pos#, or variable of a .mat file; one '
            f'of: {", ".join(ROLES)}',
        ),
        ('--unit', 'ROLE=UNIT', 'unit where the log does not say it, as lengths=mm'),
    ):
        add(option, action='append', default=[], metavar=metavar, help=text)
    text = 'whose legs the log has; needed for those'
    add('--platform', metavar='NAME|FILE', help=text)
    add('--rate', type=positive, metavar='HZ', help='sampling rate of a log without times [Hz]')
    text = 'when the log begins, where it has no date (UTC, default: %(default)s)'
    add('--start', default='1970-01-01T00:00:01', help=text)
    add('--frame', default='imu_link', help='frame (default: %(default)s)')
    text = 'how messages lie on disk (default: %(default)s)'
    add('--storage', choices=storages, default=Storage.MCAP.value, help=text)


def main(arguments: argparse.Namespace) -> int:
    """Import; return the exit code, 0."""
    imu, legs, origin = _read(arguments)
    if imu is not None:
        _tell_gaps(arguments.log, np.hstack([imu.specific_force, imu.angular_velocity]))
    if legs is not None:
        _tell_gaps(arguments.log, legs.strokes)
        if legs.forces is not None:
            _tell_gaps(arguments.log, legs.forces, 'forces of ')
    count = write_logs(
        arguments.output,
        origin,
        imu=imu,
        legs=legs,
        frame=arguments.frame,
        storage=Storage(arguments.storage),
    )
    remarks = [*(imu.remarks if imu else ()), *(legs.remarks if legs else ())]
    for remark in dict.fromkeys(remarks):
        tell(remark)
    [stamps, *_] = [log.stamps_ns for log in (imu, legs) if log is not None]
    told = f'{count} messages over {(int(stamps[-1]) - int(stamps[0])) / 1e9:.3f} s'
    if imu is not None:
        finite = imu.specific_force[np.isfinite(imu.specific_force).all(axis=1)]
        gravity = float(np.linalg.norm(finite.mean(axis=0)))
        told += f', mean specific force {gravity:.3f} m/s²'
    if legs is not None:
        low, high = np.nanmin(legs.strokes), np.nanmax(legs.strokes)
        told += f', strokes from {low:.4f} to {high:.4f} m'
        told += ', no forces' if legs.forces is None else ''
    tell(f'{arguments.output}: {told}')
    return 0


def _read(arguments: argparse.Namespace) -> tuple[ImuLog | None, LegLog | None, str]:
    """Read what a log has, and say where it is from."""
    path, start_ns = arguments.log, _instant(arguments.start)
    units = {'time': TIME_UNITS, **UNITS, **LEG_UNITS}
    names = _pairs('--name', arguments.name, ROLES, 'acceleration=acc or forces=ch#')
    said = _pairs('--unit', arguments.unit, units, 'lengths=mm')
    said = {role: spelt(unit) for role, unit in said.items()}
    content = path.read_bytes()
    if path.suffix.lower() == '.mat':
        table = mat_table(path, names=names, units=said, rate=arguments.rate)
    elif (frames := frames_of(content)) is not None and not is_text(content):
        sent = read_frame_log(frames, path, rate=arguments.rate, start_ns=start_ns)
        return sent, None, sent.origin
    else:
        table = text_table(
            path, device=arguments.device, names=names, units=said, rate=arguments.rate
        )
    legs, with_legs = None, has_legs(table.names, names)
    if with_legs and arguments.platform is None:
        if not table.has_imu:
            raise ConfigurationError('--platform', None, f'the platform whose legs {path} has')
        table.remarks.append(f'{path}: its legs are left out, --platform says whose they are')
    elif arguments.platform is not None and not with_legs:
        table.remarks.append(f'{path}: no six strokes or lengths, --platform is not used')
    elif with_legs:
        platform = Platform.from_yaml(arguments.platform)
        legs = leg_log(table, platform, chosen=names, start_ns=start_ns)
    imu = table.imu(start_ns) if table.has_imu or legs is None else None
    return imu, legs, table.origin


def _tell_gaps(path: Path, values: Array, what: str = '') -> None:
    """Say which samples are not finite; refuse a log without any that are, unless of forces."""
    measured = np.asarray(np.isfinite(values).all(axis=1))
    if not (what or measured.any()):
        raise NoImuLog(f'{path}: none of its {len(measured)} samples is finite')
    bad = np.flatnonzero(~measured)
    if bad.size:
        verb = 'is' if bad.size == 1 and not what else 'are'
        tell(
            f'{path}: {what}{bad.size} of {measured.size} samples {verb} '
            f'not finite, at first sample {bad[0] + 1}; the bag has them as they are'
        )


def _pairs(option: str, pairs: list[str], roles: Collection[str], example: str) -> dict[str, str]:
    for pair in pairs:
        role, equals, value = pair.partition('=')
        if not equals or not value:
            raise ConfigurationError(option, pair, f'ROLE=VALUE, as {example}')
        if role not in roles:
            raise ConfigurationError(option, pair, f'one of {", ".join(roles)} before the =')
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
