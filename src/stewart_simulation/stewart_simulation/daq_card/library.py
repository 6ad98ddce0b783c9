# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of python3-comedilib for a simulated card, with the same names and answers.

None or −1 where the C library says so, the reason in `comedi_errno`; nothing raises that would
not raise there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import errno
from math import floor, nan
import os
from pathlib import Path
import socket
import time
from typing import Protocol

from stewart_driver.daq.card_type import CallersTime, CardType
from stewart_simulation.daq_card import inline_cards
from stewart_simulation.daq_card.layout import BOARD, DRIVER, Subdevice, SUBDEVICES
from stewart_simulation.daq_card.structures import (
    ComediInsn,
    ComediInsnlist,
    ComediRange,
    InsnArray,
    LsamplArray,
    SUBDEVICE_TYPES,
)
from stewart_simulation.daq_card.wire import (
    Answer,
    BITS,
    GTOD,
    Instruction,
    LONGEST,
    Operation,
    READ,
    Request,
    WRITE,
)
from stewart_simulation.unix_sockets import unix_connection

# How long a driver waits for a conversion: COMEDI_TIMEOUT_MS of the kernel [s].
LONGEST_CALL = 1.0


class Wire(Protocol):
    """The way to the card: a connected socket that keeps datagrams apart, or what acts like it."""

    def send(self, data: bytes, /) -> int:
        """Send a request; raises `OSError`."""

    def recv(self, size: int, /) -> bytes:
        """Return an answer, nothing if the card is gone; raises `OSError`."""

    def close(self) -> None:
        """Hang up."""


def connect_to(path: str) -> Wire:
    """Return the way to a card, in this process or by a socket; raises `OSError` without one."""
    inline = inline_cards.find(path)
    if inline is not None:
        return inline.connect()
    return unix_connection(Path(path), socket.SOCK_SEQPACKET, LONGEST_CALL)


class Device:
    """An open card: what ``comedi_open`` returns."""

    def __init__(self, wire: Wire, sleep: Callable[[float], None]) -> None:
        """Take the wire, and what lets a slow call take its time [s]."""
        self.wire, self.sleep = wire, sleep
        self.owner = int.from_bytes(os.urandom(8), 'little')
        self.number = 0


