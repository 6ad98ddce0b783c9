# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The master in this process, part by part, and what its frames leave in the slaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
import struct

import pytest
from stewart_driver.ethercat.errors import Emergency, NotOperational, SdoRefused
from stewart_simulation.ethercat import eeprom
from stewart_simulation.ethercat.faults import Faults
from stewart_simulation.ethercat.frames import decode, encode
from stewart_simulation.ethercat.master.bus import InlineBus
from stewart_simulation.ethercat.master.configuration import delays
from stewart_simulation.ethercat.master.link import Link, MasterError
from stewart_simulation.ethercat.master.mailbox import Mailbox
from stewart_simulation.ethercat.object_dictionary import Access, Entry, OCTETS
from stewart_simulation.ethercat.omron_1s import DriveType
from stewart_simulation.ethercat.segment import Line, Segment

BEGIN = 5_000_000_000
CYCLE = 0.002
OFF = struct.pack('<HiHI', 0, 0, 0, 0)
SAFEOP, OP = 4, 8


class Recorder(Line):
    """A line that remembers the frames of the master."""

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment, seed=0)
        self.frames: list[bytes] = []

    def send(self, frame: bytearray) -> bytearray:
        self.frames.append(bytes(frame))
        return super().send(frame)


@dataclass
class Bench:
    now: list[int]
    segment: Segment
    line: Recorder
    faults: Faults
    bus: InlineBus

    def frames(self, call: Callable[[], object]) -> list[bytes]:
        """Return the frames that a call sends."""
        before = len(self.line.frames)
        call()
        return self.line.frames[before:]

    def registers(self, slave: int, address: int, length: int) -> bytes:
        return bytes(self.segment.slaves[slave - 1].memory.octets[address : address + length])

    def to_safeop(self) -> None:
        for drive in self.bus.scan(6):
            drive.write(0x6060, 0, b'\x08')
        self.bus.map(watchdog=0.1, sync=(CYCLE, 0.5 * CYCLE))

    def to_op(self) -> None:
        self.to_safeop()
        self.bus.request(OP)
        for _ in range(100):
            self.bus.exchange([OFF] * 6)
            self.bus.sleep(CYCLE)
        assert [item.state for item in self.bus.statuses()] == [OP] * 6


@pytest.fixture
def build() -> Callable[..., Bench]:
    def make(**options: int) -> Bench:
        now = [BEGIN]
        kind = DriveType(**{'emergencies': True, **options})
        segment = Segment([kind] * 6, lambda: now[0])
        line = Recorder(segment)

        def let_pass(duration: float) -> None:
            now[0] += round(1e9 * duration)

        link = Link(line, lambda: now[0], let_pass, 0.05)
        bus = InlineBus('bench', link, 0.004, lambda: None)
        return Bench(now, segment, line, Faults(segment, line), bus)

    return make


@pytest.fixture
def bench(build: Callable[..., Bench]) -> Bench:
    return build()


def test_slaves_are_counted_addressed_and_read(bench: Bench) -> None:
    drives = bench.bus.scan(6)

    assert [slave.station for slave in bench.segment.slaves] == list(range(0x1001, 0x1007))
    assert [drive.name for drive in drives] == ['R88D-1SN04H-ECT'] * 6
    assert drives[5].identity()[:3] == (0x83, 0xB0, 0x00010004)
    assert [(item.state, item.code) for item in bench.bus.statuses()] == [(2, 0)] * 6
    # BRD of the type register by the letter: command 7, index 1, address 0, length 1.
    assert bench.line.frames[0].hex() == (
        'ffffffffffff01010101010188a4' '0d10' '070100000000010000000000' '00'
    )  # fmt: skip


@pytest.mark.parametrize('kind', [10, 30])
def test_a_slave_whose_eeprom_ends_before_its_order_code_has_no_name(
    kind: int, bench: Bench
) -> None:
    content = bench.segment.slaves[0].content
    # Its two octets about FMMUs become its strings, or what it says in general.
    content[content.index(b'\x28\0\1\0\1\2')] = kind

    assert [drive.name for drive in bench.bus.scan(6)[:2]] == ['', 'R88D-1SN04H-ECT']


def test_a_slave_whose_eeprom_does_not_arm_its_watchdog_stays_in_op_and_is_seen(
    monkeypatch: pytest.MonkeyPatch, build: Callable[..., Bench]
) -> None:
    monkeypatch.setattr(eeprom, 'CONTROL', (0x26, 0x22, 0x24, 0x20))
    silent = build(sync_error_limit=0)
    monkeypatch.undo()
    watched = build(sync_error_limit=0)
    states = []
    for bench in (silent, watched):
        bench.to_op()
        bench.bus.sleep(0.5)
        states.append({item.state for item in bench.bus.statuses()})

    assert silent.bus.watchdogs == [0.0] * 6
    assert watched.bus.watchdogs == pytest.approx([0.1] * 6, rel=1e-3)
    assert states == [{OP}, {SAFEOP | 0x10}]


