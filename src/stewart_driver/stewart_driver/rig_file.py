# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The file ``rig.yaml``, which says what is particular to one machine.

Every section but ``platform`` may be missing: a machine that was never calibrated has none. Tools
write it, whole and atomically, so comments in it do not last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
import datetime
import os
from typing import Any, NamedTuple

from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import LEGS
from stewart_driver.yaml_fields import Fields, read_fields
from stewart_tables.whole_files import whole_file
import yaml

LOWEST_COUNT, HIGHEST_COUNT = -(1 << 31), (1 << 31) - 1
WORD = (1 << 32) - 1
MODES = ('position', 'velocity')
HEADER = '# This machine. Written by the tools of stewart_driver; comments do not last.\n'


class DriveIdentity(NamedTuple):
    """What a drive says of itself in object 1018h; the number is None where it tells none."""

    vendor: int
    product: int
    revision: int
    serial: int | None


@dataclass(frozen=True)
class DriveCalibration:
    """What makes the absolute encoders of the drives absolute strokes.

    Attributes:
        zero_offsets_counts: Position of drive 1 to 6 at stroke zero [count].
        calibrated: When.
        pose: Where the platform stood: zero, neutral, retracted, or six numbers in words.
        strokes_m: Strokes of the legs 1 to 6 there [m].
        identities: The drives that were calibrated; with another drive the offsets mean nothing.
        parked_counts: Where the drives stood when they were last switched off in order [count];
            absolute encoders say the same when they are switched on again. None if that is not
            known.
    """

    zero_offsets_counts: tuple[int, ...]
    calibrated: datetime.date
    pose: str
    strokes_m: tuple[float, ...]
    identities: tuple[DriveIdentity, ...]
    parked_counts: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Channel:
    """An analogue channel: metres = offset_m + gain_m_per_v · volts, for inputs and outputs alike.

    Attributes:
        gain_m_per_v: [m/V]; of an output in velocity mode [m/s/V].
        offset_m: [m]; of an output in velocity mode [m/s].
        residual_m: Largest deviation of the calibration points from the line, in the unit of the
            offset.
    """

    gain_m_per_v: float
    offset_m: float
    residual_m: float


@dataclass(frozen=True)
class DaqCalibration:
    """What the volts of the data acquisition card mean.

    Attributes:
        inputs: Position sensors of legs 1 to 6.
        outputs: Amplifiers of legs 1 to 6; none where the card only reads.
        calibrated: When.
        mode: What the amplifiers take: position or velocity.
    """

    inputs: tuple[Channel, ...]
    outputs: tuple[Channel, ...]
    calibrated: datetime.date
    mode: str = MODES[0]


@dataclass(frozen=True)
class Rig:
    """One machine.

    Attributes:
        platform: Platform type, a name or a path.
        drives: None if the drives were never calibrated.
        daq: None if the card was never calibrated.
        interface: Network interface of the EtherCAT master, key ``ethercat.interface``.
        geometry: Digest of the platform's geometry at the last calibration, see `rig_platform`;
            empty if unknown.
    """

    platform: str
    drives: DriveCalibration | None = None
    daq: DaqCalibration | None = None
    interface: str | None = None
    geometry: str = ''


def load_rig(path: str | os.PathLike[str]) -> Rig:
    """Read and check a rig file.

    Args:
        path: The file.

    Returns:
        What it says.

    Raises:
        ConfigurationError: If it cannot be read or says something that cannot be used: key, value
            and what was expected.
    """
    fields = read_fields(path)
    rig = Rig(
        platform=fields.text('platform'),
        geometry=fields.text('geometry') if fields.has('geometry') else '',
        drives=_drives(fields.section('drives')) if fields.has('drives') else None,
        daq=_daq(fields.section('daq')) if fields.has('daq') else None,
        interface=_interface(fields.section('ethercat')) if fields.has('ethercat') else None,
    )
    fields.finish()
    return rig


def save_rig(path: str | os.PathLike[str], rig: Rig) -> None:
    """Write a rig file so that a reader sees the old one or the new one, never half of one.

    Args:
        path: The file; what it was before is replaced, and a link is followed.
        rig: What it shall say.

    Raises:
        ConfigurationError: If it cannot be written there.
    """
    text = HEADER + yaml.safe_dump(_plain(rig), sort_keys=False, default_flow_style=None, width=99)
    try:
        with whole_file(path) as stream:
            stream.write(text)
    except OSError as error:
        raise ConfigurationError(
            'rig_file', str(path), f'a file that can be written ({error.strerror})'
        ) from error


def _drives(fields: Fields) -> DriveCalibration:
    result = DriveCalibration(
        zero_offsets_counts=tuple(
            fields.integers('zero_offsets_counts', LOWEST_COUNT, HIGHEST_COUNT, LEGS)
        ),
        calibrated=fields.date('calibrated'),
        pose=fields.text('pose'),
        strokes_m=fields.numbers('strokes_m', LEGS),
        identities=tuple(_identity(item) for item in fields.sections('identities', LEGS)),
        parked_counts=tuple(fields.integers('parked_counts', LOWEST_COUNT, HIGHEST_COUNT, LEGS))
        if fields.has('parked_counts')
        else None,
    )
    fields.finish()
    return result


def _identity(fields: Fields) -> DriveIdentity:
    result = DriveIdentity(
        fields.integer('vendor', 0, WORD),
        fields.integer('product', 0, WORD),
        fields.integer('revision', 0, WORD),
        fields.integer('serial', 0, WORD) if fields.has('serial') else None,
    )
    fields.finish()
    return result


def _daq(fields: Fields) -> DaqCalibration:
    result = DaqCalibration(
        inputs=_channels(fields.sections('inputs', LEGS)),
        outputs=_channels(fields.sections('outputs', LEGS)) if fields.has('outputs') else (),
        calibrated=fields.date('calibrated'),
        mode=fields.text('mode') if fields.has('mode') else MODES[0],
    )
    if result.mode not in MODES:
        raise ConfigurationError(fields.name('mode'), result.mode, ' or '.join(MODES))
    fields.finish()
    return result


def _channels(items: Sequence[Fields]) -> tuple[Channel, ...]:
    channels = []
    for fields in items:
        channels.append(
            Channel(
                fields.number('gain_m_per_v', nonzero=True),
                fields.number('offset_m'),
                fields.number('residual_m', least=0.0),
            )
        )
        fields.finish()
    return tuple(channels)


def _interface(fields: Fields) -> str:
    result = fields.text('interface')
    fields.finish()
    return result


def _plain(rig: Rig) -> dict[str, Any]:
    """Return mappings, lists, numbers and texts only, in the order of a reader's interest."""
    content: dict[str, Any] = {'platform': rig.platform}
    if rig.geometry:
        content['geometry'] = rig.geometry
    if drives := rig.drives:
        content['drives'] = {
            'zero_offsets_counts': list(drives.zero_offsets_counts),
            'calibrated': drives.calibrated,
            'pose': drives.pose,
            'strokes_m': list(drives.strokes_m),
            'identities': [
                {key: value for key, value in item._asdict().items() if value is not None}
                for item in drives.identities
            ],
        }
        if drives.parked_counts is not None:
            content['drives']['parked_counts'] = list(drives.parked_counts)
    if daq := rig.daq:
        content['daq'] = {
            'inputs': [asdict(item) for item in daq.inputs],
            **({'outputs': [asdict(item) for item in daq.outputs]} if daq.outputs else {}),
            'calibrated': daq.calibrated,
            'mode': daq.mode,
        }
    if rig.interface is not None:
        content['ethercat'] = {'interface': rig.interface}
    return content
