# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Drives that are lost on the bus, and a bus that is silent: who holds, and who comes back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scripted_bench import ScriptedBench
import scripted_wire
from scripted_wire import CYCLE, KIND, OP, OPTIONS, ScriptedWire
from stewart_driver.errors import DriverError
from stewart_driver.ethercat.cia402.states import Control, State
from stewart_driver.ethercat.errors import AlStatus, SdoRefused
from stewart_driver.ethercat.starting import silence

MUTE = AlStatus(0, 0, '')
SYNC_LOST = AlStatus(0x14, 0x1A, 'Synchronization error')
INIT = AlStatus(1, 0, '')
FALLEN = AlStatus(0x12, 0x1F, 'Invalid watchdog configuration')
BACK = scripted_wire.ENABLE, State.OPERATION_ENABLED
SECOND = round(1.0 / CYCLE)


@pytest.fixture
def wire() -> ScriptedWire:
    return ScriptedWire()


@pytest.fixture
def bench(wire: ScriptedWire) -> ScriptedBench:
    return ScriptedBench(wire)


@pytest.fixture
def braked(wire: ScriptedWire) -> ScriptedBench:
    return ScriptedBench(wire, replace(KIND, brake_apply=CYCLE))


@pytest.fixture
def holding(wire: ScriptedWire) -> ScriptedBench:
    """Drives on that stop and hold by themselves when they hear nothing (6007h, 605Ah)."""
    bench = ScriptedBench(wire, holds_alone=True)
    bench.switch_on()
    return bench


def words(bench: ScriptedBench) -> list[int]:
    return [word for word, _, _ in bench.wire.sent[-1]]


def test_without_brakes_a_lost_drive_has_time_for_its_own_ramp(bench: ScriptedBench) -> None:
    bench.switch_on()
    lost = AlStatus(0, 0, 'does not answer')
    bench.wire.counter, bench.wire.status = 15, [OP] * 5 + [lost]

    assert bench.step(3).live == 0b011111
    assert bench.step(round(0.02 / CYCLE) + 2).live == 0


def test_the_others_wait_for_the_silence_that_a_lost_drive_bears(wire: ScriptedWire) -> None:
    """They let go 40 or 80 ms before it did, and landed 72 or 130 mm askew."""
    bench = ScriptedBench(wire, silences=(0.06,) * 5 + (0.1,))
    bench.switch_on()
    wire.counter, wire.status = 15, [OP] * 5 + [MUTE]
    bench.step(2)

    assert bench.step(round(0.1 / CYCLE) - 2).live == 0b011111
    assert bench.step(3).live == 0


@pytest.mark.parametrize(
    ('counts', 'watchdog', 'cycle', 'expected'),
    [
        (93, 0.1, 0.002, 0.062),
        (93, 0.05, 0.002, 0.05),
        (93, 0.0, 0.002, 0.062),
        # It counts nothing, or has no SYNC0.
        (0, 0.1, 0.002, 0.1),
        (None, 0.1, 0.0, 0.1),
        # Not known: a drive that is strict on SYNC0 may bear one frame.
        (None, 0.1, 0.002, 0.0),
        (0, 0.0, 0.002, 0.0),
    ],
)
def test_a_drive_bears_what_its_watchdog_and_its_sync0_bear(
    counts: int | None, watchdog: float, cycle: float, expected: float
) -> None:
    class Drive:
        leg = 1

        def read(self, index: int, subindex: int) -> bytes:
            if counts is None:
                raise SdoRefused(1, index, subindex, 'abort 0x06020000')
            assert (index, subindex) == (0x10F1, 2)
            return counts.to_bytes(2, 'little')

        def write(self, index: int, subindex: int, data: bytes) -> None: ...

    assert silence(Drive(), watchdog, cycle) == pytest.approx(expected)


@pytest.mark.parametrize(
    ('status', 'counter'), [(MUTE, 15), (SYNC_LOST, 18), (SYNC_LOST, 16), (FALLEN, 15)]
)
def test_a_leg_that_may_hold_by_itself_is_told(
    holding: ScriptedBench, status: AlStatus, counter: int
) -> None:
    """A `disable` that five of six drives hear is no success, nor in SAFEOP, where none hears."""
    holding.wire.counter, holding.wire.status = counter, [OP] * 5 + [status]
    holding.wire.states[5] = State.QUICK_STOP_ACTIVE
    holding.wire.resettable = False
    assert holding.step(3).deaf == 0b100000
    holding.wire.counter, holding.wire.status = 18, [OP] * 6
    assert holding.step(SECOND).deaf == 0


