# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Registers, windows, EEPROM and links of a slave controller (ETG.1000.4)."""

from __future__ import annotations

from collections.abc import Callable
import struct
from typing import Any

import pytest
from stewart_simulation.ethercat.eeprom import crc8, Identity, image
from stewart_simulation.ethercat.frames import Command, Datagram, logical

Build = Callable[..., Any]

LAYOUT = ((0x1000, 128), (0x1400, 128), (0x1800, 12), (0x1C00, 28))


def test_a_write_across_read_only_registers_changes_only_the_others(build: Build) -> None:
    bench = build(1)
    bench.address()

    assert bench.write(1, 0x0010, b'\x01\x10\xff\xff') == 1
    assert bench.read(1, 0x0010, 4) == 0x00001001
    assert bench.write(1, 0x0130, b'\x08\x00') == 0
    assert bench.al(1) == (0x01, 0)


def test_nothing_is_there_beyond_the_memory(build: Build) -> None:
    bench = build(1)
    bench.address()

    (answer,) = bench.send(Datagram(Command.FPRD, 0x1001, 0x2FFF, bytes(2)))

    assert answer.working_counter == 0
    assert bench.write(1, 0x2FFF, bytes(2)) == 0
    assert bench.write(1, 0x2FFF, bytes(1)) == 1


def test_all_slaves_lose_their_windows_by_one_broadcast(build: Build) -> None:
    bench = build(2).op()
    bench.send(Datagram(Command.BWR, 0, 0x0600, bytes(48)))

    assert bench.exchange(bytes(24))[0] == 0


def test_process_data_are_closed_below_safeop(build: Build) -> None:
    bench = build(2).safeop()
    assert bench.exchange(bytes(24))[0] == 6

    bench.request(1, 0x02)

    assert bench.exchange(bytes(24))[0] == 3


def test_a_window_may_begin_and_end_anywhere_in_the_datagram(build: Build) -> None:
    bench = build(1).op()
    (middle,) = bench.send(logical(Command.LRD, 12 + 2, bytes(2)))
    (across,) = bench.send(logical(Command.LRD, 10, bytes(40)))
    (beside,) = bench.send(logical(Command.LRD, 40, bytes(4)))

    assert (middle.data.hex(), middle.working_counter) == ('5002', 1)
    assert (across.data[4:6].hex(), across.working_counter) == ('5002', 1)
    assert beside.working_counter == 0


def test_half_octets_are_no_window(build: Build) -> None:
    bench = build(1).op()
    bench.write(1, 0x0600, struct.pack('<IHBBHBBI', 0, 12, 0, 3, 0x1800, 0, 2, 1))

    assert bench.exchange(bytes(12))[0] == 1


def test_inputs_of_all_drives_lie_behind_each_other(build: Build) -> None:
    bench = build(3).op()
    for number, slave in enumerate(bench.segment.slaves):
        bench.segment.model.positions[number] = 1000.0 * (number + 1)
        assert slave.station == 0x1001 + number

    assert [row[2] for row in bench.cycle([(0, 0)] * 3)] == [1000, 2000, 3000]


# The EEPROM.


def test_the_check_sum_is_the_one_of_the_iec_polynomial() -> None:
    """x⁸ + x² + x + 1 from 0xFF, worked out bit by bit as a division of polynomials."""
    data = bytes.fromhex('800e00000000000000000000 0000'.replace(' ', ''))
    bits = int.from_bytes(data, 'big') ^ 0xFF << 8 * (len(data) - 1)
    bits <<= 8
    for position in range(8 * len(data) + 7, 7, -1):
        if bits >> position & 1:
            bits ^= 0x107 << (position - 8)

    assert crc8(data) == bits


def test_the_image_has_its_categories_where_a_master_looks(build: Build) -> None:
    content = bytes(image(Identity(0x83, 0xB0, 0x10004, 7), LAYOUT, 'R88D-1SN04H-ECT'))
    categories, at = {}, 0x80
    while (kind := int.from_bytes(content[at : at + 2], 'little')) != 0xFFFF:
        words = int.from_bytes(content[at + 2 : at + 4], 'little')
        categories[kind] = content[at + 4 : at + 4 + 2 * words]
        at += 4 + 2 * words

    assert struct.unpack_from('<IIII', content, 0x10) == (0x83, 0xB0, 0x10004, 7)
    assert content[0x30:0x3A].hex() == '00108000001480000400'
    assert list(categories) == [10, 30, 40, 41]
    assert categories[10] == b'\x01\x0fR88D-1SN04H-ECT\x00'
    assert categories[30][5] == 0x2D
    assert categories[40] == b'\x01\x02'
    assert categories[41].hex() == (
        '0010800026000101001480002200010200180c0064000103001c1c0020000104'
    )


def test_words_of_the_eeprom_are_written_with_the_enable_bit_only(build: Build) -> None:
    bench = build(1)
    bench.address()

    def command(word: int, address: int) -> int:
        bench.write(1, 0x0502, struct.pack('<HI', word, address))
        return int(bench.read(1, 0x0502, 2))

    bench.write(1, 0x0508, b'\x34\x12')
    assert command(0x0200, 0x0004) == 0x2040
    assert command(0x0201, 0x0004) == 0x0040
    assert command(0x0100, 0x0004) == 0x0040
    assert bench.read(1, 0x0508, 2) == 0x1234
    assert bench.segment.slaves[0].content[8:10] == b'\x34\x12'


def test_while_the_device_has_the_eeprom_the_master_reads_nothing(build: Build) -> None:
    bench = build(1)
    bench.address()
    bench.write(1, 0x0500, b'\x01')
    bench.write(1, 0x0502, struct.pack('<HI', 0x0100, 0x0008))

    assert bench.read(1, 0x0502, 2) == 0x2040
    assert bench.read(1, 0x0508, 4) == 0


# Links.


@pytest.mark.parametrize(
    ('cut', 'statuses'),
    [
        (None, [0x5A33, 0x5A33, 0x5613]),
        (2, [0x5A33, 0x5613]),
        (1, [0x5613]),
    ],
)
def test_dl_status_shows_where_the_cable_ends(
    build: Build, cut: int | None, statuses: list[int]
) -> None:
    bench = build(3)
    bench.address()
    bench.segment.cut(cut)

    assert bench.segment.reached == len(statuses)
    assert [bench.read(n, 0x0110, 2) for n, _ in enumerate(statuses, 1)] == statuses


def test_nothing_comes_back_when_not_even_the_first_slave_is_there(build: Build) -> None:
    bench = build(2)
    bench.segment.cut(0)

    assert bench.raw('ffffffffffff01010101010188a40e100704000000000200000000000000') == ''


def test_a_lost_link_is_counted_at_the_port(build: Build) -> None:
    bench = build(2)
    bench.address()
    for _ in range(3):
        bench.segment.power(2, on=False)
        bench.segment.power(2, on=True)

    assert bench.read(1, 0x0311, 1) == 3
    assert bench.read(1, 0x0310, 1) == 0


def test_after_power_up_a_slave_has_forgotten_everything_but_its_eeprom(build: Build) -> None:
    bench = build(2).op()
    bench.segment.slaves[1].content[8:10] = b'\x34\x12'
    bench.segment.power(2, on=False)
    bench.segment.power(2, on=True)

    slave = bench.segment.slaves[1]
    assert (slave.station, slave.al.state.name) == (0, 'INIT')
    assert slave.content[8:10] == b'\x34\x12'
    assert bench.exchange(bytes(24))[0] == 3
