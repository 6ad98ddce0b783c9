# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""PDO maps and their assignment: what may be mapped, and how octets become objects and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
import struct

from stewart_simulation.ethercat import profile
from stewart_simulation.ethercat.object_dictionary import (
    AbortCode,
    Access,
    Entry,
    ObjectDictionary,
    SdoAbort,
)

SLOTS, ASSIGNED_SLOTS = 10, 3
FILLER = 0


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
