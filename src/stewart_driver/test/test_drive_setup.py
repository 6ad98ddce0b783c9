# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a drive is told and asked in PREOP, by drives whose objects are written down here."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
import struct

import pytest
from stewart_driver.errors import ConfigurationError
from stewart_driver.ethercat import guards
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.drive_setup import check_encoder, interpolation_time, set_up
from stewart_driver.ethercat.drive_type import drive_path, DriveType, MapPlan
from stewart_driver.ethercat.errors import SdoRefused, UnusableMap, WrongBus
from stewart_driver.ethercat.homing import HomingPlan
from stewart_driver.ethercat.options import EthercatOptions
import yaml

FIXED, FREE = DriveType.from_yaml('omron_1s'), DriveType.from_yaml('omron_1s_free')
COUNTS = 2**23 / 0.01
# As the ESI file of the R88D-1SN04H-ECT has them.
MAP_1701 = (0x60400010, 0x607A0020, 0x60B80010, 0x60FE0120)
MAP_1B01 = (
    *(0x603F0010, 0x60410010, 0x60640020, 0x60770010, 0x60F40020),
    *(0x60B90010, 0x60BA0020, 0x60BC0020, 0x60FD0020),
)


class ScriptedDrive:
    """Objects of a drive in a dictionary; what is in `locked` aborts a write."""

    def __init__(self, *locked: int) -> None:
        self.leg, self.locked = 3, set(locked)
        self.refused: set[int] = set()
        self.accepts_old: set[int] = set()
        self.changes: dict[tuple[int, int], bytes] = {}
        self.log: list[tuple[int, int, str]] = []
        self.objects = {
            (0x608F, 1): struct.pack('<I', 2**23),
            (0x608F, 2): struct.pack('<I', 1),
            (0x60FE, 1): bytes(4),
            (0x60B8, 0): bytes(2),
            (0x10F1, 2): struct.pack('<H', 4),
            (0x1C12, 0): b'\1',
            (0x1C13, 0): b'\1',
            (0x1C12, 1): struct.pack('<H', 0x1701),
            (0x1C13, 1): struct.pack('<H', 0x1B01),
        }
        for index, entries in (
            (0x1701, MAP_1701),
            (0x1B01, MAP_1B01),
            (0x1600, MAP_1701[:3]),
            (0x1A00, (0x60410010, 0x60640020, 0x603F0010)),
        ):
            self.objects[index, 0] = bytes([len(entries)])
            for number, entry in enumerate(entries, 1):
                self.objects[index, number] = struct.pack('<I', entry)

    def read(self, index: int, subindex: int) -> bytes:
        if (index, subindex) not in self.objects:
            raise SdoRefused(self.leg, index, subindex, 'abort 0x06020000')
        return self.objects[index, subindex]

    def write(self, index: int, subindex: int, data: bytes) -> None:
        self.log.append((index, subindex, data.hex()))
        if index in self.locked:
            raise SdoRefused(self.leg, index, subindex, 'abort 0x06010002')
        if len(data) == 4 and struct.unpack('<I', data)[0] in self.refused and index == 0x1600:
            self.refused -= self.accepts_old
            raise SdoRefused(self.leg, index, subindex, 'abort 0x06040041')
        self.objects[index, subindex] = self.changes.get((index, subindex), data)


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


def test_no_optional_object_prevents_a_start_and_each_that_is_lacking_is_named() -> None:
    drive = ScriptedDrive(0x10F3, 0x6007, 0x6065, 0x6066, 0x60C2, 0x6060)
    drive.objects[0x6066, 0] = struct.pack('<H', 7)

    exchange = set_up(drive, FIXED, 0.002, (-5, 7))

    told = guards.sentence(FIXED.guards.missing, [[], [], exchange.lacks, [], [], []])
    assert told.startswith('the drives lack ')
    for what in (
        'abort connection (6007h)',
        'following error (6065h)',
        'interpolation time (60C2h:1',
    ):
        assert f'{what}' in told
    assert 'of leg 3: abort 0x06010002' in told
    # What is refused stays as it was.
    assert 'abort 0x06010002, reads back 7' in told
    assert 'software limit' not in told
    assert drive.objects[0x607D, 1] + drive.objects[0x607D, 2] == struct.pack('<ii', -5, 7)
    assert drive.objects[0x60E0, 0] == struct.pack('<H', 3000)
    assert drive.objects[0x605E, 0] == struct.pack('<h', 2)
    assert drive.objects[0x605D, 0] == struct.pack('<h', 1)
    # The legs' 6 m/s² are more counts than the object holds: 5.1 m/s².
    assert drive.objects[0x6084, 0] == drive.objects[0x6085, 0] == b'\xff' * 4
    gentle = {item.index: item.data for item in FIXED.guards.settings(FIXED.gear, 2.0, None)}
    assert gentle[0x6084] == gentle[0x6085] == struct.pack('<I', round(2.0 * COUNTS))


