# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What crosses between a program and the simulated card, and the ways on which it does.

A call stands where a real card has an ioctl of /dev/comedi0, so instructions and their error
numbers are those of the kernel. Between processes it is one datagram each way, a JSON array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
import errno
import json
import os
from pathlib import Path
import select
import socket
from typing import NamedTuple, TYPE_CHECKING

from stewart_driver.daq.card_type import CallersTime
from stewart_driver.offers import Offers, PREFIX
from stewart_simulation.loop import json_of, UnixServer

if TYPE_CHECKING:
    from stewart_simulation.daq_card.card import Card

LONGEST = 65536
# Instructions, as in comedi.h.
READ, WRITE, BITS, GTOD = 0x04000000, 0x08000001, 0x0C000002, 0x06000004


class Operation(IntEnum):
    """What a program can ask the card for."""

    RUN = 1
    LOCK = 2
    UNLOCK = 3


class Instruction(NamedTuple):
    """One instruction; the channel specification is channel, range and reference packed.

    Attributes:
        data: What to write, or room for what is read.
    """

    code: int
    subdevice: int
    channel_spec: int
    data: Sequence[int]


class Request(NamedTuple):
    """One call.

    Attributes:
        number: Comes back in the answer, so that a late one is not taken for the next.
        subdevice: For LOCK and UNLOCK.
        instructions: For RUN.
    """

    operation: Operation
    number: int = 0
    subdevice: int = 0
    instructions: Sequence[Instruction] = ()

    def encode(self) -> bytes:
        """Return the datagram."""
        return json.dumps(self).encode()

    @classmethod
    def decode(cls, datagram: bytes) -> Request:
        """Return the call of a datagram; raises `ValueError` if it is none."""
        try:
            operation, number, subdevice, instructions = json_of(datagram)
            steps = [
                Instruction(int(code), int(place), int(spec), [int(value) for value in data])
                for code, place, spec, data in instructions
            ]
            return cls(Operation(operation), int(number), int(subdevice), steps)
        except (TypeError, OverflowError) as error:
            raise ValueError(f'not a call: {error}') from error


class Answer(NamedTuple):
    """What the card says.

    Attributes:
        result: Number of instructions carried out, or a negative error number of the kernel.
        delay: How long the call takes on the side of the program [s].
        data: One entry per instruction.
    """

    number: int
    result: int
    delay: float = 0.0
    data: Sequence[Sequence[int]] = ()

    def encode(self) -> bytes:
        """Return the datagram."""
        return json.dumps(self).encode()

    @classmethod
    def decode(cls, datagram: bytes) -> Answer:
        """Return the answer of a datagram."""
        return cls(*json.loads(datagram))


class SocketWire:
    """An open file of a card that is reached by a socket."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection

    def ask(self, request: Request) -> None:
        """Send a call."""
        self.connection.send(request.encode())

    def hear(self) -> Answer:
        """Return the oldest answer; raises `OSError` if none can come any more."""
        datagram = self.connection.recv(LONGEST)
        if not datagram:
            raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))
        return Answer.decode(datagram)

    def close(self) -> None:
        """Hang up."""
        self.connection.close()


class InlineWire:
    """An open file of a card in this process: calls and answers need no bytes.

    Args:
        advance: Called before every answer: brings the card's inputs up to now.

    Attributes:
        calls: Requests so far.
        answers: Those that were not received yet, oldest first.
    """

    def __init__(self, card: Card, advance: Callable[[], None] = lambda: None) -> None:
        self._card, self._advance = card, advance
        self.calls = 0
        self.answers: list[Answer] = []

    def ask(self, request: Request) -> None:
        """Let the card answer, with inputs of now."""
        self.calls += 1
        self._advance()
        self.answers.append(self._card.answer(request, self))

    def hear(self) -> Answer:
        """Return the oldest answer."""
        return self.answers.pop(0)

    def close(self) -> None:
        """Give up what was locked."""
        self.answers.clear()
        self._card.release(self)


@dataclass(frozen=True)
class InlineCard:
    """A card in this process: what opens it, and its time."""

    connect: Callable[[], InlineWire]
    time: CallersTime

    def let_pass(self, duration: float) -> None:
        """Let a slow call take its time [s]."""
        self.time.come_to(self.time.now() + duration)


OFFERS: Offers[InlineCard] = Offers()


def find(name: str) -> InlineCard | None:
    """Return the card of this process by its name, None for a name that is a file.

    Raises `OSError` if no card is offered under such a name.
    """
    card = OFFERS.find(name)
    if card is None and name.startswith(PREFIX):
        raise OSError(errno.ENODEV, os.strerror(errno.ENODEV), name)
    return card


class CardServer(UnixServer):
    """Let programs reach a card over a Unix socket; it never waits.

    Before every answer `advance` brings the world, and with it the card's inputs, up to now.
    """

    def __init__(self, path: Path, card: Card, advance: Callable[[], None]) -> None:
        super().__init__(path, socket.SOCK_SEQPACKET)
        self._card, self._advance = card, advance

    def accept(self) -> int:
        """Take a new program; return its descriptor.

        Those that were there before are served first: the locks of one that was killed must be
        gone before the next one asks for them.
        """
        for descriptor in list(self.clients):
            while select.select([descriptor], [], [], 0.0)[0] and self.serve(descriptor):
                pass
        descriptor = super().accept()
        self.clients[descriptor].setblocking(False)
        return descriptor

    def serve(self, descriptor: int) -> bool:
        """Answer one call of a program; False once it is gone."""
        client = self.clients.get(descriptor)
        if client is None:
            return False
        try:
            request = client.recv(LONGEST)
            if request:
                self._advance()
                client.send(self._card.handle(request, client))
                return True
        except BlockingIOError:
            return True
        except OSError:
            pass
        self.drop(descriptor)
        return False

    def drop(self, descriptor: int) -> None:
        """Hang up on a program, and unlock what it had locked."""
        self._card.release(self.clients[descriptor])
        super().drop(descriptor)
