# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every parser of what comes over a wire: samples, and the errors that it may raise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
import struct
from typing import Any

import numpy as np
from parsers import Parse, Parser
from stewart_cueing.errors import VehicleInputError
from stewart_cueing.vehicle.datagrams import ANGULAR_VELOCITY, G_LOAD
from stewart_cueing.vehicle.datagrams import PARSERS as DATAGRAMS
from stewart_driver.errors import StewartError
from stewart_driver.witmotion.samples import attitude_of, CycleGrouper, Decoder
from stewart_simulation.errors import SegmentError
from stewart_simulation.ethercat.frames import decode
from stewart_simulation.ethercat.mailbox import SdoServer
from stewart_simulation.ethercat.master.bus import InlineBus
from stewart_simulation.ethercat.master.link import Link
from stewart_simulation.ethercat.master.slave_information import (
    EIGHT_OCTETS,
    FIRST_CATEGORY,
    GENERAL,
    MANAGERS,
    read_information,
    STRINGS,
)
from stewart_simulation.ethercat.master.standard import EEPROM_COMMAND
from stewart_simulation.ethercat.omron_1s import dictionary_of, DriveType
from stewart_simulation.ethercat.registers import AlState
from stewart_simulation.ethercat.segment import Line, Segment

BEGIN, CYCLE = 5_000_000_000, 0.002
SAFEOP, OP = 4, 8
OUTPUTS = struct.pack('<HiHI', 0, 0, 0, 0)
PREFIX = struct.Struct('<H')
CATEGORY = struct.Struct('<HH')
PATCH = struct.Struct('<HHB')


