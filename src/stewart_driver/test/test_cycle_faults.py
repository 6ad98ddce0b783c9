# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the cycle makes of drives, legs and clocks that do not do as they shall."""

from __future__ import annotations

from collections.abc import Callable
import re
from typing import Any

from cycle_rig import CYCLE, ramp, Rig, SPEEDS, START
from loopback import LoopbackBackend, Trouble
import numpy as np
import pytest
from stewart_driver.backend import Measurement
from stewart_driver.control.state_machine import Request, State
from stewart_driver.errors import DriveFault
from stewart_driver.path.motion import LegMotion


@pytest.mark.parametrize(
    ('trouble', 'words'),
    [
        (Trouble.DRIVE_FAULT, 'leg 3 reports fault 0x7305: encoder'),
        (Trouble.STUCK, 'mm from its command, allowed are 12.5 mm'),
        (Trouble.DROPPED_OUT, 'left operation'),
    ],
)
def test_trouble_stops_all_legs_together_and_ends_in_fault(trouble: Trouble, words: str) -> None:
    rig = Rig(trouble, after=1.0)
    rig.run_into_trouble()

    assert rig.states[-2:] == [State.STOPPING, State.FAULT]
    assert words in rig.reason
    # Nobody takes the voltage from drives that hold.
    holds = trouble in {Trouble.DRIVE_FAULT, Trouble.STUCK}
    assert rig.backend.enabled is holds
    rest = rig.commanded[-1]
    travelled = (rest - START) / SPEEDS
    assert travelled == pytest.approx(np.full(6, travelled[0]), rel=1e-6)
    rig.run(0.5, rig.feed)
    assert np.all(rig.commanded == rest)


@pytest.mark.parametrize(
    ('trouble', 'words'),
    [
        (Trouble.NOT_A_NUMBER, 'stroke of leg 4 is nan'),
        (Trouble.JUMP, 'leg 2 jumped by 9.9'),
    ],
)
@pytest.mark.parametrize('blindly', [True, False])
def test_legs_lose_their_voltage_at_once_if_an_encoder_lies(
    trouble: Trouble, words: str, *, blindly: bool
) -> None:
    rig = Rig(trouble, after=1.0)
    rig.backend.holds_blindly = blindly
    rig.run_into_trouble()

    assert rig.states[-2] is (State.STOPPING if blindly else State.ENABLED)
    assert rig.states[-1] is State.FAULT
    assert words in rig.reason
    assert rig.backend.enabled is blindly


