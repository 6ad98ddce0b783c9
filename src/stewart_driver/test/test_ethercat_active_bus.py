# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six drives on a scripted bus: the order of states, targets, and what happens when one goes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scripted_bench import ScriptedBench
from scripted_wire import COUNTS, CYCLE, KIND, ScriptedSlave, ScriptedWire
from stewart_driver.errors import DriverError
from stewart_driver.ethercat.bus_monitor import DriveMonitor
from stewart_driver.ethercat.cia402.states import Control, decode_state, State
from stewart_driver.ethercat.drive_group import DriveGroup, FRAMES_TO_ACT
from stewart_driver.ethercat.errors import Emergency
from stewart_driver.ethercat.fault_codes import FaultCodes
from stewart_driver.ethercat.process_data import Inputs


@pytest.fixture
def wire() -> ScriptedWire:
    return ScriptedWire()


BRAKED = replace(KIND, brake_apply=CYCLE)


@pytest.fixture
def bench(wire: ScriptedWire) -> ScriptedBench:
    return ScriptedBench(wire)


@pytest.fixture
def braked(wire: ScriptedWire) -> ScriptedBench:
    return ScriptedBench(wire, BRAKED)


def test_all_six_get_operation_enabled_in_the_same_frame(bench: ScriptedBench) -> None:
    bench.wire.slow = {2: 4, 5: 2}
    assert not bench.active.resuming
    bench.active.enable()

    for _ in range(15):
        bench.step()
        states = {state for state in bench.wire.states if state is State.OPERATION_ENABLED}
        asked = [word for word, _, _ in bench.wire.sent[-1]]
        if Control.ENABLE_OPERATION in asked:
            assert set(asked) == {Control.ENABLE_OPERATION}
    assert states == {State.OPERATION_ENABLED}


def test_who_keeps_the_others_from_switching_on_is_named(bench: ScriptedBench) -> None:
    bench.active.enable()
    bench.wire.slow = {2: 1000}
    bench.step(5)

    assert bench.active.group.why_not_on() == 'leg 3 is SWITCH_ON_DISABLED'
    bench.wire.bits[2] = 0
    bench.step()
    assert (
        bench.active.group.why_not_on()
        == 'leg 3 is SWITCH_ON_DISABLED without voltage and not remote'
    )
    bench.wire.slow.clear()
    bench.step(5)
    assert bench.active.group.why_not_on() == ''
    for words, said in (
        (
            (0x1637, 0x0250, 0x0240),
            'leg 5 is SWITCH_ON_DISABLED, leg 6 is SWITCH_ON_DISABLED without',
        ),
        ((0x0231, 0x0250, 0x0001), 'leg 6 is statusword 0x0001 without voltage and not remote'),
        ((0x0231, 0x0218, 0x0250), 'leg 5 is FAULT'),
    ):
        bench.active.group.take([0x1637] * 3 + list(words))
        assert bench.active.group.why_not_on().startswith(said)


def test_targets_are_where_the_drives_stand_until_all_are_on(bench: ScriptedBench) -> None:
    bench.wire.positions[1] += 5000
    bench.step(3, move=1e-3)
    bench.active.enable()
    bench.wire.slow = {0: 3}

    while not bench.step(move=1e-3).enabled:
        targets = [(target, torque) for _, target, torque in bench.wire.sent[-1]]
        assert targets == [(position, 0) for position in bench.wire.positions]
    assert bench.wire.positions[1] == round(0.3 * COUNTS) + 6000


def test_targets_and_feed_forward_go_out_once_all_are_on(bench: ScriptedBench) -> None:
    bench.switch_on()

    measured = bench.step(2, move=1e-4, force=KIND.gear.rated_force / 4)

    assert [torque for _, _, torque in bench.wire.sent[-1]] == [250] * 6
    np.testing.assert_allclose(measured.strokes, bench.targets, atol=1e-9)
    assert measured.forces is not None
    np.testing.assert_allclose(measured.forces, 0.1 * KIND.gear.rated_force)


def test_no_target_jumps_and_a_jump_is_a_fault(bench: ScriptedBench) -> None:
    bench.switch_on()
    before = list(bench.wire.positions)

    measured = bench.step(move=0.05)

    steps = np.array(bench.wire.positions) - before
    assert abs(steps / COUNTS).max() == pytest.approx(1.2 * 0.6 * CYCLE, rel=1e-3)
    assert 'target jumps' in str(measured.fault)


