# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Commands as bytes of the vendor's documents, and what a line carries."""

from __future__ import annotations

import pytest
from stewart_driver.errors import ConfigurationError
from stewart_driver.witmotion import commands
from stewart_driver.witmotion.commands import Algorithm, Register
from stewart_driver.witmotion.frames import FrameType

IMU = (FrameType.ACCELERATION, FrameType.ANGULAR_VELOCITY, FrameType.QUATERNION)
CAPTURED = tuple(
    FrameType(kind) for kind in (0x51, 0x52, 0x53, 0x54, 0x56, 0x57, 0x58, 0x59, 0x5A)
)


@pytest.mark.parametrize(
    ('command', 'expected'),
    [
        (commands.UNLOCK, 'ff aa 69 88 b5'),
        (commands.SAVE, 'ff aa 00 00 00'),
        (commands.write(Register.SAVE, commands.Save.REBOOT), 'ff aa 00 ff 00'),
        (commands.write(Register.SAVE, commands.Save.FACTORY), 'ff aa 00 01 00'),
        (commands.write(Register.CONTENT, commands.content_mask(IMU)), 'ff aa 02 06 02'),
        (commands.write(Register.RATE, commands.code_of(Register.RATE, 200.0)), 'ff aa 03 0b 00'),
        (commands.write(Register.RATE, commands.code_of(Register.RATE, 0.2)), 'ff aa 03 01 00'),
        (commands.write(Register.BAUD, commands.code_of(Register.BAUD, 9600)), 'ff aa 04 02 00'),
        (commands.write(Register.BAUD, commands.code_of(Register.BAUD, 921600)), 'ff aa 04 09 00'),
        (commands.write(Register.ALGORITHM, Algorithm.SIX_AXIS), 'ff aa 24 01 00'),
        (commands.read(Register.CONTENT), 'ff aa 27 02 00'),
    ],
)
def test_commands_are_the_bytes_of_the_documents(command: bytes, expected: str) -> None:
    assert command == bytes.fromhex(expected)


def test_content_bits_are_those_of_the_captured_stream() -> None:
    assert commands.content_mask(CAPTURED) == 0x07DE


@pytest.mark.parametrize(
    ('types', 'baud', 'carried'),
    [
        (CAPTURED, 9600, 5.0),
        (CAPTURED, 115200, 100.0),
        (CAPTURED, 230400, 200.0),
        (IMU, 115200, 200.0),
    ],
)
def test_a_line_carries_what_its_bytes_allow(
    types: tuple[FrameType, ...], baud: int, carried: float
) -> None:
    assert commands.carried_rate(types, baud) == carried


def test_values_outside_the_tables_are_refused_with_the_choice() -> None:
    with pytest.raises(ConfigurationError, match=r'rate: expected one of 0.2, .*200 Hz, got 150'):
        commands.code_of(Register.RATE, 150.0)
    with pytest.raises(ConfigurationError, match=r'baud: .*115200.* baud, got 100000'):
        commands.code_of(Register.BAUD, 100000)