def test_a_platform_that_falls_is_no_encoder_that_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason of the fault was a jump, which sent people to the encoder."""
    rig, exchange = Rig(rate=0.2).moving(), LoopbackBackend.exchange
    off, top = rig.now, rig.backend.targets[-1].strokes

    def fall(backend: LoopbackBackend, targets: LegMotion, now: float) -> Measurement:
        measured = exchange(backend, targets, now)
        strokes = np.maximum(top - 0.5 * 9.81 * (now - off) ** 2, 0.0)
        return measured._replace(enabled=False, live=0, strokes=strokes)

    monkeypatch.setattr(LoopbackBackend, 'exchange', fall)
    rig.run(0.5, rig.feed)
    assert rig.states[-2:] == [State.STOPPING, State.FAULT]
    assert rig.reason == 'the drives have left operation by themselves'


def test_in_fault_disabling_takes_the_voltage_and_leaves_the_fault() -> None:
    rig = Rig(Trouble.DRIVE_FAULT, after=1.0)
    rig.run_into_trouble()
    reason = rig.reason

    assert rig.ask(Request.DISABLE) == (True, 'off; the fault stays until it is reset')
    rig.run(0.01)
    assert not rig.backend.enabled
    assert rig.cycle.state is State.FAULT
    assert rig.reason == reason

    assert rig.ask(Request.RESET_FAULT)[0]
    assert rig.cycle.state is State.DISABLED
    assert not rig.backend.enabled


@pytest.mark.parametrize(
    ('deaf', 'words'),
    [
        (
            0b100000,
            'leg 6 does not hear the driver: it may hold by itself while the others go off; ',
        ),
        (
            0b111000,
            'legs 4, 5, 6 do not hear the driver: they may hold by themselves while the ot',
        ),
    ],
)
def test_disabling_is_no_success_where_a_leg_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, deaf: int, words: str
) -> None:
    """It was 'off' while five legs let go, and the sixth was held behind a pulled cable."""
    rig = Rig(Trouble.DRIVE_FAULT, after=1.0)
    rig.run_into_trouble()
    exchange = rig.backend.exchange
    monkeypatch.setattr(
        rig.backend, 'exchange', lambda *given: exchange(*given)._replace(deaf=deaf)
    )
    rig.run(CYCLE)

    accepted, said = rig.ask(Request.DISABLE)
    assert not accepted
    assert words in said
    assert not rig.backend.enabled
    monkeypatch.undo()
    rig.run(CYCLE)
    assert rig.ask(Request.DISABLE) == (True, 'off; the fault stays until it is reset')


@pytest.mark.parametrize('holds', [True, False])
def test_a_quick_stop_names_the_leg_that_does_not_hear_it_as_disabling_does(
    monkeypatch: pytest.MonkeyPatch, *, holds: bool
) -> None:
    """All legs come to rest, it said, of a leg behind a pulled cable."""
    rig = Rig(Trouble.DRIVE_FAULT if holds else Trouble.NONE, after=1.0)
    rig.run_into_trouble()
    exchange = rig.backend.exchange
    monkeypatch.setattr(rig.backend, 'exchange', lambda *given: exchange(*given)._replace(deaf=8))
    rig.run(CYCLE)

    accepted, said = rig.quick_stop()
    assert not accepted
    assert said.startswith('leg 4 does not hear the driver: it may hold by itself while the oth')
    assert rig.ask(Request.DISABLE) == (accepted, said)
    assert rig.backend.enabled is not holds
    monkeypatch.undo()
    rig.run(CYCLE)
    assert rig.quick_stop()[0]


def test_the_reason_has_the_code_that_a_drive_tells_after_its_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Rig().moving()
    exchange, faults = rig.backend.exchange, [DriveFault(3, 0, 'no error code')]
    monkeypatch.setattr(
        rig.backend, 'exchange', lambda *given: exchange(*given)._replace(fault=faults[-1])
    )
    rig.run(0.5)
    assert rig.reason == 'drive of leg 3 reports fault 0x0000: no error code'
    assert rig.cycle.state is State.FAULT
    faults.append(DriveFault(3, 0x7305, 'encoder'))
    rig.run(CYCLE)
    assert rig.reason == 'drive of leg 3 reports fault 0x7305: encoder'
    # What comes after it is not why.
    faults.append(DriveFault(2, 0x2310, 'current'))
    rig.run(0.1)
    assert rig.reason == 'drive of leg 3 reports fault 0x7305: encoder'


def test_in_fault_a_quick_stop_takes_the_voltage_as_it_says() -> None:
    rig = Rig(Trouble.DRIVE_FAULT, after=1.0)
    rig.run_into_trouble()
    assert rig.backend.enabled

    rig.node.words['quick_stops'] += 1
    rig.run(0.01)

    assert not rig.backend.enabled
    assert rig.cycle.state is State.FAULT


@pytest.mark.parametrize('fault_first', [True, False])
def test_who_disables_during_the_stop_before_a_fault_gets_it_off(*, fault_first: bool) -> None:
    rig = Rig().moving()
    trip = {'position': 1.0, 'rotation': 0.0}
    if fault_first:
        rig.node.tracking.push(**trip)
        rig.run(CYCLE)
    assert rig.ask(Request.DISABLE) == (True, 'coming to rest, then off')
    rig.node.tracking.push(**trip)
    rig.backend._trouble = Trouble.DRIVE_FAULT
    rig.run(0.5)

    assert rig.states[-2:] == [State.STOPPING, State.FAULT]
    assert not rig.backend.enabled


def test_a_reset_while_drives_hold_brings_all_back_without_moving_any() -> None:
    rig = Rig(Trouble.DRIVE_FAULT, after=1.0)
    rig.run_into_trouble()
    rest = rig.targets[-1]
    count = len(rig.states)

    accepted, message = rig.ask(Request.RESET_FAULT)
    rig.run(0.2)

    assert accepted
    assert 'hold' in message
    assert rig.states[count:] == [State.ENABLING, State.ENABLED]
    assert np.all(rig.targets[-90:] == rest)


def test_drives_that_do_not_come_back_leave_the_others_holding() -> None:
    rig = Rig(Trouble.DRIVE_FAULT, after=1.0)
    rig.run_into_trouble()
    rest = rig.targets[-1]
    # The fault is there again as soon as it was acknowledged.
    rig.backend.reset_fault = lambda: None
    assert rig.ask(Request.RESET_FAULT)[0]
    rig.run(0.1)

    assert rig.cycle.state is State.FAULT
    assert 'leg 3' in rig.reason
    assert rig.backend.enabled
    assert np.all(rig.targets[-50:] == rest)


def late(rig: Rig, duration: float, feed: Callable[[float], Any] = lambda _now: None) -> None:
    """Let cycles take three periods each."""
    for _ in range(round(duration / (3.0 * CYCLE))):
        rig.run(CYCLE, feed)
        rig.now += 2.0 * CYCLE


def test_cycles_that_keep_being_missed_stop_what_moves_and_nothing_else() -> None:
    rig = Rig()
    late(rig, 1.5)
    rig.moving()
    assert State.FAULT not in rig.states

    late(rig, 0.9, lambda now: rig.send(now, *ramp(now - rig._begin)))
    rig.run(0.5)

    assert rig.states[-2:] == [State.STOPPING, State.FAULT]
    assert '% of the cycles of the last second were missed while moving, all' in rig.reason
    travelled = (rig.commanded[-1] - START) / SPEEDS
    assert travelled == pytest.approx(np.full(6, travelled[0]), rel=1e-6)


def test_a_broken_transport_is_a_fault_at_once_and_can_be_reset() -> None:
    rig = Rig(Trouble.BROKEN, after=1.0)
    rig.run_into_trouble()
    assert rig.states[-2:] == [State.ENABLED, State.FAULT]
    assert rig.reason == 'loopback is broken'

    assert rig.ask(Request.RESET_FAULT)[0]
    assert rig.cycle.state is State.DISABLED
    assert rig.ask(Request.ENABLE)[0]
    rig.run(0.01)
    assert rig.cycle.state is State.ENABLED


def test_a_fault_is_never_left_without_reset() -> None:
    rig = Rig(Trouble.DRIVE_FAULT, after=1.0)
    rig.run_into_trouble()

    accepted, message = rig.ask(Request.ENABLE)
    assert not accepted
    assert 'FAULT' in message
    assert 'leg 3' in message
    assert rig.ask(Request.RESET_FAULT)[0]
    rig.run(0.01)
    assert rig.cycle.state is State.ENABLED


def test_a_reset_that_comes_to_nothing_is_withdrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(Trouble.DRIVE_FAULT, after=1.0)
    rig.run_into_trouble()
    withdrawn: list[float] = []
    monkeypatch.setattr(rig.backend, 'withdraw', lambda: withdrawn.append(rig.now))
    exchange = rig.backend.exchange

    def five(targets: LegMotion, now: float) -> Measurement:
        return exchange(targets, now)._replace(enabled=False, live=0b111011)

    monkeypatch.setattr(rig.backend, 'exchange', five)
    assert rig.ask(Request.RESET_FAULT)[0]
    rig.run(5.1)

    assert rig.states[-2:] == [State.ENABLING, State.FAULT]
    assert len(withdrawn) == 1
    assert rig.backend.enabled


@pytest.mark.parametrize('request_', [Request.ENABLE, Request.HOME, Request.RESET_FAULT])
def test_a_quick_stop_is_obeyed_before_what_was_asked_for_earlier(request_: Request) -> None:
    """Both come while a cycle hangs, in a reset, or in a call of the card."""
    rig = Rig()
    rig.node.requests.push(code=request_, quick_stops=0)
    rig.node.requests.push(code=Request.DISABLE, quick_stops=0)
    rig.node.words['quick_stops'] += 1
    rig.run(0.1)

    old, disable = rig.node.replies.pop_all()
    assert (old['accepted'], old['message']) == (
        False,
        'a quick stop was asked for after it: ask again',
    )
    assert disable['request'] == 2
    assert rig.states == [State.DISABLED]
    rig.node.requests.push(code=Request.ENABLE, quick_stops=1)
    rig.run(0.1)
    assert rig.states[-1] is State.ENABLED


def test_what_was_answered_with_a_failure_is_not_carried_out_later() -> None:
    rig = Rig()
    rig.node.requests.push(code=Request.ENABLE, deadline=rig.now + 0.5)
    rig.now += 0.7
    rig.run(0.1)

    (reply,) = rig.node.replies.pop_all()
    assert not reply['accepted']
    assert 'it came 0.200 s too late to be carried out' in reply['message']
    assert rig.states == [State.DISABLED]

    # Off is right at any time.
    rig.node.requests.push(code=Request.ENABLE, deadline=rig.now + 0.5)
    rig.run(0.1)
    rig.node.requests.push(code=Request.DISABLE, deadline=rig.now - 0.2)
    rig.run(0.2)
    assert rig.states[-1] is State.DISABLED


def test_drives_that_do_not_switch_on_are_a_fault() -> None:
    rig = Rig(Trouble.NEVER_ON)
    rig.ask(Request.ENABLE)
    rig.run(5.1)

    assert rig.states == [State.DISABLED, State.ENABLING, State.FAULT]
    assert re.fullmatch(r'the drives are not on after 5\.0\d s: leg 3 is SWITCHED_ON', rig.reason)


def test_the_time_to_switch_on_begins_where_drives_can_be_switched_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A bus may bring its drives to OP for 10 s, and their motors were blamed after 5 s."""
    rig = Rig(Trouble.NEVER_ON)
    monkeypatch.setattr(LoopbackBackend, 'starting', property(lambda _: rig.now < 1.0))
    rig.ask(Request.ENABLE)
    rig.run(5.8)
    assert rig.states[-1] is State.ENABLING
    rig.run(0.3)
    assert rig.states[-1] is State.FAULT


