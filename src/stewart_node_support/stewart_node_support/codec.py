# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages as bytes: where the numbers lie is found once, and only numbers travel after that.

rclpy converts a message field by field, which costs more than a hundred times what copying its
bytes costs. Messages of one topic have the same strings and sequence lengths nearly always, and
then every number has a fixed offset. A `Layout` takes those offsets from the definition that the
generated class carries; a `Template` writes numbers at them, a `Reader` reads them there. A
message that does not fit a known layout goes through rclpy once.

The bytes are CDR, plain version 1 (OMG formal/02-06-51), little-endian: each number is aligned to
its size, counted from behind the four bytes of the encapsulation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
import struct
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rclpy.serialization import deserialize_message
from stewart_node_support.errors import MessageError
from stewart_node_support.stamps import NANOSECONDS

Decoded = TypeVar('Decoded')

ENCAPSULATION = b'\0\1\0\0'
STAMP = struct.Struct('<iI')
LENGTH = struct.Struct('<I')
DTYPES: dict[str, np.dtype[Any]] = {
    'boolean': np.dtype('u1'),
    'octet': np.dtype('u1'),
    'float': np.dtype('<f4'),
    'double': np.dtype('<f8'),
    **{f'int{bits}': np.dtype(f'<i{bits // 8}') for bits in (8, 16, 32, 64)},
    **{f'uint{bits}': np.dtype(f'<u{bits // 8}') for bits in (8, 16, 32, 64)},
}
KNOWN = 8  # layouts that a reader keeps, one for each length of the messages


class Layout:
    """Where the numbers lie in every message with the strings and sequence lengths of one message.

    Attributes:
        data: The message, serialised; padding is zero.
        texts: Its strings by path, such as ``header.frame_id``.
        mask: 255 where a byte is part of the layout, 0 where it belongs to a number or is padding.

    Raises:
        TypeError: If a field is neither a number nor a string, nor an array or a sequence of them.
    """

    def __init__(self, message: Any) -> None:
        self.texts: dict[str, str | tuple[str, ...]] = {}
        self._places: dict[str, tuple[int, np.dtype[Any], int]] = {}
        self._data, self._mask = bytearray(ENCAPSULATION), bytearray(b'\xff\xff\0\0')
        self._message('', message)
        self.data, self.mask = bytes(self._data), bytes(self._mask)
        # One comparison of integers covers every byte that is neither a number nor padding.
        self._fixed_bits = int.from_bytes(self.mask, 'little')
        self._fixed = int.from_bytes(self.data, 'little') & self._fixed_bits

    @property
    def fields(self) -> tuple[str, ...]:
        """Paths of all fields that hold numbers, in their order."""
        return tuple(self._places)

    def matches(self, data: bytes) -> bool:
        """Tell whether serialised bytes have this layout: encapsulation, strings and lengths.

        Where a sequence is empty, rclpy serialises a few bytes more than there are: nobody reads
        what lies behind the last field.
        """
        whole = int.from_bytes(data, 'little') & self._fixed_bits == self._fixed
        return whole and len(data) >= len(self.data)

    def place(self, *paths: str) -> tuple[int, np.dtype[Any], int]:
        """Return offset [byte], type and count of numbers of one type that follow each other.

        Args:
            *paths: Fields or parts of the message in their order, such as ``position`` of a
                JointState, or ``pose`` and ``twist`` of a PlatformSetpoint.

        Raises:
            KeyError: If there is no such field.
            TypeError: If strings, padding or other types lie between the numbers.
        """
        fields = []
        for path in paths:
            inside = [at for name, at in self._places.items() if f'{name}.'.startswith(f'{path}.')]
            if not inside:
                raise KeyError(path)
            fields += inside
        offset, dtype, _ = fields[0]
        end = offset
        for start, kind, count in fields:
            if (start, kind) != (end, dtype):
                raise TypeError(f'{" and ".join(paths)} are not one block of numbers')
            end += count * dtype.itemsize
        return offset, dtype, (end - offset) // dtype.itemsize

    def numbers(self, *paths: str) -> Callable[[bytes], NDArray[Any]]:
        """Return a function that reads the numbers of `place` from bytes into a new array."""
        offset, dtype, count = self.place(*paths)

        def read(data: bytes) -> NDArray[Any]:
            return np.frombuffer(data, dtype, count, offset).copy()

        return read

    def _message(self, path: str, message: Any) -> None:
        for name, kind in message.get_fields_and_field_types().items():
            self._field(f'{path}{name}', kind, getattr(message, name))

    def _field(self, path: str, kind: str, value: Any) -> None:
        element, sequence = kind, kind.startswith('sequence<')
        if sequence:
            element = kind[len('sequence<') : -1].partition(',')[0]
            self._fix(LENGTH.pack(len(value)), LENGTH.size)
        elif kind.endswith(']'):
            element = kind[: kind.rindex('[')]
        if element.partition('<')[0] == 'string':
            texts = (value,) if element == kind else tuple(value)
            for text in texts:
                content = text.encode() + b'\0'
                self._fix(LENGTH.pack(len(content)) + content, LENGTH.size)
            self.texts[path] = value if element == kind else texts
        elif element in DTYPES:
            self._numbers(path, np.atleast_1d(np.array(value, dtype=DTYPES[element])))
        elif element == kind and hasattr(value, 'get_fields_and_field_types'):
            self._message(f'{path}.', value)
        else:
            raise TypeError(f'{path} is of type {kind}, neither numbers nor strings')

    def _numbers(self, path: str, values: NDArray[Any]) -> None:
        # An empty sequence is not aligned: nothing follows its length.
        if values.size:
            self._align(values.itemsize)
        self._places[path] = (len(self._data), values.dtype, values.size)
        self._data += values.tobytes()
        self._mask += bytes(values.nbytes)

    def _fix(self, content: bytes, alignment: int) -> None:
        self._align(alignment)
        self._data += content
        self._mask += b'\xff' * len(content)

    def _align(self, size: int) -> None:
        padding = bytes(-(len(self._data) - len(ENCAPSULATION)) % size)
        self._data += padding
        self._mask += padding


