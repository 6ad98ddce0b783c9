# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Mailbox of a slave: headers, counters, repetition, SDO of every kind, emergencies.

ETG.1000.4 and ETG.1000.6.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import IntEnum
import struct

from stewart_simulation.ethercat.clock import Instant
from stewart_simulation.ethercat.object_dictionary import AbortCode, ObjectDictionary, SdoAbort
from stewart_simulation.ethercat.registers import (
    AlState,
    Memory,
    SYNC_MANAGER,
    SYNC_MANAGER_SIZE,
)
from stewart_simulation.ethercat.sync_managers import MAILBOX_IN, MAILBOX_OUT, SyncManagers

HEADER = struct.Struct('<HHBB')
COE_HEADER = struct.Struct('<H')
ERROR_PROTOCOL, COE_PROTOCOL = 0, 3
EMERGENCY, SDO_REQUEST, SDO_RESPONSE = 1, 2, 3
LAST_COUNT = 7
MAILBOX_IN_MANAGER = SYNC_MANAGER + MAILBOX_IN * SYNC_MANAGER_SIZE

SDO_HEADER = struct.Struct('<BHB')
DOWNLOAD_SEGMENT, DOWNLOAD, UPLOAD, UPLOAD_SEGMENT, ABORT = range(5)
DOWNLOAD_ANSWER, DOWNLOAD_SEGMENT_ANSWER, ABORT_COMMAND = 0x60, 0x20, 0x80
UPLOAD_EXPEDITED, UPLOAD_NORMAL = 0x43, 0x41
COMPLETE, EXPEDITED, SIZE_GIVEN = 0x10, 0x02, 0x01
TOGGLE, LAST = 0x10, 0x01
SMALLEST_SEGMENT = 7
# Mailbox and CoE header before a segment's command, and the fields of a first message after it.
SEGMENT_OVERHEAD, FIRST_OVERHEAD = 9, 16


@dataclass
class Transfer:
    """A segmented transfer under way: what is still to come, or has come; all octets of it."""

    index: int
    subindex: int
    complete: bool
    data: bytes
    total: int
    toggle: int = 0


class SdoServer:
    """Answers SDO requests out of an object dictionary, for a mailbox of some length [octet]."""

    def __init__(
        self, dictionary: ObjectDictionary, mailbox: int, *, complete_access: bool = True
    ) -> None:
        self._dictionary, self._complete_access = dictionary, complete_access
        self._first, self._next = mailbox - FIRST_OVERHEAD, mailbox - SEGMENT_OVERHEAD
        self._upload: Transfer | None = None
        self._download: Transfer | None = None

    def answer(self, request: bytes, state: AlState) -> bytes | None:
        """Answer one request, which follows the CoE header; None where the master aborts."""
        if len(request) < 8:
            return self._abort(0, 0, AbortCode.COMMAND)
        command, index, subindex = SDO_HEADER.unpack_from(request)
        kind = command >> 5
        if kind in {UPLOAD_SEGMENT, DOWNLOAD_SEGMENT}:
            running = self._upload if kind == UPLOAD_SEGMENT else self._download
            if running is None:
                return self._abort(0, 0, AbortCode.COMMAND)
            index, subindex = running.index, running.subindex
        try:
            if kind in {UPLOAD, DOWNLOAD} and command & COMPLETE and not self._complete_access:
                raise SdoAbort(AbortCode.NO_COMPLETE_ACCESS)
            if kind == UPLOAD:
                return self._start_upload(command, index, subindex)
            if kind == DOWNLOAD:
                return self._start_download(command, index, subindex, request, state)
            if kind == UPLOAD_SEGMENT:
                return self._upload_segment(command)
            if kind == DOWNLOAD_SEGMENT:
                return self._download_segment(command, request[1:], state)
            if kind == ABORT:
                self._upload = self._download = None
                return None
            raise SdoAbort(AbortCode.COMMAND)
        except SdoAbort as refused:
            self._upload = self._download = None
            return self._abort(index, subindex, refused.code)

    @staticmethod
    def _abort(index: int, subindex: int, code: AbortCode) -> bytes:
        return SDO_HEADER.pack(ABORT_COMMAND, index, subindex) + struct.pack('<I', code)

    def _start_upload(self, command: int, index: int, subindex: int) -> bytes:
        complete = command & COMPLETE
        if complete:
            data = self._dictionary.read_complete(index, subindex)
        else:
            data = self._dictionary.entry(index, subindex).pack()
        if 0 < len(data) <= 4:
            answer = UPLOAD_EXPEDITED | (4 - len(data)) << 2 | complete
            return SDO_HEADER.pack(answer, index, subindex) + data.ljust(4, b'\0')
        head = SDO_HEADER.pack(UPLOAD_NORMAL | complete, index, subindex)
        rest = data[self._first :]
        if rest:
            self._upload = Transfer(index, subindex, bool(complete), rest, len(data))
        return head + struct.pack('<I', len(data)) + data[: self._first]

    def _upload_segment(self, command: int) -> bytes:
        transfer = self._upload
        assert transfer is not None
        if command & TOGGLE != transfer.toggle:
            raise SdoAbort(AbortCode.TOGGLE)
        piece, transfer.data = transfer.data[: self._next], transfer.data[self._next :]
        answer = transfer.toggle
        transfer.toggle ^= TOGGLE
        if not transfer.data:
            self._upload = None
            answer |= LAST
            if len(piece) < SMALLEST_SEGMENT:
                answer |= (SMALLEST_SEGMENT - len(piece)) << 1
        return bytes([answer]) + piece.ljust(SMALLEST_SEGMENT, b'\0')

    def _start_download(
        self, command: int, index: int, subindex: int, request: bytes, state: AlState
    ) -> bytes:
        complete = bool(command & COMPLETE)
        if command & EXPEDITED:
            unused = command >> 2 & 3 if command & SIZE_GIVEN else 0
            data, total = request[4 : 8 - unused], 4 - unused
        else:
            total = struct.unpack_from('<I', request, 4)[0]
            data = request[8:]
            if len(data) > total:
                raise SdoAbort(AbortCode.LENGTH)
        if len(data) < total:
            self._dictionary.entry(index, subindex)
            self._download = Transfer(index, subindex, complete, data, total)
        else:
            self._store(index, subindex, complete, data, state)
        return SDO_HEADER.pack(DOWNLOAD_ANSWER | command & COMPLETE, index, subindex) + bytes(4)

    def _download_segment(self, command: int, data: bytes, state: AlState) -> bytes:
        transfer = self._download
        assert transfer is not None
        if command & TOGGLE != transfer.toggle:
            raise SdoAbort(AbortCode.TOGGLE)
        if len(data) == SMALLEST_SEGMENT:
            data = data[: SMALLEST_SEGMENT - (command >> 1 & 7)]
        transfer.data += data
        answer = DOWNLOAD_SEGMENT_ANSWER | transfer.toggle
        transfer.toggle ^= TOGGLE
        if len(transfer.data) > transfer.total:
            raise SdoAbort(AbortCode.LENGTH)
        if command & LAST:
            self._download = None
            if len(transfer.data) != transfer.total:
                raise SdoAbort(AbortCode.LENGTH)
            self._store(transfer.index, transfer.subindex, transfer.complete, transfer.data, state)
        return bytes([answer]) + bytes(SMALLEST_SEGMENT)

    def _store(
        self, index: int, subindex: int, complete: bool, data: bytes, state: AlState
    ) -> None:
        store = self._dictionary.write_complete if complete else self._dictionary.write
        store(index, subindex, data, state)