@pytest.mark.parametrize(
    ('position', 'rotation', 'words'),
    [
        (0.031, 0.0, '31.00 mm from its setpoint, allowed are 30 mm'),
        (0.0, 0.051, 'turned 2.922 deg'),
        (float('nan'), 0.0, 'nan mm'),
    ],
)
def test_a_cartesian_tracking_error_over_its_limit_stops(
    position: float, rotation: float, words: str
) -> None:
    rig = Rig().moving()
    rig.node.tracking.push(position=position, rotation=rotation)
    rig.run(0.5, rig.feed)

    assert rig.states[-2:] == [State.STOPPING, State.FAULT]
    assert words in rig.reason


def test_a_tracking_error_while_holding_is_none() -> None:
    """After a stop the setpoints may go on for a while; nobody follows them."""
    rig = Rig().enabled(0.1)
    rig.node.tracking.push(position=1.0, rotation=1.0)
    rig.run(0.1)

    assert rig.cycle.state is State.ENABLED


def test_a_tracking_error_within_its_limits_changes_nothing() -> None:
    rig = Rig().moving()
    rig.node.tracking.push(position=0.029, rotation=0.049)
    rig.run(0.1, rig.feed)

    assert rig.cycle.state is State.ENABLED


def test_a_path_behind_its_schedule_is_not_judged_by_the_schedule() -> None:
    rig = Rig().moving()
    rig.now += 0.1
    rig.run(0.05, rig.feed)
    assert rig.cycle.state is State.ENABLED
    rig.node.tracking.push(position=0.06, rotation=0.0)
    rig.run(0.05, rig.feed)
    assert rig.cycle.state is State.ENABLED

    # Nor later, when the path has caught up.
    rig.run(1.2, rig.feed)
    assert rig.cycle.state is State.ENABLED
    rig.node.tracking.push(position=0.06, rotation=0.0)
    rig.run(0.05, rig.feed)
    assert '60.00 mm from its setpoint' in rig.reason


@pytest.mark.parametrize('lie', [Trouble.NOT_A_NUMBER, Trouble.JUMP])
def test_a_leg_whose_encoder_begins_to_lie_is_held_no_longer(lie: Trouble) -> None:
    rig = Rig(Trouble.DRIVE_FAULT, after=1.0)
    rig.run_into_trouble()
    assert rig.backend.enabled

    rig.backend._trouble = lie
    rig.run(0.05)

    assert not rig.backend.enabled
    assert rig.cycle.state is State.FAULT