def test_process_data_watchdog_and_sync0_are_as_the_standard_has_them(bench: Bench) -> None:
    bench.to_safeop()

    assert [(item.state, item.code) for item in bench.bus.statuses()] == [(SAFEOP, 0)] * 6
    assert bench.bus.expected == 18
    for slave in range(1, 7):
        assert bench.registers(slave, 0x0810, 16).hex() == (
            '00180c00' '64000100' '001c1c00' '20000100'
        )  # fmt: skip
        outputs, inputs = 12 * (slave - 1), 72 + 28 * (slave - 1)
        assert bench.registers(slave, 0x0600, 32) == struct.pack(
            '<IHBBHBBIIHBBHBBI',
            *(outputs, 12, 0, 7, 0x1800, 0, 2, 1),
            *(inputs, 28, 0, 7, 0x1C00, 0, 1, 1),
        )
        # A tenth of a second in steps of 2500 times 40 ns.
        assert bench.registers(slave, 0x0420, 2) == struct.pack('<H', 1000)
        assert bench.registers(slave, 0x0981, 1) == b'\x03'
        assert bench.registers(slave, 0x09A0, 4) == struct.pack('<I', 2_000_000)
        (begin,) = struct.unpack('<Q', bench.registers(slave, 0x0990, 8))
        assert begin % 2_000_000 == 1_000_000
        assert begin > bench.now[0]


def test_clocks_show_one_time_and_know_their_cable(bench: Bench) -> None:
    bench.to_op()

    assert [
        struct.unpack('<I', bench.registers(slave, 0x0928, 4))[0] for slave in range(1, 7)
    ] == pytest.approx([640 * place for place in range(6)], abs=2)
    times = [slave.clock.system() for slave in bench.segment.slaves]
    ways = [640 * place for place in range(6)]
    early = [time - way - times[0] for time, way in zip(times, ways, strict=True)]
    # Their drift of 18 ppm at most is pulled in every 2 ms.
    assert max(map(abs, early)) < 500
    # The segment keeps the instant of the last frame; the first clock has no drift.
    assert bench.bus.clock == pytest.approx(bench.now[0] - 1e9 * CYCLE, abs=100_000)


def test_delays_are_half_of_what_loops_differ_by_even_across_an_overflow() -> None:
    assert delays([]) == []
    assert delays([(7, 0)]) == [0]
    assert delays([(2**32 - 500, 1500), (5, 1005), (9, 0)]) == [0, 500, 1000]


def test_process_data_that_a_lost_slave_has_sent_stay(bench: Bench) -> None:
    bench.to_op()
    before = bench.bus.inputs()
    assert bench.bus.exchange([OFF] * 6) == 18
    bench.faults.cut(2)

    assert bench.bus.exchange([OFF] * 6) == 6
    assert bench.bus.inputs()[2:] == before[2:]
    assert [item.state for item in bench.bus.statuses()] == [OP] * 2 + [0] * 4
    bench.faults.cut(0)
    assert bench.bus.exchange([OFF] * 6) == -1
    assert [item.state for item in bench.bus.statuses()] == [0] * 6


@pytest.mark.parametrize('mailbox', [32, 256])
def test_objects_go_expedited_normal_and_in_segments(
    mailbox: int, build: Callable[..., Bench]
) -> None:
    bench = build(mailbox=mailbox)
    drive = bench.bus.scan(6)[2]

    assert drive.read(0x6060, 0) == b'\0'
    drive.write(0x6060, 0, b'\x08')
    assert drive.read(0x6060, 0) == b'\x08'
    assert drive.read(0x1018, 1) == struct.pack('<I', 0x83)
    assert drive.read(0x1008, 0) == b'R88D-1SN04H-ECT'
    read = bench.frames(lambda: drive.read(0x100A, 0))
    assert drive.read(0x100A, 0) == b'stewart_simulation'
    segmented = any(item.data[6:9] == b'\x00\x20\x60' for frame in read for item in decode(frame))
    assert segmented == (mailbox == 32)


