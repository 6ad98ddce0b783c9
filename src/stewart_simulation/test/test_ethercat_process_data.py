# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""PDO maps: the sizes of the ESI file, remapping, and maps that cannot be written."""

from __future__ import annotations

from collections.abc import Callable
import struct
from typing import Any

import pytest

Build = Callable[..., Any]

COUNT_NOT_ZERO, READ_ONLY = '03000106', '02000106'
NO_OBJECT, NOT_MAPPABLE, VALUE, TOO_LARGE = '00000206', '41000406', '30000906', '31000906'
TOO_LONG = '42000406'


def length_of(bench: Any, index: int) -> int:
    """Add up a map as a master does, in octets."""
    count = bench.sdo_read(1, index)[0]
    return sum(bench.sdo_read(1, index, sub)[0] for sub in range(1, count + 1)) // 8


def assign(bench: Any, index: int, *maps: int) -> str:
    """Assign maps; return the abort of the last step, if there is one."""
    assert bench.sdo_write(1, index, 0, b'\0') == b''
    for number, value in enumerate(maps, start=1):
        if refused := bench.sdo_write(1, index, number, struct.pack('<H', value)):
            return str(refused.hex())
    return str(bench.sdo_write(1, index, 0, bytes([len(maps)])).hex())


def remap(bench: Any, index: int, *fields: int) -> str:
    assert bench.sdo_write(1, index, 0, b'\0') == b''
    for number, field in enumerate(fields, start=1):
        assert bench.sdo_write(1, index, number, struct.pack('<I', field)) == b''
    return str(bench.sdo_write(1, index, 0, bytes([len(fields)])).hex())


def test_maps_have_the_sizes_of_the_esi_file(build: Build) -> None:
    """R88D-1SN04H-ECT: 1701h 12 octets, 1B01h 28 octets; both are assigned at first."""
    bench = build(1).preop()

    sizes = [length_of(bench, x) for x in (0x1701, 0x1702, 0x1B01, 0x1600, 0x1A00)]
    assert sizes == [12, 19, 28, 8, 22]
    assert bench.sdo_read(1, 0x1C12, 1) == b'\x01\x17'
    assert bench.sdo_read(1, 0x1C13, 1) == b'\x01\x1b'


def test_the_types_of_the_sync_managers_are_mailbox_and_process_data(build: Build) -> None:
    bench = build(1).preop()

    assert [bench.sdo_read(1, 0x1C00, sub)[0] for sub in range(5)] == [4, 1, 2, 3, 4]


def test_other_maps_change_what_safeop_needs(build: Build) -> None:
    bench = build(1).preop()
    assert assign(bench, 0x1C12, 0x1600) == ''
    assert assign(bench, 0x1C13, 0x1A00) == ''
    bench.start_sync0(1)
    bench.program_process_data(1)
    assert bench.request(1, 0x04) == (0x12, 0x1D)
    bench.sizes = 8, 22
    bench.program_process_data(1)
    assert bench.request(1, 0x14) == (0x04, 0)


def test_a_free_map_carries_what_was_mapped(build: Build) -> None:
    """Outputs: a gap of 16 bits, target, controlword. Inputs: mode display, statusword."""
    bench = build(1).preop()
    bench.sdo_write(1, 0x6060, 0, b'\x08')
    assert remap(bench, 0x1600, 0x00000010, 0x607A0020, 0x60400010) == ''
    assert remap(bench, 0x1A00, 0x60610008, 0x60410010, 0x60640020) == ''
    assert assign(bench, 0x1C12, 0x1600) == ''
    assert assign(bench, 0x1C13, 0x1A00) == ''
    bench.sizes = 8, 7
    bench.program_process_data(1)
    bench.start_sync0(1)
    assert bench.request(1, 0x04) == (0x04, 0)
    bench.request(1, 0x08)

    for word in [0] * 12 + [6] * 3 + [7] * 3 + [15] * 30:
        counter, inputs = bench.exchange(struct.pack('<HiH', 0xFFFF, 7000, word))
        assert counter == 3

    assert struct.unpack('<bHi', inputs) == (8, 0x1237, 7000)


def test_two_maps_lie_behind_each_other(build: Build) -> None:
    bench = build(1).preop()
    assert assign(bench, 0x1C13, 0x1B01, 0x1A00) == ''
    bench.start_sync0(1)
    bench.sizes = 12, 28 + 22
    bench.program_process_data(1)
    assert bench.request(1, 0x04) == (0x04, 0)
    _, inputs = bench.exchange(bytes(12))

    assert inputs[2:4] == inputs[28:30] == b'\x50\x02'


def test_without_maps_the_sync_manager_is_off(build: Build) -> None:
    bench = build(1).preop()
    assert assign(bench, 0x1C12) == ''
    bench.start_sync0(1)
    bench.program_process_data(1)
    assert bench.request(1, 0x04) == (0x12, 0x1D)
    bench.write(1, 0x0816, b'\x00')
    assert bench.request(1, 0x14) == (0x04, 0)


@pytest.mark.parametrize(
    ('field', 'code'),
    [
        (0x60410010, NOT_MAPPABLE),
        (0x60400020, NOT_MAPPABLE),
        (0x605A0010, NOT_MAPPABLE),
        (0x00000003, NOT_MAPPABLE),
        (0x30000010, NO_OBJECT),
    ],
    ids=['an input', 'length', 'a setting', 'bits', 'no object'],
)
def test_what_cannot_be_mapped_is_refused(build: Build, field: int, code: str) -> None:
    bench = build(1).preop()

    assert remap(bench, 0x1600, field) == code


@pytest.mark.parametrize(
    ('maps', 'code'),
    [
        ((0x1A00,), VALUE),
        ((0x1603,), VALUE),
        ((0,), VALUE),
        ((0x1701, 0x1702, 0x1600), ''),
    ],
)
def test_only_maps_of_the_right_direction_are_assigned(
    build: Build, maps: tuple[int, ...], code: str
) -> None:
    assert assign(build(1).preop(), 0x1C12, *maps) == code


def test_more_maps_or_more_entries_than_there_is_room_for_are_refused(build: Build) -> None:
    bench = build(1).preop()
    bench.sdo_write(1, 0x1C12, 0, b'\0')
    bench.sdo_write(1, 0x1600, 0, b'\0')

    assert bench.sdo_write(1, 0x1C12, 0, b'\x04').hex() == TOO_LARGE
    assert bench.sdo_write(1, 0x1600, 0, b'\x0b').hex() == TOO_LONG


def test_maps_that_cannot_be_written_abort_but_can_be_assigned(build: Build) -> None:
    bench = build(1, free_maps=False).preop()

    assert bench.sdo_write(1, 0x1600, 0, b'\0').hex() == READ_ONLY
    assert bench.sdo_write(1, 0x1600, 1, bytes(4)).hex() == READ_ONLY
    assert bench.sdo_write(1, 0x1A00, 0, b'\0').hex() == READ_ONLY
    assert assign(bench, 0x1C12, 0x1702) == ''
