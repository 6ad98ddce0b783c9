# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The calibration file (``rig_file``), which says what is particular to one machine.

Every section but ``platform`` may be missing: a machine that was never calibrated has none. Tools
write it, whole and atomically, so comments in it do not last.
"""

from __future__ import annotations

from dataclasses import dataclass
import datetime
from hashlib import sha256
import json
from math import pi
import os
from pathlib import Path
import socket
from typing import Annotated, Any, NamedTuple, TypeAlias

from stewart_description.paths import platform_path, UnknownPlatformError
from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import LEGS
from stewart_tables.whole_files import whole_file
from stewart_tables.yaml_models import Check, INT32, plain, read_content, read_model
import yaml

MODES = ('position', 'velocity')
HEADER = '# This machine. Written by the tools of stewart_driver; comments do not last.\n'

PER_LEG = Check(count=LEGS)
Word: TypeAlias = Annotated[int, Check(least=0, most=(1 << 32) - 1)]
Counts: TypeAlias = Annotated[tuple[Annotated[int, INT32], ...], PER_LEG]


class DriveIdentity(NamedTuple):
    """What a drive says of itself in object 1018h; the number is None where it tells none."""

    vendor: Word
    product: Word
    revision: Word
    serial: Word | None


@dataclass(frozen=True)
class DriveCalibration:
    """What makes the absolute encoders of the drives absolute strokes.

    Attributes:
        zero_offsets_counts: Position of drive 1 to 6 at stroke zero [count].
        pose: Where the platform stood: zero, neutral, retracted, or six numbers in words.
        strokes_m: Strokes of the legs 1 to 6 there [m].
        identities: The drives that were calibrated; with another drive the offsets mean nothing.
        parked_counts: Where the drives stood when they were last switched off in order [count];
            absolute encoders say the same when they are switched on again. None if that is not
            known.
        counts_per_metre: Of the gear that the offsets were found with, signed; None in a file that
            does not tell.
    """

    zero_offsets_counts: Counts
    calibrated: datetime.date
    pose: str
    strokes_m: Annotated[tuple[float, ...], PER_LEG]
    identities: Annotated[tuple[DriveIdentity, ...], PER_LEG]
    parked_counts: Counts | None = None
    counts_per_metre: Annotated[float, Check(nonzero=True)] | None = None


@dataclass(frozen=True)
class Channel:
    """An analogue channel: metres = offset_m + gain_m_per_v · volts, for inputs and outputs alike.

    Attributes:
        gain_m_per_v: [m/V]; of an output in velocity mode [m/s/V].
        offset_m: [m]; of an output in velocity mode [m/s].
        residual_m: Largest deviation of the calibration points from the line, in the unit of the
            offset.
    """

    gain_m_per_v: Annotated[float, Check(nonzero=True)]
    offset_m: float
    residual_m: Annotated[float, Check(least=0.0)]


@dataclass(frozen=True)
class DaqCalibration:
    """What the volts of the data acquisition card mean.

    Attributes:
        outputs: Amplifiers of legs 1 to 6; none where the card only reads.
        mode: What the amplifiers take: position or velocity.
    """

    inputs: Annotated[tuple[Channel, ...], PER_LEG]
    outputs: Annotated[tuple[Channel, ...], Check(count=LEGS, or_none=True)]
    calibrated: datetime.date
    mode: Annotated[str, Check(choices=MODES)] = MODES[0]


@dataclass(frozen=True)
class EthercatSection:
    """How this machine's drives are reached: the network interface of the master."""

    interface: str


@dataclass(frozen=True)
class Rig:
    """One machine, in the order of a reader's interest.

    Attributes:
        geometry: Digest of the platform's geometry at the last calibration, see `geometry_digest`;
            empty if unknown.
        drives, daq: None if they were never calibrated.
    """

    platform: str
    geometry: str = ''
    drives: DriveCalibration | None = None
    daq: DaqCalibration | None = None
    ethercat: EthercatSection | None = None


