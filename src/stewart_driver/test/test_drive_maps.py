# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Maps and ramps that a drive takes in part, or not at all."""

from __future__ import annotations

from dataclasses import replace
import struct

import pytest
from scripted_drive import FIXED, FREE, MAP_1701, ScriptedDrive
from stewart_driver.ethercat import guards
from stewart_driver.ethercat.drive_setup import set_up
from stewart_driver.ethercat.drive_type import MapPlan
from stewart_driver.ethercat.errors import SdoRefused, UnusableMap


def test_a_free_map_is_written_in_the_order_of_the_standard() -> None:
    drive = ScriptedDrive()

    exchange = set_up(drive, FREE, 0.002, None)

    assert exchange.note == ''
    assert len(exchange.outputs.pack(0, 0, 0)) == 8
    assert exchange.inputs.measures_torque
    assert exchange.inputs.unpack(bytes(exchange.inputs.size)).velocity == 0
    assert {(0x6060, 0, '08'), (0x60C2, 1, '02'), (0x60C2, 2, 'fd')} <= set(drive.log)
    first = drive.log.index((0x1C12, 0, '00'))
    assert drive.log[first : first + 8] == [
        (0x1C12, 0, '00'),
        (0x1600, 0, '00'),
        (0x1600, 1, '10004060'),
        (0x1600, 2, '20007a60'),
        (0x1600, 3, '1000b260'),
        (0x1600, 0, '03'),
        (0x1C12, 1, '0016'),
        (0x1C12, 0, '01'),
    ]


def test_a_map_is_padded_to_an_even_length() -> None:
    drive = ScriptedDrive()
    plan = MapPlan((0x1600,), ('controlword', 'mode', 'padding', 'target_position'))
    kind = replace(FREE, maps=FREE.maps._replace(outputs=plan))

    outputs = set_up(drive, kind, 0.002, None).outputs

    entries = [drive.objects[0x1600, number].hex() for number in range(1, 5)]
    assert entries == ['10004060', '08006060', '08000000', '20007a60']
    assert outputs.pack(0x000F, 0x01020304, 0, 8).hex() == '0f00' + '08' + '00' + '04030201'


def test_read_only_maps_are_used_as_they_are_and_said_to_be() -> None:
    exchange = set_up(ScriptedDrive(0x1600, 0x1A00), FREE, 0.002, None)

    assert not exchange.inputs.measures_torque
    assert exchange.outputs.pack(6, 1, 5).hex() == '0600010000000000'
    assert 'leg 3 refuses object 1600h:0: abort 0x06010002; its map 1600h is' in exchange.note
    assert '1A00h' in exchange.note


def test_a_read_only_assignment_is_used_as_it_is() -> None:
    exchange = set_up(ScriptedDrive(0x1C12, 0x1C13), FREE, 0.001, None)

    assert exchange.inputs.size == 28
    assert 'the maps that it has assigned are used' in exchange.note


def test_a_map_is_written_behind_an_assignment_that_is_read_only_and_the_wanted_one() -> None:
    drive = ScriptedDrive(0x1C12)
    drive.objects[0x1C12, 1] = struct.pack('<H', 0x1600)
    exchange = set_up(drive, FREE, 0.002, None)

    assert exchange.note == ''
    assert exchange.outputs.pack(6, 1, 5).hex() == '0600010000000500'
    assert drive.objects[0x1C12, 0] == b'\1'


def test_places_of_an_assignment_that_are_not_used_are_no_maps() -> None:
    drive = ScriptedDrive(0x1C13)
    drive.objects[0x1C13, 0], drive.objects[0x1C13, 2] = b'\2', bytes(2)

    exchange = set_up(drive, FIXED, 0.001, None)
    assert exchange.inputs.size == 28
    assert exchange.note == ''


