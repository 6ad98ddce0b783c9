# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Object dictionary: typed entries, access by state, and the aborts of SDO transfers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, IntFlag
import struct

from stewart_simulation.ethercat.registers import AlState


class AbortCode(IntEnum):
    """SDO abort codes (CiA 301, ETG.1000.6)."""

    TOGGLE = 0x05030000
    COMMAND = 0x05040001
    READ_ONLY = 0x06010002
    COUNT_NOT_ZERO = 0x06010003
    NO_COMPLETE_ACCESS = 0x06010004
    NO_OBJECT = 0x06020000
    NOT_MAPPABLE = 0x06040041
    MAP_TOO_LONG = 0x06040042
    LENGTH = 0x06070010
    TOO_LONG = 0x06070012
    TOO_SHORT = 0x06070013
    NO_SUBINDEX = 0x06090011
    VALUE = 0x06090030
    TOO_LARGE = 0x06090031
    TOO_SMALL = 0x06090032
    WRONG_STATE = 0x08000022


class SdoAbort(Exception):
    """A transfer is refused; never leaves the SDO server."""

    def __init__(self, code: AbortCode) -> None:
        super().__init__(code.name)
        self.code = code


class Access(IntFlag):
    """When an entry may be written, and in which process data it may be mapped."""

    READ_ONLY = 0
    PREOP = 1
    SAFEOP = 2
    OP = 4
    ALWAYS = 7
    RECEIVE_MAP = 8
    TRANSMIT_MAP = 16


WRITABLE_IN = {AlState.PREOP: Access.PREOP, AlState.SAFEOP: Access.SAFEOP, AlState.OP: Access.OP}
OCTETS = ''


@dataclass
class Entry:
    """One subindex.

    Attributes:
        kind: Format character of `struct`; empty for octets and text.
        lowest, highest: Bounds of what may be written.
    """

    kind: str
    value: int | bytes
    access: Access = Access.READ_ONLY
    lowest: int | None = None
    highest: int | None = None

    @property
    def size(self) -> int:
        """Length on the wire [octet]."""
        if isinstance(self.value, bytes):
            return len(self.value)
        return struct.calcsize('<' + self.kind)

    @property
    def number(self) -> int:
        """The value of an entry that is a number."""
        assert isinstance(self.value, int)
        return self.value

    def pack(self) -> bytes:
        """Return the value as it goes over the wire."""
        if isinstance(self.value, bytes):
            return self.value
        return struct.pack('<' + self.kind, self.value)

    def parse(self, data: bytes, state: AlState) -> int | bytes:
        """Read a value that a master wants to write; raises `SdoAbort`."""
        if not self.access & Access.ALWAYS:
            raise SdoAbort(AbortCode.READ_ONLY)
        if not self.access & WRITABLE_IN[state]:
            raise SdoAbort(AbortCode.WRONG_STATE)
        if self.kind == OCTETS:
            return data
        if len(data) != self.size:
            raise SdoAbort(AbortCode.TOO_LONG if len(data) > self.size else AbortCode.TOO_SHORT)
        value: int = struct.unpack('<' + self.kind, data)[0]
        if self.lowest is not None and value < self.lowest:
            raise SdoAbort(AbortCode.TOO_SMALL)
        if self.highest is not None and value > self.highest:
            raise SdoAbort(AbortCode.TOO_LARGE)
        return value


Guard = Callable[[int, int], None]


class ObjectDictionary:
    """Objects of one slave.

    Attributes:
        objects: Index → subindex → entry. An object with one entry at 0 is a variable.
        guards: Index → callable with subindex and new value, which may raise `SdoAbort`.
    """

    def __init__(self) -> None:
        self.objects: dict[int, dict[int, Entry]] = {}
        self.guards: dict[int, Guard] = {}

    def variable(self, index: int, entry: Entry) -> Entry:
        """Add an object with one value."""
        self.objects[index] = {0: entry}
        return entry

    def record(self, index: int, *entries: Entry, count: Access = Access.READ_ONLY) -> None:
        """Add an object with subindices from 1 on; subindex 0 is their number."""
        number = Entry('B', len(entries), count)
        self.objects[index] = {0: number, **dict(enumerate(entries, start=1))}

    def entry(self, index: int, subindex: int = 0) -> Entry:
        """Find an entry; raises `SdoAbort`."""
        if index not in self.objects:
            raise SdoAbort(AbortCode.NO_OBJECT)
        if subindex not in self.objects[index]:
            raise SdoAbort(AbortCode.NO_SUBINDEX)
        return self.objects[index][subindex]

    def read(self, index: int, subindex: int) -> bytes:
        """Return a value as it goes over the wire; raises `SdoAbort`."""
        return self.entry(index, subindex).pack()

    def write(self, index: int, subindex: int, data: bytes, state: AlState) -> None:
        """Store a value; raises `SdoAbort`."""
        entry = self.entry(index, subindex)
        value = entry.parse(data, state)
        if index in self.guards and isinstance(value, int):
            self.guards[index](subindex, value)
        entry.value = value

    def _complete(self, index: int, first: int) -> list[tuple[int, Entry]]:
        self.entry(index)
        entries = self.objects[index]
        if len(entries) == 1:
            raise SdoAbort(AbortCode.NO_COMPLETE_ACCESS)
        return [(sub, entry) for sub, entry in sorted(entries.items()) if sub >= first]

    def read_complete(self, index: int, first: int) -> bytes:
        """Return a whole object; subindex 0 takes 16 bits. Raises `SdoAbort`."""
        used = self.entry(index).number
        return b''.join(
            entry.pack().ljust(2, b'\0') if sub == 0 else entry.pack()
            for sub, entry in self._complete(index, first)
            if sub <= used
        )

    def write_complete(self, index: int, first: int, data: bytes, state: AlState) -> None:
        """Store a whole object: subindex 0 is cleared first and set last.

        Raises:
            SdoAbort: At the first entry that refuses; what was written before stays.
        """
        values: list[tuple[int, bytes]] = []
        at = 0
        for sub, entry in self._complete(index, first):
            if at == len(data):
                break
            width = 2 if sub == 0 else entry.size
            if at + width > len(data):
                raise SdoAbort(AbortCode.TOO_SHORT)
            values.append((sub, data[at : at + entry.size]))
            at += width
        if at != len(data):
            raise SdoAbort(AbortCode.TOO_LONG)
        counted = bool(values) and values[0][0] == 0 and self.entry(index).access
        if counted:
            self.write(index, 0, b'\0', state)
        for sub, value in values[1:] if values and values[0][0] == 0 else values:
            self.write(index, sub, value, state)
        if counted:
            self.write(index, 0, values[0][1], state)
