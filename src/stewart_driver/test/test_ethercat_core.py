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
from stewart_driver.ethercat import home
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.drive_type import drive_path, DriveType
from stewart_driver.ethercat.ending import LONGEST_RAMP, longest_ramp, LONGEST_SINKING
from stewart_driver.ethercat.errors import (
    AlStatus,
    Emergency,
    fault_text,
    UnusableMap,
    WrongBus,
)
from stewart_driver.ethercat.leg_motion import limit_step
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.phase_lock import PhaseLock
from stewart_driver.ethercat.process_data import InputImage, Inputs, OutputImage
from stewart_driver.ethercat.starting import check_identities
from stewart_driver.rig_file import (
    DriveCalibration,
    DriveIdentity,
    EthercatSection,
    load_rig,
    Rig,
    save_rig,
)
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
        save_rig(path, Rig('vigo', drives=calibration))
        options = EthercatOptions(interface='eth1', rig_file=str(path))
        if fits:
            assert not EthercatBackend(options).homed
        else:
            with pytest.raises(
                ConfigurationError, match=rf'zero_offsets_counts\[{leg}\].*32 bits'
            ):
                EthercatBackend(options)


def test_a_frame_is_not_waited_for_longer_than_the_bus_may_be_silent() -> None:
    assert EthercatOptions(receive_timeout=0.05).frame_timeout == 0.05
    with pytest.raises(ConfigurationError, match=r'receive_timeout: .*than patience, 0\.06'):
        EthercatOptions(receive_timeout=0.06)


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


def test_gaps_of_a_map_may_be_alike() -> None:
    entries = (0x60400010, 0x00000008, 0x00000008, 0x00050008, 0x00050008, 0x607A0020)

    assert OutputImage(1, entries, lambda *_: b'').pack(6, -2, 0).hex() == '0600' + '00000000' + (
        'feffffff'
    )


@pytest.mark.parametrize(
    ('entries', 'message'),
    [
        ((0x60400010,), r'leg 4 does not map target position \(607Ah\); it maps 6040h'),
        ((0x60400010, 0x00000004, 0x607A0020), 'target position'),
        ((), 'controlword.*nothing'),
        (
            (0x60400010, 0x607A0020, 0x607A0020),
            'leg 4 says that it maps 6040h, 607Ah, 607Ah: one is there twice',
        ),
    ],
)
def test_maps_without_what_is_needed_are_refused(entries: Any, message: str) -> None:
    with pytest.raises(UnusableMap, match=message):
        OutputImage(4, entries, lambda _index, _subindex: b'')


@pytest.mark.parametrize(
    ('section', 'key', 'value', 'message'),
    [
        ('gear', 'lead_m', 0, 'gear.lead_m: expected a finite number above 0, got 0'),
        ('gear', 'lead_m', [0.01], r'gear.lead_m: expected a finite number above 0, got \[0.01\]'),
        ('gear', 'direction', 0, 'gear.direction: expected an integer from -1 to 1 other than 0'),
        ('gear', 'lead', 0.01, r'gear.lead: .*did you mean lead_m\?'),
        ('guards', 'options', {'quick': 2}, r'guards.options.quick: .*did you mean quick_stop\?'),
        ('guards', 'options', {1: 2}, 'guards.options.1: expected a key that exists'),
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
    assert (FIXED.maps.outputs.assign, FIXED.maps.inputs.assign) == ((0x1701,), (0x1B01,))
    assert FREE.maps.outputs.write == ('controlword', 'target_position', 'torque_offset')
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
    save_rig(path, Rig('vigo', drives=calibration, ethercat=EthercatSection('eth1')))

    home.park(str(path), (1, -2, 3, 4, 5, 6))

    rig = load_rig(path)
    assert rig.drives == replace(calibration, parked_counts=(1, -2, 3, 4, 5, 6))
    assert (rig.platform, rig.ethercat) == ('vigo', EthercatSection('eth1'))


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


def test_offsets_from_before_a_homing_are_no_strokes() -> None:
    homed = tuple(zero + round(0.001 * COUNTS) for zero in CALIBRATION.zero_offsets_counts)
    home.check_homed(CALIBRATION, homed, FIXED)
    elsewhere = (*homed[:4], homed[4] - round(0.01 * COUNTS), homed[5])
    with pytest.raises(HomingError, match=r'leg 5 would stand at -9\.0 mm, outside its stroke'):
        home.check_homed(CALIBRATION, elsewhere, FIXED)


def test_nobody_is_killed_in_the_longest_ending() -> None:
    """From OP regained, through two ramps as long as they may be, to legs that have sunk."""
    options = EthercatOptions(interface='lo', start_timeout=5.0)
    ramp = longest_ramp(FIXED, FIXED.limits.rate) + LONGEST_RAMP

    assert EthercatBackend(options).longest_closing == 5.0 + 2.0 * ramp + LONGEST_SINKING


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


@pytest.mark.parametrize('last', [40e-6, -40e-6])
def test_the_grid_runs_on_when_the_reference_clock_is_lost(last: float) -> None:
    """Its time stands then; the other drives hold their legs, and count frames beside SYNC0."""
    cycle, drift = 0.002, 30e-6
    lock, now = PhaseLock(cycle), 0.0
    for number in range(6000):
        late = last if number == 5999 else 0.0
        stood = round(1e9 * (now + late) * (1.0 + drift))
        lock.update(stood)
        now += cycle + lock.shift
    for _ in range(15_000):
        lock.update(stood)
        now += cycle + lock.shift

    assert abs((now * (1.0 + drift) + cycle / 2) % cycle - cycle / 2) < 0.1 * cycle


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


@pytest.mark.parametrize(
    ('word', 'off'),
    # Operation Enabled without bit 4, then with it; Switch On Disabled so, and Quick Stop Active.
    [(0x1227, False), (0x1237, False), (0x0240, True), (0x0250, False), (0x0207, True)],
)
def test_a_drive_without_bit_4_is_not_in_safe_torque_off_while_it_works(
    word: int, off: bool
) -> None:
    assert FIXED.sto_inputs == 0
    assert FIXED.torque_off(Inputs(word, 0)) is off
    told = replace(FIXED, sto_inputs=0x10000)
    assert told.torque_off(Inputs(word, 0, digital=0x10000))
    assert not told.torque_off(Inputs(word, 0, digital=0))
