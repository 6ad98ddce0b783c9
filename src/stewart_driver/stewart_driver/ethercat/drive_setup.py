# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What every drive is told and asked by SDO in PREOP."""

from __future__ import annotations

from dataclasses import dataclass
import struct

from stewart_driver.errors import ConfigurationError
from stewart_driver.ethercat.cia402 import Mode, objects
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.errors import SdoRefused, WrongBus
from stewart_driver.ethercat.maps import assign_inputs, assign_outputs, SdoChannel
from stewart_driver.ethercat.process_map import InputImage, OutputImage

FINEST_EXPONENT = -6


@dataclass(frozen=True, eq=False)
class Exchange:
    """What one drive exchanges: its images, and a note where it is not what was planned."""

    outputs: OutputImage
    inputs: InputImage
    note: str


def set_up(drive: SdoChannel, kind: DriveType, cycle_time: float) -> Exchange:
    """
    Give a drive its settings and maps.

    Parameters
    ----------
    drive : SdoChannel
        In PREOP.
    kind : DriveType
        What it is.
    cycle_time : float
        Time between targets [s].

    Returns
    -------
    Exchange
        How to read and write its process data.

    Raises
    ------
    SdoRefused
        If it does not take a setting.
    UnusableMap
        If its maps lack what is needed and cannot be changed.
    WrongBus
        If its encoder is not the one of the drive type.

    """
    check_encoder(drive, kind)
    for item in kind.start_values:
        drive.write(item.index, item.subindex, item.data)
    # Most fixed maps have no 6060h.
    drive.write(objects.MODE, 0, struct.pack('<b', Mode.CYCLIC_SYNCHRONOUS_POSITION))
    units, exponent = interpolation_time(cycle_time)
    drive.write(objects.INTERPOLATION_TIME, 1, struct.pack('<B', units))
    drive.write(objects.INTERPOLATION_TIME, 2, struct.pack('<b', exponent))
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
    )


def check_encoder(drive: SdoChannel, kind: DriveType) -> None:
    """
    Compare counts per revolution with 608Fh and 6091h, if the drive has them.

    Raises
    ------
    WrongBus
        If they differ: then every stroke would be wrong by that factor.

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
    """
    Return 60C2h for a cycle: units and exponent of ten.

    Raises
    ------
    ConfigurationError
        If the object cannot say this time exactly.

    Examples
    --------
    >>> interpolation_time(0.0025)
    (25, -4)

    """
    for exponent in range(-3, FINEST_EXPONENT - 1, -1):
        units = cycle_time * 10.0**-exponent
        if 0.5 < units < 255.5 and abs(units - round(units)) < 1e-6:
            return round(units), exponent
    raise ConfigurationError('cycle_time', cycle_time, '1 to 255 times a power of ten of seconds')
