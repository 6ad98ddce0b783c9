# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The elements of a MATLAB file of version 5 to 7, checked before scipy reads them.

scipy's reader takes the type of an element for an index without a look at it: one spoilt byte ends
the process with a segmentation fault. The layout is MathWorks', "MAT-File Format".
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
import struct
import zlib

HEADER, MATRIX, COMPRESSED = 128, 14, 15
INTEGERS = {5, 6}
NUMERIC = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18}
CELL, STRUCT, OBJECT, CHAR, SPARSE, NUMBERS = 1, 2, 3, 4, 5, range(6, 16)
FUNCTION, OPAQUE = 16, 17
COMPLEX = 0x0800
DEEPEST = 20
LARGEST = 1 << 30
"""Bytes that a compressed variable may have [-]."""


def check_elements(data: bytes) -> None:
    """Check that every element of a file has a type that stands where it is.

    Raises:
        ValueError: If one has not, or is longer than the file.
    """
    if len(data) < HEADER or 0 in data[:4]:
        return  # Version 4, which has no types, or no MATLAB file at all.
    order = {b'IM': '<', b'MI': '>'}.get(data[126:128])
    if order is None:
        raise ValueError('it does not say its byte order')
    try:
        for kind, content in _elements(data[HEADER:], order, padded=False):
            if kind != COMPRESSED:
                _check(kind, content, order, DEEPEST)
                continue
            inflater = zlib.decompressobj()
            inner = inflater.decompress(content, LARGEST)
            if not inflater.eof:
                raise ValueError('a compressed variable is cut, or larger than 1 GiB')
            _check_all(_elements(inner, order), 1, order, DEEPEST)
    except (struct.error, zlib.error) as error:
        raise ValueError(str(error)) from error


def _elements(data: bytes, order: str, *, padded: bool = True) -> Iterator[tuple[int, bytes]]:
    """Yield type and content of the elements that lie one after another."""
    at = 0
    while at < len(data):
        if at + 8 > len(data):
            raise ValueError('an element is cut')
        kind, size = struct.unpack_from(f'{order}2I', data, at)
        if kind >> 16:  # Four bytes or fewer stand beside their tag.
            kind, size, begin, end = kind & 0xFFFF, kind >> 16, at + 4, at + 8
            if size > 4:
                raise ValueError(f'a small element has {size} bytes')
        else:
            begin = at + 8
            end = begin + size
            if padded and kind != COMPRESSED:
                end += -size % 8
        if begin + size > len(data):
            raise ValueError(f'an element claims {size} bytes and {len(data) - begin} are left')
        yield kind, data[begin : begin + size]
        at = end


def _check(kind: int, content: bytes, order: str, depth: int) -> None:
    """Check one variable, field or cell."""
    if kind != MATRIX:
        raise ValueError(f'an element of type {kind} stands in the place of a variable')
    if not content:
        return
    if not depth:
        raise ValueError(f'its structs are nested more than {DEEPEST} deep')
    parts = _elements(content, order)
    flags = _next(parts, INTEGERS)
    word, _ = struct.unpack(f'{order}2I', flags)
    form = word & 0xFF
    if form == OPAQUE:
        for _ in range(3):
            _next(parts, NUMERIC)
        _check_all(parts, 1, order, depth)
        return
    shape = _next(parts, INTEGERS)
    dimensions = struct.unpack(f'{order}{len(shape) // 4}i', shape)
    if len(dimensions) < 2 or min(dimensions) < 0:
        raise ValueError(f'a variable has the dimensions {list(dimensions)}')
    _next(parts, NUMERIC)
    if form in {STRUCT, OBJECT}:
        if form == OBJECT:
            _next(parts, NUMERIC)
        [width] = struct.unpack(f'{order}i', _next(parts, INTEGERS))
        names = _next(parts, NUMERIC)
        if width < 1 or len(names) % width:
            raise ValueError(f'{len(names)} bytes of names of fields, {width} for each')
        _check_all(parts, prod(dimensions) * (len(names) // width), order, depth)
    elif form in {CELL, FUNCTION}:
        _check_all(parts, prod(dimensions) if form == CELL else 1, order, depth)
    elif form in {CHAR, SPARSE, *NUMBERS}:
        for _ in range((3 if form == SPARSE else 1) + bool(word & COMPLEX)):
            _next(parts, NUMERIC)
    else:
        raise ValueError(f'a variable of class {form}, which is no matrix, text, struct or cell')


def _check_all(parts: Iterator[tuple[int, bytes]], count: int, order: str, depth: int) -> None:
    for number in range(count):
        kind, content = next(parts, (0, b''))
        if not kind:
            raise ValueError(f'{count} fields or cells are promised and {number} are there')
        _check(kind, content, order, depth - 1)


def _next(parts: Iterator[tuple[int, bytes]], kinds: set[int]) -> bytes:
    kind, content = next(parts, (0, b''))
    if kind not in kinds:
        raise ValueError(f'an element of type {kind}, expected {sorted(kinds)}')
    return content