def test_a_drive_that_comes_up_without_sync0_is_told_to_work_on_it() -> None:
    drive = ScriptedDrive()
    for index in (0x1C32, 0x1C33):
        drive.objects[index, 1] = struct.pack('<H', 1)

    set_up(drive, FIXED, 0.002, None)

    assert drive.objects[0x1C32, 1] == drive.objects[0x1C33, 1] == struct.pack('<H', 2)


def test_software_limits_are_taken_in_whichever_order_the_drive_permits() -> None:
    class Ordered(ScriptedDrive):
        """Refuses a lower limit above the upper one (abort 0609 0036h)."""

        def write(self, index: int, subindex: int, data: bytes) -> None:
            ends = {number: self.objects[0x607D, number] for number in (1, 2)}
            if index == 0x607D:
                ends[subindex] = data
                if struct.unpack('<i', ends[1]) > struct.unpack('<i', ends[2]):
                    raise SdoRefused(self.leg, index, subindex, 'abort 0x06090036')
            super().write(index, subindex, data)

    drive = Ordered()
    drive.objects[0x607D, 1] = drive.objects[0x607D, 2] = bytes(4)

    exchange = set_up(drive, FIXED, 0.002, (500, 900))

    assert drive.objects[0x607D, 1] + drive.objects[0x607D, 2] == struct.pack('<ii', 500, 900)
    assert not exchange.lacks


def test_a_home_offset_that_may_shift_the_software_limits_is_named() -> None:
    """CiA 402 takes 607Ch from 607Dh before it compares; not every drive does."""
    drive = ScriptedDrive()
    for offset, ends, told in ((0, (500, 900), 0), (-7000, None, 0), (-7000, (500, 900), 1)):
        drive.objects[0x607C, 0] = struct.pack('<i', offset)
        lacks = set_up(drive, FIXED, 0.002, ends).lacks
        assert len(lacks) == told
    assert guards.sentence([], [lacks] * 6) == (
        'the drives lack software limits without a home offset (607Ch): '
        'reads -7000, by which they may be shifted'
    )


def test_a_fixed_assignment_that_is_the_wanted_one_is_no_matter() -> None:
    assert set_up(ScriptedDrive(0x1C12, 0x1C13), FIXED, 0.002, None).note == ''


def test_a_drive_that_takes_a_guard_and_changes_it_is_named() -> None:
    drive = ScriptedDrive()
    drive.changes[0x605C, 0] = bytes(2)

    lacks = set_up(drive, FIXED, 0.002, None).lacks

    assert lacks == [guards.Lack('disable operation (605Ch)', 'reads back 0', 0x605C)]


@pytest.mark.parametrize(
    ('entry', 'answer', 'told'),
    [
        ((0x6065, 0), b'\xff\xff\xff\xff', 'following error (6065h): reads back 4294967295'),
        ((0x6066, 0), b'\xff\xff', 'following error time (6066h): reads back 65535'),
        ((0x60E0, 0), b'\x00\x80', 'torque limit (60E0h): reads back 32768'),
        ((0x60C2, 1), b'\xff', 'interpolation time (60C2h:1): reads back 255'),
        ((0x10F3, 5), b'\xff\xff', 'send emergencies: off by default (10F3h:5): reads back 65535'),
        ((0x605A, 0), b'\xff\xff', 'quick stop (605Ah): reads back -1'),
        ((0x607D, 1), b'\xfb\xff\xff\xff', 'software limit (607Dh:1): reads back -5'),
        ((0x60C2, 2), b'\xfc', 'interpolation time (60C2h:2): reads back -4'),
        ((0x6060, 0), b'\xff', 'mode (6060h): reads back -1'),
    ],
)
def test_what_reads_back_is_told_as_signed_as_the_object_is(
    entry: tuple[int, int], answer: bytes, told: str
) -> None:
    drive = ScriptedDrive()
    drive.changes[entry] = answer

    lacks = set_up(drive, FIXED, 0.002, (500, 900)).lacks

    assert [f'{lack.what}: {lack.reason}' for lack in lacks] == [told]


