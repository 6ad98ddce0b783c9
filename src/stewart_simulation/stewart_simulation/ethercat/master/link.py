# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Frames out and back, and the time that they take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TypeVar

from stewart_simulation.errors import FrameError, SegmentError
from stewart_simulation.ethercat.frames import Command, Datagram, decode, encode
from stewart_simulation.ethercat.segment import Line

# A frame without an answer is sent again after this [s].
AGAIN = 2e-3
# Between two looks at something that a slave has to finish [s].
LOOK = 2e-4
# A wire of 100 Mbit/s [s]; preamble, check sequence and gap; the shortest frame without them.
OCTET, FRAMING, SHORTEST = 80e-9, 24, 60
NANOSECONDS = 1e9

Found = TypeVar('Found')


class MasterError(SegmentError):
    """A slave did not do what it was asked for; the message says why, without a full stop."""


class Link:
    """The master's end of a line.

    Attributes:
        patience: Longest wait for the answer to a question [s].
    """

    def __init__(
        self,
        line: Line,
        now_ns: Callable[[], int],
        let_pass: Callable[[float], None],
        patience: float,
    ) -> None:
        self._line, self.now_ns, self._let_pass = line, now_ns, let_pass
        self.patience = patience
        self._index = 0

    def now(self) -> float:
        """Return the present time [s]."""
        return self.now_ns() / NANOSECONDS

    def sleep(self, duration: float) -> None:
        """Let some time pass [s]."""
        if duration > 0.0:
            self._let_pass(duration)

    def send(
        self, datagrams: Sequence[Datagram], patience: float, again: float = inf
    ) -> Sequence[Datagram]:
        """Send one frame and wait for it.

        Args:
            patience: A frame that takes longer is lost [s].
            again: Who would send it again waits no longer for one that does not come at all [s].

        Returns:
            As they come back; empty if the frame is lost, or what comes is no answer to it.
        """
        self._index = (self._index + 1) & 0xFF
        frame = encode(datagrams, self._index)
        answer = self._line.send(frame)
        way = OCTET * (max(len(frame), SHORTEST) + FRAMING) + self._line.delay / NANOSECONDS
        answers = _answers(datagrams, answer)
        if not answers or way > patience:
            self.sleep(patience if answers else min(patience, again))
            return ()
        self.sleep(way)
        return answers

    def ask(self, *datagrams: Datagram) -> Sequence[Datagram]:
        """Send a frame, and again while it gets lost; return nothing if the patience is over."""
        limit = self.now_ns() + round(self.patience * NANOSECONDS)
        answers: Sequence[Datagram] = ()
        while not answers and (left := limit - self.now_ns()) > 0:
            answers = self.send(datagrams, left / NANOSECONDS, AGAIN)
        return answers

    def read(self, station: int, register: int, length: int) -> bytes | None:
        """Return octets of a slave; None if it does not answer."""
        answers = self.ask(Datagram(Command.FPRD, station, register, bytes(length)))
        return answers[0].data if answers and answers[0].working_counter else None

    def require(self, station: int, register: int, length: int, what: str) -> bytes:
        """Return octets of a slave; raises `MasterError` if it does not answer."""
        data = self.read(station, register, length)
        if data is None:
            raise MasterError(f'no answer to {what}')
        return data

    def write(self, station: int, register: int, data: bytes) -> bool:
        """Write octets of a slave; tell whether it has taken them."""
        answers = self.ask(Datagram(Command.FPWR, station, register, data))
        return bool(answers and answers[0].working_counter)

    def insist(self, station: int, register: int, data: bytes, what: str) -> None:
        """Write octets of a slave; raises `MasterError` if it does not take them."""
        if not self.write(station, register, data):
            raise MasterError(f'no answer to {what}')

    def broadcast(self, register: int, data: bytes) -> int:
        """Write octets of all slaves; return how many have taken them."""
        answers = self.ask(Datagram(Command.BWR, 0, register, data))
        return answers[0].working_counter if answers else 0

    def until(self, look: Callable[[], Found | None], patience: float) -> Found | None:
        """Look again and again until something is found; None if it was not in time [s]."""
        limit = self.now() + patience
        while not (found := look()):
            if self.now() >= limit:
                return None
            self.sleep(LOOK)
        return found


def _answers(sent: Sequence[Datagram], frame: bytearray) -> Sequence[Datagram]:
    """Take the answers out of a frame; none where it does not have those that were sent."""
    try:
        found = decode(frame)
    except FrameError:
        return ()
    same = [(item.command, len(item.data)) for item in found] == [
        (item.command, len(item.data)) for item in sent
    ]
    return found if same else ()