def test_a_drive_whose_encoder_stands_while_its_target_moves_is_switched_off(
    braked: ScriptedBench,
) -> None:
    braked.switch_on()
    assert braked.step(20, move=1e-4).fault is None
    braked.wire.stuck = {1}

    faults = [braked.step(move=1e-4).fault for _ in range(12)]

    # A drive may act on a target five frames later.
    assert faults[:8] == [None] * 8
    assert str(faults[-1]).startswith('leg 2: its encoder stands still while its target moves')
    assert [word for word, _, _ in braked.wire.sent[-1]] == [
        Control.DISABLE_VOLTAGE if axis == 1 else Control.ENABLE_OPERATION for axis in range(6)
    ]
    assert braked.step(50).fault is faults[-1]


def test_without_brakes_no_leg_holds_beside_one_that_gives_way(bench: ScriptedBench) -> None:
    bench.switch_on()
    bench.wire.fail(1, 0x2310)

    measured = bench.step(5)

    assert str(measured.fault).startswith('drive of leg 2 reports fault 0x2310')
    assert measured.live == 0
    assert [word for word, _, _ in bench.wire.sent[-1]] == [Control.DISABLE_VOLTAGE] * 6


def test_a_reset_of_a_stuck_leg_lasts(bench: ScriptedBench) -> None:
    """Trial 4: the reset was answered with success, and the fault was back in the next cycle."""
    bench.switch_on()
    bench.wire.stuck = {1}
    bench.step(20, move=1e-4)
    bench.wire.stuck = set()

    bench.active.reset()
    assert bench.step(20).fault is None
    bench.active.enable()
    bench.until_on()

    assert bench.step(50, move=1e-4).fault is None


def test_a_drive_that_fails_amid_a_reset_takes_the_others_with_it(bench: ScriptedBench) -> None:
    """For two seconds they held, and tilted the platform about the leg that gave way."""
    bench.switch_on()
    exchange, wire = bench.wire.exchange, bench.wire
    begun = len(wire.sent)

    def fail_at_the_tenth(outputs: Any) -> int:
        if len(wire.sent) - begun == 10:
            wire.resettable = False
            wire.fail(2, 0x2310)
        return exchange(outputs)

    wire.exchange = fail_at_the_tenth  # type: ignore[method-assign]
    with pytest.raises(DriverError, match=r'cannot be reset: .*leg 3'):
        bench.active.reset()

    assert len(wire.sent) - begun < 15
    bench.step(2)
    assert wire.states[0] is not State.OPERATION_ENABLED
    assert bench.step(15).live == 0


@pytest.mark.parametrize(
    ('bits', 'frames', 'said'),
    [
        (0x1010, 3, 'takes no controlword any more (bit 9)'),
        (0x0210, 3, 'ignores its target (bit 12)'),
        (0x1A10, 50, 'is held by a limit of its own: software limit, torque or end switch'),
    ],
)
def test_what_a_statusword_says_beside_its_state_is_heard(
    bench: ScriptedBench, bits: int, frames: int, said: str
) -> None:
    bench.switch_on()
    bench.step(10)
    bench.wire.bits[3] = bits

    assert bench.step(frames - 1).fault is None
    measured = bench.step()

    assert str(measured.fault).startswith(f'leg 4: its drive {said}')
    assert measured.live == 0b111111


def test_bit_12_is_not_heard_where_it_says_something_else(wire: ScriptedWire) -> None:
    bench = ScriptedBench(wire, replace(KIND, tells_following=False))
    bench.switch_on()
    bench.wire.bits[3] = 0x0210
    assert bench.step(10).fault is None
    bench.wire.bits[3] = 0x0010
    assert 'bit 9' in str(bench.step(3).fault)


def test_a_drive_in_another_mode_is_found_where_its_mode_is_mapped() -> None:
    group, monitor = DriveGroup(6, 10, 0), DriveMonitor(CYCLE)
    group.enable()
    group.take([0x1237] * 6)
    group.follow()
    inputs = [Inputs(0x1237, 0, None, None, None, mode=8)] * 6
    assert monitor.look(inputs, group) is None
    inputs[1] = inputs[1]._replace(mode=1)

    faults = [monitor.look(inputs, group) for _ in range(3)]

    assert faults[:2] == [None, None]
    assert str(faults[2]) == 'leg 2: its drive is in mode 1 instead of 8 (6061h)'


def test_following_waits_for_bit_12(bench: ScriptedBench) -> None:
    bench.wire.bits[2] = 0x0210
    bench.active.enable()

    assert not bench.step(60).enabled
    assert bench.wire.states == [State.OPERATION_ENABLED] * 6
    bench.wire.bits[2] = 0x1210
    bench.until_on()


