# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Objects of a drive one by one, and the types that their values have."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
import struct
from typing import Any, Protocol, TypeVar

from stewart_driver.errors import ConfigurationError
from stewart_driver.ethercat.cia402.objects import SUPPORTED_MODES
from stewart_driver.ethercat.cia402.states import Mode
from stewart_driver.ethercat.errors import SdoRefused

# Length [octet], and whether it is signed.
INTEGERS = {
    f'{sign}{8 * size}': (size, sign == 'i') for size in (1, 2, 4, 8) for sign in ('u', 'i')
}
TEXT, OCTETS = 'text', 'octets'
TYPES = (*INTEGERS, TEXT, OCTETS)

T = TypeVar('T')


class SdoChannel(Protocol):
    """One drive, object by object; both methods raise `SdoRefused`."""

    leg: int

    def read(self, index: int, subindex: int) -> bytes:
        """Return the value of an object."""

    def write(self, index: int, subindex: int, data: bytes) -> None:
        """Set the value of an object."""


def number(drive: SdoChannel, index: int, subindex: int, code: str) -> int:
    """Return an integer by its code in struct; raises `SdoRefused` if the answer is too short."""
    data = drive.read(index, subindex)
    try:
        return int(struct.unpack_from(code, data)[0])
    except struct.error:
        raise SdoRefused(
            drive.leg, index, subindex, f'its answer has {len(data)} octets'
        ) from None


def optional_number(drive: SdoChannel, index: int, subindex: int, code: str) -> int | None:
    """Return an integer as `number` does; None where the drive does not tell it."""
    try:
        return number(drive, index, subindex, code)
    except SdoRefused:
        return None


def at_once(_leg: int, call: Callable[[], T]) -> Generator[None, None, T]:
    """Ask a drive amid the cycle, where its mailbox answers at once; see `Wire.beside`."""
    return call()
    yield


def one_by_one(ask: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
    """Ask drives whose mailboxes answer at once; see `Wire.each`."""
    return [ask(*row) for row in zip(*arguments, strict=True)]


def has_mode(drive: SdoChannel, mode: Mode) -> bool:
    """Tell whether a drive has a mode of operation (6502h); assumed where it lacks 6502h."""
    modes = optional_number(drive, SUPPORTED_MODES, 0, '<I')
    return not modes or bool(modes >> (mode - 1) & 1)


def pack(kind: str, value: int | str) -> bytes:
    """Return the octets of a value, as an SDO takes them; raises `ConfigurationError`.

    Args:
        value: An integer, a text, or octets in hexadecimal digits.

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
    size, signed = _integer(kind)
    span = 1 << 8 * size
    least, most = (-span // 2, span // 2 - 1) if signed else (0, span - 1)
    try:
        integer = value if isinstance(value, int) else int(value, 0)
    except ValueError:
        integer = most + 1
    if not least <= integer <= most:
        raise ConfigurationError('value', value, f'an integer from {least} to {most}')
    return integer.to_bytes(size, 'little', signed=signed)


def unpack(kind: str, data: bytes) -> int | str:
    """Return the value of octets that an SDO gave: the inverse of `pack`, with its error."""
    if kind == TEXT:
        return data.rstrip(b'\0').decode(errors='replace')
    if kind == OCTETS:
        return data.hex(' ')
    size, signed = _integer(kind)
    if len(data) < size or any(data[size:]):
        raise ConfigurationError(
            'type', kind, f'an integer of {8 * len(data)} bits, as the object has it'
        )
    return int.from_bytes(data[:size], 'little', signed=signed)


def _integer(kind: str) -> tuple[int, bool]:
    if kind not in INTEGERS:
        raise ConfigurationError('type', kind, f'one of {", ".join(TYPES)}')
    return INTEGERS[kind]
