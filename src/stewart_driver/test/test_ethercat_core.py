# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Gear, maps, drive types, settings, and the small decisions of the back end ``ethercat``."""

from __future__ import annotations

from dataclasses import replace
import datetime
from math import pi
from pathlib import Path
import struct
from typing import Any

import numpy as np
import pytest
from stewart_driver.errors import ConfigurationError, HomingError
from stewart_driver.ethercat import guards, home
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.drive_setup import check_encoder, interpolation_time, set_up
from stewart_driver.ethercat.drive_type import drive_path, DriveType, MapPlan
from stewart_driver.ethercat.errors import (
    AlStatus,
    Emergency,
    fault_text,
    SdoRefused,
    UnusableMap,
    WrongBus,
)
from stewart_driver.ethercat.leg_motion import limit_step
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.phase_lock import PhaseLock
from stewart_driver.ethercat.process_data import InputImage, OutputImage
from stewart_driver.ethercat.starting import check_identities
from stewart_driver.rig_file import DriveCalibration, DriveIdentity, load_rig, Rig, save_rig
import yaml

FIXED, FREE = DriveType.from_yaml('omron_1s'), DriveType.from_yaml('omron_1s_free')
COUNTS = 2**23 / 0.01
IDENTITY = DriveIdentity(0x83, 0xB0, 0x10004, 0)
CALIBRATION = DriveCalibration(
    (-1000,) * 6, datetime.date(2026, 11, 21), 'zero', (0.01,) * 6, (IDENTITY,) * 6
)
# As the ESI file of the R88D-1SN04H-ECT has them.
MAP_1701 = (0x60400010, 0x607A0020, 0x60B80010, 0x60FE0120)
MAP_1B01 = (
    *(0x603F0010, 0x60410010, 0x60640020, 0x60770010, 0x60F40020),
    *(0x60B90010, 0x60BA0020, 0x60BC0020, 0x60FD0020),
)


def test_one_revolution_is_one_lead_and_the_encoder_counts_1_19_nanometres() -> None:
    gear = FIXED.gear
    zeros = np.array([5.0, -7.0, 0.0, 1e6, -1e6, 3.0])
    strokes = np.array([0.01, 0.0, 0.6, 0.3, 0.02, -0.001])

    counts = gear.counts(strokes, zeros)

    assert counts[:3] == [5 + 2**23, -7, 60 * 2**23]
    assert 1.0 / gear.counts_per_metre == pytest.approx(1.19e-9, rel=2e-3)
    np.testing.assert_allclose(gear.strokes(np.array(counts), zeros), strokes, atol=0.6e-9)


def test_force_and_torque_are_inverse_and_bounded() -> None:
    rated = 2.0 * pi * 1.27 / 0.010

    torques = FIXED.gear.torques(np.array([rated, -rated, 0.5 * rated, 0.0, 1e9, -1e9]))

    assert torques == [1000, -1000, 500, 0, 3000, -3000]


@pytest.mark.parametrize('leg', [1, 6])
def test_a_stroke_that_does_not_fit_in_32_bits_is_refused_at_the_start(
    leg: int, tmp_path: Path
) -> None:
    most = 2**31 - 1 - 0.605 * COUNTS
    for zero, fits in ((most - 1, True), (most + 2, False), (-(2**31) + 0.004 * COUNTS, False)):
        zeros = [0] * 6
        zeros[leg - 1] = round(zero)
        path = tmp_path / 'rig.yaml'
        calibration = DriveCalibration(
            tuple(zeros), CALIBRATION.calibrated, 'zero', (0.01,) * 6, (IDENTITY,) * 6
        )
        save_rig(path, Rig('vigo', calibration))
        options = EthercatOptions(interface='eth1', rig_file=str(path))
        if fits:
            assert not EthercatBackend(options).homed
        else:
            with pytest.raises(
                ConfigurationError, match=rf'zero_offsets_counts\[{leg}\].*32 bits'
            ):
                EthercatBackend(options)


def test_the_images_have_the_octets_of_the_esi_maps() -> None:
    outputs = OutputImage(1, MAP_1701, lambda _index, _subindex: b'\0\0\0\0')
    inputs = InputImage(1, MAP_1B01)

    sent = outputs.pack(0x000F, -2, 123)
    data = struct.pack('<HHihiHiiI', 0x8611, 0x1637, -3, -50, 7, 0, 0, 0, 0)
    read = inputs.unpack(data)

    assert sent.hex() == '0f00' + 'feffffff' + '0000' + '00000000'
    assert inputs.size == 28
    assert tuple(read) == (0x1637, -3, None, -50, 0x8611, None, 0)


