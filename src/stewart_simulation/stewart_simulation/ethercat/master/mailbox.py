# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Mailbox and CANopen over EtherCAT from the master's side (ETG.1000.4, ETG.1000.6)."""

from __future__ import annotations

from contextlib import suppress
import struct
from typing import NamedTuple

from stewart_driver.ethercat.errors import Emergency
from stewart_simulation.ethercat.frames import Command, Datagram
from stewart_simulation.ethercat.master import standard
from stewart_simulation.ethercat.master.link import Link, MasterError
from stewart_simulation.ethercat.master.slave_information import ManagerPlan

HEAD = struct.Struct('<HHBB')
TYPE, COUNT_AT, LAST_COUNT = 0x0F, 4, 7
FULL, ENABLE, REPEAT = 0x08, 0x01, 0x02
# How long a mailbox may stay full, and how long a slave may think [s].
TAKING, ANSWERING = 0.2, 0.7
# The second sync manager guards what slaves send.
INCOMING = standard.MANAGERS + standard.MANAGER_LENGTH
STATUS = INCOMING + standard.MANAGER_STATUS
ACTIVATE = INCOMING + standard.MANAGER_ACTIVATE
ACKNOWLEDGED = INCOMING + standard.MANAGER_DEVICE

COE, MAILBOX_ERROR = 3, 0
SERVICE_AT = 12
EMERGENCY, REQUEST, RESPONSE = 1, 2, 3
COE_HEAD = struct.Struct('<H')
# Command, index, subindex; then four octets of data or of the length.
SDO_HEAD, SDO_SIZE = struct.Struct('<BHB'), struct.Struct('<I')
FIRST_DATA = SDO_HEAD.size + SDO_SIZE.size
# Every CoE message is at least that long, emergencies and segments included [octet].
SHORTEST_COE, MAILBOX_ERROR_SIZE = COE_HEAD.size + FIRST_DATA, 4
UPLOAD, UPLOAD_SEGMENT = 0x40, 0x60
DOWNLOAD, DOWNLOAD_EXPEDITED = 0x21, 0x23
ABORTED = 0x80
# Of an answer.
COMMAND_BITS, EXPEDITED, SIZED = 0xE0, 0x02, 0x01
UPLOADED, DOWNLOADED, SEGMENT_UPLOADED, SEGMENT_DOWNLOADED = 0x40, 0x60, 0x00, 0x20
TOGGLE, LAST = 0x10, 0x01
# The data of a segment have at least so many octets, and its command says how many are empty.
SMALLEST, EMPTY_BITS = 7, 0x07


class Message(NamedTuple):
    """What was in a mailbox: its protocol, and what follows the header."""

    protocol: int
    body: bytes


class Mailbox:
    """Both mailboxes of the slave at an address.

    Attributes:
        room: Longest body of a message to the slave [octet].

    Raises:
        MasterError: If no message fits into one of them.
    """

    def __init__(
        self, link: Link, station: int, outgoing: ManagerPlan, incoming: ManagerPlan
    ) -> None:
        shortest, least = min(outgoing.length, incoming.length), HEAD.size + SHORTEST_COE
        if shortest < least:
            raise MasterError(f'its mailbox has {shortest} octets, {least} are needed')
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
        message = self._link.until(self.look, ANSWERING)
        if message is None:
            raise MasterError('no answer')
        return message

    def look(self) -> Message | None:
        """Return the message that waits, or None; raises `MasterError` if it is cut off."""
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
        protocol, most = kind & TYPE, len(data) - HEAD.size
        least = {COE: SHORTEST_COE, MAILBOX_ERROR: MAILBOX_ERROR_SIZE}.get(protocol, 0)
        if not least <= length <= most:
            what = f'a message of protocol {protocol} announces {length} octets'
            raise MasterError(f'{what}, {least} to {most} are possible')
        return Message(protocol, data[HEAD.size : HEAD.size + length])

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

        return bool(self._link.until(heard, TAKING))


