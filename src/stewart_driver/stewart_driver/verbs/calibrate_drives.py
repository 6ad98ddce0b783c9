# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart calibrate-drives``: what the counts of absolute encoders mean on this machine."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
import datetime
from pathlib import Path

import numpy as np
from stewart_driver.errors import ConfigurationError, HomingError
from stewart_driver.ethercat import home
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.sdo_tool import read_counts, Reading
from stewart_driver.legs import Array, END_MARGIN, LegLimits, LEGS
from stewart_driver.rig_file import (
    DriveCalibration,
    EthercatSection,
    geometry_digest,
    interface_of,
    Rig,
    save_rig,
)
from stewart_driver.verbs.rig_platform import add_adopt, adopt, agreed, rig_of
from stewart_tables.numbers import positive
from stewart_tables.progress import tell

HELP = 'set the zero of the EtherCAT drives, or check it, with the platform at a known pose'
# Further than this while being read is not at rest [m].
STANDSTILL = 1e-5
POSES = ('zero', 'neutral')
DEFAULTS = EthercatOptions()

EXAMPLES = """
Bring the platform to a pose that you know by other means than its drives: onto a gauge, or onto
its stops. Stop the driver first. The motors stay off; positions are only read.

With --check nothing is written: the strokes and, by forward kinematics, height and inclination of
the platform are compared with the calibration pose. With --adopt no drive is read.

examples:
  stewart calibrate-drives --rig-file calibration.yaml --platform vigo --interface eth1 --pose zero
  stewart calibrate-drives --rig-file calibration.yaml --strokes 0 0 0 0 0 0 --yes
  stewart calibrate-drives --rig-file calibration.yaml --check
  stewart calibrate-drives --rig-file calibration.yaml --adopt my_vigo.yaml
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add('--rig-file', type=Path, required=True, help='file to write into')
    add('--platform', help='of a calibration file that does not exist yet')
    add('--interface', help='network interface (default: that of the calibration file)')
    add('--namespace', default='', help='network namespace of a virtual rig')
    add('--drive', default=DEFAULTS.drive, help='type of the drives (default: %(default)s)')
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument('--pose', choices=POSES, help='pose of the platform, of its description')
    where.add_argument(
        '--strokes', nargs=LEGS, type=float, metavar='M', help='strokes of the legs, measured [m]'
    )
    where.add_argument('--check', action='store_true', help='compare, and write nothing')
    add_adopt(where)
    allowed = 'of --check, for a leg [m] (default: %(default)s)'
    add('--tolerance', type=positive, default=DEFAULTS.home_tolerance, help=allowed)
    add('--yes', action='store_true', help='read and write without asking')


def main(arguments: argparse.Namespace) -> int:
    """Calibrate or check; return 1 if the operator says no. Raises `DriverError`."""
    path: Path = arguments.rig_file
    if arguments.adopt:
        return adopt(path, arguments.adopt, yes=arguments.yes)
    rig = rig_of(path, arguments.platform)
    options = EthercatOptions(
        interface=interface_of(arguments.interface, rig),
        namespace=arguments.namespace,
        drive=arguments.drive,
    )
    kind = DriveType.from_yaml(options.drive)
    if arguments.check:
        return _check(rig, kind, options, path, arguments.tolerance)
    pose = arguments.pose or 'measured strokes'
    strokes = _strokes(rig.platform, arguments.pose, arguments.strokes)
    _require_reachable(strokes, kind.limits, arguments.pose)
    tell(f'pose: {pose} of {rig.platform}; expected strokes [mm]: {_in_mm(strokes)}')
    if not arguments.yes and not agreed('Does the platform stand there, at rest? [y/N] '):
        return 1
    reading = _read(kind, options)
    zeros = np.rint(np.array(reading.counts) - kind.gear.counts_per_metre * strokes)
    offsets = tuple(int(zero) for zero in zeros)
    kind.gear.check(offsets, kind.limits, END_MARGIN)
    tell(f'counts: {list(reading.counts)}\nzero offsets: {list(offsets)}')
    if rig.drives is not None:
        old = np.array(rig.drives.zero_offsets_counts)
        changes = (np.array(offsets) - old) / kind.gear.counts_per_metre
        tell(f'change since {rig.drives.calibrated} [mm]: {_in_mm(changes)}')
    if not arguments.yes and not agreed(f'Write {path}? [y/N] '):
        return 1
    calibration = DriveCalibration(
        offsets,
        datetime.date.today(),
        pose,
        tuple(float(stroke) for stroke in strokes),
        reading.identities,
        counts_per_metre=kind.gear.counts_per_metre,
    )
    digest, wire = geometry_digest(rig.platform), EthercatSection(options.interface)
    save_rig(path, replace(rig, geometry=digest, drives=calibration, ethercat=wire))
    tell(f'written: {path}')
    return 0


def _check(
    rig: Rig, kind: DriveType, options: EthercatOptions, path: Path, tolerance: float
) -> int:
    """Print where the platform stands; 0 if that is home."""
    from stewart_kinematics.model.platform import Platform
    from stewart_kinematics.solvers.forward import forward

    reading = _read(kind, options)
    if reason := home.why_not(rig.drives, reading.identities, str(path)):
        raise HomingError(reason)
    assert rig.drives is not None
    if reason := home.why_other_gear(rig.drives, kind.gear):
        raise HomingError(reason)
    zeros = np.array(rig.drives.zero_offsets_counts)
    strokes = kind.gear.strokes(np.array(reading.counts, dtype=np.float64), zeros)
    print(f'strokes [mm]: {_in_mm(strokes)}')
    geometry = Platform.from_yaml(rig.platform).geometry
    found = forward(geometry, geometry.retracted_length + strokes)
    at_home = forward(geometry, geometry.retracted_length + np.array(rig.drives.strokes_m))
    height, expected = float(found.position[2]), float(at_home.position[2])
    inclination = np.degrees(2.0 * np.arcsin(np.linalg.norm(found.quaternion_xyzw[:2])))
    print(f'height {height:.5f} m, at home {expected:.5f} m; inclination {inclination:.4f} deg')
    print(home.check(rig.drives, strokes, tolerance))
    return 0


def _read(kind: DriveType, options: EthercatOptions) -> Reading:
    """Read the drives; raises `HomingError` if a leg moves meanwhile."""
    reading = read_counts(options)
    moved = abs(reading.wandering / kind.gear.counts_per_metre)
    if moved > STANDSTILL:
        raise HomingError(f'a leg moved by {1e3 * moved:.3f} mm while it was read')
    return reading


def _strokes(platform: str, pose: str | None, given: Sequence[float] | None) -> Array:
    if given is not None:
        return np.array(given)
    from stewart_kinematics.model.platform import Platform
    from stewart_kinematics.solvers.inverse import leg_lengths

    geometry = Platform.from_yaml(platform).geometry
    at = geometry.zero_pose if pose == 'zero' else geometry.neutral_pose
    lengths = leg_lengths(geometry, at.position, at.quaternion_xyzw)
    return np.asarray(lengths - geometry.retracted_length, dtype=np.float64)


def _require_reachable(strokes: Array, limits: LegLimits, pose: str | None) -> None:
    """Refuse what no leg can have: millimetres for metres, or the pose of another platform."""
    beyond = limits.beyond(strokes)
    leg = int(beyond.argmax())
    # Not "beyond it": NaN is refused too.
    if not beyond[leg] <= END_MARGIN:
        raise ConfigurationError(
            '--strokes' if pose is None else f'stroke of --pose {pose}',
            float(strokes[leg]),
            f'{limits.stroke_lower[leg]:g} to {limits.stroke_upper[leg]:g} m, which is what leg '
            f'{leg + 1} reaches',
        )


def _in_mm(values: Array) -> str:
    return ', '.join(f'{1e3 * value:.3f}' for value in values)