def test_what_is_mapped_and_not_ours_keeps_its_value() -> None:
    entries = (0x60600008, 0x60400010, 0x607F0020, 0x607A0020, 0x60B20010)
    present = {(0x6060, 0): b'\x08', (0x607F, 0): b'\x01\x02\x03\x04'}

    image = OutputImage(1, entries, lambda *place: present[place])

    assert image.pack(6, 1, -1).hex() == '08' + '0600' + '01020304' + '01000000' + 'ffff'


@pytest.mark.parametrize(
    ('entries', 'message'),
    [
        ((0x60400010,), r'leg 4 does not map target position \(607Ah\); it maps 6040h'),
        ((0x60400010, 0x00000004, 0x607A0020), 'target position'),
        ((), 'controlword.*nothing'),
    ],
)
def test_maps_without_what_is_needed_are_refused(entries: Any, message: str) -> None:
    with pytest.raises(UnusableMap, match=message):
        OutputImage(4, entries, lambda _index, _subindex: b'')


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
    kind = replace(FREE, outputs=plan)

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


def test_a_read_only_map_that_lacks_what_is_needed_is_refused_in_one_sentence() -> None:
    drive = ScriptedDrive(0x1600)
    drive.objects[0x1600, 2] = struct.pack('<I', 0x60FF0020)

    with pytest.raises(UnusableMap, match='leg 3 does not map target position'):
        set_up(drive, FREE, 0.002, None)


def test_no_optional_object_prevents_a_start_and_each_that_is_lacking_is_named() -> None:
    drive = ScriptedDrive(0x10F3, 0x6007, 0x6065, 0x6066, 0x60C2, 0x6060)

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


def test_a_fixed_assignment_that_is_the_wanted_one_is_no_matter() -> None:
    assert set_up(ScriptedDrive(0x1C12, 0x1C13), FIXED, 0.002, None).note == ''


def test_a_drive_that_takes_a_guard_and_changes_it_is_named() -> None:
    drive = ScriptedDrive()
    drive.changes[0x605C, 0] = bytes(2)

    lacks = set_up(drive, FIXED, 0.002, None).lacks

    assert lacks == [guards.Lack('disable operation (605Ch)', 'reads back 0')]


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


def test_another_encoder_is_refused_and_one_without_the_object_believed() -> None:
    drive = ScriptedDrive()
    check_encoder(drive, FIXED)
    drive.objects[0x6091, 1], drive.objects[0x6091, 2] = b'\2\0\0\0', b'\1\0\0\0'
    with pytest.raises(WrongBus, match=r'leg 3 has 4194304 counts.*expected are 8388608'):
        check_encoder(drive, FIXED)
    del drive.objects[0x608F, 1]
    check_encoder(drive, FIXED)


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


@pytest.mark.parametrize(
    ('section', 'key', 'value', 'message'),
    [
        ('gear', 'lead_m', 0, 'gear.lead_m: expected a finite number above 0, got 0'),
        ('gear', 'lead_m', [0.01], r'gear.lead_m: expected a finite number above 0, got \[0.01\]'),
        ('gear', 'direction', 0, 'gear.direction: expected an integer from -1 to 1 other than 0'),
        ('gear', 'lead', 0.01, r'gear.lead: .*did you mean lead_m\?'),
        ('guards', 'options', {'quick': 2}, r'guards.options.quick: .*did you mean quick_stop\?'),
        ('guards', 'options', {1: 2}, 'guards.options.1: expected no such key'),
        ('guards', 'torque_limit', {}, 'guards.torque_limit: expected a finite number above 0'),
        ('legs', 'stroke_m', [0.0], 'legs.stroke_m: expected a list of 2 numbers'),
        ('maps', 'outputs', {'assign': [5633], 'write': 'x'}, 'maps.outputs.write: .* of texts'),
        ('identity', 'products', 176, 'identity.products: expected a list of integers'),
    ],
)
def test_what_cannot_be_used_in_a_drive_type_is_named(
    section: str, key: str, value: Any, message: str, tmp_path: Path
) -> None:
    content = yaml.safe_load(drive_path('omron_1s').read_text())
    content[section][key] = value
    (path := tmp_path / 'drive.yaml').write_text(yaml.safe_dump(content))

    with pytest.raises(ConfigurationError, match=message):
        DriveType.from_yaml(str(path))


