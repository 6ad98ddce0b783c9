# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A serial port made of a pseudo terminal, which knows the speed that the host has set."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
import termios
import tty

from stewart_driver.errors import ConfigurationError
from stewart_simulation.serial_imu.protocol import BAUDS

AT_ONCE = 4096
SPEEDS = {getattr(termios, f'B{baud}'): baud for baud in BAUDS.values()}


class PtyPort:
    """The device's end of a serial line; plugged in when made.

    A symbolic link, if given, keeps pointing at the port: a name that survives replugging.
    """

    def __init__(self, link: Path | None = None) -> None:
        self._link = link
        self._ends: tuple[int, int] | None = None
        self._path = ''
        self.plug()

    @property
    def path(self) -> str:
        """What the host opens."""
        return str(self._link or self._path)

    @property
    def plugged(self) -> bool:
        """Whether there is a port."""
        return self._ends is not None

    def fileno(self) -> int:
        """Return the descriptor that becomes readable when the host writes; -1 if unplugged."""
        return self._ends[0] if self._ends else -1

    def plug(self) -> None:
        """Make the port; nothing if there is one.

        Raises:
            ConfigurationError: If something else has the name of the link.
        """
        if self._ends is not None:
            return
        if self._link is not None and self._link.exists() and not self._link.is_symlink():
            expected = 'a free name or a symbolic link: what is there is not overwritten'
            raise ConfigurationError('link', str(self._link), expected)
        # Our own hold on the host's end keeps the speed, and the line, when the host closes it.
        master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(master, False)
        self._ends, self._path = (master, slave), os.ttyname(slave)
        if self._link is not None:
            self._link.unlink(missing_ok=True)
            self._link.symlink_to(self._path)

    def unplug(self) -> None:
        """Take the port away: the host's next read or write fails."""
        if self._ends is None:
            return
        if self._link is not None:
            self._link.unlink(missing_ok=True)
        ends, self._ends = self._ends, None
        for end in ends:
            os.close(end)

    def host_baud(self) -> int:
        """Return the speed that the host has set; 0 for one that no sensor has."""
        if self._ends is None:
            return 0
        return SPEEDS.get(termios.tcgetattr(self._ends[1])[5], 0)

    def read(self) -> bytes:
        """Return what the host has sent."""
        if self._ends is not None:
            with contextlib.suppress(BlockingIOError):
                return os.read(self._ends[0], AT_ONCE)
        return b''

    def write(self, data: bytes, _: float = 0.0) -> None:
        """Send, at once; what does not fit because nobody reads is lost, as on a real line."""
        if self._ends is not None and data:
            with contextlib.suppress(BlockingIOError):
                os.write(self._ends[0], data)
