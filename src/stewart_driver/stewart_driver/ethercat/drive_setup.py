# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What every drive is told and asked by SDO in PREOP."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
import struct

from stewart_driver.errors import ConfigurationError
from stewart_driver.ethercat import guards
from stewart_driver.ethercat.cia402 import Mode, objects, supported_modes
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.errors import SdoRefused, WrongBus
from stewart_driver.ethercat.guards import Lack, Setting
from stewart_driver.ethercat.maps import assign_inputs, assign_outputs
from stewart_driver.ethercat.process_map import InputImage, OutputImage
from stewart_driver.ethercat.sdo import SdoChannel

FINEST_EXPONENT = -6


@dataclass(frozen=True, eq=False)
class Exchange:
    """What one drive exchanges.

    Attributes:
        outputs: To the drive.
        inputs: From the drive.
        note: Where its maps are not what was planned.
        lacks: What else it does not have or take.
    """

    outputs: OutputImage
    inputs: InputImage
    note: str
    lacks: Sequence[Lack] = ()


def set_up(
    drive: SdoChannel, kind: DriveType, cycle_time: float, ends: tuple[int, int] | None
) -> Exchange:
    """Give a drive its settings and maps.

    Only what makes it follow targets at all is demanded; what else it refuses is noted.

    Args:
        drive: In PREOP.
        kind: What it is.
        cycle_time: Time between targets [s].
        ends: Where the drive itself has to stop its leg [count]; None where strokes are not
            absolute.

    Returns:
        How to read and write its process data.

    Raises:
        SdoRefused: If it does not take a start value that is needed.
        UnusableMap: If its maps lack what is needed and cannot be changed.
        WrongBus: If its encoder is not the one of the drive type, or it has no mode for cyclic
            positions.
    """
    check_encoder(drive, kind)
    for item in kind.start_values:
        if item.needed:
            drive.write(item.index, item.subindex, item.data)
    units, exponent = interpolation_time(cycle_time)
    wanted = chain(
        (
            Setting(item.why, item.index, item.subindex, item.data)
            for item in kind.start_values
            if not item.needed
        ),
        (
            Setting('interpolation time', objects.INTERPOLATION_TIME, number, data)
            for number, data in ((1, struct.pack('<B', units)), (2, struct.pack('<b', exponent)))
        ),
        kind.guards.settings(kind.gear, ends),
    )
    lacks = [*_set_mode(drive), *guards.write(drive, wanted)]
    outputs = assign_outputs(drive, kind.outputs)
    inputs = assign_inputs(drive, kind.inputs)

    def present(index: int, subindex: int) -> bytes:
        try:
            return drive.read(index, subindex)
        except SdoRefused:
            return b''  # It can only be written: then nobody knows better than zero.

    return Exchange(
        OutputImage(drive.leg, outputs.entries, present),
        InputImage(drive.leg, inputs.entries),
        '; '.join(filter(None, (outputs.note, inputs.note))),
        lacks,
    )


def _set_mode(drive: SdoChannel) -> list[Lack]:
    """Ask for cyclic positions, for most fixed maps have no 6060h; raises `WrongBus`."""
    mode = Mode.CYCLIC_SYNCHRONOUS_POSITION
    try:
        modes = struct.unpack('<I', drive.read(objects.SUPPORTED_MODES, 0)[:4])[0]
    except SdoRefused:
        modes = 0
    if modes and mode not in supported_modes(modes):
        raise WrongBus(f'drive of leg {drive.leg} has no mode {mode} (6502h): no cyclic positions')
    return guards.write(drive, iter((Setting('mode', objects.MODE, 0, struct.pack('<b', mode)),)))


def check_synchronisation(drive: SdoChannel, kind: DriveType) -> list[Lack]:
    """Look in SAFEOP whether a drive works in the mode and on the clock that it was told to.

    Args:
        drive: In SAFEOP.
        kind: What it is.

    Returns:
        What it does instead; a drive that does not say is believed.
    """
    lacks = []
    wanted = [('mode', objects.MODE_DISPLAY, 0, int(Mode.CYCLIC_SYNCHRONOUS_POSITION))]
    if kind.clocks:
        wanted.append(('work on SYNC0', objects.OUTPUT_SYNCHRONISATION, 1, objects.DC_SYNC0))
    for what, index, subindex, value in wanted:
        with suppress(SdoRefused):
            found = drive.read(index, subindex)[:2]
            number = int.from_bytes(found, 'little')
            if number != value:
                where = f'{index:04X}h:{subindex}'
                lacks.append(Lack(f'{what} ({where})', f'reads {number} instead of {value}'))
    return lacks


def check_encoder(drive: SdoChannel, kind: DriveType) -> None:
    """Compare counts per revolution with 608Fh and 6091h, if the drive has them.

    Raises:
        WrongBus: If they differ: then every stroke would be wrong by that factor.
    """
    counts = 1.0
    for index, factor in ((objects.ENCODER_RESOLUTION, 1.0), (objects.GEAR_RATIO, -1.0)):
        try:
            above, below = (
                struct.unpack('<I', drive.read(index, subindex)[:4])[0] for subindex in (1, 2)
            )
        except SdoRefused:
            if index == objects.ENCODER_RESOLUTION:
                return
            continue
        counts *= (above / below) ** factor if above and below else 1.0
    expected = kind.gear.counts_per_revolution
    if abs(counts - expected) > 0.5:
        raise WrongBus(
            f'drive of leg {drive.leg} has {counts:.0f} counts per revolution of its motor '
            f'(608Fh, 6091h), expected are {expected}'
        )


def interpolation_time(cycle_time: float) -> tuple[int, int]:
    """Return 60C2h for a cycle: units and exponent of ten.

    Raises:
        ConfigurationError: If the object cannot say this time exactly.

    Examples:
        >>> interpolation_time(0.0025)
        (25, -4)
    """
    for exponent in range(-3, FINEST_EXPONENT - 1, -1):
        units = cycle_time * 10.0**-exponent
        if 0.5 < units < 255.5 and abs(units - round(units)) < 1e-6:
            return round(units), exponent
    raise ConfigurationError('cycle_time', cycle_time, '1 to 255 times a power of ten of seconds')