def test_a_start_value_that_does_not_fit_is_named(tmp_path: Path) -> None:
    content = yaml.safe_load(drive_path('omron_1s').read_text())
    path = tmp_path / 'drive.yaml'
    for key, value in (('value', 65536), ('type', 'u12')):
        wrong = {**content['start_values'][0], key: value}
        path.write_text(yaml.safe_dump({**content, 'start_values': [wrong]}))
        with pytest.raises(ConfigurationError, match=rf'start_values\[1\].{key}: .*got'):
            DriveType.from_yaml(str(path))


def test_the_stored_types_read_and_every_wrong_value_is_named(tmp_path: Path) -> None:
    assert (FIXED.outputs.assign, FIXED.inputs.assign) == ((0x1701,), (0x1B01,))
    assert FREE.outputs.write == ('controlword', 'target_position', 'torque_offset')
    content = yaml.safe_load(drive_path('omron_1s').read_text())
    content['maps']['outputs'] = {'assign': [0x1600], 'write': ['controlword']}
    path = tmp_path / 'drive.yaml'
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigurationError, match=r'maps\.outputs.write.*target_position'):
        DriveType.from_yaml(str(path))
    with pytest.raises(ConfigurationError, match='one of omron_1s, omron_1s_free'):
        DriveType.from_yaml('omron_2s')


def test_a_wrong_drive_is_named_with_what_is_expected() -> None:
    found = [IDENTITY] * 6
    check_identities(found, FIXED)
    found[1] = DriveIdentity(0x83, 0xAB, 0x10004, 0)
    found[4] = DriveIdentity(0x83, 0xB0, 0x20000, 0)
    with pytest.raises(WrongBus, match=r'leg 2 .*0xAB.*leg 5 .*0x20000.*expected.*0xB0'):
        check_identities(found, FIXED)


def test_homed_needs_offsets_and_the_very_drives() -> None:
    found = list(CALIBRATION.identities)
    assert home.why_not(CALIBRATION, found, 'rig.yaml') == ''
    assert 'no zero offsets in rig.yaml' in home.why_not(None, found, 'rig.yaml')
    found[3] = IDENTITY._replace(serial=17)
    assert 'leg 4 is another one' in home.why_not(CALIBRATION, found, 'rig.yaml')
    found[3] = IDENTITY._replace(serial=None)
    assert home.why_not(CALIBRATION, found, 'rig.yaml') == ''
    assert home.without_numbers(found).startswith('the drives of leg 1, 2, 3, 4, 5, 6 tell no')


def test_a_swapped_pair_of_drives_is_refused_and_named() -> None:
    numbered = [IDENTITY._replace(serial=100 + leg) for leg in range(6)]
    calibration = replace(CALIBRATION, identities=tuple(numbered))
    numbered[1], numbered[4] = numbered[4], numbered[1]

    why = home.why_not(calibration, numbered, 'rig.yaml')

    assert why.startswith('drive of leg 2 is another one than on 2026-11-21: product 0xB0 number')
    assert why.endswith('the one that was on leg 5: were cables exchanged?')


@pytest.mark.parametrize('parked', [None, tuple(round(0.2 * COUNTS) - 1000 for _ in range(6))])
def test_an_encoder_that_has_lost_its_turns_is_refused(parked: tuple[int, ...] | None) -> None:
    calibration = replace(CALIBRATION, parked_counts=parked)
    left = list(parked or (round(0.01 * COUNTS) - 1000,) * 6)

    def why(counts: list[int]) -> str:
        return home.why_elsewhere(calibration, counts, FIXED.gear)

    assert why(left) == ''
    assert why([left[0] + round(0.9e-3 * COUNTS), *left[1:]]) == ''
    turned = [*left[:3], left[3] - 3 * 2**23, *left[4:]]
    assert 'leg 4 stands -30.000 mm from where it was when' in why(turned)
    assert 'lost its turns' in why(turned)
    with_nothing: Any = [*left[:5], None]
    assert 'leg 6 does not tell where it stands (6064h)' in why(with_nothing)


