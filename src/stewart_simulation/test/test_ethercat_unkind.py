# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Drives as unkind as real ones: SYNC0, late words, options, limits, missing objects, STO."""

from __future__ import annotations

from collections.abc import Callable
import struct
from typing import Any

import pytest
from stewart_simulation.ethercat.faults import Faults
from stewart_simulation.ethercat.frames import Command, Datagram
from stewart_simulation.ethercat.segment import Line

Build = Callable[..., Any]
ERROR, STATUS, POSITION, INPUTS = 0, 1, 2, 8
REVOLUTION = 1 << 23
NO_OBJECT, NOT_MAPPABLE, NO_SUBINDEX = '00000206', '41000406', '11000906'


def enabled(build: Build, count: int = 1, **options: Any) -> Any:
    bench = build(count, **options).op()
    for word in (0x06, 0x07, 0x0F):
        bench.run(8, lambda _, word=word: [(word, 0)] * count)
    return bench


def moving(bench: Any, count: int = 100, step: int = 20_000) -> int:
    """Follow a ramp; return where its target has come."""
    for number in range(count):
        bench.cycle([(0x0F, step * number)])
    return step * (count - 1)


def setting(bench: Any, index: int, kind: str, value: int, sub: int = 0) -> None:
    assert bench.sdo_write(1, index, sub, struct.pack('<' + kind, value)) == b''


def faults_of(bench: Any) -> Faults:
    return Faults(bench.segment, Line(bench.segment, seed=0))


# SYNC0.


def test_targets_are_taken_at_sync0_and_not_when_the_frame_comes(build: Build) -> None:
    bench = enabled(build)
    drive, clock = bench.segment.slaves[0].drive, bench.segment.slaves[0].clock
    bench.cycle([(0x0F, 1000)])
    sent = bench.now[0]
    while drive.command.position != 1000:
        assert bench.now[0] - sent < 1_100_000
        bench.now[0] += 10_000
        bench.segment.tick()

    start = bench.segment.slaves[0].memory.get(0x0990, 8)
    assert clock.system() - start >= 0
    assert (clock.system() - start) % 1_000_000 < 20_000
    assert bench.now[0] > sent + 10_000


def test_of_two_frames_between_two_sync0_the_later_counts(build: Build) -> None:
    bench = enabled(build, sync_error_limit=4)
    for target in (500, 700):
        bench.now[0] -= 900_000
        bench.cycle([(0x0F, target)])
    bench.now[0] += 1_000_000
    bench.segment.tick()

    drive = bench.segment.slaves[0].drive
    assert drive.command.position == 700
    assert bench.segment.slaves[0].sync_errors == 0


@pytest.mark.parametrize(('limit', 'survives'), [(4, 1), (7, 2), (10, 3)])
def test_missing_outputs_are_counted_by_three_and_end_in_a_sync_error(
    limit: int, survives: int, build: Build
) -> None:
    bench = enabled(build, sync_error_limit=limit)

    def skip(count: int) -> None:
        bench.now[0] += count * 1_000_000
        bench.segment.tick()

    # The first SYNC0 takes the last outputs; the last one comes just before the next frame.
    skip(survives)
    bench.cycle([(0x0F, 0)])
    assert bench.al(1) == (0x08, 0)
    bench.run(3 * survives + 2, lambda _: [(0x0F, 0)])
    assert bench.segment.slaves[0].sync_errors == 0
    skip(survives + 2)
    assert bench.al(1) == (0x14, 0x1A)
    assert bench.segment.slaves[0].drive.error_code == 0x8700


def test_a_master_may_change_the_limit_in_preop(build: Build) -> None:
    bench = build(1, sync_error_limit=4).preop()

    assert bench.sdo_read(1, 0x10F1, 2) == b'\x04\x00'
    setting(bench, 0x10F1, 'H', 30, 2)


