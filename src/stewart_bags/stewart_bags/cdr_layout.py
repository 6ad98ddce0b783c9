# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the numbers lie in a serialised message: numpy takes them from thousands at once.

Messages of one topic nearly always have the same lengths and texts: six joints, one frame. Then
every field has a fixed place, and a field of all messages is one strided view (CDR as in OMG
formal/02-06-51, plain version 1, alignment up to 8 bytes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rosbags.interfaces import Nodetype
from rosbags.typesys.store import Typestore

ENCAPSULATION = 4
_DTYPES = {
    'bool': 'u1',
    'byte': 'u1',
    'char': 'u1',
    **{f'int{bits}': f'i{bits // 8}' for bits in (8, 16, 32, 64)},
    **{f'uint{bits}': f'u{bits // 8}' for bits in (8, 16, 32, 64)},
    'float32': 'f4',
    'float64': 'f8',
}


class LayoutError(ValueError):
    """The bytes do not fit the type."""


@dataclass(frozen=True)
class Layout:
    """The places of all fields in one message, and in every message of the same structure.

    Attributes:
        fields: By path such as ``pose.position.x`` or ``status[0].level``: offset [byte], type of
            one element, and the number of elements, None for a scalar.
        texts: Contents of the strings, by path.
        times: Paths of the fields of type builtin_interfaces/Time.
        structure (k,): Offsets of the bytes that fix the structure: encapsulation, lengths and
            texts.
    """

    fields: dict[str, tuple[int, np.dtype[Any], int | None]]
    texts: dict[str, str | tuple[str, ...]]
    times: tuple[str, ...]
    structure: NDArray[np.intp]


def layout_of(store: Typestore, msgtype: str, data: bytes) -> Layout:
    """Find the places of all fields in a message: CDR bytes with encapsulation.

    Returns:
        Valid for every message that equals this one at the bytes ``structure``.

    Raises:
        LayoutError: If the bytes do not fit the type.
    """
    walk = _Walk(store, data)
    walk.message(msgtype, '')
    # Four bytes of padding may follow, as rosbags allows, too.
    if not len(data) - 4 < walk.at <= len(data):
        raise LayoutError(f'{msgtype} takes {walk.at} bytes, there are {len(data)}')
    structure = np.unique(np.array([0, 1, *walk.structure], dtype=np.intp))
    return Layout(walk.fields, walk.texts, tuple(walk.times), structure)


class _Walk:
    """One pass over one message."""

    def __init__(self, store: Typestore, data: bytes) -> None:
        if len(data) < ENCAPSULATION or data[0] != 0 or data[1] not in {0, 1}:
            raise LayoutError(f'unknown encapsulation {bytes(data[:4]).hex()}')
        self.store = store
        self.data = data
        self.order = '<' if data[1] else '>'
        self.at = ENCAPSULATION
        self.fields: dict[str, tuple[int, np.dtype[Any], int | None]] = {}
        self.texts: dict[str, str | tuple[str, ...]] = {}
        self.times: list[str] = []
        self.structure: list[int] = []

    def message(self, msgtype: str, prefix: str) -> None:
        if msgtype == 'builtin_interfaces/msg/Time':
            self.times.append(prefix.removesuffix('.'))
        if msgtype not in self.store.fielddefs:
            raise LayoutError(f'{msgtype} is not defined')
        for name, (kind, detail) in self.store.fielddefs[msgtype][1]:
            self.field(f'{prefix}{name}', kind, detail)

    def field(self, path: str, kind: Any, detail: Any) -> None:
        if kind == Nodetype.NAME:
            self.message(detail, f'{path}.')
        elif kind == Nodetype.BASE:
            if detail[0] == 'string':
                self.texts[path] = self.text()
            else:
                self.numbers(path, detail[0], None)
        else:
            (inner_kind, inner), bound = detail
            count = bound if kind == Nodetype.ARRAY else self.length()
            self.elements(path, inner_kind, inner, count)

    def elements(self, path: str, kind: Any, detail: Any, count: int) -> None:
        if kind == Nodetype.NAME:
            for index in range(count):
                self.message(detail, f'{path}[{index}].')
        elif detail[0] == 'string':
            self.texts[path] = tuple(self.text() for _ in range(count))
        else:
            self.numbers(path, detail[0], count)

    def numbers(self, path: str, name: str, count: int | None) -> None:
        if name not in _DTYPES:
            raise LayoutError(f'{path} has the unsupported type {name}')
        dtype = np.dtype(self.order + _DTYPES[name])
        if count != 0:
            self.align(dtype.itemsize)
        self.fields[path] = (self.at, dtype, count)
        self.advance(dtype.itemsize * (1 if count is None else count))

    def length(self) -> int:
        self.align(4)
        start = self.at
        self.advance(4)
        self.structure += range(start, self.at)
        size = int(np.frombuffer(self.data, self.order + 'u4', 1, start)[0])
        # Every element takes a byte at least; a length beyond the end is garbage.
        if size > len(self.data):
            raise LayoutError(f'a length of {size} in a message of {len(self.data)} bytes')
        return size

    def text(self) -> str:
        size = self.length()
        start = self.at
        self.advance(size)
        self.structure += range(start, self.at)
        return bytes(self.data[start : self.at]).rstrip(b'\0').decode('utf-8', 'replace')

    def align(self, size: int) -> None:
        self.at += -(self.at - ENCAPSULATION) % size

    def advance(self, size: int) -> None:
        self.at += size
        if self.at > len(self.data):
            raise LayoutError(f'it needs {self.at} bytes or more, there are {len(self.data)}')