@pytest.mark.parametrize('holds_alone', [False, True])
def test_a_drive_that_falls_to_preop_is_as_one_behind_a_pulled_cable(
    wire: ScriptedWire, *, holds_alone: bool
) -> None:
    """A segment of others: it held its leg by 6007h, and the five others let go."""
    bench = ScriptedBench(wire, holds_alone=holds_alone)
    bench.switch_on()
    wire.counter, wire.status = 15, [OP] * 5 + [FALLEN]

    assert 'leg 6: its drive is lost, EtherCAT: PREOP with error' in str(bench.step(3).fault)
    assert bench.step(SECOND).live == (0b111111 if holds_alone else 0)


def test_nobody_waits_for_the_silence_of_a_drive_that_answers(wire: ScriptedWire) -> None:
    bench = ScriptedBench(wire, silences=(0.1,) * 6)
    bench.switch_on()
    wire.counter, wire.status = 15, [OP] * 5 + [SYNC_LOST]
    wire.states[5] = State.SWITCH_ON_DISABLED
    bench.step(3)

    assert bench.step(round(0.02 / CYCLE) + 1).live == 0


@pytest.mark.parametrize('patience', [0.06, 0.3])
def test_a_reset_waits_for_a_terminal_beside_the_drives(
    wire: ScriptedWire, patience: float
) -> None:
    """It was answered with success, and did not hold, where patience was longer than its proof."""
    wire.expected = wire.counter = 21
    bench = ScriptedBench(wire, options=replace(OPTIONS, patience=patience, drive_watchdog=0.5))
    bench.switch_on()
    wire.counter = 18
    assert 'not every slave' in str(bench.step(SECOND).fault)
    with pytest.raises(DriverError, match=r'cannot be reset: for .* not every slave'):
        bench.active.reset()

    wire.counter = 21
    bench.active.reset()
    assert bench.step(SECOND).fault is None


def test_a_quick_stop_ends_a_reset_between_two_frames(bench: ScriptedBench) -> None:
    bench.switch_on()
    bench.wire.fail(2, 0x7305)
    bench.step(5)
    begun = bench.wire.now()
    with pytest.raises(DriverError, match='a quick stop was asked for'):
        bench.active.reset(lambda: bench.wire.now() > begun + 0.02)
    assert bench.wire.now() - begun < 0.03
    # Nobody comes on by himself afterwards.
    assert bench.step(SECOND).live & 0b000010 == 0


def test_a_drive_that_has_left_op_comes_back_while_the_others_hold(braked: ScriptedBench) -> None:
    braked.switch_on()
    error = AlStatus(0x14, 0x1A, 'Synchronization error')
    braked.wire.counter, braked.wire.status = 15, [OP] * 2 + [error] + [OP] * 3
    braked.wire.fail(2, 0x8700)
    measured = braked.step(5)
    assert measured.live == 0b111011
    assert braked.active.live
    braked.wire.counter = 18

    braked.active.reset()

    assert 'recover 3' in braked.wire.log
    assert [word for word, _, _ in braked.wire.sent[-1]] == [
        Control.DISABLE_VOLTAGE if axis == 2 else Control.ENABLE_OPERATION for axis in range(6)
    ]
    braked.active.enable()
    braked.until_on()


def test_a_lost_leg_is_found_in_two_frames_and_the_others_are_still_measured(
    bench: ScriptedBench,
) -> None:
    bench.switch_on()
    bench.wire.counter = 15
    bench.wire.status = [OP] * 2 + [AlStatus(0, 0, '')] + [OP] * 3

    assert bench.step().fault is None
    measured = bench.step(move=1e-4)

    assert str(measured.fault) == 'leg 3: its drive is lost, EtherCAT: does not answer'
    assert not measured.enabled
    later = bench.step(100, move=1e-4)
    assert later.stamp == bench.now
    assert bench.statistics.bad_working_counters == 102


def test_a_drive_out_of_op_is_found_though_the_working_counter_is_right(
    bench: ScriptedBench,
) -> None:
    bench.wire.status = [AlStatus(0x14, 0x1A, 'Synchronization error')] + [OP] * 5

    measured = bench.step(60)

    assert 'leg 1: its drive is lost, EtherCAT: SAFEOP with error 0x001A' in str(measured.fault)