class SdoClient:
    """Reads and writes objects of the slave behind a mailbox, and keeps its emergencies."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._emergencies: list[Emergency] = []

    def read(self, index: int, subindex: int) -> bytes:
        """Return the value of an object; raises `MasterError`."""
        answer = self._ask(SDO_HEAD.pack(UPLOAD, index, subindex) + bytes(4), UPLOADED)
        command = answer[0]
        if command & EXPEDITED:
            empty = command >> 2 & 3 if command & SIZED else 0
            return answer[SDO_HEAD.size : FIRST_DATA - empty]
        (size,) = SDO_SIZE.unpack_from(answer, SDO_HEAD.size)
        data = answer[FIRST_DATA:]
        toggle = 0
        while len(data) < size:
            answer = self._ask(bytes([UPLOAD_SEGMENT | toggle]) + bytes(7), SEGMENT_UPLOADED)
            if answer[0] & TOGGLE != toggle:
                raise MasterError('a segment came twice')
            piece = answer[1:]
            if len(piece) == SMALLEST:
                piece = piece[: SMALLEST - (answer[0] >> 1 & EMPTY_BITS)]
            data += piece
            toggle ^= TOGGLE
            if answer[0] & LAST:
                break
        if len(data) != size:
            raise MasterError(f'{len(data)} octets came, {size} were announced')
        return data

    def write(self, index: int, subindex: int, data: bytes) -> None:
        """Set the value of an object; raises `MasterError`."""
        if 0 < len(data) <= SDO_SIZE.size:
            command = DOWNLOAD_EXPEDITED | SDO_SIZE.size - len(data) << 2
            request = SDO_HEAD.pack(command, index, subindex) + data.ljust(4, b'\0')
            self._ask(request, DOWNLOADED)
            return
        room = self._mailbox.room - COE_HEAD.size
        first = room - FIRST_DATA
        head = SDO_HEAD.pack(DOWNLOAD, index, subindex) + SDO_SIZE.pack(len(data))
        self._ask(head + data[:first], DOWNLOADED)
        toggle, rest = 0, data[first:]
        while rest:
            piece, rest = rest[: room - 1], rest[room - 1 :]
            command = toggle | (0 if rest else LAST)
            if len(piece) < SMALLEST:
                command |= SMALLEST - len(piece) << 1
            request = bytes([command]) + piece.ljust(SMALLEST, b'\0')
            answer = self._ask(request, SEGMENT_DOWNLOADED)
            if answer[0] & TOGGLE != toggle:
                raise MasterError('a segment was acknowledged twice')
            toggle ^= TOGGLE

    def emergencies(self) -> list[Emergency]:
        """Look into the mailbox; return the emergencies since the last call."""
        # A message that is cut off carries none, and the state of the drive says the fault anyway.
        with suppress(MasterError):
            message = self._mailbox.look()
            if message is not None:
                # Another message is the answer to a question that nobody waits for any more.
                self._keep(message)
        taken, self._emergencies = self._emergencies, []
        return taken

    def _ask(self, request: bytes, expected: int) -> bytes:
        """Send a request; return what follows the CoE header of its answer."""
        # An answer for which nobody waits any more must not be taken for this one.
        while (stale := self._mailbox.look()) is not None:
            self._keep(stale)
        self._mailbox.post(COE, COE_HEAD.pack(REQUEST << SERVICE_AT) + request)
        message = self._mailbox.wait()
        while self._keep(message):
            message = self._mailbox.wait()
        if message.protocol == MAILBOX_ERROR:
            _, code = struct.unpack_from('<HH', message.body)
            text = standard.MAILBOX_ERRORS.get(code, 'unknown')
            raise MasterError(f'mailbox error 0x{code:04X}, {text}')
        if message.protocol != COE:
            raise MasterError(f'an answer of protocol {message.protocol} instead of CoE, {COE}')
        service = COE_HEAD.unpack_from(message.body)[0] >> SERVICE_AT
        answer = message.body[COE_HEAD.size :]
        if service == REQUEST and answer[0] == ABORTED:
            (abort,) = SDO_SIZE.unpack_from(answer, SDO_HEAD.size)
            raise MasterError(f'abort 0x{abort:08X}, {standard.ABORTS.get(abort, "unknown")}')
        if service != RESPONSE or answer[0] & COMMAND_BITS != expected:
            raise MasterError(f'unexpected answer {message.body.hex(" ")}')
        return answer

    def _keep(self, message: Message) -> bool:
        """Keep an emergency; tell whether it is one."""
        if message.protocol != COE:
            return False
        if COE_HEAD.unpack_from(message.body)[0] >> SERVICE_AT != EMERGENCY:
            return False
        code, register, data = struct.unpack_from('<HB5s', message.body, COE_HEAD.size)
        self._emergencies.append(Emergency(code, register, data))
        return True