def test_operation_waits_until_the_clock_has_settled(build: Build) -> None:
    bench = build(1).safeop()
    bench.segment.slaves[0].memory.set(0x092C, 4, 50_000)
    bench.write(1, 0x0120, b'\x08\x00')
    bench.run(30, lambda _: [(0, 0)])
    assert bench.al(1)[0] == 0x04
    bench.run(1000, lambda _: [(0, 0)])
    assert bench.al(1) == (0x14, 0x32)
    bench.segment.slaves[0].memory.set(0x092C, 4, 500)
    bench.write(1, 0x0120, b'\x14\x00')
    bench.write(1, 0x0120, b'\x08\x00')
    bench.run(3, lambda _: [(0, 0)])
    assert bench.al(1) == (0x08, 0)


# Controlword and target.


@pytest.mark.parametrize('delay', [0, 1, 4, -1, -4])
def test_a_controlword_acts_later_or_earlier_than_its_target(delay: int, build: Build) -> None:
    bench = enabled(build, controlword_delay=delay)
    drive = bench.segment.slaves[0].drive
    off, moved = None, None
    for number in range(12):
        bench.cycle([(0x06, 5000)])
        bench.now[0] += 900_000
        bench.segment.tick()
        bench.now[0] -= 900_000
        if moved is None and drive.command.enabled and drive.command.position == 5000:
            moved = number
        if off is None and not drive.command.enabled:
            off = number

    assert off == max(delay, 0)
    assert moved == (0 if delay > 0 else None)


def test_a_drive_takes_its_time_to_switch_on(build: Build) -> None:
    bench = build(1, enable_delay=0.05).op()
    for word in (0x06, 0x07):
        bench.run(4, lambda _, word=word: [(word, 0)])
    seen = [bench.cycle([(0x0F, 0)])[0][STATUS] for _ in range(60)]

    assert seen.index(0x1237) == pytest.approx(51, abs=2)


# Option codes.


@pytest.mark.parametrize(
    ('word', 'index', 'option', 'end', 'coasts'),
    [
        (0x02, 0x605A, 0, 'SWITCH_ON_DISABLED', True),
        (0x02, 0x605A, 2, 'SWITCH_ON_DISABLED', False),
        (0x02, 0x605A, 6, 'QUICK_STOP_ACTIVE', False),
        (0x06, 0x605B, 0, 'READY_TO_SWITCH_ON', True),
        (0x06, 0x605B, 1, 'READY_TO_SWITCH_ON', False),
        (0x07, 0x605C, 0, 'SWITCHED_ON', True),
        (0x07, 0x605C, 1, 'SWITCHED_ON', False),
        (0x00, 0x605A, 2, 'SWITCH_ON_DISABLED', True),
    ],
)
def test_option_codes_tell_how_operation_is_left(
    word: int, index: int, option: int, end: str, coasts: bool, build: Build
) -> None:
    bench = enabled(build)
    setting(bench, index, 'h', option)
    setting(bench, 0x6084, 'I', 200 * REVOLUTION)
    setting(bench, 0x6085, 'I', 200 * REVOLUTION)
    target = moving(bench)
    drive, powered = bench.segment.slaves[0].drive, 0
    for _ in range(60):
        bench.cycle([(word, target)])
        powered += drive.command.enabled

    # 2.4 revolutions a second at 200 a second squared: 12 ms.
    assert drive.state.name == end
    if end == 'QUICK_STOP_ACTIVE':
        assert powered == 60
        assert bench.cycle([(word, target)])[0][STATUS] == 0x0617
    else:
        assert powered <= 1 if coasts else powered == pytest.approx(13, abs=3)


@pytest.mark.parametrize(
    ('option', 'end', 'code'),
    [
        (0, 'OPERATION_ENABLED', 0),
        (1, 'FAULT', 0x8130),
        (2, 'SWITCH_ON_DISABLED', 0),
        (3, 'SWITCH_ON_DISABLED', 0),
    ],
)
def test_6007h_tells_what_the_loss_of_the_bus_does(
    option: int, end: str, code: int, build: Build
) -> None:
    bench = enabled(build)
    setting(bench, 0x6007, 'h', option)
    moving(bench)
    bench.wait(0.5)

    drive = bench.segment.slaves[0].drive
    assert (drive.state.name, drive.error_code) == (end, code)


