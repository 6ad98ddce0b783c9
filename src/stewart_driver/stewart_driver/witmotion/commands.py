# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Commands of the WIT standard protocol: ``FF AA register low high``, no checksum, no answer.

A write counts only within ten seconds of an unlock, and only a read of the register shows whether
it did. Tables: REG.h of the vendor's SDK.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any, TypeVar

from stewart_driver.errors import ConfigurationError
from stewart_driver.witmotion.frames import FRAME_LENGTH, FrameType

C = TypeVar('C', bound=int)

PREFIX = b'\xff\xaa'
COMMAND_LENGTH = 5
UNLOCK_KEY = 0xB588
UNLOCKED_FOR = 10.0
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


class RateCode(IntEnum):
    """Values of RATE; ONCE and NONE stop the stream."""

    HZ_0_2 = 0x01
    HZ_0_5 = 0x02
    HZ_1 = 0x03
    HZ_2 = 0x04
    HZ_5 = 0x05
    HZ_10 = 0x06
    HZ_20 = 0x07
    HZ_50 = 0x08
    HZ_100 = 0x09
    HZ_125 = 0x0A
    HZ_200 = 0x0B
    ONCE = 0x0C
    NONE = 0x0D


class BaudCode(IntEnum):
    """Values of BAUD."""

    BAUD_4800 = 1
    BAUD_9600 = 2
    BAUD_19200 = 3
    BAUD_38400 = 4
    BAUD_57600 = 5
    BAUD_115200 = 6
    BAUD_230400 = 7
    BAUD_460800 = 8
    BAUD_921600 = 9


RATES: MappingProxyType[float, RateCode] = MappingProxyType(
    {
        0.2: RateCode.HZ_0_2,
        0.5: RateCode.HZ_0_5,
        1.0: RateCode.HZ_1,
        2.0: RateCode.HZ_2,
        5.0: RateCode.HZ_5,
        10.0: RateCode.HZ_10,
        20.0: RateCode.HZ_20,
        50.0: RateCode.HZ_50,
        100.0: RateCode.HZ_100,
        125.0: RateCode.HZ_125,
        200.0: RateCode.HZ_200,
    }
)
BAUDS: MappingProxyType[int, BaudCode] = MappingProxyType(
    {int(code.name.removeprefix('BAUD_')): code for code in BaudCode}
)
# Corner of the low pass [Hz], full scale [°/s], [g]. Frames are always scaled for 2000 °/s, 16 g.
BANDWIDTHS = MappingProxyType({256.0: 0, 188.0: 1, 98.0: 2, 42.0: 3, 20.0: 4, 10.0: 5, 5.0: 6})
GYROSCOPE_RANGES = MappingProxyType({250.0: 0, 500.0: 1, 1000.0: 2, 2000.0: 3})
ACCELEROMETER_RANGES = MappingProxyType({2.0: 0, 4.0: 1, 8.0: 2, 16.0: 3})
# Bit of CONTENT for each type that can be switched on and off.
CONTENT_BITS: MappingProxyType[FrameType, int] = MappingProxyType(
    {kind: kind - FrameType.TIME for kind in FrameType if kind != FrameType.REGISTER}
)


def write(register: Register, value: int) -> bytes:
    """Return the command that writes a register."""
    return PREFIX + bytes([register]) + value.to_bytes(2, 'little')


def unlock() -> bytes:
    """Return the command that makes the sensor listen to writes for ten seconds."""
    return write(Register.KEY, UNLOCK_KEY)


def read(register: int) -> bytes:
    """Return the command that makes the sensor send four registers, beginning with this one."""
    return write(Register.READ, register)


def save() -> bytes:
    """Return the command that keeps the settings through a loss of power."""
    return write(Register.SAVE, Save.KEEP)


def content_mask(types: Iterable[FrameType]) -> int:
    """Return the value of CONTENT that switches these types on and all others off."""
    return sum(1 << CONTENT_BITS[kind] for kind in set(types))


def code_of(name: str, value: float, table: Mapping[Any, C], unit: str) -> C:
    """Return the code of a setting; ConfigurationError names the values that there are."""
    if value not in table:
        raise ConfigurationError(name, value, f'one of {listed(table)} {unit}')
    return table[value]


def rate_code(rate: float) -> RateCode:
    """Return the code of an output rate [Hz]; ConfigurationError names those there are."""
    return code_of('rate', rate, RATES, 'Hz')


def baud_code(baud: int) -> BaudCode:
    """Return the code of a serial speed; ConfigurationError names those there are."""
    return code_of('baud', baud, BAUDS, 'baud')


def bytes_per_second(types: Iterable[FrameType], rate: float) -> float:
    """Return what a stream of these types at this rate [Hz] needs."""
    return len(set(types)) * FRAME_LENGTH * rate


def carried_rate(types: Iterable[FrameType], baud: int) -> float:
    """Return the highest rate of the table [Hz] that a serial speed carries for these types."""
    room = baud / BITS_PER_BYTE
    kinds = set(types)
    return max((rate for rate in RATES if bytes_per_second(kinds, rate) <= room), default=0.0)


def listed(values: Iterable[float]) -> str:
    """Return numbers as they stand in a sentence."""
    return ', '.join(f'{value:g}' if value < 1000 else str(value) for value in values)
