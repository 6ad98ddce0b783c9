# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A master at the tests' hand: it speaks to a software segment frame by frame, without sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
import os
from pathlib import Path
import struct
import sys
import threading
import time
import tty
from typing import Any

import pytest
from stewart_driver.ethercat.drive_type import drive_path
from stewart_simulation.ethercat.frames import Command, Datagram, decode, encode, logical
from stewart_simulation.ethercat.omron_1s import DriveType
from stewart_simulation.ethercat.segment import Segment

# Tests are imported by path, and their helpers have to be found.
sys.path.insert(0, str(Path(__file__).parent))

OUTPUTS, INPUTS = struct.Struct('<HiHI'), struct.Struct('<HHihiHiiI')


@dataclass
class Bench:
    """Segment, clock, and the few things that a master does.

    Registers and services are written as numbers here on purpose: the simulation's own names
    must not be what it is checked with.
    """

    segment: Segment
    now: list[int]
    mailbox: int
    sizes: tuple[int, int] = (12, 28)
    counts: dict[int, int] = field(default_factory=dict)

    def wait(self, seconds: float) -> None:
        """Let time pass in steps of the idle responder."""
        for _ in range(max(round(seconds / 5e-3), 1)):
            self.now[0] += 5_000_000
            self.segment.tick()

    def raw(self, frame: str) -> str:
        """Send a frame in hex; return what comes back, in hex."""
        return bytes(self.segment.process(bytearray.fromhex(frame))).hex()

    def send(self, *datagrams: Datagram) -> tuple[Datagram, ...]:
        self.now[0] += 20_000
        return decode(self.segment.process(encode(datagrams)))

    def read(self, slave: int, register: int, length: int) -> int:
        (answer,) = self.send(Datagram(Command.FPRD, 0x1000 + slave, register, bytes(length)))
        assert answer.working_counter == 1
        return int.from_bytes(answer.data, 'little')

    def write(self, slave: int, register: int, data: bytes) -> int:
        (answer,) = self.send(Datagram(Command.FPWR, 0x1000 + slave, register, data))
        return answer.working_counter

    def address(self) -> None:
        """Number the slaves 1001h, 1002h, …"""
        for number in range(len(self.segment.slaves)):
            data = struct.pack('<H', 0x1001 + number)
            self.send(Datagram(Command.APWR, -number & 0xFFFF, 0x0010, data))

    def al(self, slave: int) -> tuple[int, int]:
        """Return AL status and AL status code."""
        return self.read(slave, 0x0130, 2), self.read(slave, 0x0134, 2)

    def request(self, slave: int, word: int) -> tuple[int, int]:
        """Write AL control; return what AL status and its code say then."""
        self.write(slave, 0x0120, struct.pack('<H', word))
        return self.al(slave)

    def program_mailbox(self, slave: int) -> None:
        box = struct.pack('<HHI', 0x1000, self.mailbox, 0x00010026)
        box += struct.pack('<HHI', 0x1400, self.mailbox, 0x00010022)
        assert self.write(slave, 0x0800, box) == 1

    def program_process_data(self, slave: int) -> None:
        outputs, inputs = self.sizes
        count = len(self.segment.slaves)
        managers = struct.pack('<HHI', 0x1800, outputs, 0x00010064)
        managers += struct.pack('<HHI', 0x1C00, inputs, 0x00010020)
        self.write(slave, 0x0810, managers)
        first, second = (slave - 1) * outputs, count * outputs + (slave - 1) * inputs
        fmmus = struct.pack('<IHBBHBBI', first, outputs, 0, 7, 0x1800, 0, 2, 1)
        fmmus += struct.pack('<IHBBHBBI', second, inputs, 0, 7, 0x1C00, 0, 1, 1)
        self.write(slave, 0x0600, fmmus)

    def start_sync0(self, slave: int, cycle: int = 1_000_000, ahead: int = 10_000_000) -> None:
        begin = self.read(slave, 0x0910, 8) + ahead
        self.write(slave, 0x0990, struct.pack('<Q', begin))
        self.write(slave, 0x09A0, struct.pack('<I', cycle))
        self.write(slave, 0x0981, b'\x03')

    def preop(self) -> Bench:
        self.address()
        for slave in self.numbers:
            self.program_mailbox(slave)
            assert self.request(slave, 0x02) == (0x02, 0)
        return self

    def safeop(self) -> Bench:
        self.preop()
        for slave in self.numbers:
            assert self.sdo_write(slave, 0x6060, 0, b'\x08') == b''
            self.program_process_data(slave)
            self.start_sync0(slave)
            assert self.request(slave, 0x04) == (0x04, 0)
        return self

    def op(self) -> Bench:
        self.safeop()
        self.send(Datagram(Command.BWR, 0, 0x0120, b'\x08\x00'))
        for _ in range(30):
            self.cycle([(0, 0)] * len(self.segment.slaves))
        assert [self.al(slave) for slave in self.numbers] == [(0x08, 0)] * len(self.numbers)
        return self

    @property
    def numbers(self) -> range:
        return range(1, len(self.segment.slaves) + 1)

    def exchange(self, outputs: bytes) -> tuple[int, bytes]:
        """Send process data; return working counter and inputs, a millisecond later."""
        self.now[0] += 980_000
        count, (_, inputs) = len(self.segment.slaves), self.sizes
        data = outputs + bytes(inputs * count)
        (answer,) = self.send(logical(Command.LRW, 0, data))
        return answer.working_counter, answer.data[len(outputs) :]

    def cycle(self, commands: Sequence[tuple[int, int]]) -> list[tuple[Any, ...]]:
        """Exchange 1701h and 1B01h: (controlword, target) in, the nine inputs out."""
        outputs = b''.join(OUTPUTS.pack(word, target, 0, 0) for word, target in commands)
        counter, inputs = self.exchange(outputs)
        assert counter == 3 * len(commands)
        return list(INPUTS.iter_unpack(inputs))

    def run(
        self, count: int, commands: Callable[[int], Sequence[tuple[int, int]]]
    ) -> list[tuple[Any, ...]]:
        """Exchange several times; return the last inputs."""
        answers: list[tuple[Any, ...]] = []
        for number in range(count):
            answers = self.cycle(commands(number))
        return answers

    def post(self, slave: int, body: bytes, kind: int = 3) -> None:
        """Write a message into the mailbox; it must be taken."""
        count = self.counts[slave] = self.counts.get(slave, 0) % 7 + 1
        head = struct.pack('<HHBB', len(body), 0, 0, kind | count << 4)
        assert self.write(slave, 0x1000, (head + body).ljust(self.mailbox, b'\0')) == 1

    def fetch(self, slave: int) -> tuple[int, bytes] | None:
        """Read a message out of the mailbox, (type, body), or None while it is empty."""
        if not self.read(slave, 0x080D, 1) & 0x08:
            return None
        data = bytes(self.mailbox)
        (answer,) = self.send(Datagram(Command.FPRD, 0x1000 + slave, 0x1400, data))
        assert answer.working_counter == 1
        length, _, _, kind = struct.unpack_from('<HHBB', answer.data)
        return kind & 0x0F, answer.data[6 : 6 + length]

    def sdo(self, slave: int, request: bytes) -> bytes:
        """Send what follows the CoE header; return the same of the answer."""
        self.post(slave, b'\x00\x20' + request)
        message = self.fetch(slave)
        assert message is not None
        service = b'\x00\x20' if message[1][2] == 0x80 else b'\x00\x30'
        assert (message[0], message[1][:2]) == (3, service)
        return message[1][2:]

    def sdo_read(self, slave: int, index: int, sub: int = 0) -> bytes:
        """Upload up to four octets; eight octets of the abort are an assertion error."""
        answer = self.sdo(slave, struct.pack('<BHB4x', 0x40, index, sub))
        assert answer[0] & 0xE3 == 0x43, answer.hex()
        return answer[4 : 8 - (answer[0] >> 2 & 3)]

    def sdo_write(self, slave: int, index: int, sub: int, data: bytes) -> bytes:
        """Download up to four octets; return nothing, or the abort code as it came."""
        command = 0x23 | 4 - len(data) << 2
        request = struct.pack('<BHB', command, index, sub) + data.ljust(4, b'\0')
        answer = self.sdo(slave, request)
        if answer[0] == 0x60:
            return b''
        assert answer[:4] == struct.pack('<BHB', 0x80, index, sub)
        return answer[4:]


