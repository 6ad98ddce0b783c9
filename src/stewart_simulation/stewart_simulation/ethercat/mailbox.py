# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Mailbox of a slave: headers, counters, repetition, SDO and emergencies (ETG.1000.4, .6)."""

from __future__ import annotations

from collections import deque
from enum import IntEnum
import struct

from stewart_simulation.ethercat.registers import AlState, Memory
from stewart_simulation.ethercat.sdo_server import ABORT_COMMAND, SdoServer
from stewart_simulation.ethercat.sync_managers import MAILBOX_IN, MAILBOX_OUT, SyncManagers

HEADER = struct.Struct('<HHBB')
COE_HEADER = struct.Struct('<H')
ERROR_PROTOCOL, COE_PROTOCOL = 0, 3
EMERGENCY, SDO_REQUEST, SDO_RESPONSE = 1, 2, 3
LAST_COUNT = 7


class MailboxErrorCode(IntEnum):
    """Why a message is refused."""

    UNSUPPORTED_PROTOCOL = 2
    SERVICE_NOT_SUPPORTED = 4
    INVALID_SIZE = 8


class Mailbox:
    """Takes messages from the master and queues the answers.

    Args:
        memory: Where the messages lie.
        sync_managers: Guards of the two mailboxes.
        server: Answers SDO requests.
    """

    def __init__(self, memory: Memory, sync_managers: SyncManagers, server: SdoServer) -> None:
        self._memory, self._sync_managers, self._server = memory, sync_managers, server
        self._queue: deque[bytes] = deque()
        self._shown = self._taken = b''
        self._sent_count, self._seen_count = 0, 0

    def reset(self) -> None:
        """Forget everything, as when the slave goes to INIT."""
        self._queue.clear()
        self._shown = self._taken = b''
        self._sent_count = self._seen_count = 0
        for number in (MAILBOX_OUT, MAILBOX_IN):
            self._sync_managers.set_full(number, full=False)

    def receive(self, state: AlState) -> None:
        """Take the message in the output mailbox, answer it and make room for the next."""
        box = self._sync_managers.items[MAILBOX_OUT]
        message = bytes(self._memory.octets[box.start : box.end])
        self._sync_managers.set_full(MAILBOX_OUT, full=False)
        length, _, _, kind = HEADER.unpack_from(message)
        count = kind >> 4 & 7
        # A repeated message has the count of the one before; 0 is used by masters without counts.
        if count and count == self._seen_count:
            return
        self._seen_count = count
        if length + HEADER.size > len(message) or length < COE_HEADER.size:
            self._refuse(MailboxErrorCode.INVALID_SIZE)
        elif kind & 0x0F != COE_PROTOCOL:
            self._refuse(MailboxErrorCode.UNSUPPORTED_PROTOCOL)
        else:
            self._serve(message[HEADER.size : HEADER.size + length], state)
        self._fill()

    def _serve(self, body: bytes, state: AlState) -> None:
        if COE_HEADER.unpack_from(body)[0] >> 12 != SDO_REQUEST:
            self._refuse(MailboxErrorCode.SERVICE_NOT_SUPPORTED)
            return
        answer = self._server.answer(body[COE_HEADER.size :], state)
        if answer is not None:
            # An abort is itself a request (ETG.1000.6): masters tell it from an answer by that.
            service = SDO_REQUEST if answer[0] == ABORT_COMMAND else SDO_RESPONSE
            self._send(COE_PROTOCOL, COE_HEADER.pack(service << 12) + answer)

    def _refuse(self, code: MailboxErrorCode) -> None:
        self._send(ERROR_PROTOCOL, struct.pack('<HH', 1, code))

    def emergency(self, code: int, register: int, data: bytes = bytes(5)) -> None:
        """Queue an emergency: error code, error register 1001h, five octets of the maker."""
        body = COE_HEADER.pack(EMERGENCY << 12) + struct.pack('<HB5s', code, register, data)
        self._send(COE_PROTOCOL, body)
        self._fill()

    def _send(self, protocol: int, body: bytes) -> None:
        self._sent_count = self._sent_count % LAST_COUNT + 1
        self._queue.append(HEADER.pack(len(body), 0, 0, protocol | self._sent_count << 4) + body)

    def taken(self) -> None:
        """Take note that the master has read the message, and show the next one."""
        self._taken, self._shown = self._shown, b''
        self._fill()

    def _fill(self) -> None:
        box = self._sync_managers.items[MAILBOX_IN]
        if self._queue and box.enabled and not self._sync_managers.full(MAILBOX_IN):
            self._show(self._queue.popleft())

    def repeat(self) -> None:
        """Show the last message again, because the master lost the frame that carried it."""
        if not self._sync_managers.repeat_requested() or not self._taken:
            return
        if self._shown:
            self._queue.appendleft(self._shown)
        self._show(self._taken)

    def _show(self, message: bytes) -> None:
        box = self._sync_managers.items[MAILBOX_IN]
        self._memory.octets[box.start : box.end] = message.ljust(box.length, b'\0')
        self._sync_managers.set_full(MAILBOX_IN, full=True)
        self._shown = message
