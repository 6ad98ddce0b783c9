# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compressed bytes back to plain ones, as far as they go.

rosbag2 compresses whole files or single messages with zstd, mcap its chunks with zstd or lz4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
import sys
from typing import Any, TypeVar

import lz4.frame  # type: ignore[import-untyped]

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAGIC = {b'\x28\xb5\x2f\xfd': 'zstd', b'\x04\x22\x4d\x18': 'lz4'}
SUFFIXES = {'.zstd': 'zstd', '.zst': 'zstd', '.lz4': 'lz4'}
BLOCK = 1 << 20
# A single message is never larger than this; a corrupt frame may claim to be.
MESSAGE_LIMIT = 1 << 31

_DECOMPRESSORS: dict[str, Callable[[], Any]] = {
    'zstd': zstd.ZstdDecompressor,
    'lz4': lz4.frame.LZ4FrameDecompressor,
}
T = TypeVar('T')
_ERRORS = (zstd.ZstdError, RuntimeError, EOFError)


def format_of(data: bytes | memoryview) -> str | None:
    """Tell by the first bytes how something is compressed: ``zstd``, ``lz4`` or not.

    A serialised message cannot be mistaken: it begins with ``00 00`` or ``00 01``.
    """
    return MAGIC.get(bytes(data[:4]))


def decompress_prefix(data: bytes, name: str, limit: int) -> tuple[bytes, str | None]:
    """Decompress as much as is there of one frame that may be cut short or corrupt.

    Args:
        name: ``zstd`` or ``lz4``.
        limit: The most to give back [byte]; keeps a corrupt frame from filling the memory.

    Returns:
        What could be decompressed.
        Why there is not more; None if the frame is whole.
    """
    decompressor = _DECOMPRESSORS[name]()
    out = bytearray()
    try:
        # In small steps: the step that fails takes what it had decompressed with it.
        for start in range(0, len(data), 4096):
            piece = data[start : start + 4096]
            while True:
                out += decompressor.decompress(piece, limit - len(out))
                piece = b''
                if decompressor.eof:
                    return bytes(out), None
                if len(out) >= limit:
                    return bytes(out), f'more than the {limit} bytes announced'
                if decompressor.needs_input:
                    break
    except _ERRORS as error:
        return bytes(out), str(error)
    return bytes(out), 'the compressed data end early'


def decompress_messages(
    messages: Iterator[tuple[T, int, bytes]],
) -> Iterator[tuple[T, int, bytes]]:
    """Decompress messages that were compressed one by one, if they were: the first one tells.

    Raises:
        ValueError: On the way, if a message cannot be decompressed; names its number.
    """
    first = next(messages, None)
    if first is None:
        return messages
    messages = chain([first], messages)
    packed = format_of(first[2])
    return _decompressed(messages, packed) if packed else messages


def _decompressed(
    messages: Iterator[tuple[T, int, bytes]], name: str
) -> Iterator[tuple[T, int, bytes]]:
    for number, (topic, time_ns, data) in enumerate(messages, 1):
        plain, failure = decompress_prefix(data, name, MESSAGE_LIMIT)
        if failure is not None:
            raise ValueError(f'message {number}: {failure}')
        yield topic, time_ns, plain


def decompress_file(source: Path, target: Path, name: str) -> str | None:
    """Decompress a file as far as it goes.

    Returns:
        Why there is not more; None if the frame is whole.
    """
    decompressor = _DECOMPRESSORS[name]()
    try:
        with source.open('rb') as packed, target.open('wb') as plain:
            while not decompressor.eof:
                piece = packed.read(4096) if decompressor.needs_input else b''
                if not piece and decompressor.needs_input:
                    return 'the compressed data end early'
                plain.write(decompressor.decompress(piece, BLOCK))
    except _ERRORS as error:
        return str(error)
    return None
