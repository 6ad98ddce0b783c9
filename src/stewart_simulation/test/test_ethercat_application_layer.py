# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a slave refuses on its way to OP, each with its AL status code (ETG.1020)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import struct
from typing import Any

import pytest
from stewart_simulation.ethercat.frames import Command, Datagram

Build = Callable[..., Any]

INIT, PREOP, BOOT, SAFEOP, OP, ERROR, ACKNOWLEDGE = 0x01, 0x02, 0x03, 0x04, 0x08, 0x10, 0x10


def test_the_straight_way_to_op_and_back(build: Build) -> None:
    bench = build(2).op()

    for state in (SAFEOP, PREOP, INIT):
        assert bench.request(1, state) == (state, 0)


def test_op_can_be_left_for_init_at_once(build: Build) -> None:
    assert build(1).op().request(1, INIT) == (INIT, 0)


@pytest.mark.parametrize(
    ('asked', 'code'), [(SAFEOP, 0x11), (OP, 0x11), (BOOT, 0x13), (0x00, 0x12), (0x05, 0x12)]
)
def test_from_init_only_preop_is_reached(build: Build, asked: int, code: int) -> None:
    bench = build(1)
    bench.address()

    assert bench.request(1, asked) == (INIT | ERROR, code)


def test_preop_does_not_lead_to_op(build: Build) -> None:
    assert build(1).preop().request(1, OP) == (PREOP | ERROR, 0x11)


@pytest.mark.parametrize(
    'box',
    [
        bytes(16),
        struct.pack('<HHIHHI', 0x1000, 64, 0x00010026, 0x1400, 128, 0x00010022),
        struct.pack('<HHIHHI', 0x1000, 128, 0x00010026, 0x1080, 128, 0x00010022),
        struct.pack('<HHIHHI', 0x1000, 128, 0x00000026, 0x1400, 128, 0x00010022),
        struct.pack('<HHIHHI', 0x1000, 128, 0x00010022, 0x1400, 128, 0x00010026),
        struct.pack('<HHIHHI', 0x1000, 128, 0x00010024, 0x1400, 128, 0x00010022),
    ],
    ids=['none', 'length', 'place', 'disabled', 'directions', 'buffered'],
)
def test_a_wrong_mailbox_is_0x16(build: Build, box: bytes) -> None:
    bench = build(1)
    bench.address()
    bench.write(1, 0x0800, box)

    assert bench.request(1, PREOP) == (INIT | ERROR, 0x16)


def test_an_error_is_acknowledged_before_anything_but_init_is_taken(build: Build) -> None:
    bench = build(1)
    bench.address()
    bench.request(1, PREOP)
    bench.program_mailbox(1)

    assert bench.request(1, PREOP) == (INIT | ERROR, 0x16)
    assert bench.request(1, PREOP | ACKNOWLEDGE) == (PREOP, 0)
    assert bench.request(1, OP) == (PREOP | ERROR, 0x11)
    assert bench.request(1, SAFEOP) == (PREOP | ERROR, 0x11)
    assert bench.request(1, INIT) == (INIT, 0)


def test_a_request_is_lost_that_comes_before_the_device_has_read_the_one_before(
    build: Build,
) -> None:
    """AL control is like a mailbox (ETG.1000.6); an acknowledgement and a request in turn are."""
    bench = build(1).op()
    slave = bench.segment.slaves[0]
    slave.drive_type = replace(slave.drive_type, request_delay=1e-3)
    slave.al.fall_back(SAFEOP, 0x1A)

    assert bench.request(1, SAFEOP | ACKNOWLEDGE) == (SAFEOP | ERROR, 0x1A)
    assert bench.request(1, OP) == (SAFEOP | ERROR, 0x1A)
    assert bench.read(1, 0x0120, 2) == SAFEOP | ACKNOWLEDGE
    bench.run(30, lambda _: [(0, 0)])
    assert bench.al(1) == (SAFEOP, 0)
    slave.al.fall_back(SAFEOP, 0x1A)
    bench.request(1, OP | ACKNOWLEDGE)
    bench.run(30, lambda _: [(0, 0)])
    assert bench.al(1) == (OP, 0)


def test_acknowledging_with_the_same_state_clears_the_error(build: Build) -> None:
    bench = build(1).preop()
    bench.request(1, OP)

    assert bench.request(1, PREOP | ACKNOWLEDGE) == (PREOP, 0)


@pytest.mark.parametrize(('outputs', 'inputs', 'code'), [(11, 28, 0x1D), (12, 27, 0x1E)])
def test_a_wrong_length_of_process_data_is_0x1d_or_0x1e(
    build: Build, outputs: int, inputs: int, code: int
) -> None:
    bench = build(1).preop()
    bench.start_sync0(1)
    bench.sizes = outputs, inputs
    bench.program_process_data(1)

    assert bench.request(1, SAFEOP) == (PREOP | ERROR, code)


