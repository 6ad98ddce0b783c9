# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory shared between the node and the cyclic process.

The block is anonymous (memfd): it has no name in the file system, so nothing is left when its
two processes are gone, however they ended. Everything that has more than one number travels
through rings with one writer and one reader each; single numbers are plain words.

The rings rely on stores becoming visible in program order, which x86-64 guarantees; where it does
not hold, thousands of interpreter instructions lie between any two of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from mmap import mmap
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stewart_driver.control.cycle_statistics import COUNTERS

SIX = ('f8', (6,))
TEXT_BYTES = 1024
TEXT = f'S{TEXT_BYTES}'
MOTION = [('stamp', 'f8'), ('strokes', *SIX), ('rates', *SIX), ('forces', *SIX)]

# Capacity and record of each ring.
RINGS: dict[str, tuple[int, list[tuple[Any, ...]]]] = {
    # node -> cycle
    'setpoints': (1024, MOTION),
    # What is older than its deadline, or than a quick stop, is not carried out; 0: no deadline.
    'requests': (16, [('code', 'i4'), ('value', 'f8'), ('deadline', 'f8'), ('quick_stops', 'u8')]),
    'jogs': (64, [('stamp', 'f8'), ('rates', *SIX)]),
    'tracking': (64, [('position', 'f8'), ('rotation', 'f8')]),
    # cycle -> node
    'replies': (16, [('request', 'u8'), ('accepted', '?'), ('message', TEXT)]),
    'stops': (4, [('quick_stops', 'u8'), ('accepted', '?'), ('message', TEXT)]),
    'events': (
        64,
        [
            *(('stamp', 'f8'), ('state', 'i4'), ('homed', '?'), ('reason', TEXT)),
            *(('speed_scaling', 'f8'), ('override', '?')),
            *(('live', 'i4'), ('braked', 'i4'), ('sto', 'i4')),
        ],
    ),
    'notes': (16, [('text', TEXT)]),
    'samples': (1024, [*MOTION, ('commanded_strokes', *SIX)]),
    'refusals': (16, [('text', TEXT)]),
    'failures': (4, [('text', TEXT)]),
}

WORDS = np.dtype(
    [
        # written by the node
        ('quick_stops', 'u8'),
        ('end', 'u8'),
        # written by the cycle
        ('phase', 'u8'),
        *COUNTERS,
    ]
)

SINGLES = [item for item in WORDS.descr if len(item) == 2]

ALIGNMENT = 64


class ProcessPhase(IntEnum):
    """How far the cyclic process is."""

    STARTING = 0
    RUNNING = 1
    ENDED = 2
    FAILED = 3


