# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Frames as SOEM sends them, octet by octet.

Captured from pysoem 1.1.13 (SOEM) in a private network: the segment's ``Line.send`` was wrapped by
one that wrote every frame to a file, in the run of config_init, config_dc, config_map and OP with
two drives. The answers are written by hand from ETG.1000.4, not by the segment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from stewart_simulation.errors import FrameError
from stewart_simulation.ethercat.frames import Command, Datagram, decode, encode, logical, spans

Build = Callable[..., Any]

SENT, BACK = 'ffffffffffff010101010101' + '88a4', 'ffffffffffff030101010101' + '88a4'

# What is asked, frame of SOEM, answer of two slaves fresh from power-up. In this order.
TRACE = {
    'BRD type: two slaves count, ADP is counted up': (
        '0e10' + '0704000000000200000000000000',
        '0e10' + '0704020000000200000011000200',
    ),
    'BWR AL control: INIT, acknowledge': (
        '0e10' + '0802000020010200000011000000',
        '0e10' + '0802020020010200000011000200',
    ),
    'BWR one octet: EEPROM back from the device': (
        '0d10' + '08000000000501000000020000',
        '0d10' + '08000200000501000000020200',
    ),
    'BWR one octet: EEPROM to the master': (
        '0d10' + '08000000000501000000000000',
        '0d10' + '08000200000501000000000200',
    ),
    'APWR station address of the first slave': (
        '0e10' + '0203000010000200000001100000',
        '0e10' + '0203020010000200000001100100',
    ),
    'APWR station address of the second slave': (
        '0e10' + '0203ffff10000200000002100000',
        '0e10' + '0203010010000200000002100100',
    ),
    'APRD station address': (
        '0e10' + '0105000010000200000000000000',
        '0e10' + '0105020010000200000001100100',
    ),
    'FPWR EEPROM: read word 8, vendor': (
        '1210' + '050901100205060000000001080000000000',
        '1210' + '050901100205060000000001080000000100',
    ),
    'FPRD EEPROM data: Omron': (
        '1010' + '04030110080504000000000000000000',
        '1010' + '04030110080504000000830000000100',
    ),
    'FPRD DL status of the first: ports 0 and 1 open': (
        '0e10' + '04050110100102000000' + '0000' + '0000',
        '0e10' + '04050110100102000000' + '335a' + '0100',
    ),
    'FPRD DL status of the last: port 1 closed': (
        '0e10' + '04050210100102000000' + '0000' + '0000',
        '0e10' + '04050210100102000000' + '1356' + '0100',
    ),
    'FPWR both mailboxes': (
        '1c10' + '050401100008100000000010800026000100001480002200010000' + '00',
        '1c10' + '050401100008100000000010800026000100001480002200010001' + '00',
    ),
    'FPWR AL control: PREOP, acknowledge': (
        '0e10' + '0505011020010200000012000000',
        '0e10' + '0505011020010200000012000100',
    ),
    'FPRD AL status and code: PREOP': (
        '1210' + '040501103001060000000000000000000000',
        '1210' + '040501103001060000000200000000000100',
    ),
    'BRD AL status: INIT and PREOP together': (
        '0e10' + '0704000030010200000000000000',
        '0e10' + '0704020030010200000003000200',
    ),
    'FPRD mailbox status: empty, enabled': (
        '0e10' + '04050110' + '0d08' + '0200' + '0000' + '0000' + '0000',
        '0e10' + '04050110' + '0d08' + '0200' + '0000' + '0001' + '0100',
    ),
    'FPWR SDO upload request 1008h': (
        '8c10' + '05070110001080000000' + '0a0000000013002040081000' + '00' * 116 + '0000',
        '8c10' + '05070110001080000000' + '0a0000000013002040081000' + '00' * 116 + '0100',
    ),
    'FPRD mailbox: device name, 15 octets': (
        '8c10' + '04090110001480000000' + '00' * 128 + '0000',
        '8c10'
        + '04090110001480000000'
        + '190000000013003041081000'
        + '0f000000'
        + b'R88D-1SN04H-ECT'.hex()
        + '00' * 97
        + '0100',
    ),
}


def test_the_trace_of_soem_is_answered_octet_by_octet(build: Build) -> None:
    bench = build(2)

    for name, (sent, back) in TRACE.items():
        assert bench.raw(SENT + sent) == BACK + back, name


def test_process_data_of_soem_are_answered_octet_by_octet(build: Build) -> None:
    """LRW of 80 octets and FRMW of the system time, as sent in OP; maps 1701h and 1B01h."""
    bench = build(2).op()
    outputs = '0f00e8030000000000000000'
    sent = SENT + '70100c0d0000000050800000' + outputs * 2 + '00' * 56 + '0000'
    sent += '0e0d0110100908000000' + '00' * 8 + '0000'

    back = bench.raw(sent)

    # Both drives: no error, SWITCH ON DISABLED, position 0, and nothing else.
    inputs = '00005002000000000000000000000000000000000000000000000000'
    assert back[:192] == (BACK + '70100c0d0000000050800000' + outputs * 2 + inputs * 2)[:192]
    lrw, frmw = decode(bytes.fromhex(back))
    assert lrw.data.hex() == outputs * 2 + inputs * 2
    assert lrw.working_counter == 6
    assert frmw.working_counter == 2
    assert int.from_bytes(frmw.data, 'little') == bench.segment.slaves[0].clock.system()