@pytest.mark.parametrize(('option', 'ramps'), [(0, False), (2, True)])
def test_605eh_tells_how_a_fault_ends(option: int, ramps: bool, build: Build) -> None:
    bench = enabled(build)
    setting(bench, 0x605E, 'h', option)
    setting(bench, 0x6085, 'I', 200 * REVOLUTION)
    target = moving(bench)
    drive, powered = bench.segment.slaves[0].drive, 0
    drive.fault(0x2310)
    for _ in range(60):
        bench.cycle([(0x0F, target)])
        powered += drive.command.enabled

    assert drive.state.name == 'FAULT'
    assert powered == (pytest.approx(13, abs=3) if ramps else 0)


# Limits in the drive.


def test_torque_limits_reach_the_motor_and_show(build: Build) -> None:
    bench = enabled(build)
    setting(bench, 0x6072, 'H', 2000)
    setting(bench, 0x60E0, 'H', 1500)
    setting(bench, 0x60E1, 'H', 2500)
    bench.cycle([(0x0F, 0)])
    bench.cycle([(0x0F, 0)])
    command = bench.segment.slaves[0].drive.command
    assert (command.push, command.pull) == (1500.0, 2000.0)
    bench.segment.model.torques[0] = 1500.0
    assert bench.run(3, lambda _: [(0x0F, 0)])[0][STATUS] == 0x1A37
    bench.segment.model.torques[0] = -1500.0
    assert bench.run(3, lambda _: [(0x0F, 0)])[0][STATUS] == 0x1237


def test_the_greatest_window_supervises_nothing(build: Build) -> None:
    bench = enabled(build)
    setting(bench, 0x6065, 'I', 0xFFFFFFFF)

    assert bench.run(5, lambda _: [(0x0F, 3 * REVOLUTION)])[0][STATUS] == 0x1237


# What drives do not have, or not at first.


def test_emergencies_come_only_when_10f3h_asks_for_them(build: Build) -> None:
    bench = build(1, emergencies=False).op()
    drive = bench.segment.slaves[0].drive
    drive.fault(0x2310)
    bench.run(4, lambda _: [(0, 0)])
    assert bench.fetch(1) is None
    bench.run(4, lambda _: [(0x80, 0)])
    setting(bench, 0x10F3, 'H', 1, 5)
    drive.fault(0x2310)
    assert bench.fetch(1) == (3, bytes.fromhex('0010 1023 01 0000000000'))


def test_objects_that_are_not_there_are_refused_and_missed_by_nobody(build: Build) -> None:
    absent = frozenset({0x60C2, 0x6066, 0x607D, 0x6072, 0x60E0, 0x60E1, 0x6007, 0x605B, 0x6085})
    bench = build(1, absent=absent).preop()
    assert bench.sdo_write(1, 0x60C2, 1, b'\x01').hex() == NO_OBJECT
    answer = bench.sdo(1, struct.pack('<BHB4x', 0x40, 0x6066, 0))
    assert answer[4:].hex() == NO_OBJECT
    bench = enabled(build, absent=absent)
    target = moving(bench)
    bench.run(20, lambda _: [(0x0F, target)])

    assert bench.cycle([(0x0F, target)])[0][STATUS] == 0x1237
    assert bench.segment.model.positions[0] == pytest.approx(target, abs=100)


def test_a_map_refuses_one_entry_and_keeps_the_others(build: Build) -> None:
    bench = build(1, unmappable=frozenset({0x60B2})).preop()
    assert bench.sdo_write(1, 0x1600, 0, b'\x00') == b''
    entries = (0x60400010, 0x607A0020, 0x60B20010)
    said = [
        bench.sdo_write(1, 0x1600, number, struct.pack('<I', entry)).hex()
        for number, entry in enumerate(entries, 1)
    ]

    assert said == ['', '', NOT_MAPPABLE]
    assert bench.sdo_write(1, 0x1600, 0, b'\x02') == b''