def test_two_maps_may_tell_the_same_object_and_one_may_not() -> None:
    drive = ScriptedDrive(0x1C13)
    drive.objects[0x1C13, 0], drive.objects[0x1C13, 2] = b'\2', struct.pack('<H', 0x1A00)

    inputs = set_up(drive, FIXED, 0.001, None).inputs
    assert inputs.size == 28 + 8
    assert inputs.unpack(bytes(28) + struct.pack('<HiH', 0x1637, -3, 7)).position == -3
    drive.objects[0x1A00, 3] = drive.objects[0x1A00, 1]
    with pytest.raises(UnusableMap, match='6041h, 6064h, 6041h: one is there twice'):
        set_up(drive, FIXED, 0.001, None)


def test_a_read_only_map_that_lacks_what_is_needed_is_refused_in_one_sentence() -> None:
    drive = ScriptedDrive(0x1600)
    drive.objects[0x1600, 2] = struct.pack('<I', 0x60FF0020)

    with pytest.raises(UnusableMap, match='leg 3 does not map target position'):
        set_up(drive, FREE, 0.002, None)


def test_a_fixed_assignment_that_is_the_wanted_one_is_no_matter() -> None:
    assert set_up(ScriptedDrive(0x1C12, 0x1C13), FIXED, 0.002, None).note == ''


def test_an_entry_that_a_map_refuses_is_left_out_and_never_empties_the_map() -> None:
    drive = ScriptedDrive()
    drive.refused = {0x60B20010}
    exchange = set_up(drive, FREE, 0.002, None)
    assert exchange.outputs.pack(6, 1, 5).hex() == '0600' + '01000000'
    assert 'which was to be 60B2h' in exchange.note

    drive = ScriptedDrive()
    drive.refused = {0x607A0020}
    drive.accepts_old = set(MAP_1701[:3])
    exchange = set_up(drive, FREE, 0.002, None)
    assert drive.objects[0x1600, 0] == b'\3'
    assert exchange.outputs.pack(6, 1, 5).hex() == '0600' + '01000000' + '0000'
    assert 'its map 1600h is used as it is' in exchange.note


def test_what_gives_way_without_the_bus_is_named() -> None:
    drive = ScriptedDrive()
    held = set_up(drive, FIXED, 0.002, None).lacks
    drive.changes[0x6007, 0] = b'\1\0'
    lacks = set_up(drive, FIXED, 0.002, None).lacks

    assert guards.letting_go(FIXED.guards, [held] * 6) == ''
    assert guards.letting_go(FIXED.guards, [held] * 5 + [lacks]) == (
        'legs 6 give way when the bus is lost: 6007h is not 3 there, 605Ah not 5 to 8, or the '
        'ramp of the stop far too long'
    )
    assert guards.letting_go(FIXED.guards, [lacks] * 6).startswith('all legs give way')
    assert guards.letting_go(replace(FIXED.guards, options={}), [held] * 6) != ''


@pytest.mark.parametrize(
    ('most', 'taken', 'holds'),
    [(2**31 - 1, 2**31 - 1, True), (2**30, 2**30 - 1, False), (0, 60_000, False)],
)
def test_a_drive_is_given_as_much_of_a_ramp_as_it_takes(
    most: int, taken: int, *, holds: bool
) -> None:
    """The default of one that refused too large a value stayed, 12 mm/s², and was said to hold."""

    class Limited(ScriptedDrive):
        def write(self, index: int, subindex: int, data: bytes) -> None:
            if index in {0x6084, 0x6085} and int.from_bytes(data, 'little') > most:
                raise SdoRefused(self.leg, index, subindex, 'abort 0x06090031, value too high')
            super().write(index, subindex, data)

    drive = Limited()
    drive.objects[0x6084, 0] = drive.objects[0x6085, 0] = struct.pack('<I', 60_000)
    lacks = set_up(drive, FIXED, 0.002, None).lacks

    assert [struct.unpack('<I', drive.objects[at, 0])[0] for at in (0x6084, 0x6085)] == [taken] * 2
    assert [lack.reason for lack in lacks if 'quick stop' in lack.what] == [
        f'abort 0x06090031, value too high, reads back {taken}'
    ]
    assert (guards.letting_go(FIXED.guards, [lacks] * 6) == '') == holds
