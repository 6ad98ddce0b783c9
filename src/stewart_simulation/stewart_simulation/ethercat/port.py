# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A network interface on which a segment answers; whoever has a loop moves it on."""

from __future__ import annotations

from collections import deque
import contextlib
from math import inf
import socket
import struct
import time

from stewart_simulation.errors import FrameError
from stewart_simulation.ethercat import frames
from stewart_simulation.ethercat.segment import Line

LONGEST_FRAME = 1600
# The kernel says when a frame came (SO_TIMESTAMPNS of Linux), so that a busy machine's delay of
# this process is not taken for a late master.
TIMESTAMPS, TIMESTAMP = 35, struct.Struct('@ll')
ROOM = socket.CMSG_SPACE(TIMESTAMP.size)
SECOND = 1_000_000_000


class Port:
    """EtherCAT frames, and nothing else, of one interface; it never blocks.

    Attributes:
        heard: When the last frame came [s].
    """

    def __init__(self, interface: str, line: Line) -> None:
        self._line = line
        protocol = socket.htons(frames.ETHERTYPE)
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, protocol)
        self._socket.bind((interface, frames.ETHERTYPE))
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, TIMESTAMPS, 1)
        self._late: deque[tuple[int, bytearray]] = deque()
        self.heard = -inf

    def fileno(self) -> int:
        """Return the descriptor that becomes readable with a frame."""
        return self._socket.fileno()

    def answer(self) -> None:
        """Answer everything that waits."""
        with contextlib.suppress(BlockingIOError):
            while True:
                data, attached, _, _ = self._socket.recvmsg(LONGEST_FRAME, ROOM)
                self.heard = time.monotonic()
                with contextlib.suppress(FrameError):
                    answer = self._line.send(bytearray(data), _arrival(attached))
                    if answer and self._line.delay:
                        due = time.monotonic_ns() + self._line.delay
                        self._late.append((due, answer))
                    elif answer:
                        self._socket.send(answer)

    def turn(self, now: float) -> float:
        """Send what was delayed until now [s], and let drives go on that no frame moves.

        Returns:
            When there is something to do again [s].
        """
        while self._late and self._late[0][0] <= time.monotonic_ns():
            self._socket.send(self._late.popleft()[1])
        segment = self._line.segment
        if now >= segment.due:
            self.answer()  # what has come until now, comes first
            segment.tick(round(SECOND * now))
        return min(1e-9 * self._late[0][0] if self._late else inf, segment.due)

    def close(self) -> None:
        """Let go of the interface."""
        self._socket.close()


def _arrival(attached: list[tuple[int, int, bytes]]) -> int | None:
    """Return when a frame came, on the steady clock [ns]; None where the kernel does not tell."""
    for level, kind, data in attached:
        if (level, kind) == (socket.SOL_SOCKET, TIMESTAMPS):
            seconds, rest = TIMESTAMP.unpack(data)
            waited = time.time_ns() - (seconds * SECOND + rest)
            # A wall clock that was set meanwhile tells nothing.
            return time.monotonic_ns() - waited if 0 <= waited < SECOND else None
    return None