def test_where_the_drives_are_parked_is_in_the_rig_file(tmp_path: Path) -> None:
    path = tmp_path / 'rig.yaml'
    unknown = IDENTITY._replace(serial=None)
    calibration = replace(CALIBRATION, identities=(unknown,) * 6)
    save_rig(path, Rig('vigo', calibration, interface='eth1'))

    home.park(str(path), (1, -2, 3, 4, 5, 6))

    rig = load_rig(path)
    assert rig.drives == replace(calibration, parked_counts=(1, -2, 3, 4, 5, 6))
    assert (rig.platform, rig.interface) == ('vigo', 'eth1')


def test_home_is_compared_and_its_level_told() -> None:
    strokes = np.full(6, 0.0105)
    strokes[2] += 2e-4
    assert '+0.533 mm from home (zero), level within 0.200 mm' in home.check(
        CALIBRATION, strokes, 0.002
    )
    assert home.standing(CALIBRATION, strokes, 0.002) == home.check(CALIBRATION, strokes, 0.002)
    strokes[5] = 0.005
    assert home.standing(CALIBRATION, strokes, 0.002).endswith(
        'not verified here: leg 6 stands -5.000 mm from home (zero)'
    )
    with pytest.raises(HomingError, match=r'leg 6 is -5.000 mm from home, allowed are 2 mm'):
        home.check(CALIBRATION, strokes, 0.002)


def test_a_step_that_is_too_large_is_shortened_for_all_legs_and_told() -> None:
    before = np.full(6, 0.3)
    wanted = before + np.array([1.0, -2.0, 0.5, 0.0, 0.25, 0.1]) * 1e-3

    same, nothing = limit_step(before, wanted, 0.004, 0.5, 0.002)
    shortened, fault = limit_step(before, wanted, 0.002, 0.5, 0.002)
    held, invalid = limit_step(before, wanted * np.nan, 0.002, 0.5, 0.002)

    assert nothing is None
    np.testing.assert_array_equal(same, wanted)
    np.testing.assert_allclose(shortened - before, (wanted - before) * 0.6, atol=1e-12)
    assert 'leg 2: its target jumps by -2.000 mm in 2.00 ms, possible are 1.200 mm' in str(fault)
    np.testing.assert_array_equal(held, before)
    assert 'leg 1: its target is nan' in str(invalid)


@pytest.mark.parametrize('drift', [50e-6, -50e-6])
def test_the_grid_follows_a_clock_that_drifts(drift: float) -> None:
    cycle = 0.002
    lock, now, rng = PhaseLock(cycle), 0.0007, np.random.default_rng(3)
    errors = []
    for _ in range(6000):
        late = 5e-3 if rng.random() < 0.01 else rng.exponential(30e-6)
        lock.update(round(1e9 * (now + late) * (1.0 + drift)))
        now += cycle + lock.shift
        errors.append((now * (1.0 + drift) + cycle / 2) % cycle - cycle / 2)

    assert max(np.abs(errors[2000:])) < 0.2 * cycle
    assert abs(np.mean(errors[2000:])) < 0.06 * cycle


def test_a_fault_is_told_with_all_that_is_known() -> None:
    emergencies = [Emergency(0x2310, 1, bytes(5)), Emergency(0xFF00, 0x81, b'\1\2\0\0\0')]
    status = AlStatus(0x14, 0x1B, 'Sync manager watchdog')

    text = fault_text(0x2310, emergencies, status)

    assert text == (
        'continuous over-current at the output; emergency (register 0x01); '
        'emergency 0xFF00 (register 0x81, specific to the manufacturer (group FFxxh), '
        'data 01 02 00 00 00); EtherCAT state SAFEOP with error 0x001B (Sync manager watchdog)'
    )
    assert fault_text(0, [], AlStatus(8, 0, '')) == 'no error code'
    assert fault_text(0, [], AlStatus(0, 0, '')) == 'no error code; EtherCAT state does not answer'


def test_legs_on_their_lower_ends_are_known_from_outside() -> None:
    lower = np.zeros(6)
    assert home.resting(np.full(6, -0.0021), lower).startswith('all legs rest on their lower ends')
    # One turn of the screw more or less is no rest.
    for stroke in (0.0079, -0.0121, 0.3):
        assert not home.resting(np.array([stroke, *[-0.0021] * 5]), lower)
