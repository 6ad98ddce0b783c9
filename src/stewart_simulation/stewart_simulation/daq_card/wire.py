# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What crosses the socket between a program and the simulated card: one datagram each way.

It stands where a real card has the ioctls of /dev/comedi0, so instructions and their error
numbers are those of the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
import struct

LONGEST = 65536
# Instructions, as in comedi.h.
READ, WRITE, BITS, GTOD = 0x04000000, 0x08000001, 0x0C000002, 0x06000004

_HEAD = struct.Struct('<BQII')
_INSTRUCTION = struct.Struct('<IIII')
_ANSWER = struct.Struct('<Iid')


class Operation(IntEnum):
    """What a program can ask the card for."""

    RUN = 1
    LOCK = 2
    UNLOCK = 3


@dataclass(frozen=True)
class Instruction:
    """One instruction of a list.

    Attributes:
        code, subdevice, channel_spec: What to do, and where; the channel specification is channel,
            range and reference packed.
        data: What to write, or room for what is read.
    """

    code: int
    subdevice: int
    channel_spec: int
    data: tuple[int, ...]


@dataclass(frozen=True)
class Request:
    """One call.

    Attributes:
        operation: What is asked for.
        owner: Who asks; stands for the open file.
        number: Comes back in the answer, so that a late one is not taken for the next.
        subdevice: For LOCK and UNLOCK.
        instructions: For RUN.
    """

    operation: Operation
    owner: int
    number: int = 0
    subdevice: int = 0
    instructions: tuple[Instruction, ...] = ()

    def encode(self) -> bytes:
        """Return the datagram."""
        runs = self.operation is Operation.RUN
        last = len(self.instructions) if runs else self.subdevice
        parts = [_HEAD.pack(self.operation, self.owner, self.number, last)]
        for item in self.instructions:
            count = len(item.data)
            parts.append(_INSTRUCTION.pack(item.code, item.subdevice, item.channel_spec, count))
            parts.append(struct.pack(f'<{count}I', *item.data))
        return b''.join(parts)

    @classmethod
    def decode(cls, datagram: bytes) -> Request:
        """Return the call of a datagram; raises `ValueError` or `struct.error` if it is none."""
        code, owner, number, last = _HEAD.unpack_from(datagram)
        operation = Operation(code)
        if operation is not Operation.RUN:
            return cls(operation, owner, number, last)
        instructions, place = [], _HEAD.size
        for _ in range(last):
            task, subdevice, spec, count = _INSTRUCTION.unpack_from(datagram, place)
            place += _INSTRUCTION.size
            data = struct.unpack_from(f'<{count}I', datagram, place)
            place += 4 * count
            instructions.append(Instruction(task, subdevice, spec, data))
        return cls(operation, owner, number, 0, tuple(instructions))


@dataclass(frozen=True)
class Answer:
    """What the card says.

    Attributes:
        number: Of the request.
        result: Number of instructions carried out, or a negative error number of the kernel.
        delay: How long the call takes on the side of the program [s].
        data: One entry per instruction.
    """

    number: int
    result: int
    delay: float = 0.0
    data: tuple[tuple[int, ...], ...] = ()

    def encode(self) -> bytes:
        """Return the datagram."""
        flat = [value for values in self.data for value in values]
        head = _ANSWER.pack(self.number, self.result, self.delay)
        return head + struct.pack(f'<{len(flat)}I', *flat)

    @classmethod
    def decode(cls, datagram: bytes, lengths: Sequence[int] = ()) -> Answer:
        """Return the answer of a datagram; `lengths` are those of the instructions' data."""
        number, result, delay = _ANSWER.unpack_from(datagram)
        if result < 0:
            return cls(number, result, delay)
        data, place = [], _ANSWER.size
        for count in lengths:
            data.append(struct.unpack_from(f'<{count}I', datagram, place))
            place += 4 * count
        return cls(number, result, delay, tuple(data))
