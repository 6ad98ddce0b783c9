# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of python3-comedilib that the driver calls, with the same names and answers.

None or −1 where the C library says so, the reason in `comedi_errno`; nothing raises that would
not raise there. Structures are as python3-comedilib 0.11.0 shows those of the C library: an array
of instructions copies what is put into it; instructions point to their data and do not keep it
alive, so the program has to. Where the C library would write beyond the end, these raise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
import errno
import os
from pathlib import Path
import socket
import time
from typing import TypeAlias

from stewart_driver.daq.card_type import CallersTime, CardType
from stewart_simulation.daq_card import wire
from stewart_simulation.daq_card.card import BOARD, DRIVER, Kind, Subdevice, SUBDEVICES
from stewart_simulation.daq_card.wire import (
    Answer,
    InlineWire,
    Instruction,
    Operation,
    Request,
    SocketWire,
)
from stewart_simulation.loop import unix_connection

# How long a driver waits for a conversion: COMEDI_TIMEOUT_MS of the kernel [s].
LONGEST_CALL = 1.0
# How long the process of the rig may get no turn: a card in a slot is no process [s].
PATIENCE = 10.0
LARGEST_SAMPLE = 0xFFFFFFFF
# The way to the card.
Wire: TypeAlias = InlineWire | SocketWire


class LsamplArray:
    """Samples, as ``lsampl_array``."""

    def __init__(self, nelements: int) -> None:
        self._values = [0] * nelements

    def __getitem__(self, index: int) -> int:
        return self._values[index]

    def __setitem__(self, index: int, value: int) -> None:
        if not isinstance(value, int):
            raise TypeError(f'a sample is an int, not {type(value).__name__}')
        if not 0 <= value <= LARGEST_SAMPLE:
            raise OverflowError(f'a sample is 0 to {LARGEST_SAMPLE}, not {value}')
        self._values[index] = value

    def cast(self) -> LsamplArray:
        """Return the pointer to the first sample."""
        return self


@dataclass
class ComediInsn:
    """One instruction, as ``comedi_insn_struct``."""

    insn: int = 0
    n: int = 0
    subdev: int = 0
    chanspec: int = 0
    data: LsamplArray | None = None


class InsnArray:
    """Instructions, as ``insn_array``."""

    def __init__(self, nelements: int) -> None:
        self._items = [ComediInsn() for _ in range(nelements)]

    def __getitem__(self, index: int) -> ComediInsn:
        return self._items[index]

    def __setitem__(self, index: int, item: ComediInsn) -> None:
        self._items[index] = copy(item)

    def cast(self) -> InsnArray:
        """Return the pointer to the first instruction."""
        return self


@dataclass
class ComediInsnlist:
    """A list of instructions, as ``comedi_insnlist_struct``."""

    n_insns: int = 0
    insns: InsnArray | None = None


@dataclass
class ComediRange:
    """A range, as ``comedi_range``."""

    min: float = 0.0
    max: float = 0.0
    unit: int = 0


def connect_to(path: str) -> Wire:
    """Return the way to a card, in this process or by a socket; raises `OSError` without one."""
    inline = wire.find(path)
    if inline is not None:
        return inline.connect()
    return SocketWire(unix_connection(Path(path), socket.SOCK_SEQPACKET, PATIENCE))


@dataclass
class Device:
    """An open card: what ``comedi_open`` returns."""

    wire: Wire
    sleep: Callable[[float], None]
    number: int = 0