class SimulatedComedi:
    """What ``from comedi import comedi`` gives, for a simulated card.

    Args:
        connect: Makes the wire to a card of this file name; raises `OSError`.
        sleep: Lets a slow call take its time [s].
    """

    INSN_READ, INSN_WRITE, INSN_BITS, INSN_GTOD = READ, WRITE, BITS, GTOD
    AREF_GROUND, AREF_COMMON, AREF_DIFF, AREF_OTHER = range(4)
    UNIT_volt = 0
    COMEDI_OOR_NUMBER, COMEDI_OOR_NAN = range(2)
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
        """Open nothing yet."""
        self._connect, self._sleep = connect, sleep
        self._errno = 0
        self._out_of_range = self.COMEDI_OOR_NAN
        for name, value in SUBDEVICE_TYPES.items():
            setattr(self, name, value)

    def comedi_open(self, fn: str) -> Device | None:
        """Open a card."""
        try:
            inline = inline_cards.find(fn)
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

    def comedi_set_global_oor_behavior(self, behavior: int) -> int:
        """Choose what `comedi_to_phys` makes of the end codes; return what it made before."""
        before, self._out_of_range = self._out_of_range, behavior
        return before

    @staticmethod
    def comedi_get_driver_name(it: Device) -> str:
        """Return the name of the kernel driver."""
        del it
        return DRIVER

    @staticmethod
    def comedi_get_board_name(it: Device) -> str:
        """Return the name of the board."""
        del it
        return BOARD

    @staticmethod
    def comedi_get_n_subdevices(it: Device) -> int:
        """Return how many subdevices there are."""
        del it
        return len(SUBDEVICES)

    def comedi_get_subdevice_type(self, it: Device, subdevice: int) -> int:
        """Return the type of a subdevice."""
        del it
        found = self._subdevice(subdevice)
        return -1 if found is None else int(found.kind)

    @staticmethod
    def comedi_find_subdevice_by_type(it: Device, kind: int, subd: int) -> int:
        """Return the first subdevice of a type, from `subd` on."""
        del it
        for number in range(subd, len(SUBDEVICES)):
            if SUBDEVICES[number].kind == kind:
                return number
        return -1

    def comedi_get_n_channels(self, it: Device, subdevice: int) -> int:
        """Return how many channels a subdevice has."""
        del it
        found = self._subdevice(subdevice)
        return -1 if found is None else found.channels

    def comedi_get_maxdata(self, it: Device, subdevice: int, chan: int) -> int:
        """Return the largest code of a channel, or 0."""
        del it
        found = self._subdevice(subdevice, chan)
        return 0 if found is None else found.maxdata

    def comedi_get_n_ranges(self, it: Device, subdevice: int, chan: int) -> int:
        """Return how many ranges a channel has."""
        del it
        found = self._subdevice(subdevice, chan)
        return -1 if found is None else len(found.ranges)

    def comedi_get_range(
        self, it: Device, subdevice: int, chan: int, rng: int
    ) -> ComediRange | None:
        """Return a range, or None."""
        del it
        found = self._subdevice(subdevice, chan)
        if found is None or not 0 <= rng < len(found.ranges):
            self._errno = errno.EINVAL
            return None
        result = ComediRange()
        result.min, result.max = found.ranges[rng]
        return result

    def comedi_to_phys(self, data: int, rng: ComediRange, maxdata: int) -> float:
        """Return the voltage of a code; an end code is NaN unless chosen otherwise."""
        if self._out_of_range == self.COMEDI_OOR_NAN and data in {0, maxdata}:
            return nan
        return data / maxdata * (rng.max - rng.min) + rng.min

    @staticmethod
    def comedi_from_phys(data: float, rng: ComediRange, maxdata: int) -> int:
        """Return the code of a voltage, clipped without a word."""
        code = floor((data - rng.min) / (rng.max - rng.min) * maxdata + 0.5)
        return min(max(code, 0), maxdata)

    @staticmethod
    def cr_pack(chan: int, rng: int, aref: int) -> int:
        """Pack channel, range and reference."""
        return (aref & 3) << 24 | (rng & 0xFF) << 16 | chan & 0xFFFF

    def comedi_lock(self, it: Device, subdevice: int) -> int:
        """Keep others from a subdevice."""
        return self._call(it, Operation.LOCK, subdevice=subdevice) and -1

    def comedi_unlock(self, it: Device, subdevice: int) -> int:
        """Let others use it again."""
        return self._call(it, Operation.UNLOCK, subdevice=subdevice) and -1

    def comedi_do_insnlist(self, it: Device, il: ComediInsnlist) -> int:
        """Carry out a list; return the number of instructions done, or -1."""
        assert il.insns is not None
        return self._call(it, Operation.RUN, [il.insns[k] for k in range(il.n_insns)])

    def comedi_do_insn(self, it: Device, insn: ComediInsn) -> int:
        """Carry out one instruction; return the number of samples, or -1."""
        return -1 if self._call(it, Operation.RUN, [insn]) < 0 else insn.n

    def _call(
        self,
        it: Device,
        operation: Operation,
        insns: Sequence[ComediInsn] = (),
        subdevice: int = 0,
    ) -> int:
        it.number = (it.number + 1) & 0xFFFFFFFF
        data = [self._data(item) for item in insns]
        request = Request(
            operation,
            it.owner,
            it.number,
            subdevice,
            tuple(
                Instruction(item.insn, item.subdev, item.chanspec, values)
                for item, values in zip(insns, data, strict=True)
            ),
        )
        lengths = [len(values) for values in data]
        try:
            answer = self._answer(it, request, lengths)
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
            for place, value in enumerate(values):
                assert item.data is not None
                item.data[place] = value
        return answer.result

    @staticmethod
    def _answer(it: Device, request: Request, lengths: list[int]) -> Answer:
        """Return the answer to this request; older ones came too late."""
        it.wire.send(request.encode())
        while datagram := it.wire.recv(LONGEST):
            # Those have as much data as was asked for then.
            if Answer.decode(datagram).number == request.number:
                return Answer.decode(datagram, lengths)
        raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))

    @staticmethod
    def _data(item: ComediInsn) -> tuple[int, ...]:
        if item.data is None:
            return ()
        return tuple(item.data[place] for place in range(item.n))

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
    inline = inline_cards.OFFERS.find(device)
    return None if inline is None else inline.time


CARD = CardType('simulated card', simulated=True, load=SimulatedComedi, time_of=time_of)