class Writer:
    """A message as bytes whose numbers are written over and over again.

    Strings, lengths of sequences and every number that is not written stay.

    Args:
        message: It begins with a header, whose stamp varies.
        *paths: Fields that `write` takes, in its order; several that follow each other are one
            block, as in ``('pose', 'twist')``.

    Raises:
        TypeError: If the message does not begin with a header.
    """

    def __init__(self, message: Any, *paths: str | tuple[str, ...]) -> None:
        self._layout = Layout(message)
        _require_header(self._layout, message)
        self._data = bytearray(self._layout.data)
        self._views = [self.view(*([path] if isinstance(path, str) else path)) for path in paths]

    def view(self, *paths: str) -> NDArray[Any]:
        """Return numbers of the message, such as ``pose.position``, to be assigned to.

        They are not aligned, and so are not for computing.
        """
        offset, dtype, count = self._layout.place(*paths)
        return np.frombuffer(self._data, dtype, count, offset)

    def stamped(self, stamp: int) -> bytes:
        """Return the bytes as they are now, with a stamp [ns]; ready to be published."""
        STAMP.pack_into(self._data, len(ENCAPSULATION), *divmod(stamp, NANOSECONDS))
        return bytes(self._data)

    def write(self, stamp: int, *values: ArrayLike) -> bytes:
        """Return the bytes of a message with its stamp [ns] and the values of its fields.

        Raises:
            MessageError: If a shape differs.
        """
        for view, numbers in zip(self._views, values, strict=True):
            # Asking the array itself takes a fifth of the time of `numpy.shape`.
            shape = numbers.shape if isinstance(numbers, np.ndarray) else np.shape(numbers)
            if shape != view.shape:
                raise MessageError(f'a field has shape {view.shape}, got {shape}')
            view[:] = numbers
        return self.stamped(stamp)


class Reader(Generic[Decoded]):
    """Decode serialised messages of one type.

    Args:
        message_type: Generated class that begins with a header.
        prepare: Makes of a `Layout` the function that decodes bytes with this layout. It may raise
            MessageError where the strings or lengths are not what the reader expects.
    """

    def __init__(
        self, message_type: Any, prepare: Callable[[Layout], Callable[[bytes], Decoded]]
    ) -> None:
        self._type = message_type
        self._prepare = prepare
        self._known: dict[int, tuple[Layout, Callable[[bytes], Decoded]]] = {}

    def read(self, data: bytes) -> Decoded:
        """Decode one serialised message, encapsulation included.

        Raises:
            MessageError: If the bytes are no message of this type, or it does not carry what is
                expected.
        """
        known = self._known.get(len(data))
        if known is not None and known[0].matches(data):
            return known[1](data)
        return self._learn(data)

    def _learn(self, data: bytes) -> Decoded:
        """Decode by way of rclpy, and keep the layout."""
        try:
            message = deserialize_message(data, self._type)
        except (RuntimeError, ValueError, MemoryError) as error:
            raise MessageError(
                f'{len(data)} bytes are no {self._type.__name__}: {error}'
            ) from error
        layout = Layout(message)
        _require_header(layout, message)
        decode = self._prepare(layout)
        if not layout.matches(data):
            # Big-endian, or strings that end early: the message as this codec writes it.
            return decode(layout.data)
        if len(self._known) == KNOWN:
            self._known.clear()
        self._known[len(data)] = layout, decode
        return decode(data)


def stamp_of(data: bytes) -> int:
    """Return the stamp of a serialised message that begins with a header [ns]."""
    seconds, nanoseconds = STAMP.unpack_from(data, len(ENCAPSULATION))
    return int(seconds * NANOSECONDS + nanoseconds)


def finite(numbers: Sequence[float]) -> bool:
    """Tell whether a few numbers are all finite, in half the time of asking each."""
    # A sum of finite numbers may overflow; only then each is asked.
    return isfinite(sum(numbers)) or all(map(isfinite, numbers))


def _require_header(layout: Layout, message: Any) -> None:
    if layout.fields[:1] != ('header.stamp.sec',):
        raise TypeError(f'{type(message).__name__} does not begin with a header')
