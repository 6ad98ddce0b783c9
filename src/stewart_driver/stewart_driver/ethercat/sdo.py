# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Objects of a drive one by one, and the types that their values have."""

from __future__ import annotations

from typing import Protocol

from stewart_driver.errors import ConfigurationError

# Length [octet], and whether it is signed.
INTEGERS = {
    f'{sign}{8 * size}': (size, sign == 'i') for size in (1, 2, 4, 8) for sign in ('u', 'i')
}
TEXT, OCTETS = 'text', 'octets'
TYPES = (*INTEGERS, TEXT, OCTETS)


class SdoChannel(Protocol):
    """One drive, object by object; both methods raise `SdoRefused`."""

    leg: int

    def read(self, index: int, subindex: int) -> bytes:
        """Return the value of an object."""

    def write(self, index: int, subindex: int, data: bytes) -> None:
        """Set the value of an object."""


def pack(kind: str, value: int | str) -> bytes:
    """Return the octets of a value.

    Args:
        kind: One of `TYPES`.
        value: An integer, a text, or octets in hexadecimal digits.

    Returns:
        As an SDO takes them.

    Raises:
        ConfigurationError: If the type is unknown or the value does not fit into it.

    Examples:
        >>> pack('i16', -2).hex()
        'feff'
    """
    if kind == TEXT:
        return str(value).encode()
    if kind == OCTETS:
        try:
            return bytes.fromhex(str(value))
        except ValueError:
            raise ConfigurationError('value', value, 'octets in hexadecimal digits') from None
    size, signed = size_of(kind)
    span = 1 << 8 * size
    least, most = (-span // 2, span // 2 - 1) if signed else (0, span - 1)
    number = value if isinstance(value, int) else _number(value)
    if number is None or not least <= number <= most:
        raise ConfigurationError('value', value, f'an integer from {least} to {most}')
    return number.to_bytes(size, 'little', signed=signed)


def unpack(kind: str, data: bytes) -> int | str:
    """Return the value of octets.

    Args:
        kind: One of `TYPES`.
        data: As an SDO gave them.

    Returns:
        An integer, a text, or octets in hexadecimal digits.

    Raises:
        ConfigurationError: If the type is unknown or has another length.
    """
    if kind == TEXT:
        return data.rstrip(b'\0').decode(errors='replace')
    if kind == OCTETS:
        return data.hex(' ')
    size, signed = size_of(kind)
    if len(data) < size or any(data[size:]):
        raise ConfigurationError(
            'type', kind, f'an integer of {8 * len(data)} bits, as the object has it'
        )
    return int.from_bytes(data[:size], 'little', signed=signed)


def size_of(kind: str) -> tuple[int, bool]:
    """Return length [octet] and sign of an integer; raises `ConfigurationError`."""
    if kind not in INTEGERS:
        raise ConfigurationError('type', kind, f'one of {", ".join(TYPES)}')
    return INTEGERS[kind]


def _number(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None
