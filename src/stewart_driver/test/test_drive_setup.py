# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a drive is told and asked in PREOP, by drives whose objects are written down here."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
import struct

import pytest
from scripted_drive import FIXED, MAP_1701, ScriptedDrive
from stewart_driver.errors import ConfigurationError
from stewart_driver.ethercat import guards
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.drive_setup import check_encoder, interpolation_time, set_up
from stewart_driver.ethercat.drive_type import drive_path, DriveType
from stewart_driver.ethercat.errors import SdoRefused, WrongBus
from stewart_driver.ethercat.homing import HomingPlan
from stewart_driver.ethercat.options import EthercatOptions
import yaml

COUNTS = 2**23 / 0.01


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


class Without(ScriptedDrive):
    """Has no objects of some indices."""

    def write(self, index: int, subindex: int, data: bytes) -> None:
        if index in self.locked:
            raise SdoRefused(self.leg, index, subindex, 'abort 0x06020000, no such object')
        super().write(index, subindex, data)


def test_the_torque_is_limited_by_6072h_where_60e0h_and_60e1h_are_absent() -> None:
    drive = Without(0x60E0, 0x60E1)
    assert set_up(drive, FIXED, 0.002, None).lacks == []
    assert drive.objects[0x6072, 0] == struct.pack('<H', 3000)

    # With one of the two, or with a start value of its own, nothing else is meant.
    half = Without(0x60E1)
    assert [lack.number for lack in set_up(half, FIXED, 0.002, None).lacks] == [0x60E1]
    told = replace(FIXED)
    own = (guards.Setting('most', 0x6072, 0, struct.pack('<H', 900)), *FIXED.settings)
    object.__setattr__(told, 'settings', own)
    drive = Without(0x60E0, 0x60E1)
    assert len(set_up(drive, told, 0.002, None).lacks) == 2
    assert drive.objects[0x6072, 0] == struct.pack('<H', 900)
    assert (0x6072, 0) not in half.objects
    none = set_up(Without(0x6072, 0x60E0, 0x60E1), FIXED, 0.002, None).lacks
    assert [lack.number for lack in none] == [0x60E0, 0x60E1, 0x6072]


OFFSETS = {0x60B0: ('position', '<i'), 0x60B1: ('velocity', '<i'), 0x60B2: ('torque', '<h')}


@pytest.mark.parametrize('index', OFFSETS)
def test_an_offset_that_somebody_has_left_is_taken_back_or_refused(index: int) -> None:
    """With a target that is the actual position 60B0h carries a leg away, cycle by cycle."""
    name, code = OFFSETS[index]
    drive = ScriptedDrive()
    drive.objects[index, 0] = struct.pack(code, -500)
    set_up(drive, FIXED, 0.002, None)
    assert not any(drive.objects[index, 0])

    stubborn = ScriptedDrive(index)
    set_up(stubborn, FIXED, 0.002, None)  # It has no such object.
    stubborn.objects[index, 0] = struct.pack(code, 0)
    set_up(stubborn, FIXED, 0.002, None)
    stubborn.objects[index, 0] = struct.pack(code, -500)
    said = rf'leg 3 keeps a {name} offset of -500 \({index:04X}h\), which would carry'
    with pytest.raises(WrongBus, match=said):
        set_up(stubborn, FIXED, 0.002, None)
    # What is mapped is 0, or the feed-forward, in every frame.
    for subindex, entry in enumerate((index << 16 | 8 * struct.calcsize(code), *MAP_1701[:2]), 1):
        stubborn.objects[0x1701, subindex] = struct.pack('<I', entry)
    stubborn.objects[0x1701, 0] = b'\3'
    sent = set_up(stubborn, FIXED, 0.002, None).outputs.pack(6, 1, 0)
    assert not any(sent[: struct.calcsize(code)])


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