@pytest.mark.parametrize(
    'seen', [AlStatus(0x14, 0x1A, ''), AlStatus(1, 0, ''), AlStatus(0, 0, '')]
)
def test_what_one_look_alone_has_seen_loses_no_leg(bench: ScriptedBench, seen: AlStatus) -> None:
    """After 45 ms of silence a late frame of process data was read as states, and all let go."""
    bench.switch_on()
    at_once = bench.wire.statuses
    looks = 0

    def once() -> list[AlStatus]:
        nonlocal looks
        looks += 1
        return [seen] + [OP] * 5 if looks == 1 else at_once()

    bench.wire.statuses = once  # type: ignore[method-assign]
    measured = bench.step(200)

    assert looks > 2
    assert (measured.fault, measured.live) == (None, 0b111111)
    looks = 1
    bench.wire.status = [seen] + [OP] * 5
    # Twice 50 ms between two looks at the states, and one cycle.
    bench.step(round(0.1 / CYCLE))
    assert 'leg 1: its drive is lost' in str(bench.step().fault)


def test_in_a_fault_one_look_takes_no_voltage_from_legs_that_hold(holding: ScriptedBench) -> None:
    wire = holding.wire
    wire.counter = -1
    assert 'no frame has come back' in str(holding.step(SECOND).fault)
    wire.counter = 18
    wire.status = [INIT] + [OP] * 5
    at_once = wire.statuses
    looks = 0

    def once() -> list[AlStatus]:
        nonlocal looks
        looks += 1
        return at_once() if looks == 1 else [OP] * 6

    wire.statuses = once  # type: ignore[method-assign]

    assert holding.step(SECOND).live == 0b111111
    wire.statuses = at_once  # type: ignore[method-assign]
    # 10 ms between two looks, one cycle, and 20 ms of a ramp.
    assert holding.step(round(0.03 / CYCLE) + 2).live == 0


def test_single_lost_frames_are_counted_and_hold_the_measurement(bench: ScriptedBench) -> None:
    bench.switch_on()
    before = bench.step()
    bench.wire.counter = -1

    lost = bench.step()
    bench.wire.counter = 18

    assert (lost.stamp, lost.fault) == (before.stamp, None)
    assert bench.step().stamp == bench.now
    assert bench.statistics.lost_frames == 1


def test_a_lost_question_for_the_states_loses_no_leg(bench: ScriptedBench) -> None:
    bench.switch_on()
    bench.wire.status = [AlStatus(0, 0, '')] * 6

    assert bench.step(100).fault is None
    bench.wire.counter = 15
    assert bench.step(10).fault is None


def test_of_drives_without_supply_behind_a_coupler_none_is_live(bench: ScriptedBench) -> None:
    """A segment of others: the coupler answered, and six dead drives counted as holding."""
    bench.switch_on()
    bench.wire.counter, bench.wire.expected = 2, 20
    bench.wire.status = [AlStatus(0, 0, '')] * 6

    measured = bench.step(2)

    assert 'legs 1, 2, 3, 4, 5, 6 are lost' in str(measured.fault)
    assert measured.live == 0


def test_drives_that_hold_without_the_bus_come_back_to_op_and_go_on_holding(
    holding: ScriptedBench,
) -> None:
    """A strange segment: 5 ms without frames, and the platform fell by 308 mm."""
    wire = holding.wire
    wire.states, wire.status = [State.QUICK_STOP_ACTIVE] * 6, [SYNC_LOST] * 6

    measured = holding.step(2)

    assert 'leg 1: its drive is lost, EtherCAT: SAFEOP with error 0x001A' in str(measured.fault)
    assert measured.live == 0b111111
    assert words(holding) == [Control.QUICK_STOP] * 6
    assert holding.step(SECOND).live == 0b111111
    assert wire.status == [OP] * 6
    assert [f'recover {leg}' in wire.log for leg in range(1, 7)] == [True] * 6
    holding.active.reset()
    assert words(holding) == [Control.QUICK_STOP] * 6
    holding.active.enable()
    holding.until_on()
    assert holding.step(SECOND).fault is None


