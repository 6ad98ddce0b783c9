# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A port that is missing, forbidden, taken or gone says so, and nothing foreign gets out."""

from __future__ import annotations

from collections.abc import Iterator
import errno
import os
from pathlib import Path
import select
import termios
import tty
from typing import Any

import pytest
import serial
from stewart_driver.errors import DriverError
from stewart_driver.witmotion import transport as module
from stewart_driver.witmotion.transport import (
    foreign,
    mapped,
    PortError,
    SerialTransport,
)


@pytest.fixture
def line() -> Iterator[tuple[int, str]]:
    """Return our end of a pseudo terminal and the name of the other one."""
    ends = os.openpty()
    tty.setraw(ends[1])
    yield ends[0], os.ttyname(ends[1])
    for end in ends:
        os.close(end)


def test_what_arrives_is_read_at_once_and_silence_is_empty(line: tuple[int, str]) -> None:
    transport = SerialTransport(line[1], 115200)
    os.write(line[0], b'\x55\x51')

    assert transport.read(60.0) == b'\x55\x51'
    assert transport.read(0.0) == b''
    transport.write(b'\xff\xaa')
    assert os.read(line[0], 10) == b'\xff\xaa'
    transport.close()
    transport.close()


def test_the_speed_is_set_on_the_line_and_old_bytes_are_dropped(line: tuple[int, str]) -> None:
    transport = SerialTransport(line[1], 9600)
    os.write(line[0], b'garbage')
    # The kernel hands it over in its own time.
    assert select.select([transport._descriptor], [], [], 60.0)[0]
    transport.set_baud(460800)

    assert transport.baud == 460800
    assert termios.tcgetattr(line[0])[5] == termios.B460800
    assert transport.read(0.0) == b''
    transport.close()


def test_a_device_that_is_not_there_is_missing() -> None:
    with pytest.raises(PortError, match='/dev/no_imu: there is no such device'):
        SerialTransport('/dev/no_imu', 9600)


def test_a_port_opened_twice_is_busy(line: tuple[int, str]) -> None:
    transport = SerialTransport(line[1], 9600)
    with pytest.raises(PortError, match='another process has it open'):
        SerialTransport(line[1], 9600)
    transport.close()


def test_a_file_is_no_serial_port(tmp_path: Path) -> None:
    path = tmp_path / 'file'
    path.touch()
    with pytest.raises(PortError, match='cannot be opened'):
        SerialTransport(str(path), 9600)
    with pytest.raises(PortError, match='it is a directory'):
        SerialTransport(str(tmp_path), 9600)


def test_forbidden_devices_name_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise serial.SerialException(errno.EACCES, 'could not open port')

    monkeypatch.setattr(module.serial, 'Serial', refuse)
    with pytest.raises(PortError, match='group dialout'):
        SerialTransport('/dev/ttyUSB0', 9600)


@pytest.mark.parametrize('act', ['read', 'write', 'set_baud'])
def test_a_port_pulled_out_is_lost_whatever_is_done(line: tuple[int, str], act: str) -> None:
    transport = SerialTransport(line[1], 9600)
    # Its number stays taken, lest what somebody else opens meanwhile is closed in the end.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, line[0])
    os.close(nothing)

    actions = {
        'read': lambda: transport.read(0.5),
        'write': lambda: transport.write(b'\xff'),
        'set_baud': lambda: transport.set_baud(115200),
    }
    with pytest.raises(PortError, match='unplugged'):
        actions[act]()
    transport.close()


@pytest.mark.parametrize('opened', [False, True])
@pytest.mark.parametrize(
    'error',
    [
        serial.SerialException('read failed'),
        serial.SerialTimeoutException('Write timeout'),
        serial.PortNotOpenError(),
        termios.error(errno.EIO, 'Input/output error'),
        OSError(errno.EIO, 'Input/output error'),
        BlockingIOError(errno.EAGAIN, 'again'),
        BrokenPipeError(errno.EPIPE, 'pipe'),
        ValueError('Invalid baud rate'),
        OverflowError('too large'),
        NotImplementedError('non-standard baudrates are not supported'),
    ],
    ids=lambda error: type(error).__name__ if isinstance(error, Exception) else str(error),
)
def test_everything_foreign_becomes_a_port_error(error: Exception, *, opened: bool) -> None:
    with pytest.raises(PortError) as caught, mapped('/dev/imu', opened=opened):
        raise error

    assert isinstance(caught.value, DriverError)
    assert caught.value.__cause__ is error
    assert str(caught.value).startswith('/dev/imu: ')
    if opened and isinstance(error, (OSError, termios.error)):
        assert 'unplugged' in str(caught.value)


def test_every_exception_class_of_pyserial_is_caught() -> None:
    classes = [
        value
        for value in vars(serial).values()
        if isinstance(value, type) and issubclass(value, Exception)
    ]
    assert len(classes) >= 3
    assert all(issubclass(kind, module.FOREIGN) for kind in classes)


@pytest.mark.parametrize(('number', 'expected'), sorted(module.REASONS.items()))
def test_every_known_errno_has_its_reason(number: int, expected: str) -> None:
    found = foreign('/dev/imu', OSError(number, 'text'), opened=False)
    assert str(found) == f'/dev/imu: {expected}'


def test_our_own_mistakes_are_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError), mapped('/dev/imu', opened=True):
        raise ZeroDivisionError