@pytest.fixture
def build() -> Callable[..., Bench]:
    """Make a bench: number of drives, and what `DriveType` takes."""

    def make(count: int = 2, **options: Any) -> Bench:
        now = [5_000_000_000]
        # Kindnesses that a test of something else asks for.
        kind = {'controlword_delay': 0, 'emergencies': True, 'sync_error_limit': 0}
        drive = DriveType(**{**kind, 'request_delay': 0.0, **options})
        segment = Segment([drive] * count, lambda: now[0])
        return Bench(segment, now, drive.mailbox)

    return make


@pytest.fixture
def braked_drive(tmp_path: Path) -> str:
    """Return a drive type whose motors have brakes, so that others hold beside a dead leg.

    Without the bus it is in a fault, and off.
    """
    file = tmp_path / 'braked.yaml'
    text = drive_path('omron_1s').read_text()
    for before, after in (
        ('brake_apply_s: 0.0', 'brake_apply_s: 0.002'),
        ('abort_connection: 3, quick_stop: 6', 'abort_connection: 1, quick_stop: 2'),
    ):
        assert before in text
        text = text.replace(before, after)
    file.write_text(text)
    return str(file)


@pytest.fixture
def line_lateness(lateness: Callable[[], float]) -> Iterator[Callable[[], float]]:
    """Measure the machine as `lateness` does, and a serial line of the same kind beside it.

    The kernel hands bytes of a pseudo terminal over in a worker of its own, which on a busy
    machine comes half a second late now and then, when every thread of this process is on time.
    """
    ends, over = os.openpty(), threading.Event()
    tty.setraw(ends[1])
    worst, sent = [0.0], [time.monotonic()]

    def watch() -> None:
        while not over.is_set():
            sent[0] = time.monotonic()
            os.write(ends[0], b'.')
            os.read(ends[1], 1)
            worst[0], sent[0] = max(worst[0], time.monotonic() - sent[0]), time.monotonic()
            time.sleep(2e-3)

    thread = threading.Thread(target=watch, name='line lateness')
    thread.start()
    # The byte that is under way counts, too.
    yield lambda: max(worst[0], time.monotonic() - sent[0], lateness())
    over.set()
    thread.join()
    for end in ends:
        os.close(end)