def test_a_drive_may_have_no_serial_number(build: Build) -> None:
    bench = build(1, has_serial=False).preop()

    assert bench.sdo_read(1, 0x1018, 0) == b'\x03'
    answer = bench.sdo(1, struct.pack('<BHB4x', 0x40, 0x1018, 4))
    assert answer[4:].hex() == NO_SUBINDEX


# Voltage.


@pytest.mark.parametrize(
    ('is_fault', 'state', 'code'), [(False, 'SWITCH_ON_DISABLED', 0), (True, 'FAULT', 0xFF30)]
)
def test_sto_takes_the_voltage_at_once_and_keeps_it(
    is_fault: bool, state: str, code: int, build: Build
) -> None:
    bench = enabled(build, sto_is_fault=is_fault)
    faults = faults_of(bench)
    faults.apply('sto', slave=1)
    row = bench.run(3, lambda _: [(0x0F, 0)])[0]
    drive = bench.segment.slaves[0].drive
    assert (drive.state.name, drive.error_code, drive.command.enabled) == (state, code, False)
    assert not row[STATUS] & 0x10
    assert row[INPUTS] >> 24 & 1
    for word in (0x80, 0x06, 0x07, 0x0F):
        bench.run(4, lambda _, word=word: [(word, 0)])
    assert drive.state.name == 'SWITCH_ON_DISABLED'
    faults.apply('sto', slave=1, active=False)
    row = bench.run(4, lambda _: [(0x00, 0)])[0]
    assert (row[STATUS], row[INPUTS]) == (0x0250, 0)


def test_a_lost_main_circuit_is_an_undervoltage(build: Build) -> None:
    bench = enabled(build)
    faults_of(bench).apply('mains', slave=1, on=False)
    row = bench.run(3, lambda _: [(0x0F, 0)])[0]

    assert (row[ERROR], row[STATUS]) == (0x3220, 0x0208)


def test_a_drive_under_local_control_says_so_and_obeys_nobody(build: Build) -> None:
    bench = build(1).op()
    faults_of(bench).apply('local', slave=1)

    assert bench.run(5, lambda _: [(0x06, 0)])[0][STATUS] == 0x0050


# Encoders and cables.


def test_an_encoder_that_lost_its_turns_knows_the_rest(build: Build) -> None:
    bench = build(1).op()
    bench.segment.model.positions[0] = 5.0 * REVOLUTION + 1234.0
    faults_of(bench).apply('lose_turns', slave=1)
    assert bench.run(3, lambda _: [(0, 0)])[0][POSITION] == 1234
    for word in (0x06, 0x07, 0x0F):
        bench.run(6, lambda _, word=word: [(word, 1234)])
    bench.run(50, lambda _: [(0x0F, 2000)])

    assert bench.segment.model.positions[0] == pytest.approx(5.0 * REVOLUTION + 2000.0, abs=1.0)


def test_swapped_drives_move_each_others_legs(build: Build) -> None:
    bench = build(2).op()
    first, second = bench.segment.slaves
    bench.segment.model.positions[0] = 111.0
    faults_of(bench).apply('swap', one=1, other=2)
    assert bench.segment.slaves == [second, first]
    bench.op()

    assert [row[POSITION] for row in bench.cycle([(0, 0)] * 2)] == [0, 111]


def test_faults_make_another_drive_of_one(build: Build) -> None:
    bench = build(1).preop()
    faults_of(bench).apply('variant', slave=1, absent=[0x60C2], controlword_delay=4)
    bench.preop()

    assert bench.sdo_write(1, 0x60C2, 1, b'\x01').hex() == NO_OBJECT
    assert bench.segment.slaves[0].drive_type.controlword_delay == 4
    assert bench.send(Datagram(Command.BRD, 0, 0x0130, bytes(2)))[0].working_counter == 1
