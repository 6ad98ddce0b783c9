# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Object dictionary: typed entries, access by state, PDO maps and their assignment, aborts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from functools import partial
import struct

from stewart_simulation.ethercat import profile
from stewart_simulation.ethercat.registers import AlState

SLOTS, ASSIGNED_SLOTS = 10, 3
FILLER = 0


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
        allowed: All that may be written; empty for anything within the bounds.
    """

    kind: str
    value: int | bytes
    access: Access = Access.READ_ONLY
    lowest: int | None = None
    highest: int | None = None
    allowed: frozenset[int] = frozenset()

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
        if self.allowed and value not in self.allowed:
            raise SdoAbort(AbortCode.VALUE)
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
        entries = self._complete(index, first)
        used = self.entry(index).number
        return b''.join(
            entry.pack().ljust(0 if sub else 2, b'\0') for sub, entry in entries if sub <= used
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


@dataclass(frozen=True)
class Direction:
    """One of the two ways: outputs of the master, or its inputs."""

    assignment: int
    first: int
    last: int
    mappable: Access


RECEIVE = Direction(profile.RECEIVE_ASSIGNMENT, 0x1600, 0x17FF, Access.RECEIVE_MAP)
TRANSMIT = Direction(profile.TRANSMIT_ASSIGNMENT, 0x1A00, 0x1BFF, Access.TRANSMIT_MAP)


class Layout:
    """Process data of one direction: objects with their lengths [octet]; None is a gap."""

    def __init__(self, fields: Sequence[tuple[Entry | None, int]]) -> None:
        codes = [entry.kind if entry else f'{size}x' for entry, size in fields]
        self._format = struct.Struct('<' + ''.join(codes))
        self._entries = [entry for entry, _ in fields if entry]

    @property
    def size(self) -> int:
        """Length [octet]."""
        return self._format.size

    def store(self, data: bytes | bytearray, at: int) -> None:
        """Take the outputs of the master into the objects."""
        for entry, value in zip(self._entries, self._format.unpack_from(data, at), strict=True):
            entry.value = value

    def load(self, data: bytearray, at: int) -> None:
        """Give the objects to the master as inputs."""
        self._format.pack_into(data, at, *[entry.value for entry in self._entries])


class ProcessData:
    """Maps and assignments in an object dictionary; some objects may not be mapped."""

    def __init__(
        self, dictionary: ObjectDictionary, unmappable: frozenset[int] = frozenset()
    ) -> None:
        self._dictionary, self._unmappable = dictionary, unmappable

    def add_map(self, index: int, fields: Sequence[int], *, free: bool) -> None:
        """Add a map, a sequence of mapping entries; a free one may be written in PREOP."""
        access = Access.PREOP if free else Access.READ_ONLY
        used = list(fields) + [0] * (SLOTS - len(fields) if free else 0)
        self._dictionary.record(index, *(Entry('I', x, access) for x in used), count=access)
        self._dictionary.objects[index][0].value = len(fields)
        direction = RECEIVE if index <= RECEIVE.last else TRANSMIT
        self._dictionary.guards[index] = partial(self._check_map, index, direction)

    def assign(self, direction: Direction, index: int) -> None:
        """Add the assignment object, with one map in it."""
        entries = [Entry('H', x, Access.PREOP) for x in (index, 0, 0)]
        self._dictionary.record(direction.assignment, *entries, count=Access.PREOP)
        self._dictionary.objects[direction.assignment][0].value = 1
        self._dictionary.guards[direction.assignment] = partial(self._check_assignment, direction)

    def layout(self, direction: Direction) -> Layout:
        """Compile what is assigned now."""
        fields: list[tuple[Entry | None, int]] = []
        for index in self._used(direction.assignment):
            for field in self._used(index):
                target, sub, bits = profile.unpack_mapping(field)
                entry = None if target == FILLER else self._dictionary.entry(target, sub)
                fields.append((entry, bits // 8))
        return Layout(fields)

    def _used(self, index: int) -> list[int]:
        entries = self._dictionary.objects[index]
        return [entries[sub].number for sub in range(1, entries[0].number + 1)]

    def _check_map(self, index: int, direction: Direction, sub: int, value: int) -> None:
        entries = self._dictionary.objects[index]
        if sub:
            if entries[0].number:
                raise SdoAbort(AbortCode.COUNT_NOT_ZERO)
            if value >> 16 in self._unmappable:
                raise SdoAbort(AbortCode.NOT_MAPPABLE)
            return
        if value >= len(entries):
            raise SdoAbort(AbortCode.MAP_TOO_LONG)
        for number in range(1, value + 1):
            target, sub, bits = profile.unpack_mapping(entries[number].number)
            if target == FILLER:
                fits = bits > 0 and bits % 8 == 0
            else:
                entry = self._dictionary.entry(target, sub)
                fits = bool(entry.access & direction.mappable) and bits == 8 * entry.size
            if not fits:
                raise SdoAbort(AbortCode.NOT_MAPPABLE)

    def _check_assignment(self, direction: Direction, sub: int, value: int) -> None:
        entries = self._dictionary.objects[direction.assignment]
        if sub:
            if entries[0].number:
                raise SdoAbort(AbortCode.COUNT_NOT_ZERO)
            inside = direction.first <= value <= direction.last
            if value and not (inside and value in self._dictionary.objects):
                raise SdoAbort(AbortCode.VALUE)
            return
        if value > ASSIGNED_SLOTS:
            raise SdoAbort(AbortCode.TOO_LARGE)
        chosen = [entries[number].number for number in range(1, value + 1)]
        if 0 in chosen:
            raise SdoAbort(AbortCode.VALUE)