@pytest.mark.parametrize('length', [5, 16, 17, 23, 39, 40, 62, 64])
def test_a_value_for_which_the_mailbox_is_too_small_goes_in_segments(
    length: int, build: Callable[..., Bench]
) -> None:
    bench = build(mailbox=32)
    drive = bench.bus.scan(6)[0]
    entry = Entry(OCTETS, b'', Access.ALWAYS)
    bench.segment.slaves[0].dictionary.variable(0x2000, entry)
    data = bytes(range(length))

    drive.write(0x2000, 0, data)

    assert entry.value == data
    assert drive.read(0x2000, 0) == data


def test_a_transfer_in_segments_that_is_refused_leaves_the_next_one_alone(
    build: Callable[..., Bench],
) -> None:
    drive = build(mailbox=32).bus.scan(6)[0]

    with pytest.raises(SdoRefused, match='abort 0x06010002, attempt to write a read-only object'):
        drive.write(0x1008, 0, bytes(40))
    assert drive.read(0x6061, 0) == b'\0'


def test_a_refusal_is_told_with_the_words_of_the_standard(bench: Bench) -> None:
    drive = bench.bus.scan(6)[1]

    with pytest.raises(SdoRefused, match=r'leg 2 refuses object 5FFFh:0: abort 0x06020000, the o'):
        drive.read(0x5FFF, 0)
    with pytest.raises(SdoRefused, match=r'abort 0x06010002, attempt to write a read-only object'):
        drive.write(0x6064, 0, bytes(4))


@pytest.mark.parametrize('skip', range(8))
@pytest.mark.parametrize('way', ['out', 'back'])
def test_an_object_is_had_whichever_frame_gets_lost(way: str, skip: int, bench: Bench) -> None:
    drive = bench.bus.scan(6)[0]
    bench.faults.lose_next(1, way, skip)

    assert drive.read(0x1018, 2) == struct.pack('<I', 0xB0)
    drive.write(0x60C2, 1, b'\x05')
    assert drive.read(0x60C2, 1) == b'\x05'


def test_an_emergency_is_kept_for_who_asks_whoever_was_there_first(bench: Bench) -> None:
    bench.to_op()
    drive = bench.segment.slaves[3].drive
    drive.fault(0x2310)

    assert bench.bus.emergencies(3) == []
    assert bench.bus.emergencies(4) == [Emergency(0x2310, 0x01, bytes(5))]
    assert bench.bus.emergencies(4) == []


def test_an_emergency_in_front_of_an_answer_does_not_hide_it(bench: Bench) -> None:
    first = bench.bus.scan(6)[0]
    bench.segment.slaves[0].mailbox.emergency(0x8130, 0x11)

    assert first.read(0x1018, 1) == struct.pack('<I', 0x83)
    assert bench.bus.emergencies(1) == [Emergency(0x8130, 0x11, bytes(5))]


def test_a_slave_that_refuses_a_state_says_why(bench: Bench) -> None:
    bench.bus.scan(6)
    bench.bus.map(watchdog=0.1, sync=None)

    assert (
        str(bench.bus.statuses()[5]) == 'PREOP with error 0x0030 (Invalid DC SYNC configuration)'
    )


def test_a_drive_that_is_gone_while_the_bus_is_laid_out_is_named(bench: Bench) -> None:
    bench.bus.scan(6)
    bench.faults.cut(4)

    with pytest.raises(NotOperational, match='SAFEOP: leg 5: no answer'):
        bench.bus.map(watchdog=0.1, sync=None)


def test_a_slave_with_a_spoilt_eeprom_stays_in_init_and_answers_no_sdo(bench: Bench) -> None:
    bench.faults.sii_checksum(2)
    drives = bench.bus.scan(6)

    assert [item.state for item in bench.bus.statuses()] == [2, 1, 2, 2, 2, 2]
    with pytest.raises(SdoRefused, match='no answer'):
        drives[1].read(0x1018, 1)


def test_a_mailbox_into_which_no_message_fits_is_refused(bench: Bench) -> None:
    drive = bench.bus.scan(6)[0]
    outgoing, incoming = drive.managers[:2]

    with pytest.raises(MasterError, match='2 octets, 16 are needed'):
        Mailbox(bench.bus._link, 0x1001, outgoing, replace(incoming, length=2))


def test_a_frame_takes_as_long_as_its_octets_on_the_wire(bench: Bench) -> None:
    bench.to_op()
    before = bench.now[0]
    frame = bench.frames(lambda: bench.bus.exchange([OFF] * 6))[0]

    # 80 ns for every octet, preamble, check sequence and gap included; nothing for the slaves.
    assert bench.now[0] - before == 80 * (len(frame) + 24)
    assert decode(frame) == decode(encode(decode(frame)))