def load_rig(path: str | os.PathLike[str]) -> Rig:
    """Read and check a calibration file; raises `ConfigurationError`."""
    return read_model(path, Rig)


def save_rig(path: str | os.PathLike[str], rig: Rig) -> None:
    """Write a calibration file; a reader sees the old one or the new one, never half of one.

    The disk has it on return, and a link is followed. Raises `ConfigurationError`.
    """
    text = HEADER + yaml.safe_dump(plain(rig), sort_keys=False, default_flow_style=None, width=99)
    try:
        with whole_file(path) as stream:
            stream.write(text)
    except OSError as error:
        raise ConfigurationError(
            'rig_file', str(path), f'a file that can be written ({error.strerror})'
        ) from error


def interface_of(chosen: str | None, rig: Rig | None) -> str:
    """Return the network interface chosen, else that of the rig; raises `ConfigurationError`."""
    found = chosen or (rig.ethercat.interface if rig and rig.ethercat else '')
    if not found:
        there = ', '.join(name for _, name in socket.if_nameindex())
        expected = (
            'a network interface (--interface), or a calibration file (--rig-file) that has one '
            f'as ethercat.interface; there are {there}'
        )
        raise ConfigurationError('interface', '', expected)
    return found


# What turns a pose into strokes; masses and limits may be edited without a new calibration.
GEOMETRY = ('base_joints', 'platform_joints', 'pairing')
LEG_GEOMETRY = ('retracted_length_m', 'stroke_m')
# Keys of where legs, carriages and cranks end, and their units.
LEG_ENDS = {'stroke_m': 1.0, 'position_m': 1.0, 'angle_deg': pi / 180.0}


def geometry_digest(platform: str | os.PathLike[str]) -> str:
    """Return sixteen digits of a digest of what turns poses of a platform into strokes.

    Raises:
        ConfigurationError: If there is no such platform or its file has no geometry.
    """
    content = _content(platform)
    try:
        parts = {key: content[key] for key in GEOMETRY}
        parts |= {key: content['legs'][key] for key in LEG_GEOMETRY}
        text = json.dumps(parts, sort_keys=True)
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        expected = f'a platform file with a geometry ({error})'
        raise ConfigurationError('platform', str(platform), expected) from None
    return sha256(text.encode()).hexdigest()[:16]


def leg_ends(platform: str | os.PathLike[str]) -> tuple[float, float]:
    """Return where the legs of a platform end [m], [rad]; the errors of `geometry_digest`."""
    legs = _content(platform).get('legs')
    for key, unit in LEG_ENDS.items():
        if isinstance(legs, dict) and key in legs:
            try:
                lower, upper = (unit * float(end) for end in legs[key])
            except (TypeError, ValueError):
                raise ConfigurationError(f'legs.{key}', legs[key], 'two numbers') from None
            return lower, upper
    raise ConfigurationError('platform', str(platform), f'a file with one of {[*LEG_ENDS]}')


def _content(platform: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        return read_content(platform_path(platform))
    except (UnknownPlatformError, FileNotFoundError) as error:
        raise ConfigurationError(
            'platform', str(platform), f'a platform that there is ({error})'
        ) from None


def require_platform_of_the_rig(platform: str, rig_file: str) -> None:
    """Refuse to drive a machine by the geometry of another one; raises `ConfigurationError`.

    Names are compared where the file has no geometry.
    """
    rig = load_rig(rig_file)
    wanted = f'{rig.platform!r}, the platform of {rig_file}'
    if not platform or not (rig.geometry or Path(platform).stem == Path(rig.platform).stem):
        raise ConfigurationError('platform', platform, wanted)
    if rig.geometry and rig.geometry != geometry_digest(platform):
        wanted += (
            ', or one of its geometry, which was another one at the last calibration: calibrate '
            'again, or `stewart calibrate-drives --adopt`, if this is what `stewart calibrate` '
            'has found of this very machine'
        )
        raise ConfigurationError('platform', platform, wanted)
