# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A serial port inside this process: no descriptor, no thread, no time of its own."""

from __future__ import annotations

from collections import deque
from math import inf

from stewart_driver.witmotion.transport import PortError

# What nobody reads is lost beyond this, as in the buffer of a real port.
BUFFER = 4096


class InlinePort:
    """Both ends of a serial line; plugged in when made.

    The device's end is this object, with the methods of `PtyPort`; the host's is what `open`
    returns, a transport for the driver's reader.

    Attributes:
        now: Up to when what was sent has come for the host [s].
    """

    def __init__(self, path: str = 'inline') -> None:
        self.path = path
        self.plugged = True
        self._host: InlineTransport | None = None
        self._to_device = b''
        self.now = inf

    def open(self, baud: int) -> InlineTransport:
        """Open the host's end; raises `PortError` where it is unplugged, or open already."""
        if not self.plugged:
            raise PortError(self.path, 'there is no such device; is the sensor plugged in?')
        if self._host is not None:
            raise PortError(self.path, 'it is open already')
        self._host = InlineTransport(self, baud)
        return self._host

    def fileno(self) -> int:
        """Return -1: there is no descriptor to wait for."""
        return -1

    def plug(self) -> None:
        """Make the port; nothing if there is one."""
        self.plugged = True

    def unplug(self) -> None:
        """Take the port away: the host's next read or write fails."""
        self.plugged = False
        self._to_device = b''
        if self._host is not None:
            self._host.lost = True
            self._host = None

    def host_baud(self) -> int:
        """Return the speed that the host has set; 0 while it has not opened the port."""
        return 0 if self._host is None else self._host.baud

    def read(self) -> bytes:
        """Return what the host has sent."""
        data, self._to_device = self._to_device, b''
        return data

    def write(self, data: bytes, arrival: float = -inf) -> None:
        """Send; the host has it from `arrival` on [s].

        What does not fit because nobody reads is lost, as on a real line.
        """
        if self._host is not None:
            self._host.take(data, arrival)

    def arrivals(self) -> list[float]:
        """Return when the pieces come that the host has not yet read, oldest first [s]."""
        return [] if self._host is None else [time for time, _ in self._host.pieces]

    def hear(self, data: bytes) -> None:
        """Take what the host sends."""
        self._to_device += data

    def hang_up(self, host: InlineTransport) -> None:
        """Take note that the host has closed its end."""
        if self._host is host:
            self._host = None


class InlineTransport:
    """The host's end; fulfils ``witmotion.transport.Transport``, but never waits.

    Attributes:
        baud: Speed now.
        lost: Whether the port was taken away.
        pieces: When something comes [s] and what, as far as nobody has read it.
    """

    def __init__(self, port: InlinePort, baud: int) -> None:
        self._port = port
        self.baud = baud
        self.lost = False
        self.pieces: deque[tuple[float, bytes]] = deque()
        self._unread = 0

    def set_baud(self, baud: int) -> None:
        """Go on at another speed, without what was received before."""
        self._require()
        self.baud = baud
        self.pieces.clear()
        self._unread = 0

    def read(self, timeout: float) -> bytes:
        """Return all that has been received, without waiting whatever the timeout."""
        self._require()
        data = b''
        while self.pieces and self.pieces[0][0] <= self._port.now:
            data += self.pieces.popleft()[1]
        self._unread -= len(data)
        return data

    def write(self, data: bytes) -> None:
        """Send."""
        self._require()
        self._port.hear(data)

    def close(self) -> None:
        """Close; a second time does nothing."""
        self._port.hang_up(self)

    def take(self, data: bytes, arrival: float) -> None:
        """Receive from the device, to be read from `arrival` on [s]."""
        piece = data[: BUFFER - self._unread]
        if piece:
            self.pieces.append((arrival, piece))
            self._unread += len(piece)

    def _require(self) -> None:
        if self.lost:
            raise PortError(self._port.path, 'the line was hung up; unplugged?')