class MailboxErrorCode(IntEnum):
    """Why a message is refused."""

    UNSUPPORTED_PROTOCOL = 2
    SERVICE_NOT_SUPPORTED = 4
    INVALID_SIZE = 8


class Mailbox:
    """Takes messages from the master, has SDO requests answered, and queues the answers.

    Attributes:
        delays: How late the next answers come, one each [ns]; CoE sets no limit (ETG.1000.6).
    """

    def __init__(
        self, memory: Memory, sync_managers: SyncManagers, server: SdoServer, instant: Instant
    ) -> None:
        self._memory, self._sync_managers, self._server = memory, sync_managers, server
        self._instant = instant
        self.delays: deque[int] = deque()
        # With the instant from which on each may be shown [ns].
        self._queue: deque[tuple[int, bytes]] = deque()
        memory.before_read(MAILBOX_IN_MANAGER, SYNC_MANAGER_SIZE, self._fill)
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
            delay = self.delays.popleft() if self.delays else 0
            self._send(COE_PROTOCOL, COE_HEADER.pack(service << 12) + answer, delay)

    def _refuse(self, code: MailboxErrorCode) -> None:
        self._send(ERROR_PROTOCOL, struct.pack('<HH', 1, code))

    def emergency(self, code: int, register: int) -> None:
        """Queue an emergency: error code, error register 1001h, nothing from the maker."""
        body = COE_HEADER.pack(EMERGENCY << 12) + struct.pack('<HB5x', code, register)
        self._send(COE_PROTOCOL, body)
        self._fill()

    def _send(self, protocol: int, body: bytes, delay: int = 0) -> None:
        self._sent_count = self._sent_count % LAST_COUNT + 1
        message = HEADER.pack(len(body), 0, 0, protocol | self._sent_count << 4) + body
        self._queue.append((self._instant.ns + delay, message))

    def taken(self) -> None:
        """Take note that the master has read the message, and show the next one."""
        self._taken, self._shown = self._shown, b''
        self._fill()

    def _fill(self) -> None:
        box = self._sync_managers.items[MAILBOX_IN]
        due = bool(self._queue) and self._queue[0][0] <= self._instant.ns
        if due and box.enabled and not self._sync_managers.full(MAILBOX_IN):
            self._show(self._queue.popleft()[1])

    def repeat(self) -> None:
        """Show the last message again, because the master lost the frame that carried it."""
        if not self._sync_managers.repeat_requested() or not self._taken:
            return
        if self._shown:
            self._queue.appendleft((self._instant.ns, self._shown))
        self._show(self._taken)

    def _show(self, message: bytes) -> None:
        box = self._sync_managers.items[MAILBOX_IN]
        self._memory.octets[box.start : box.end] = message.ljust(box.length, b'\0')
        self._sync_managers.set_full(MAILBOX_IN, full=True)
        self._shown = message
