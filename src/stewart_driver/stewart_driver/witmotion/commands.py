# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Commands of the WIT standard protocol: ``FF AA register low high``, no checksum, no answer.

A write counts only within ten seconds of an unlock, and only a read of the register shows whether
it did. Tables: REG.h of the vendor's SDK.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from stewart_driver.errors import ConfigurationError
from stewart_driver.witmotion.frames import FRAME_LENGTH, FrameType

PREFIX = b'\xff\xaa'
BITS_PER_BYTE = 10  # 8N1: start, eight, stop


class Register(IntEnum):
    """Registers that the driver uses."""

    SAVE = 0x00
    CONTENT = 0x02
    RATE = 0x03
    BAUD = 0x04
    BANDWIDTH = 0x1F
    GYROSCOPE_RANGE = 0x20
    ACCELEROMETER_RANGE = 0x21
    ALGORITHM = 0x24
    READ = 0x27
    KEY = 0x69


class Save(IntEnum):
    """What writing SAVE does."""

    KEEP = 0x00
    FACTORY = 0x01
    REBOOT = 0xFF


class Algorithm(IntEnum):
    """Values of ALGORITHM."""

    NINE_AXIS = 0
    SIX_AXIS = 1


RATES = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 125.0, 200.0)
BAUDS = (4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600)
# By register: name of the setting, code of each value, unit. Whatever the ranges are, frames are
# scaled for 2000 °/s and 16 g.
CODES: dict[Register, tuple[str, dict[float, int], str]] = {
    Register.RATE: ('rate', {rate: code for code, rate in enumerate(RATES, 1)}, 'Hz'),
    Register.BAUD: ('baud', {baud: code for code, baud in enumerate(BAUDS, 1)}, 'baud'),
    Register.BANDWIDTH: (
        'bandwidth',
        {256.0: 0, 188.0: 1, 98.0: 2, 42.0: 3, 20.0: 4, 10.0: 5, 5.0: 6},
        'Hz',
    ),
    Register.GYROSCOPE_RANGE: (
        'gyroscope_range',
        {250.0: 0, 500.0: 1, 1000.0: 2, 2000.0: 3},
        'deg/s',
    ),
    Register.ACCELEROMETER_RANGE: ('accelerometer_range', {2.0: 0, 4.0: 1, 8.0: 2, 16.0: 3}, 'g'),
}
# Bit of CONTENT for each type that can be switched on and off.
CONTENT_BITS: dict[FrameType, int] = {
    kind: kind - FrameType.TIME for kind in FrameType if kind != FrameType.REGISTER
}


def write(register: Register, value: int) -> bytes:
    """Return the command that writes a register."""
    return PREFIX + bytes([register]) + value.to_bytes(2, 'little')


UNLOCK = write(Register.KEY, 0xB588)
"""Makes the sensor listen to writes for ten seconds."""
SAVE = write(Register.SAVE, Save.KEEP)
"""Keeps the settings through a loss of power."""


def read(register: int) -> bytes:
    """Return the command that makes the sensor send four registers, beginning with this one."""
    return write(Register.READ, register)


def content_mask(types: Iterable[FrameType]) -> int:
    """Return the value of CONTENT that switches these types on and all others off."""
    return sum(1 << CONTENT_BITS[kind] for kind in set(types))


def code_of(register: Register, value: float) -> int:
    """Return the code of a setting; ConfigurationError names the values that there are."""
    name, codes, unit = CODES[register]
    if value not in codes:
        raise ConfigurationError(name, value, f'one of {listed(codes)} {unit}')
    return codes[value]


def carried_rate(types: Iterable[FrameType], baud: int) -> float:
    """Return the highest rate of the table [Hz] that a serial speed carries for these types."""
    cycle = len(set(types)) * FRAME_LENGTH * BITS_PER_BYTE
    return max((rate for rate in RATES if cycle * rate <= baud), default=0.0)


def listed(values: Iterable[float]) -> str:
    """Return numbers as they stand in a sentence."""
    return ', '.join(f'{value:g}' if value < 1000 else str(value) for value in values)