def test_encoding_makes_the_frames_of_soem() -> None:
    broadcast = encode([Datagram(Command.BRD, 0, 0x0000, bytes(2), 4)])
    cyclic = encode(
        [
            logical(Command.LRW, 0, bytes(80), 12),
            Datagram(Command.FRMW, 0x1001, 0x0910, bytes(8), 14),
        ]
    )

    assert broadcast.hex() == SENT + TRACE['BRD type: two slaves count, ADP is counted up'][0]
    assert cyclic.hex() == (
        SENT + '70100c0c0000000050800000' + '00' * 82 + '0e0e0110100908000000' + '00' * 10
    )


def test_decoding_undoes_encoding() -> None:
    items = (
        Datagram(Command.APRD, 0xFFFE, 0x0130, b'\x01\x02', 3, 4),
        Datagram(Command.NOP, 0, 0, b'', 5),
        logical(Command.LRD, 0x12345678, b'abc', 255),
    )

    assert decode(encode(items)) == items
    assert (items[2].address, items[2].offset) == (0x5678, 0x1234)


@pytest.mark.parametrize(
    ('frame', 'reason'),
    [
        ('ffffffffffff010101010101' + '0800' + '0e10' + '00' * 14, 'EtherType'),
        (SENT, 'EtherType'),
        (SENT + '0e40' + '00' * 14, 'protocol 4'),
        (SENT + '2010' + '00' * 14, '48 octets announced, 30 there'),
        (SENT + '0e10' + '07040000000003000000' + '00000000', 'cut off'),
        (SENT + '0e10' + '07040000000002800000' + '00000000', 'cut off'),
        (SENT + '0810' + '00' * 14, 'cut off'),
    ],
)
def test_what_is_no_frame_is_refused_with_its_reason(frame: str, reason: str) -> None:
    with pytest.raises(FrameError, match=reason):
        spans(bytes.fromhex(frame))


def test_padding_behind_the_datagrams_does_not_matter(build: Build) -> None:
    sent, back = TRACE['BRD type: two slaves count, ADP is counted up']

    assert build(2).raw(SENT + sent + '55' * 30) == BACK + back + '55' * 30


# Command, working counter of three slaves, of which the second is addressed; register 0012h is
# read-only for a master, 0310h is not.
@pytest.mark.parametrize(
    ('command', 'address', 'register', 'counter'),
    [
        (Command.NOP, 0, 0x0310, 0),
        (Command.APRD, 0xFFFF, 0x0310, 1),
        (Command.APWR, 0xFFFF, 0x0310, 1),
        (Command.APRW, 0xFFFF, 0x0310, 3),
        (Command.FPRD, 0x1002, 0x0310, 1),
        (Command.FPWR, 0x1002, 0x0310, 1),
        (Command.FPRW, 0x1002, 0x0310, 3),
        (Command.FPRD, 0x1004, 0x0310, 0),
        (Command.BRD, 0, 0x0310, 3),
        (Command.BWR, 0, 0x0310, 3),
        (Command.BRW, 0, 0x0310, 9),
        (Command.FRMW, 0x1002, 0x0310, 3),
        (Command.ARMW, 0xFFFF, 0x0310, 3),
        (Command.FPWR, 0x1002, 0x0012, 0),
        (Command.FPRW, 0x1002, 0x0012, 1),
        (Command.LRW, 0, 0x0000, 0),
        (Command.APRD, 3, 0x0310, 0),
    ],
)
def test_working_counter_of_every_command(
    build: Build, command: Command, address: int, register: int, counter: int
) -> None:
    bench = build(3)
    bench.address()

    (answer,) = bench.send(Datagram(command, address, register, b'\x07'))

    assert answer.working_counter == counter


def test_a_multiple_write_gives_the_value_of_one_to_those_behind_it(build: Build) -> None:
    bench = build(3)
    bench.address()
    bench.write(1, 0x0310, b'\x11')
    bench.write(2, 0x0310, b'\x22')

    (answer,) = bench.send(Datagram(Command.FRMW, 0x1002, 0x0310, b'\x05'))

    assert answer.data == b'\x22'
    assert [bench.read(slave, 0x0310, 1) for slave in (1, 2, 3)] == [0x05, 0x22, 0x22]


def test_logical_reads_and_writes_count_one_each(build: Build) -> None:
    bench = build(2).op()
    total = 2 * (12 + 28)

    (written,) = bench.send(logical(Command.LWR, 0, bytes(total)))
    (read,) = bench.send(logical(Command.LRD, 0, bytes(total)))
    (outputs_only,) = bench.send(logical(Command.LRW, 0, bytes(24)))
    (one_drive,) = bench.send(logical(Command.LRD, 24, bytes(28)))

    counters = [x.working_counter for x in (written, read, outputs_only, one_drive)]
    assert counters == [2, 2, 4, 1]
    assert written.data == bytes(total)
    assert read.data[26:28] == one_drive.data[2:4] == b'\x50\x02'