def test_a_drive_that_stands_in_safeop_without_an_error_is_asked_for_op(
    holding: ScriptedBench,
) -> None:
    """Only there it can be told to let go."""
    wire = holding.wire
    wire.status = [OP] * 5 + [SYNC_LOST]
    holding.step(100)
    wire.status = [OP] * 5 + [AlStatus(4, 0, '')]
    wire.resettable, wire.log = False, []
    holding.step(SECOND)

    assert 2 < wire.log.count('recover 6') <= 20
    wire.resettable = True
    holding.step(SECOND)
    assert wire.status == [OP] * 6


def test_what_drives_hold_by_themselves_they_hold_after_a_refused_reset(
    wire: ScriptedWire,
) -> None:
    bench = ScriptedBench(wire, replace(KIND, brake_apply=CYCLE), holds_alone=True)
    bench.switch_on()
    wire.states, wire.status = [State.QUICK_STOP_ACTIVE] * 6, [SYNC_LOST] * 6
    bench.step(SECOND)
    wire.fail(4, 0x4310)
    wire.resettable = False

    with pytest.raises(DriverError, match='cannot be reset: drive of leg 5 reports fault 0x4310'):
        bench.active.reset()

    wire.resettable = True
    assert bench.step(SECOND).live == 0b101111
    assert wire.states[4] is State.FAULT
    assert words(bench) == [
        Control.DISABLE_VOLTAGE if axis == 4 else Control.QUICK_STOP for axis in range(6)
    ]