def test_a_start_value_that_is_needed_and_refused_ends_the_start(tmp_path: Path) -> None:
    content = yaml.safe_load(drive_path('omron_1s').read_text())
    content['start_values'][0]['needed'] = True
    path = tmp_path / 'drive.yaml'
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(SdoRefused, match='leg 3 refuses object 10F3h:5: abort 0x06010002'):
        set_up(ScriptedDrive(0x10F3), DriveType.from_yaml(str(path)), 0.002, None)


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


def test_the_drives_own_limits_are_behind_those_of_the_computer() -> None:
    limits, gear = FIXED.limits, FIXED.gear
    lower, upper = guards.software_limits(2, gear, limits, -1000, round(0.3 * COUNTS))
    assert lower == pytest.approx(-1000 - 0.01 * COUNTS, abs=2)
    assert upper == pytest.approx(-1000 + 0.61 * COUNTS, abs=2)
    # A leg that stands outside is not pulled inside by being switched on.
    assert guards.software_limits(2, gear, limits, 0, round(-0.03 * COUNTS))[0] == pytest.approx(
        -0.04 * COUNTS, abs=2
    )


def test_another_encoder_is_refused_and_a_drive_that_tells_none_is_named() -> None:
    drive = ScriptedDrive()
    assert check_encoder(drive, FIXED) == []
    drive.objects[0x6091, 1], drive.objects[0x6091, 2] = b'\2\0\0\0', b'\1\0\0\0'
    with pytest.raises(WrongBus, match=r'leg 3 has 4194304 counts.*608Fh.*expected are 8388608'):
        check_encoder(drive, FIXED)
    del drive.objects[0x608F, 1]
    lacks = set_up(drive, FIXED, 0.002, None).lacks
    assert guards.sentence([], [[], [], lacks]) == (
        'the drives lack a scale to compare the gear with of leg 3: '
        'neither 6092h nor 608Fh tells it'
    )


@pytest.mark.parametrize(
    ('feed', 'gear', 'counts'),
    [
        ((10_000, 1), (1, 1), 10_000),
        ((10_000, 1), (5, 1), 2_000),
        ((30_000, 3), (1, 1), 10_000),
        # As a drive has it that does not use it, or with nothing to divide by.
        ((1, 1), (1, 1), 1 << 20),
        ((10_000, 0), (2, 1), 1 << 19),
    ],
)
def test_the_position_unit_is_that_of_the_feed_where_a_drive_has_one(
    feed: tuple[int, int], gear: tuple[int, int], counts: int
) -> None:
    """Of an encoder of 20 bit many drives make 10000 position units per revolution (CiA 402)."""
    drive = ScriptedDrive()
    for index, values in ((0x608F, (1 << 20, 1)), (0x6091, gear), (0x6092, feed)):
        for subindex, value in enumerate(values, 1):
            drive.objects[index, subindex] = struct.pack('<I', value)
    kinds = {
        scale: replace(FIXED, gear=replace(FIXED.gear, counts_per_revolution=scale))
        for scale in (counts, 3 * counts)
    }
    assert check_encoder(drive, kinds[counts]) == []
    with pytest.raises(WrongBus, match=rf'leg 3 has {counts} counts per rev.* are {3 * counts}'):
        check_encoder(drive, kinds[3 * counts])


@pytest.mark.parametrize('entry', [(0x6502, 0), (0x1C12, 0), (0x1701, 2)])
def test_an_answer_that_is_too_short_is_a_refusal(entry: tuple[int, int]) -> None:
    """`SdoRefused` is expected of every drive; a `struct.error` ended the cyclic process."""
    drive = ScriptedDrive()
    drive.objects[entry] = b''
    with suppress(SdoRefused):
        set_up(drive, FIXED, 0.002, None)