def test_following_waits_for_a_mode_that_is_shown_late(bench: ScriptedBench) -> None:
    """6061h may be 0 before the operation is enabled, and for 0.1 s after."""
    bench.wire.modes[2] = 0
    bench.active.enable()

    measured = bench.step(60)
    assert (measured.enabled, measured.fault) == (False, None)
    said = [KIND.why_not_following(item) for item in bench.active.legs.inputs]
    assert said == ['', '', 'is in mode 0 instead of 8 (6061h)', '', '', '']
    bench.wire.modes[2] = 8
    bench.until_on()


def test_a_drive_that_leaves_operation_is_not_switched_on_again(braked: ScriptedBench) -> None:
    braked.switch_on()
    braked.wire.states[3] = State.SWITCH_ON_DISABLED

    measured = braked.step(20)

    assert not measured.enabled
    assert braked.wire.states[3] is State.SWITCH_ON_DISABLED
    assert braked.wire.sent[-1][3][0] == Control.DISABLE_VOLTAGE
    assert braked.wire.sent[-1][0][0] == Control.ENABLE_OPERATION
    braked.active.enable()
    braked.until_on()


def test_a_drive_fault_is_told_with_its_emergency_and_reset_on_request_only(
    bench: ScriptedBench,
) -> None:
    bench.switch_on()
    bench.wire.mail[2] = [Emergency(0x7305, 0x21, b'\7\0\0\0\0')]
    bench.wire.fail(1, 0x7305)

    measured = bench.step()

    assert str(measured.fault) == (
        'drive of leg 2 reports fault 0x7305: incremental sensor 1; '
        'emergency (register 0x21, data 07 00 00 00 00)'
    )
    bench.active.disable()
    assert bench.step(40).fault is not None
    assert bench.wire.states[1] is State.FAULT
    bench.active.reset()
    assert bench.wire.states == [State.SWITCH_ON_DISABLED] * 6
    assert bench.step().fault is None


def test_warnings_are_counted_and_do_not_bury_the_emergency_of_a_fault(
    bench: ScriptedBench,
) -> None:
    bench.switch_on()
    for _ in range(10):
        bench.wire.mail[2] = [Emergency(0x4210, 0x08, bytes(5)), Emergency(0, 0, bytes(5))]
        # In turn one mailbox is looked into after every 0.1 s.
        bench.step(round(0.7 / CYCLE))
    assert bench.statistics.emergencies == 10
    bench.wire.mail[2] = [Emergency(0x7305, 0x21, bytes(5))]
    bench.wire.fail(1, 0x7305)

    text = str(bench.step().fault)

    assert text.endswith('; emergency (register 0x21)')
    assert text.count('emergency 0x4210') == 2


def test_a_fault_that_stays_is_told(bench: ScriptedBench) -> None:
    bench.wire.fail(4, 0x4310)
    bench.wire.resettable = False

    with pytest.raises(DriverError, match=r'cannot be reset: drive of leg 5 .* power stage'):
        bench.active.reset()


CODES = pytest.mark.parametrize(
    ('answer', 'said'),
    [(b'\x10\x31', '0x3110: mains over-voltage'), (None, '0x0000: no error code')],
)


@CODES
def test_a_drive_that_tells_no_code_of_its_fault_is_asked_once(
    bench: ScriptedBench, monkeypatch: pytest.MonkeyPatch, answer: bytes | None, said: str
) -> None:
    """603Fh in no map, and emergencies off: the code was first told where a reset was refused."""
    asked: list[int] = []

    def beside(leg: int, call: Callable[[], Any]) -> Generator[None, None, Any]:
        yield from [None] * 20
        asked.append(leg)
        return call()

    def tell(slave: ScriptedSlave, index: int, subindex: int) -> bytes:
        return (index == 0x603F and answer) or read(slave, index, subindex)

    read = ScriptedSlave.read
    monkeypatch.setattr(bench.wire, 'beside', beside)
    monkeypatch.setattr(ScriptedSlave, 'read', tell)
    bench.switch_on()
    bench.wire.fail(4, 0)

    assert str(bench.step(15).fault) == 'drive of leg 5 reports fault 0x0000: no error code'
    assert str(bench.step(10).fault) == f'drive of leg 5 reports fault {said}'
    sent = len(bench.wire.sent)
    assert str(bench.step(40).fault) == f'drive of leg 5 reports fault {said}'
    assert asked == [5]
    assert len(bench.wire.sent) == sent + 40
    bench.active.reset()
    bench.wire.fail(2, 0x7305)
    bench.step(40)
    assert asked == [5]
    bench.active.reset()
    bench.wire.fail(4, 0)
    assert str(bench.step(40).fault) == f'drive of leg 5 reports fault {said}'
    assert asked == [5, 5]


