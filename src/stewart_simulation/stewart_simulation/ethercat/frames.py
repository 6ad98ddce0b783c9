# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""EtherCAT frames: Ethernet header, frame header, datagrams (IEC 61158-4-12, ETG.1000.4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
import struct
from typing import NamedTuple

from stewart_simulation.errors import FrameError

ETHERTYPE = 0x88A4
BROADCAST, SOURCE = b'\xff' * 6, b'\x01' * 6
ETHERNET_HEADER = 14
SOURCE_ADDRESS = 6
FIRST_DATAGRAM = ETHERNET_HEADER + 2
DATAGRAM_HEADER = struct.Struct('<BBHHHH')
WORKING_COUNTER = struct.Struct('<H')
OVERHEAD = DATAGRAM_HEADER.size + WORKING_COUNTER.size
PROTOCOL_DATAGRAMS = 1
LENGTH_BITS, MORE_FOLLOW = 0x07FF, 0x8000


class Command(IntEnum):
    """Commands of a datagram."""

    NOP = 0
    APRD, APWR, APRW = 1, 2, 3
    FPRD, FPWR, FPRW = 4, 5, 6
    BRD, BWR, BRW = 7, 8, 9
    LRD, LWR, LRW = 10, 11, 12
    ARMW, FRMW = 13, 14


FIXED = frozenset({Command.FPRD, Command.FPWR, Command.FPRW, Command.FRMW})
LOGICAL = frozenset({Command.LRD, Command.LWR, Command.LRW})
READ_MULTIPLE_WRITE = frozenset({Command.ARMW, Command.FRMW})
READS = frozenset(
    {Command.APRD, Command.APRW, Command.FPRD, Command.FPRW, Command.BRD, Command.BRW}
    | {Command.LRD, Command.LRW}
)
WRITES = frozenset(
    {Command.APWR, Command.APRW, Command.FPWR, Command.FPRW, Command.BWR, Command.BRW}
    | {Command.LWR, Command.LRW}
)


@dataclass(frozen=True)
class Datagram:
    """One datagram.

    Attributes:
        address, offset: ADP and ADO; of a logical command the lower and the upper half.
        index: Number by which the master finds its answer.
    """

    command: int
    address: int
    offset: int
    data: bytes
    index: int = 0
    working_counter: int = 0


class Span(NamedTuple):
    """Where a datagram lies in a frame."""

    command: int
    address: int
    offset: int
    start: int
    length: int


def logical(command: Command, address: int, data: bytes, index: int = 0) -> Datagram:
    """Make a datagram with a 32-bit logical address."""
    return Datagram(command, address & 0xFFFF, address >> 16, data, index)


def encode(datagrams: Iterable[Datagram], index: int | None = None) -> bytearray:
    """Return the Ethernet frame of datagrams, at least one, without padding and check sequence.

    Args:
        index: Of all datagrams in place of their own.
    """
    body = bytearray()
    items = list(datagrams)
    for number, item in enumerate(items, start=1):
        length = len(item.data) | (MORE_FOLLOW if number < len(items) else 0)
        body += DATAGRAM_HEADER.pack(
            item.command,
            item.index if index is None else index,
            item.address,
            item.offset,
            length,
            0,
        )
        body += item.data + WORKING_COUNTER.pack(item.working_counter)
    header = len(body) | PROTOCOL_DATAGRAMS << 12
    return bytearray(
        BROADCAST + SOURCE + ETHERTYPE.to_bytes(2, 'big') + header.to_bytes(2, 'little') + body
    )


def spans(frame: bytes | bytearray) -> list[Span]:
    """Find the datagrams of a whole Ethernet frame; raises `FrameError` if it is none."""
    if len(frame) < FIRST_DATAGRAM or frame[12] << 8 | frame[13] != ETHERTYPE:
        raise FrameError(frame, f'no EtherType 0x{ETHERTYPE:04X}')
    header = frame[14] | frame[15] << 8
    if header >> 12 != PROTOCOL_DATAGRAMS:
        raise FrameError(frame, f'protocol {header >> 12} instead of {PROTOCOL_DATAGRAMS}')
    end = FIRST_DATAGRAM + (header & LENGTH_BITS)
    if end > len(frame):
        raise FrameError(frame, f'{end} octets announced, {len(frame)} there')
    found = []
    at, more = FIRST_DATAGRAM, True
    while more:
        if at + OVERHEAD > end:
            raise FrameError(frame, f'the datagram at octet {at} is cut off')
        command, _, address, offset, length, _ = DATAGRAM_HEADER.unpack_from(frame, at)
        more = bool(length & MORE_FOLLOW)
        length &= LENGTH_BITS
        start = at + DATAGRAM_HEADER.size
        at = start + length + WORKING_COUNTER.size
        if at > end:
            raise FrameError(frame, f'the datagram before octet {at} is cut off')
        found.append(Span(command, address, offset, start, length))
    return found


def decode(frame: bytes | bytearray) -> tuple[Datagram, ...]:
    """Take the datagrams out of a frame; raises `FrameError` like `spans`."""
    return tuple(
        Datagram(
            span.command,
            span.address,
            span.offset,
            bytes(frame[span.start : span.start + span.length]),
            frame[span.start - DATAGRAM_HEADER.size + 1],
            WORKING_COUNTER.unpack_from(frame, span.start + span.length)[0],
        )
        for span in spans(frame)
    )