@pytest.mark.parametrize(
    ('time', 'expected'),
    [(0.001, (1, -3)), (0.004, (4, -3)), (0.0025, (25, -4)), (125e-6, (125, -6))],
)
def test_the_interpolation_time_is_exact(time: float, expected: tuple[int, int]) -> None:
    assert interpolation_time(time) == expected


def test_a_cycle_that_no_drive_can_be_told_is_refused() -> None:
    with pytest.raises(ConfigurationError, match='cycle_time: expected 1 to 255 times'):
        EthercatOptions(cycle_time=0.0012345678)
    with pytest.raises(ConfigurationError, match='patience: expected less than drive_watchdog'):
        EthercatOptions(patience=0.2)
    with pytest.raises(ConfigurationError, match='interface: expected a network interface'):
        EthercatBackend(EthercatOptions())


HOMING = (
    (0x6098, 0, b'\x21'),
    (0x6099, 1, struct.pack('<I', round(0.05 * COUNTS))),
    (0x6099, 2, struct.pack('<I', round(0.01 * COUNTS))),
    (0x609A, 0, struct.pack('<I', round(1.0 * COUNTS))),
    (0x607C, 0, bytes(4)),
)
PLAN = HomingPlan((17, 33), fast_speed=0.05, slow_speed=0.01, acceleration=1.0, stroke=0.0)


def drive_that_homes(*locked: int) -> ScriptedDrive:
    drive = ScriptedDrive(*locked)
    drive.objects[0x6502, 0] = struct.pack('<I', 1 << 7 | 1 << 5)
    drive.objects[0x6061, 0] = b'\x08'
    return drive


def test_a_drive_is_told_how_to_home_while_its_mailbox_has_time() -> None:
    drive = drive_that_homes()
    set_up(drive, FIXED, 0.002, None, tuple(PLAN.settings(33, FIXED.gear)))

    told = [(index, subindex, data.hex()) for index, subindex, data in HOMING]
    assert [entry for entry in drive.log if entry in told] == told
    silent = drive_that_homes()
    set_up(silent, FIXED, 0.002, None)
    assert not {index for index, _, _ in silent.log} & {index for index, _, _ in HOMING}


@pytest.mark.parametrize(
    ('change', 'said'),
    [
        ({(0x6502, 0): struct.pack('<I', 1 << 7)}, 'leg 3 has no mode 6'),
        ({(0x6061, 0): None}, '6061h'),
        ({(0x609A, 0): bytes(4)}, r'homing acceleration \(609Ah\): reads back 0'),
    ],
)
def test_a_drive_that_cannot_home_as_it_shall_ends_the_start(
    change: dict[tuple[int, int], bytes | None], said: str
) -> None:
    drive = drive_that_homes()
    for place, data in change.items():
        if data is None:
            del drive.objects[place]
        else:
            drive.objects[place] = drive.changes[place] = data

    with pytest.raises((WrongBus, SdoRefused), match=said):
        set_up(drive, FIXED, 0.002, None, tuple(PLAN.settings(33, FIXED.gear)))


def test_a_homing_method_that_a_drive_refuses_ends_the_start() -> None:
    with pytest.raises(WrongBus, match=r'leg 3 does not take its homing method .*0x06010002'):
        set_up(drive_that_homes(0x6098), FIXED, 0.002, None, tuple(PLAN.settings(33, FIXED.gear)))


@pytest.mark.parametrize(('before', 'after'), [(4, 93), (200, 200), (0, 0)])
def test_a_drive_bears_as_many_missing_frames_as_the_driver(before: int, after: int) -> None:
    """10F1h:2 is 4 in the standard's sample code: two frames, and the drive leaves OP."""
    drive = ScriptedDrive()
    drive.objects[0x10F1, 2] = struct.pack('<H', before)

    assert set_up(drive, FIXED, 0.002, None, patience=0.06).lacks == []
    assert drive.objects[0x10F1, 2] == struct.pack('<H', after)


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