class Ring:
    """Records from one writer to one reader, in order; the oldest are overwritten.

    Args:
        memory: As many bytes as `bytes_for` says, zero at first.
        capacity: How many records the reader may be behind.

    Attributes:
        lost: Records that were overwritten before this reader came to them.
    """

    def __init__(self, memory: NDArray[np.uint8], capacity: int, record: np.dtype[Any]) -> None:
        self._capacity = capacity
        # Single numbers are read and written in a third of the time that numpy takes.
        self._written = memory[:8].data.cast('Q')
        self._numbers = memory[8 : 8 * (1 + capacity)].data.cast('Q')
        slots = memory[8 * (1 + capacity) :].view(record)
        self._fields = {name: slots[name] for name in record.names or ()}
        self._blank = {name: field.dtype.type() for name, field in self._fields.items()}
        self._texts = [name for name, field in self._fields.items() if field.dtype.kind == 'S']
        # A record of nothing but numbers is taken out at once, as a row: what lies where in it.
        self._rows: NDArray[np.float64] | None = None
        self._places: list[int | slice] = []
        if all(field.dtype == np.float64 for field in self._fields.values()):
            self._rows = slots.view(np.float64).reshape(capacity, -1)
            for kind, offset, *_ in (record.fields or {}).values():
                first, last = offset // 8, (offset + kind.itemsize) // 8
                self._places.append(slice(first, last) if kind.shape else first)
        self._read = 0
        self.lost = 0

    @staticmethod
    def bytes_for(capacity: int, record: np.dtype[Any]) -> int:
        """Return how much memory a ring needs."""
        return 8 * (1 + capacity) + capacity * record.itemsize

    def push(self, **values: Any) -> int:
        """Write a record, its fields by name, the others zero; return its number, from 1.

        A text that is too long loses its end.
        """
        for name in self._texts:
            values[name] = values.get(name, '').encode()[:TEXT_BYTES]
        if len(values) < len(self._fields):
            values = self._blank | values
        number = self._written[0] + 1
        slot = number % self._capacity
        self._numbers[slot] = 0
        for name, value in values.items():
            self._fields[name][slot] = value
        self._numbers[slot] = number
        self._written[0] = number
        return number

    def pop_all(self) -> Iterable[dict[str, Any]]:
        """Read what was written since the last call, oldest first, each with its ``number``."""
        for number, values in self._new():
            record = dict(zip(self._fields, values, strict=True))
            record['number'] = number
            yield record

    def pop_values(self) -> Iterable[list[Any]]:
        """Read likewise, but nothing except the values of each record, in their order."""
        return (values for _, values in self._new()) if self._written[0] != self._read else ()

    def _new(self) -> Iterator[tuple[int, list[Any]]]:
        written = self._written[0]
        oldest = written - self._capacity + 1
        if self._read + 1 < oldest:
            self.lost += oldest - self._read - 1
            self._read = oldest - 1
        while self._read < written:
            self._read += 1
            slot = self._read % self._capacity
            values = self._values(slot)
            if self._numbers[slot] == self._read:
                yield self._read, values
            else:
                self.lost += 1

    def _values(self, slot: int) -> list[Any]:
        """Return a copy of what lies in a slot."""
        if self._rows is not None:
            row = self._rows[slot].copy()
            return [row.item(at) if type(at) is int else row[at] for at in self._places]
        fields = self._fields.values()
        values = [field.item(slot) if field.ndim == 1 else field[slot].copy() for field in fields]
        return [
            value.decode(errors='ignore') if isinstance(value, bytes) else value
            for value in values
        ]


class SharedBlock:
    """The block as seen by one of its two processes.

    Args:
        descriptor: File descriptor of the memory; not needed any more afterwards.

    Attributes:
        words (): Single numbers; the others are rings, see `RINGS`.
        cells: The same by name, in place 0 of each, a tenth of the time per look.
    """

    setpoints: Ring
    requests: Ring
    jogs: Ring
    tracking: Ring
    replies: Ring
    stops: Ring
    events: Ring
    notes: Ring
    samples: Ring
    refusals: Ring
    failures: Ring

    def __init__(self, descriptor: int) -> None:
        memory = np.frombuffer(mmap(descriptor, _layout()[1]), dtype=np.uint8)
        words = memory[: WORDS.itemsize].view(WORDS)
        self.words = words[0]
        self.cells = {name: words[name].data for name, *_ in SINGLES}
        for name, (start, end) in _layout()[0].items():
            capacity, record = RINGS[name]
            setattr(self, name, Ring(memory[start:end], capacity, np.dtype(record)))

    @staticmethod
    def allocate() -> int:
        """Return a descriptor of new memory, all zero; the caller closes it."""
        descriptor = os.memfd_create('stewart_driver')
        os.ftruncate(descriptor, _layout()[1])
        return descriptor


def _layout() -> tuple[dict[str, tuple[int, int]], int]:
    position = _aligned(WORDS.itemsize)
    places = {}
    for name, (capacity, record) in RINGS.items():
        end = position + Ring.bytes_for(capacity, np.dtype(record))
        places[name] = (position, end)
        position = _aligned(end)
    return places, position


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