def test_a_drive_without_a_way_back_from_its_quick_stop_is_named(
    holding: ScriptedBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Transition 16 is optional; each reset ended in a timeout that did not say so."""
    known = [item for item in scripted_wire.TRANSITIONS if item[1:] != BACK]
    monkeypatch.setattr(scripted_wire, 'TRANSITIONS', known)
    wire = holding.wire
    wire.status = [SYNC_LOST] * 2 + [OP] * 4
    wire.states[:2] = [State.QUICK_STOP_ACTIVE] * 2
    holding.step(SECOND)
    holding.active.reset()
    holding.active.enable()
    holding.step(SECOND)

    assert holding.active.group.why_not_on() == ', '.join(
        f'leg {leg} is QUICK_STOP_ACTIVE and does not go on from there (transition 16): disable, '
        'which lets go, reset the fault, then enable'
        for leg in (1, 2)
    )
    # Another that all wait for is to blame alone.
    holding.active.group.take([0x0217, 0x0217, 0x1237, 0x1237, 0x1250, 0x1237])
    assert holding.active.group.why_not_on() == 'leg 5 is SWITCH_ON_DISABLED'


def test_what_a_drive_holds_by_itself_is_switched_off_on_request(holding: ScriptedBench) -> None:
    holding.wire.states[3], holding.wire.status = State.QUICK_STOP_ACTIVE, [SYNC_LOST] * 6
    holding.step(2)

    holding.active.disable()

    assert holding.step(SECOND).live == 0
    assert words(holding) == [Control.DISABLE_VOLTAGE] * 6


@pytest.mark.parametrize('silence', [0.07, 3.0])
def test_a_silent_bus_is_a_fault_and_frames_go_on(holding: ScriptedBench, silence: float) -> None:
    holding.wire.counter = -1
    before = list(holding.wire.positions)

    measured = holding.step(round(silence / CYCLE))

    assert str(measured.fault) == 'no frame has come back on scripted for 62 ms'
    assert round(1e3 * OPTIONS.patience) == 60
    assert measured.live == 0b111111
    holding.wire.counter = 18
    holding.step(SECOND)
    assert words(holding) == [Control.ENABLE_OPERATION] * 6
    holding.active.reset()
    holding.active.enable()
    holding.until_on()
    assert holding.step(50).fault is None
    assert holding.wire.positions == before


def test_the_others_hold_beside_a_pulled_cable_and_who_comes_back_holds(
    holding: ScriptedBench,
) -> None:
    wire = holding.wire
    wire.counter, wire.status = 9, [OP] * 3 + [MUTE] * 3

    measured = holding.step(SECOND)

    assert 'legs 4, 5, 6 are lost' in str(measured.fault)
    assert measured.live == 0b111111
    assert words(holding)[:3] == [Control.ENABLE_OPERATION] * 3
    # Drives that have missed a few frames only are still in operation.
    wire.counter, wire.status = 18, [OP] * 6
    holding.step(2)
    assert words(holding) == [Control.ENABLE_OPERATION] * 3 + [Control.QUICK_STOP] * 3
    assert wire.states[3:] == [State.QUICK_STOP_ACTIVE] * 3
    assert holding.step(SECOND).live == 0b111111


def test_all_let_go_when_one_comes_back_without_voltage(holding: ScriptedBench) -> None:
    wire = holding.wire
    wire.counter, wire.status = 15, [OP] * 5 + [MUTE]
    assert holding.step(SECOND).live == 0b111111
    wire.states[5], wire.counter = State.SWITCH_ON_DISABLED, 18

    assert holding.step(3).live == 0


def test_all_let_go_when_one_comes_back_that_has_restarted(holding: ScriptedBench) -> None:
    wire = holding.wire
    wire.counter, wire.status = 15, [OP] * 5 + [MUTE]
    assert holding.step(SECOND).live == 0b111111
    assert 'readdress 6' in wire.log
    wire.status = [OP] * 5 + [INIT]

    assert holding.step(round(0.1 / CYCLE)).live == 0


@pytest.mark.parametrize(
    ('holds_alone', 'answer'), [(False, MUTE), (False, INIT), (True, INIT)], ids=str
)
def test_in_a_fault_that_all_hold_the_loss_of_a_drive_lets_all_go(
    wire: ScriptedWire, holds_alone: bool, answer: AlStatus
) -> None:
    """Five went on holding over the leg that fell: its last statusword said that it was on."""
    bench = ScriptedBench(wire, holds_alone=holds_alone)
    bench.switch_on()
    wire.bits[1] = 0x0210
    fault = bench.step(20).fault
    assert str(fault).startswith('leg 2: its drive ignores its target')
    assert bench.step().live == 0b111111
    wire.counter, wire.status = 15, [OP] * 3 + [answer] + [OP] * 2

    # It is looked for every 10 ms, and has its time to ramp down where it is only silent.
    measured = bench.step(round(0.034 / CYCLE))

    assert (measured.live, measured.fault) == (0, fault)
    assert words(bench) == [Control.DISABLE_VOLTAGE] * 6


def test_in_a_fault_a_drive_behind_a_pulled_cable_holds_and_does_not_follow_again(
    holding: ScriptedBench,
) -> None:
    wire = holding.wire
    wire.bits[1] = 0x0210
    assert holding.step(20).fault is not None
    wire.counter, wire.status = 15, [OP] * 3 + [MUTE] + [OP] * 2

    assert holding.step(SECOND).live == 0b111111
    assert words(holding)[:3] == [Control.ENABLE_OPERATION] * 3
    wire.counter, wire.status = 18, [OP] * 6
    holding.step(2)
    assert wire.states[3] is State.QUICK_STOP_ACTIVE
    assert holding.step(SECOND).live == 0b111111


def test_a_drive_out_of_op_is_not_stuck(holding: ScriptedBench) -> None:
    """It takes no targets, and repeats what it has measured until it is found to be lost."""
    holding.wire.status = [SYNC_LOST] * 6

    faults = [holding.step(move=1e-4).fault for _ in range(round(0.12 / CYCLE))]

    assert 'its drive is lost' in str(faults[-1])
    assert holding.step().live == 0b111111
    assert holding.wire.states == [State.QUICK_STOP_ACTIVE] * 6


def test_drives_that_take_their_time_to_op_are_not_lost(wire: ScriptedWire) -> None:
    """A reset meanwhile started the bus from the beginning, up to 11 s instead of 1."""
    wire.reached[8] = wire.status = [AlStatus(4, 0, '')] * 6
    bench = ScriptedBench(wire)
    assert bench.active.intact
    wire.status = [OP] * 6
    bench.step(10)
    assert bench.active.intact
    wire.status = [AlStatus(4, 0, '')] * 6
    assert not bench.active.intact


def test_the_edges_of_a_reset_last_as_long_at_any_cycle(wire: ScriptedWire) -> None:
    """At 0.25 ms bit 7 was up for 1.25 ms: a drive that looks every 4 ms saw an edge by luck."""
    bench = ScriptedBench(wire, options=replace(OPTIONS, cycle_time=0.00025))
    wire.fail(2, 0x2310)
    begun = len(wire.sent)
    bench.active.reset()

    up = [frame[2][0] & 0x80 for frame in wire.sent[begun:]]
    assert up.index(0x80) == 40
