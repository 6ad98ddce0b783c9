# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The serial port: what the rest needs of it, pyserial behind it, and its errors.

Whatever pyserial, termios and the operating system raise becomes a PortError here and nowhere
else. Local POSIX devices only: waiting is done on the file descriptor, which costs a tenth of
pyserial's own read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import errno
import os
import select
import termios
from typing import Protocol

import serial
from stewart_driver.errors import DriverError


class PortError(DriverError):
    """The serial port cannot be used."""

    def __init__(self, port: str, reason: str) -> None:
        super().__init__(f'{port}: {reason}')


class SensorSilent(DriverError):
    """The sensor does not answer, or nothing intelligible comes."""


class RegisterRefused(DriverError):
    """A register does not hold what was written to it."""

    def __init__(self, register: str, wanted: int, found: int) -> None:
        super().__init__(
            f'the sensor keeps 0x{found:04X} in {register}, 0x{wanted:04X} was written to it'
        )


AT_ONCE = 4096
WRITE_TIMEOUT = 1.0
FOREIGN = (OSError, termios.error, ValueError, OverflowError, NotImplementedError)
MILLISECONDS = 1e3

REASONS: dict[int, str] = {
    errno.ENOENT: 'there is no such device; is the sensor plugged in?',
    errno.ENODEV: 'the device is not there any more',
    errno.ENXIO: 'there is no device behind this name',
    errno.EACCES: 'not permitted; add this user to the group dialout',
    errno.EPERM: 'not permitted; add this user to the group dialout',
    errno.EAGAIN: 'another process has it open',
    errno.EBUSY: 'another process has it open',
    errno.ENOTTY: 'it is no serial port',
    errno.EINVAL: 'it does not take these settings',
    errno.EISDIR: 'it is a directory, not a serial port',
}


class Transport(Protocol):
    """A serial line to a sensor.

    Every method may raise PortError and nothing else.
    """

    @property
    def baud(self) -> int:
        """Speed now."""

    def set_baud(self, baud: int) -> None:
        """Go on at another speed, without what was received before."""

    def read(self, timeout: float) -> bytes:
        """Return all that has been received, waiting for the first byte at most so long [s]."""

    def write(self, data: bytes) -> None:
        """Send."""

    def close(self) -> None:
        """Close; a second time does nothing."""


def foreign(port: str, error: Exception, *, opened: bool) -> PortError:
    """Return the PortError that stands for an exception of pyserial, termios or the system.

    Args:
        opened: True once it was open: what then fails, but for a value refused, means that it is
            gone.
    """
    if not isinstance(error, (OSError, termios.error)):
        return PortError(port, str(error))
    if opened:
        return PortError(port, f'the connection broke ({error}); unplugged?')
    # termios.error is no OSError, but carries the same two arguments.
    number = error.errno if isinstance(error, OSError) else error.args[0]
    return PortError(port, REASONS.get(number or 0, f'cannot be opened ({error})'))


@contextmanager
def mapped(port: str, *, opened: bool) -> Iterator[None]:
    """Turn foreign exceptions into the PortError that `foreign` finds."""
    try:
        yield
    except FOREIGN as error:
        raise foreign(port, error, opened=opened) from error


class SerialTransport:
    """A local serial port, 8N1, opened for this process alone; raises `PortError`.

    Args:
        port: Device, best a stable name: ``/dev/serial/by-id/…``.
    """

    def __init__(self, port: str, baud: int) -> None:
        self._name = port
        with mapped(port, opened=False):
            self._port = serial.Serial(
                port, baud, timeout=0, write_timeout=WRITE_TIMEOUT, exclusive=True
            )
        # USB adapters otherwise gather bytes for up to 16 ms; not every driver knows the flag.
        with suppress(ValueError, OSError, NotImplementedError):
            self._port.set_low_latency_mode(True)
        self._descriptor = self._port.fileno()
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)

    @property
    def baud(self) -> int:
        """Speed now."""
        return int(self._port.baudrate)

    def set_baud(self, baud: int) -> None:
        """Go on at another speed, without what was received before."""
        with mapped(self._name, opened=True):
            self._port.baudrate = baud
            self._port.reset_input_buffer()

    def read(self, timeout: float) -> bytes:
        """Return all that has been received, waiting for the first byte at most so long [s]."""
        try:
            # Try a read before polling, which would be half of the cost.
            data = self._received()
            if not data and self._poll.poll(timeout * MILLISECONDS):
                data = self._received()
                if not data:
                    raise PortError(self._name, 'the line was hung up; unplugged?')
        except OSError as error:
            raise foreign(self._name, error, opened=True) from error
        return data

    def _received(self) -> bytes:
        """Return what is there, without waiting; a line that was hung up has nothing."""
        try:
            return os.read(self._descriptor, AT_ONCE)
        except BlockingIOError:
            return b''

    def write(self, data: bytes) -> None:
        """Send."""
        with mapped(self._name, opened=True):
            self._port.write(data)

    def close(self) -> None:
        """Close; a second time does nothing."""
        with suppress(OSError, termios.error):
            self._port.close()
