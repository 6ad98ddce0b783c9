# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""CANopen over EtherCAT from the master's side: objects of a slave, and its emergencies."""

from __future__ import annotations

import struct

from stewart_driver.ethercat.fault_text import Emergency
from stewart_simulation.ethercat.master.errors import MasterError
from stewart_simulation.ethercat.master.mailbox import Mailbox, Message
from stewart_simulation.ethercat.master.texts import ABORTS, MAILBOX_ERRORS

COE, MAILBOX_ERROR = 3, 0
SERVICE_AT = 12
EMERGENCY, REQUEST, RESPONSE = 1, 2, 3
COE_HEAD = struct.Struct('<H')
# Command, index, subindex; then four octets of data or of the length.
SDO_HEAD, SDO_SIZE = struct.Struct('<BHB'), struct.Struct('<I')
FIRST_DATA = SDO_HEAD.size + SDO_SIZE.size
UPLOAD, UPLOAD_SEGMENT = 0x40, 0x60
DOWNLOAD, DOWNLOAD_EXPEDITED = 0x21, 0x23
ABORTED = 0x80
# Of an answer.
COMMAND_BITS, EXPEDITED, SIZED = 0xE0, 0x02, 0x01
UPLOADED, DOWNLOADED, SEGMENT_UPLOADED, SEGMENT_DOWNLOADED = 0x40, 0x60, 0x00, 0x20
TOGGLE, LAST = 0x10, 0x01
# The data of a segment have at least so many octets, and its command says how many are empty.
SMALLEST, EMPTY_BITS = 7, 0x07


class SdoClient:
    """Reads and writes objects of one slave.

    Args:
        mailbox: Its mailbox.
    """

    def __init__(self, mailbox: Mailbox) -> None:
        """Ask nothing yet."""
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
        message = self._mailbox.look()
        if message is not None:
            # What else is in it was meant for nobody who still waits for it.
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
            text = MAILBOX_ERRORS.get(code, 'unknown')
            raise MasterError(f'mailbox error 0x{code:04X}, {text}')
        service = COE_HEAD.unpack_from(message.body)[0] >> SERVICE_AT
        answer = message.body[COE_HEAD.size :]
        if service == REQUEST and answer[0] == ABORTED:
            (abort,) = SDO_SIZE.unpack_from(answer, SDO_HEAD.size)
            raise MasterError(f'abort 0x{abort:08X}, {ABORTS.get(abort, "unknown")}')
        right = message.protocol == COE and service == RESPONSE
        if not right or answer[0] & COMMAND_BITS != expected:
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