@CODES
def test_a_drive_in_a_fault_that_stays_is_asked_for_its_code(
    bench: ScriptedBench, monkeypatch: pytest.MonkeyPatch, answer: bytes | None, said: str
) -> None:
    """A segment of others, 603Fh in no map: its emergency came once, and was forgotten."""

    class Drive(ScriptedSlave):
        def read(self, index: int, subindex: int) -> bytes:
            known = (index, subindex) == (0x603F, 0) and answer
            return known or super().read(index, subindex)

    drives = [Drive(leg, bench.wire) for leg in range(1, 7)]
    monkeypatch.setattr(bench.active, '_codes', FaultCodes(bench.wire, drives))
    bench.wire.fail(4, 0)
    bench.wire.resettable = False

    with pytest.raises(DriverError, match=f'cannot be reset: drive of leg 5 reports fault {said}'):
        bench.active.reset()


def test_a_fault_from_before_the_start_has_its_code_until_it_ends() -> None:
    wire = ScriptedWire()
    wire.fail(2, 0)
    bench = ScriptedBench(wire, codes=(0, 0, 0x7305, 0, 0, 0))
    assert str(bench.step().fault).startswith('drive of leg 3 reports fault 0x7305')

    bench.active.reset()
    bench.step(5)
    bench.wire.fail(2, 0)
    assert str(bench.step().fault).startswith('drive of leg 3 reports fault 0x0000')


@pytest.mark.parametrize('on', [False, True])
def test_after_a_refused_reset_no_fault_is_acknowledged_any_more(
    braked: ScriptedBench, on: bool
) -> None:
    """It went on 50 times a second: a fault that ended later was gone without a request."""
    if on:
        braked.switch_on()
    braked.wire.fail(4, 0x4310)
    braked.wire.resettable = False
    braked.step(5)
    with pytest.raises(DriverError, match='cannot be reset'):
        braked.active.reset()
    braked.wire.resettable = True
    sent = len(braked.wire.sent)

    measured = braked.step(100)

    assert measured.live == (0b101111 if on else 0)
    others = Control.ENABLE_OPERATION if on else Control.DISABLE_VOLTAGE
    faulty = Control.DISABLE_VOLTAGE
    expected = [others] * 4 + [faulty, others]
    assert [[word for word, _, _ in frame] for frame in braked.wire.sent[sent:]] == [
        expected
    ] * 100
    assert braked.wire.states[4] is State.FAULT
    assert str(measured.fault).startswith('drive of leg 5 reports fault 0x4310')
    braked.active.reset()
    braked.active.enable()
    braked.until_on()


def test_nobody_is_switched_on_while_one_is_in_a_fault(bench: ScriptedBench) -> None:
    bench.wire.fail(4, 0x4310)
    bench.active.enable()

    measured = bench.step(10)

    assert measured.fault is not None
    assert State.SWITCHED_ON not in bench.wire.states
    assert State.OPERATION_ENABLED not in bench.wire.states


def test_the_emergency_of_a_drive_that_left_operation_has_its_code(bench: ScriptedBench) -> None:
    bench.switch_on()
    bench.wire.states[4] = State.SWITCH_ON_DISABLED
    bench.wire.mail[5] = [Emergency(0xFF20, 1, bytes(5))]

    assert '; emergency 0xFF20, specific to the manufacturer' in str(bench.step(2).fault)


def test_closing_takes_the_voltage_off_before_the_bus_goes_down(bench: ScriptedBench) -> None:
    bench.switch_on()

    bench.active.close()

    assert bench.wire.states == [State.SWITCH_ON_DISABLED] * 6
    assert bench.wire.log[-2:] == ['frame', 'close']
    # Not straight to INIT: a drive that takes its time would count the frames that it misses.
    down = bench.wire.log.index('request 4')
    assert set(bench.wire.log[down + 1 : -1]) == {'frame'}


def test_a_drive_that_holds_by_its_quick_stop_lets_go_with_the_others() -> None:
    """It let go five frames before them: without brakes the platform tilted."""
    group = DriveGroup(2, 10, 0)
    group.enable()
    group.follow()
    group.take([0x1237, 0x0217])
    group.disable()

    holding = [Control.ENABLE_OPERATION, Control.QUICK_STOP]
    assert [group.words() for _ in range(FRAMES_TO_ACT)] == [holding] * FRAMES_TO_ACT
    assert group.words() == [Control.SWITCH_ON, Control.DISABLE_VOLTAGE]


def test_an_unknown_statusword_keeps_all_off() -> None:
    group = DriveGroup(2, 10, 0)
    group.enable()

    group.take([0x0040, 0x0002])

    assert group.states[1] is None
    assert group.words() == [Control.DISABLE_VOLTAGE] * 2
    assert decode_state(0x0040) is State.SWITCH_ON_DISABLED