@pytest.mark.parametrize(
    ('register', 'data', 'code'),
    [
        (0x0816, b'\x00', 0x1D),
        (0x0810, b'\x00\x19', 0x1D),
        (0x0814, b'\x20', 0x1D),
        (0x0814, b'\x66', 0x1D),
        (0x081E, b'\x00', 0x1E),
        (0x081C, b'\x64', 0x1E),
        # SYNC0 is not activated.
        (0x0981, b'\x00', 0x30),
        (0x0981, b'\x01', 0x30),
        (0x0981, b'\x02', 0x30),
    ],
)
def test_wrong_sync_managers_of_process_data_and_no_sync0_are_refused(
    build: Build, register: int, data: bytes, code: int
) -> None:
    bench = build(1).preop()
    bench.start_sync0(1)
    bench.program_process_data(1)
    bench.write(1, register, data)

    assert bench.request(1, SAFEOP) == (PREOP | ERROR, code)


def test_sync_managers_changed_in_op_throw_the_slave_back(build: Build) -> None:
    bench = build(1).op()
    bench.write(1, 0x0812, struct.pack('<H', 8))

    assert bench.al(1) == (PREOP | ERROR, 0x1D)

    bench.write(1, 0x0806, b'\x00')

    assert bench.al(1) == (INIT | ERROR, 0x16)


def test_a_cycle_time_of_zero_is_0x30(build: Build) -> None:
    bench = build(1).preop()
    bench.program_process_data(1)
    bench.start_sync0(1, cycle=0)

    assert bench.request(1, SAFEOP) == (PREOP | ERROR, 0x30)


def test_a_drive_that_does_not_need_sync0_goes_without(build: Build) -> None:
    bench = build(1, needs_sync0=False).preop()
    bench.program_process_data(1)

    assert bench.request(1, SAFEOP) == (SAFEOP, 0)


def test_op_without_outputs_is_pending_and_then_0x1b(build: Build) -> None:
    bench = build(1).safeop()

    assert bench.request(1, OP) == (SAFEOP, 0)
    bench.wait(0.9)
    assert bench.al(1) == (SAFEOP, 0)
    bench.wait(0.2)
    assert bench.al(1) == (SAFEOP | ERROR, 0x1B)


def test_op_waits_for_the_first_sync0(build: Build) -> None:
    """SYNC0 begins 10 ms after it was activated."""
    bench = build(1).safeop()
    bench.request(1, OP)
    seen = []
    for _ in range(14):
        bench.cycle([(0, 0)])
        seen.append(bench.al(1)[0])

    assert seen[0] == SAFEOP
    assert seen[-1] == OP
    assert 8 <= seen.index(OP) <= 11


def test_sync0_that_was_to_begin_in_the_past_never_begins_and_is_0x2d(build: Build) -> None:
    bench = build(1).preop()
    bench.program_process_data(1)
    bench.start_sync0(1, ahead=-1_000_000)
    assert bench.request(1, SAFEOP) == (SAFEOP, 0)
    bench.request(1, OP)
    bench.run(1100, lambda _: [(0, 0)])

    assert bench.al(1) == (SAFEOP | ERROR, 0x2D)


def test_missing_outputs_in_op_are_0x1b_after_100_ms(build: Build) -> None:
    bench = build(2).op()

    bench.wait(0.095)
    assert bench.al(1) == (OP, 0)
    bench.wait(0.010)
    assert [bench.al(slave) for slave in (1, 2)] == [(SAFEOP | ERROR, 0x1B)] * 2
    assert bench.read(1, 0x0440, 1) == 0
    assert bench.read(1, 0x0442, 1) == 1


def test_the_watchdog_is_as_long_as_the_master_sets_it(build: Build) -> None:
    """(2498 + 2) · 40 ns · 200 = 20 ms; 0 switches it off."""
    bench = build(2).op()
    bench.write(1, 0x0420, struct.pack('<H', 200))
    bench.write(2, 0x0420, struct.pack('<H', 0))
    bench.cycle([(0, 0)] * 2)

    bench.wait(0.025)
    assert bench.al(1) == (SAFEOP | ERROR, 0x1B)
    bench.wait(1.0)
    assert bench.al(2) == (OP, 0)


def test_after_a_watchdog_the_master_acknowledges_and_goes_on(build: Build) -> None:
    bench = build(1).op()
    bench.wait(0.2)

    assert bench.request(1, OP) == (SAFEOP | ERROR, 0x1B)
    assert bench.request(1, SAFEOP | ACKNOWLEDGE) == (SAFEOP, 0)
    bench.request(1, OP)
    bench.cycle([(0, 0)])
    bench.cycle([(0, 0)])
    assert bench.al(1) == (OP, 0)


def test_outputs_of_an_earlier_run_do_not_count(build: Build) -> None:
    bench = build(1).op()
    for state in (PREOP, SAFEOP, OP):
        status = bench.request(1, state)
    bench.wait(0.02)

    assert status == bench.al(1) == (SAFEOP, 0)


def test_al_status_of_all_is_read_by_one_broadcast(build: Build) -> None:
    bench = build(3).preop()
    bench.request(2, INIT)

    (answer,) = bench.send(Datagram(Command.BRD, 0, 0x0130, bytes(2)))

    assert (answer.data, answer.working_counter) == (b'\x03\x00', 3)


def test_in_init_the_mailbox_is_dead(build: Build) -> None:
    bench = build(1)
    bench.address()
    bench.program_mailbox(1)
    bench.post(1, bytes.fromhex('0020 40 0810 00 00000000'))

    assert bench.fetch(1) is None
    assert bench.request(1, PREOP) == (PREOP, 0)
    assert bench.sdo_read(1, 0x1000) == bytes.fromhex('92010200')
