# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A slave's mailbox from the master's side: one message out, one message in (ETG.1000.4, .6)."""

from __future__ import annotations

import struct
from typing import NamedTuple

from stewart_simulation.ethercat.frames import Command, Datagram
from stewart_simulation.ethercat.master.addresses import (
    MANAGER_ACTIVATE,
    MANAGER_DEVICE,
    MANAGER_LENGTH,
    MANAGER_STATUS,
    MANAGERS,
)
from stewart_simulation.ethercat.master.errors import MasterError
from stewart_simulation.ethercat.master.link import Link
from stewart_simulation.ethercat.master.slave_information import ManagerPlan

HEAD = struct.Struct('<HHBB')
TYPE, COUNT_AT, LAST_COUNT = 0x0F, 4, 7
FULL, ENABLE, REPEAT = 0x08, 0x01, 0x02
# How long a mailbox may stay full, and how long a slave may think [s].
TAKING, ANSWERING = 0.2, 0.7
# The second sync manager guards what slaves send.
STATUS = MANAGERS + MANAGER_LENGTH + MANAGER_STATUS
ACTIVATE = MANAGERS + MANAGER_LENGTH + MANAGER_ACTIVATE
ACKNOWLEDGED = MANAGERS + MANAGER_LENGTH + MANAGER_DEVICE


class Message(NamedTuple):
    """What was in a mailbox: its protocol, and what follows the header."""

    protocol: int
    body: bytes


class Mailbox:
    """Both mailboxes of one slave.

    Args:
        link: The wire.
        station: Address of the slave.
        outgoing, incoming: Where they are.

    Attributes:
        room: Longest body of a message to the slave [octet].
    """

    def __init__(
        self, link: Link, station: int, outgoing: ManagerPlan, incoming: ManagerPlan
    ) -> None:
        """Say nothing yet."""
        self._link, self._station = link, station
        self._outgoing, self._incoming = outgoing, incoming
        self._count = self._heard = 0
        self._repeat = False
        self.room = outgoing.length - HEAD.size

    def post(self, protocol: int, body: bytes) -> None:
        """Send a message; raises `MasterError` if the slave does not take it."""
        self._count = self._count % LAST_COUNT + 1
        head = HEAD.pack(len(body), 0, 0, protocol | self._count << COUNT_AT)
        data = (head + body).ljust(self._outgoing.length, b'\0')
        # A slave knows by the count that it was sent again, because a frame was lost.
        if not self._link.until(
            lambda: self._link.write(self._station, self._outgoing.start, data), TAKING
        ):
            raise MasterError('no answer')

    def wait(self) -> Message:
        """Return the next message; raises `MasterError` if none comes."""
        message: Message | None = None

        def there() -> bool:
            nonlocal message
            message = self.look()
            return message is not None

        if not self._link.until(there, ANSWERING) or message is None:
            raise MasterError('no answer')
        return message

    def look(self) -> Message | None:
        """Return the message that waits; None if there is none."""
        status = self._link.read(self._station, STATUS, 1)
        if status is None or not status[0] & FULL:
            return None
        data = self._fetch()
        if data is None:
            return None
        length, _, _, kind = HEAD.unpack_from(data)
        count, last = kind >> COUNT_AT & LAST_COUNT, self._heard
        self._heard = count
        if count and count == last:
            # The question was lost, not the answer: what came again is the message before.
            return self.look()
        return Message(kind & TYPE, data[HEAD.size : HEAD.size + length])

    def _fetch(self) -> bytes | None:
        """Read the mailbox; where the frame is lost, the message has to be asked for again."""
        start, length = self._incoming.start, self._incoming.length
        question = Datagram(Command.FPRD, self._station, start, bytes(length))
        answers = self._link.send([question], self._link.patience)
        if not answers and not self._ask_again():
            return None
        answers = answers or self._link.send([question], self._link.patience)
        return answers[0].data if answers and answers[0].working_counter else None

    def _ask_again(self) -> bool:
        """Toggle the repeat request; tell whether the slave has heard it."""
        self._repeat = not self._repeat
        wanted = REPEAT if self._repeat else 0
        self._link.write(self._station, ACTIVATE, bytes([ENABLE | wanted]))

        def heard() -> bool:
            answer = self._link.read(self._station, ACKNOWLEDGED, 1)
            return answer is not None and answer[0] & REPEAT == wanted

        return self._link.until(heard, TAKING)