class SimulatedComedi:
    """What ``from comedi import comedi`` gives, for a simulated card.

    Args:
        connect: Makes the wire to a card of this file name; raises `OSError`.
        sleep: Lets a slow call take its time [s].
    """

    INSN_READ, INSN_WRITE, INSN_BITS, INSN_GTOD = wire.READ, wire.WRITE, wire.BITS, wire.GTOD
    AREF_GROUND, AREF_COMMON, AREF_DIFF, AREF_OTHER = range(4)
    UNIT_volt = 0
    insn_array = InsnArray
    lsampl_array = LsamplArray
    comedi_insn_struct = ComediInsn
    comedi_insnlist_struct = ComediInsnlist
    comedi_range = ComediRange

    def __init__(
        self,
        connect: Callable[[str], Wire] = connect_to,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._connect, self._sleep = connect, sleep
        self._errno = 0
        for kind in Kind:
            setattr(self, f'COMEDI_SUBD_{kind.name}', int(kind))

    def comedi_open(self, fn: str) -> Device | None:
        """Open a card."""
        try:
            inline = wire.find(fn)
            return Device(self._connect(fn), self._sleep if inline is None else inline.let_pass)
        except OSError as error:
            self._errno = error.errno or errno.EIO
            return None

    @staticmethod
    def comedi_close(it: Device) -> int:
        """Close it; what it had locked is free again."""
        it.wire.close()
        return 0

    def comedi_errno(self) -> int:
        """Return why the last call failed."""
        return self._errno

    @staticmethod
    def comedi_strerror(errnum: int) -> str:
        """Return the text of an error number."""
        return os.strerror(errnum)

    @staticmethod
    def comedi_get_driver_name(it: Device) -> str:
        """Return the name of the kernel driver."""
        return DRIVER

    @staticmethod
    def comedi_get_board_name(it: Device) -> str:
        """Return the name of the board."""
        return BOARD

    @staticmethod
    def comedi_find_subdevice_by_type(it: Device, kind: int, subd: int) -> int:
        """Return the first subdevice of a type, from `subd` on."""
        numbers = range(subd, len(SUBDEVICES))
        return next((number for number in numbers if SUBDEVICES[number].kind == kind), -1)

    def comedi_get_n_channels(self, it: Device, subdevice: int) -> int:
        """Return how many channels a subdevice has."""
        found = self._subdevice(subdevice)
        return -1 if found is None else found.channels

    def comedi_get_maxdata(self, it: Device, subdevice: int, chan: int) -> int:
        """Return the largest code of a channel, or 0."""
        found = self._subdevice(subdevice, chan)
        return 0 if found is None else found.maxdata

    def comedi_get_n_ranges(self, it: Device, subdevice: int, chan: int) -> int:
        """Return how many ranges a channel has."""
        found = self._subdevice(subdevice, chan)
        return -1 if found is None else len(found.ranges)

    def comedi_get_range(
        self, it: Device, subdevice: int, chan: int, rng: int
    ) -> ComediRange | None:
        """Return a range, or None."""
        found = self._subdevice(subdevice, chan)
        if found is None or not 0 <= rng < len(found.ranges):
            self._errno = errno.EINVAL
            return None
        return ComediRange(*found.ranges[rng])

    @staticmethod
    def cr_pack(chan: int, rng: int, aref: int) -> int:
        """Pack channel, range and reference."""
        return (aref & 3) << 24 | (rng & 0xFF) << 16 | chan & 0xFFFF

    def comedi_lock(self, it: Device, subdevice: int) -> int:
        """Keep others from a subdevice."""
        return self._call(it, Operation.LOCK, subdevice) and -1

    def comedi_unlock(self, it: Device, subdevice: int) -> int:
        """Let others use it again."""
        return self._call(it, Operation.UNLOCK, subdevice) and -1

    def comedi_do_insnlist(self, it: Device, il: ComediInsnlist) -> int:
        """Carry out a list; return the number of instructions done, or -1."""
        assert il.insns is not None
        return self._call(it, Operation.RUN, 0, [il.insns[k] for k in range(il.n_insns)])

    def _call(
        self, it: Device, operation: Operation, subdevice: int, insns: Sequence[ComediInsn] = ()
    ) -> int:
        it.number += 1
        steps = [
            Instruction(x.insn, x.subdev, x.chanspec, [x.data[k] for k in range(x.n)])
            if x.data
            else Instruction(x.insn, x.subdev, x.chanspec, ())
            for x in insns
        ]
        try:
            answer = self._answer(it, Request(operation, it.number, subdevice, steps))
        except TimeoutError:
            return self._fail(errno.ETIMEDOUT)
        except OSError:
            return self._fail(errno.ENODEV)
        if answer.delay:
            it.sleep(min(answer.delay, LONGEST_CALL))
            if answer.delay >= LONGEST_CALL:
                return self._fail(errno.ETIMEDOUT)
        if answer.result < 0:
            return self._fail(-answer.result)
        for item, values in zip(insns, answer.data, strict=False):
            assert item.data is not None
            for place, value in enumerate(values):
                item.data[place] = value
        return answer.result

    @staticmethod
    def _answer(it: Device, request: Request) -> Answer:
        """Return the answer to this request; older ones came too late."""
        it.wire.ask(request)
        while (answer := it.wire.hear()).number != request.number:
            pass
        return answer

    def _fail(self, number: int) -> int:
        self._errno = number
        return -1

    def _subdevice(self, number: int, channel: int = 0) -> Subdevice | None:
        if 0 <= number < len(SUBDEVICES) and 0 <= channel < SUBDEVICES[number].channels:
            return SUBDEVICES[number]
        self._errno = errno.EINVAL
        return None


def time_of(device: str) -> CallersTime | None:
    """Return the time of a card in this process; None for one that lives in real time."""
    inline = wire.OFFERS.find(device)
    return None if inline is None else inline.time


CARD = CardType('simulated card', simulated=True, load=SimulatedComedi, time_of=time_of)
