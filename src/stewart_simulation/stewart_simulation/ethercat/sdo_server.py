# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""SDO server: expedited, normal and segmented transfers, complete access, aborts (ETG.1000.6)."""

from __future__ import annotations

from dataclasses import dataclass
import struct

from stewart_simulation.ethercat.object_dictionary import AbortCode, ObjectDictionary, SdoAbort
from stewart_simulation.ethercat.registers import AlState

HEADER = struct.Struct('<BHB')
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
    """A segmented transfer under way."""

    index: int
    subindex: int
    complete: bool
    data: bytes
    total: int
    toggle: int = 0


class SdoServer:
    """Answers SDO requests out of an object dictionary.

    Args:
        dictionary: What is read and written.
        mailbox: Length of the smaller mailbox [octet].
    """

    def __init__(self, dictionary: ObjectDictionary, mailbox: int) -> None:
        self._dictionary = dictionary
        self._first, self._next = mailbox - FIRST_OVERHEAD, mailbox - SEGMENT_OVERHEAD
        self._upload: Transfer | None = None
        self._download: Transfer | None = None

    def answer(self, request: bytes, state: AlState) -> bytes | None:
        """Answer one request.

        Args:
            request: What follows the CoE header.
            state: Decides what may be written.

        Returns:
            Answer; None where the master aborts.
        """
        if len(request) < 8:
            return self._abort(0, 0, AbortCode.COMMAND)
        command, index, subindex = HEADER.unpack_from(request)
        kind = command >> 5
        if kind in {UPLOAD_SEGMENT, DOWNLOAD_SEGMENT}:
            running = self._upload if kind == UPLOAD_SEGMENT else self._download
            if running is None:
                return self._abort(0, 0, AbortCode.COMMAND)
            index, subindex = running.index, running.subindex
        try:
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
        return HEADER.pack(ABORT_COMMAND, index, subindex) + struct.pack('<I', code)

    def _start_upload(self, command: int, index: int, subindex: int) -> bytes:
        complete = command & COMPLETE
        if complete:
            data = self._dictionary.read_complete(index, subindex)
        else:
            data = self._dictionary.read(index, subindex)
        if 0 < len(data) <= 4:
            answer = UPLOAD_EXPEDITED | (4 - len(data)) << 2 | complete
            return HEADER.pack(answer, index, subindex) + data.ljust(4, b'\0')
        head = HEADER.pack(UPLOAD_NORMAL | complete, index, subindex)
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
        return HEADER.pack(DOWNLOAD_ANSWER | command & COMPLETE, index, subindex) + bytes(4)

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
        if complete:
            self._dictionary.write_complete(index, subindex, data, state)
        else:
            self._dictionary.write(index, subindex, data, state)