def serial_imu(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Bytes of a serial IMU."""
    del place
    random = Random(1)
    kinds = (0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A)
    cycle = b''.join(witmotion_frame(kind, random.randbytes(8)) for kind in kinds)
    samples = [cycle * 4, b''.join(witmotion_frame(k, bytes(8)) for k in (0x51, 0x52, 0x59)) * 6]

    def parse(data: bytes) -> None:
        decoder, grouper = Decoder(), CycleGrouper()
        for begin in range(0, len(data), 29):
            for sample in grouper.feed(decoder.feed(data[begin : begin + 29])):
                attitude_of(sample)
        counts = decoder.statistics
        if counts.bytes != len(data) or 11 * counts.frames + counts.bytes_skipped > len(data):
            raise AssertionError(f'{counts} of {len(data)} bytes')

    return samples, parse


def witmotion_frame(kind: int, payload: bytes) -> bytes:
    """Return a frame with its sum."""
    head = bytes([0x55, kind]) + payload
    return head + bytes([sum(head) & 0xFF])


def valid_frames(random: Random, samples: Sequence[bytes]) -> bytes:
    """Return frames with right sums and anything in them, and a few other bytes between."""
    del samples
    parts = []
    for _ in range(random.randrange(1, 30)):
        parts.append(witmotion_frame(random.randrange(0x48, 0x68), random.randbytes(8)))
        if random.random() < 0.2:
            parts.append(random.randbytes(random.randrange(12)))
    return b''.join(parts)


class Recorder(Line):
    """A line that keeps what the master sends."""

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment, seed=0)
        self.frames: list[bytes] = []

    def send(self, frame: bytearray, at: int | None = None) -> bytearray:
        """Send a frame as a line does."""
        self.frames.append(bytes(frame))
        return super().send(frame, at)


class Patched(Line):
    """A line that falsifies octets of what comes back: number of the frame, place, value."""

    def __init__(self, segment: Segment, patches: bytes) -> None:
        super().__init__(segment, seed=0)
        self._patches: dict[int, list[tuple[int, int]]] = {}
        for number, place, value in PATCH.iter_unpack(
            patches[: len(patches) // PATCH.size * PATCH.size]
        ):
            self._patches.setdefault(number % 256, []).append((place, value))

    def send(self, frame: bytearray, at: int | None = None) -> bytearray:
        """Send a frame as a line does."""
        answer = super().send(frame, at)
        for place, value in self._patches.get(self.sent % 256, ()):
            if answer:
                answer[place % len(answer)] ^= value
        return answer


def bench(line_of: Any) -> tuple[list[int], Any, InlineBus]:
    """Return time, line and master of one drive."""
    now = [BEGIN]

    def let_pass(duration: float) -> None:
        now[0] += round(1e9 * duration)

    segment = Segment([DriveType(emergencies=True)], lambda: now[0])
    line = line_of(segment)
    return (
        now,
        line,
        InlineBus('fuzz', Link(line, lambda: now[0], let_pass, 0.05), 0.004, lambda: None),
    )


def operate(bus: InlineBus) -> None:
    """Bring a drive up, and let it run a few cycles."""
    for drive in bus.scan(None):
        drive.write(0x6060, 0, b'\x08')
        drive.read(0x1008, 0)
    bus.map(watchdog=0.1, sync=(CYCLE, 0.5 * CYCLE))
    bus.request(OP)
    for _ in range(3):
        bus.exchange([OUTPUTS])
        bus.sleep(CYCLE)
    bus.statuses()
    bus.emergencies(1)
    bus.inputs()


def slaves(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Cases are frames one after the other, each with its length before it."""
    del place
    _, line, bus = bench(Recorder)
    operate(bus)
    packed = [PREFIX.pack(len(frame)) + frame for frame in line.frames]
    samples = [b''.join(packed[i : i + 8]) for i in range(0, len(packed), 8)]

    def parse(data: bytes) -> None:
        now = [BEGIN]
        segment = Segment([DriveType(emergencies=True)], lambda: now[0])
        at = 0
        while at + PREFIX.size <= len(data):
            (length,) = PREFIX.unpack_from(data, at)
            frame = data[at + PREFIX.size : at + PREFIX.size + length]
            at += PREFIX.size + length
            now[0] += 250_000
            try:
                decode(frame)
            except SegmentError:
                continue  # no frame: a port drops it
            segment.process(bytearray(frame))

    return samples, parse


def datagrams(random: Random, samples: Sequence[bytes]) -> bytes:
    """Return whole frames with any command, address, register and data."""
    from stewart_simulation.ethercat.frames import Datagram, encode

    frames = []
    for _ in range(random.randrange(1, 9)):
        items = []
        for _ in range(random.choice((1, 1, 1, 3))):
            address = random.choice((0, 0x1001, 0xFFFF, random.randrange(0x10000)))
            register = random.choice(
                (0x10, 0x120, 0x500, 0x502, 0x600, 0x800, 0x808, 0x980, 0x1000, 0x1100)
            )
            register = min(
                register + random.choice((0, 0, 1, 8, random.randrange(0x1000))), 0xFFFF
            )
            data = random.randbytes(random.choice((1, 2, 4, 8, 16, 128, random.randrange(1400))))
            if random.random() < 0.5:
                data = bytes(len(data))
            items.append(Datagram(random.randrange(16), address, register, data[:400], 1))
        frame = bytes(encode(items))
        frames.append(PREFIX.pack(len(frame)) + frame)
    return random.choice(samples)[: random.choice((0, 10**6))] + b''.join(frames)


def master(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Cases say which octets of which answers are falsified."""
    del place

    def parse(data: bytes) -> None:
        _, _, bus = bench(lambda segment: Patched(segment, data))
        operate(bus)

    return [b''.join(PATCH.pack(n, 16 + n, 0xFF) for n in range(0, 40, 7))], parse


def patches(random: Random, samples: Sequence[bytes]) -> bytes:
    """Falsify a few octets, where there are headers and data."""
    del samples
    return b''.join(
        PATCH.pack(
            random.randrange(200),
            random.randrange(14, 64),
            random.choice((1, 0x80, 0xFF, random.randrange(256))),
        )
        for _ in range(random.choice((1, 2, 4, 16)))
    )


class Content:
    """An EEPROM at the end of a link, without a line, frames and a slave."""

    def __init__(self, octets: bytes) -> None:
        self._octets, self._at = octets, 0

    def write(self, station: int, register: int, data: bytes) -> bool:
        """Take a command, or the right to give commands."""
        if register == EEPROM_COMMAND:
            self._at = 2 * struct.unpack('<HI', data)[1]
        return True

    def until(self, look: Any, patience: float) -> bytes:
        """Be ready at once, with eight octets."""
        return EIGHT_OCTETS.to_bytes(2, 'little')

    def require(self, *_: object) -> bytes:
        """Return octets; behind the last of them there are ones."""
        return self._octets[self._at : self._at + 8].ljust(8, b'\xff')


def eeprom(place: Path) -> tuple[Sequence[bytes], Parse]:
    """What the EEPROM of a slave holds."""
    del place
    _, line, _ = bench(Recorder)
    whole = bytes(line.segment.slaves[0].eeprom.content).rstrip(b'\xff')

    def parse(data: bytes) -> None:
        link: Any = Content(data)
        read_information(link, 1)

    return [whole + b'\xff\xff'], parse


def categories(random: Random, samples: Sequence[bytes]) -> bytes:
    """Change kind, length or content of categories, double them and leave them out."""
    whole, at, parts = samples[0], 2 * FIRST_CATEGORY, []
    while at + CATEGORY.size < len(whole):
        kind, words = CATEGORY.unpack_from(whole, at)
        at += CATEGORY.size + 2 * words
        parts.append((kind, words, whole[at - 2 * words : at]))
    for _ in range(random.choice((1, 1, 2, 4))):
        place = random.randrange(len(parts))
        kind, words, data = parts[place]
        if (choice := random.randrange(6)) == 0:
            kind = random.choice((STRINGS, GENERAL, MANAGERS, random.randrange(0x10000)))
        elif choice == 1:
            words = random.choice((0, 1, words - 1, words + 1, random.randrange(0x10000)))
        elif choice <= 3:
            changed = bytearray(data)
            changed[random.randrange(len(data))] = random.choice(
                (0, 1, 0xFF, random.randrange(256))
            )
            data = bytes(changed)
        parts[place : place + (choice != 4)] = [(kind, words, data)] * (
            choice != 5 or len(parts) < 2
        )
    body = b''.join(CATEGORY.pack(kind, max(words, 0)) + data for kind, words, data in parts)
    return whole[: 2 * FIRST_CATEGORY] + body + b'\xff\xff'


def sdo_requests(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Cases are requests of ten octets to the server of a drive."""
    del place
    samples = [
        struct.pack('<BHBI', 0x40, index, sub, 0) + bytes(2)
        for index, sub in ((0x1008, 0), (0x1018, 1), (0x6041, 0), (0x1C12, 0), (0x1600, 1))
    ]
    samples.append(struct.pack('<BHBI', 0x21, 0x1600, 0, 12) + bytes(2))

    def parse(data: bytes) -> None:
        dictionary, _ = dictionary_of(DriveType())
        server = SdoServer(dictionary, 128)
        for begin in range(0, len(data), 10):
            server.answer(data[begin : begin + 10], AlState.PREOP)

    return [b''.join(samples), *samples], parse


def requests(random: Random, samples: Sequence[bytes]) -> bytes:
    """Return requests of every kind for objects that there are."""
    del samples
    objects = (
        0x1000,
        0x1008,
        0x1018,
        0x1600,
        0x1701,
        0x1A00,
        0x1C12,
        0x1C13,
        0x1C32,
        0x6040,
        0x6041,
        0x607A,
    )
    return b''.join(
        struct.pack(
            '<BHBI2s',
            random.randrange(256),
            random.choice(objects) + random.choice((0, 0, 0, 1)),
            random.randrange(5),
            random.choice((0, 1, 4, 9, 0xFFFFFFFF, random.randrange(1 << 32))),
            random.randbytes(2),
        )
        for _ in range(random.randrange(1, 6))
    )


DRIVER, SEGMENT = (StewartError,), (SegmentError,)


def simulators(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Datagrams of FlightGear and X-Plane, each given to every parser."""
    del place
    loads = struct.pack('<i8f', G_LOAD, 0.3, 0.0, 100.0, 0.0, 1.0, 0.1, -0.1, 0.0)
    turn = struct.pack('<i8f', ANGULAR_VELOCITY, 0.2, 0.3, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0)
    speeds = struct.pack('<i8f', 3, *range(8))
    lines = [b'1.0\t2.0\t-9.0\t0.3\t0.2\t0.1' + model for model in (b'\n', b'\tyasim\n')]
    samples = [*lines, b'DATA*' + loads + turn, b'DATA*' + speeds + turn + loads]

    def parse(data: bytes) -> None:
        refused = []
        for name, read in DATAGRAMS.items():
            try:
                sample = read(data)
            except VehicleInputError as error:
                refused.append(error)
                continue
            if sample.shape != (6,) or not np.isfinite(sample).all():
                raise AssertionError(f'{name} makes {sample} of {data!r}')
        if len(refused) == len(DATAGRAMS):
            raise refused[0]

    return samples, parse


WIRES: dict[str, Parser] = {
    'WitMotion bytes': Parser(serial_imu, (), valid_frames),
    'EtherCAT frames, slave': Parser(slaves, SEGMENT, datagrams),
    'EtherCAT frames, master': Parser(master, (*DRIVER, *SEGMENT), patches),
    'EtherCAT EEPROM': Parser(eeprom, SEGMENT, categories),
    'SDO requests': Parser(sdo_requests, (), requests),
    'simulator datagrams': Parser(simulators, (VehicleInputError,)),
}
