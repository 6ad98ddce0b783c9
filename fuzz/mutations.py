# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Make bad input of good samples: byte by byte, and by the structure of what they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import yaml

Mutation = Callable[[Random, Sequence[bytes]], bytes]

INTERESTING = (
    b'\0',
    b'\xff',
    b'\x7f',
    b'\x80',
    b'\n',
    b'\r',
    b'"',
    b"'",
    b'\xef\xbb\xbf',
    b'\xed\xa0\x80',
)
NUMBERS = (0, 1, -1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
WORDS = (
    b'nan', b'inf', b'-inf', b'1e999', b'-1', b'0', b'1e308', b'9' * 400, b'9' * 5000, b'0x10',
    b'1_0', b'2026-13-45', b'2026-02-30 25:61:61', b'[]', b'{}', b'[[[[', b'&a [*a]', b'*a',
    b'<<: *a',
    b'!!python/object:os.system x', b'!!binary ===', b'!!int x', b'!!timestamp x', b'? [a]: b',
    b'\xd9\xa3', b'~', b'null', b'true', b'---\n', b'...\n', b': ', b'- ', b'\t', b',', b';',
    b'%n',
    b'12:30:45', b'-0', b'.', b'=', b'!', b'|', b'>', b'#', b'@', b'`', b'\xc2\x85',
    b'\xe2\x80\xa8',
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**400, 0.0, -0.0, 1e-320, 1e308, 1e101,
    float('nan'), float('inf'), '', ' ', 'x', '\0', '../../etc', 'ä' * 300, [], [[]], {},
    {'a': {}}, [1, 2], [1.0] * 6, [[0.0] * 3] * 6, ['x'] * 6, {1: 2}, [None] * 3, '2026-13-45',
)  # fmt: skip
MOST = 1 << 16
"""Bytes of a case: what is longer only takes longer."""


def of_bytes(random: Random, samples: Sequence[bytes]) -> bytes:
    """Flip, overwrite, insert, remove, repeat, cut or join, one to eight times."""
    data = bytearray(random.choice(samples))
    for _ in range(1 << random.randrange(4)):
        at = random.randrange(len(data) + 1)
        kind = random.randrange(9)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << random.randrange(8)
        elif kind == 1 and data:
            data[at % len(data)] = random.randrange(256)
        elif kind == 2:
            size = random.choice((1, 2, 4, 8))
            number = random.choice(NUMBERS) & ((1 << 8 * size) - 1)
            data[at : at + size] = number.to_bytes(size, random.choice(('little', 'big')))
        elif kind == 3:
            data[at:at] = random.choice(INTERESTING + WORDS)
        elif kind == 4:
            del data[at : at + random.randrange(1, 17)]
        elif kind == 5:
            piece = data[at : at + random.randrange(1, 65)]
            data[at:at] = piece * random.randrange(1, 5)
        elif kind == 6:
            other = random.choice(samples)
            begin = random.randrange(len(other) + 1)
            data[at : at + 32] = other[begin : begin + random.randrange(1, 65)]
        elif kind == 7 and random.random() < 0.3:
            del data[at:]
        else:
            data[at : at + 4] = random.randbytes(random.randrange(1, 9))
    return bytes(data[:MOST])


def of_yaml(random: Random, samples: Sequence[bytes]) -> bytes:
    """Replace, remove, double or deepen nodes of a document."""
    content = yaml.load(random.choice(samples), FAST)
    for _ in range(1 << random.randrange(3)):
        holder: Any = content
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = random.choice(keys)
            inner = holder[key]
            if not isinstance(inner, dict | list) or random.random() < 0.2:
                _change(random, holder, key)
                break
            holder = inner
    try:
        text = yaml.dump(content, Dumper=QUICK, allow_unicode=True).encode('utf-8', 'replace')
    except RecursionError:
        return b'a: ' + b'[' * 10_000
    return text if random.random() < 0.98 else text + merges(random.choice((2, 4, 6, 12)))


def merges(levels: int) -> bytes:
    """Return mappings that merge the one before ten times."""
    lines = ['a0: &a0 {b: 1}']
    for level in range(levels):
        lines.append(f'a{level + 1}: &a{level + 1} {{<<: [{", ".join([f"*a{level}"] * 10)}]}}')
    return '\n'.join(lines).encode()


FAST = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
QUICK = getattr(yaml, 'CSafeDumper', yaml.SafeDumper)


def _change(random: Random, holder: Any, key: Any) -> None:
    kind, value = random.randrange(7), holder[key]
    if kind <= 2:
        holder[key] = random.choice(VALUES)
    elif (kind == 3 and isinstance(value, float)) or (type(value) is int and abs(value) < 1 << 64):
        holder[key] = value * random.choice((-1, 0, 1e3, 1e-3, 1e30, 1 + 1e-9))
    elif kind == 4:
        del holder[key]
    elif kind == 5:
        for _ in range(random.choice((1, 50, 200))):
            value = [value]
        holder[key] = value
    elif isinstance(holder, dict):
        holder[random.choice((f'{key}x', 1, '', 'ä', f'{key}_m'))] = value
    else:
        holder.insert(0, value)


def of_lines(random: Random, samples: Sequence[bytes]) -> bytes:
    """Change cells, lines and separators of a table of text."""
    lines = random.choice(samples).splitlines(keepends=True)
    for _ in range(1 << random.randrange(3)):
        row = random.randrange(len(lines))
        if random.random() < 0.3:
            other = random.randrange(len(lines))
            choice = random.randrange(3)
            if choice == 0:
                lines[row], lines[other] = lines[other], lines[row]
            elif choice == 1:
                lines.insert(row, lines[other])
            elif len(lines) > 1:
                del lines[row]
            continue
        separator = random.choice(
            [s for s in (b'\t', b',', b' ', b';') if s in lines[row]] or [b',']
        )
        cells = lines[row].split(separator)
        place = random.randrange(len(cells))
        if random.random() < 0.7:
            cells[place] = random.choice(WORDS)
        elif random.random() < 0.5:
            del cells[place]
        else:
            cells.insert(place, random.choice(cells))
        lines[row] = separator.join(cells)
    return b''.join(lines)
