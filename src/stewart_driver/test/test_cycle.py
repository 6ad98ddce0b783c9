# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The cycle joins states, path, supervision and drives as the contract says."""

from __future__ import annotations

import os

from cycle_rig import CYCLE, PERIOD, ramp, Rig, SPEEDS, START, ZERO
from loopback import LoopbackBackend, LoopbackOptions, Trouble
import numpy as np
import pytest
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle import ControlLoop
from stewart_driver.control.shared_block import SharedBlock
from stewart_driver.control.state_machine import Request, State
from stewart_driver.path.motion import Verdict


def test_enabling_holds_the_legs_where_they_are() -> None:
    rig = Rig()
    rig.run(0.01)
    assert rig.ask(Request.ENABLE)[0]
    rig.run(0.1)

    assert rig.states == [State.DISABLED, State.ENABLING, State.ENABLED]
    assert np.all(rig.targets == START)


@pytest.mark.parametrize(('rate', 'allowed'), [(-0.149, True), (-0.151, False), (0.3, False)])
def test_a_platform_that_falls_is_not_caught(
    monkeypatch: pytest.MonkeyPatch, rate: float, allowed: bool
) -> None:
    rig = Rig()
    exchange = rig.backend.exchange
    rates = np.array([0.0, 0.0, rate, 0.0, 0.0, 0.0])
    monkeypatch.setattr(
        rig.backend, 'exchange', lambda *args: exchange(*args)._replace(rates=rates)
    )
    rig.run(0.01)
    accepted, told = rig.ask(Request.ENABLE)

    assert accepted is allowed
    if not allowed:
        assert f'leg 3 moves at {rate:.3f} m/s, allowed are 0.15 m/s' in told
        assert rig.states == [State.DISABLED]


def test_nothing_is_enabled_before_the_legs_were_measured() -> None:
    """The first target would be a guess, and the drives would run there."""
    descriptor = SharedBlock.allocate()
    block = SharedBlock(descriptor)
    os.close(descriptor)
    backend = LoopbackBackend(LoopbackOptions(CYCLE))
    cycle = ControlLoop(backend, CycleConfiguration(backend.limits), block)
    block.requests.push(code=Request.ENABLE)
    cycle.step(0.0)

    (reply,) = block.replies.pop_all()
    assert reply['message'] == 'the drives have not been measured yet'
    assert not backend.enabled


def test_the_legs_follow_the_setpoints() -> None:
    rig = Rig().moving()

    expected, _ = ramp(rig.now - CYCLE - rig._begin - rig.delay)
    assert rig.targets[-1] == pytest.approx(expected, abs=1e-9)
    assert rig.block.words['verdicts'][Verdict.ACCEPTED] == 250


def test_silence_while_moving_stops_all_legs_and_holds_them() -> None:
    rig = Rig().moving()
    rig.run(1.0)

    assert rig.states[-2:] == [State.STOPPING, State.ENABLED]
    assert 'no command in time' in rig.reason
    travelled = (rig.targets[-1] - START) / SPEEDS
    assert travelled == pytest.approx(np.full(6, travelled[0]), rel=1e-9)
    steps = np.diff(rig.targets, axis=0)
    assert np.abs(np.diff(steps, axis=0)).max() / CYCLE**2 < 1.5 * 6.0
    assert rig.backend.enabled


def test_far_stamped_setpoints_do_not_outlive_the_command_timeout() -> None:
    """Half a second of path is there already, but nobody has commanded for 0.1 s."""
    rig = Rig().moving()
    for ahead in np.arange(0.006, 0.45, 0.006):
        rig.send(rig.now + ahead, *ramp(rig.now + ahead - rig._begin))
    begin = rig.now
    while rig.cycle.state is State.ENABLED:
        rig.run(CYCLE)

    assert rig.now - begin == pytest.approx(0.1, abs=3 * CYCLE)
    assert 'no command for 0.10' in rig.reason


def test_a_path_that_is_known_to_its_rest_is_played_to_its_end() -> None:
    """A long playout delay: the last command comes long before the legs are there."""
    rig = Rig().moving()
    begin, braking = rig.now, 0.3
    strokes, rates = ramp(begin - rig._begin)
    for part in np.linspace(0.02, 1.0, 50):
        way = braking * (part - part**2 / 2)
        rig.send(begin + braking * part, strokes + way * rates, (1.0 - part) * rates)
    rig.run(1.0)

    assert rig.states[-1] is State.ENABLED
    assert State.STOPPING not in rig.states
    assert rig.targets[-1] == pytest.approx(strokes + braking / 2 * rates, abs=1e-9)


def test_nothing_moves_after_a_quick_stop_although_commands_continue() -> None:
    rig = Rig().moving()
    assert rig.quick_stop()[0]
    rig.run(0.2, rig.feed)
    stopped = rig.targets[-1]
    rig.run(0.5, rig.feed)

    assert rig.states[-2:] == [State.STOPPING, State.DISABLED]
    assert rig.reason == 'quick stop asked for'
    assert not rig.backend.enabled
    assert np.array_equal(rig.targets[-1], stopped)


def test_a_path_that_begins_where_the_legs_came_to_rest_is_not_taken_before_they_settled() -> None:
    rig = Rig().enabled(0.1)
    begin = rig.now
    rig.run(0.05, lambda now: rig.send(now, START, ZERO))
    rig.ask(Request.DISABLE)
    # Still from the source that plays: it has not heard of the end.
    creep = np.full(6, 0.004)
    rig.run(0.06, lambda now: rig.send(now, START + creep * (now - begin), creep))
    rig.run(1.0)
    assert rig.states[-2:] == [State.STOPPING, State.DISABLED]


def test_drives_settle_at_a_disable_after_an_earlier_stop_too() -> None:
    rig = Rig().moving()
    rig.run(1.0)
    assert rig.states[-2:] == [State.STOPPING, State.ENABLED]
    rig.ask(Request.DISABLE)
    rig.run(0.09)
    assert rig.cycle.state is State.STOPPING
    rig.run(0.02)
    assert rig.cycle.state is State.DISABLED


def test_a_quick_stop_takes_no_longer_than_the_legs_allow() -> None:
    rig = Rig().moving()
    before = len(rig.targets)
    rig.node.words['quick_stops'] += 1
    rig.run(0.5, rig.feed)

    moved = np.abs(np.diff(rig.targets[before - 1 :], axis=0)).max(axis=1) > 0.0
    assert moved.sum() * CYCLE == pytest.approx(1.5 * 0.1 / 6.0, abs=2 * CYCLE)


def test_disabling_while_moving_stops_first() -> None:
    rig = Rig().moving()
    accepted, message = rig.ask(Request.DISABLE)
    assert accepted
    assert 'rest' in message
    assert rig.cycle.state is State.STOPPING
    rig.run(0.5, rig.feed)

    assert rig.cycle.state is State.DISABLED
    steps = np.diff(rig.targets, axis=0)
    assert np.abs(np.diff(steps, axis=0)).max() / CYCLE**2 < 1.5 * 6.0


@pytest.mark.parametrize(
    ('prepare', 'request_', 'word'),
    [
        ([], Request.RESET_FAULT, 'DISABLED'),
        ([Request.ENABLE], Request.ENABLE, 'ENABLED'),
        ([Request.ENABLE], Request.HOME, 'disable first'),
        ([Request.ENABLE], Request.RESET_FAULT, 'ENABLED'),
    ],
)
def test_what_the_state_does_not_allow_is_refused_with_a_reason(
    prepare: list[Request], request_: Request, word: str
) -> None:
    rig = Rig()
    for step in prepare:
        assert rig.ask(step)[0]
        rig.run(0.05)
    before = rig.cycle.state

    accepted, message = rig.ask(request_)

    assert not accepted
    assert word in message
    assert rig.cycle.state is before


def test_strokes_that_are_not_absolute_forbid_enabling() -> None:
    rig = Rig(Trouble.NOT_HOMED)

    accepted, message = rig.ask(Request.ENABLE)
    assert not accepted
    assert 'home first' in message
    assert rig.cycle.state is State.DISABLED
    accepted, message = rig.ask(Request.HOME)
    assert not accepted
    assert 'not absolute' in message


def test_homing_answers_with_what_was_verified() -> None:
    assert Rig().ask(Request.HOME) == (True, 'loopback is always absolute')


def test_a_stop_that_takes_less_than_a_cycle_is_still_told() -> None:
    """Legs that have hardly begun to move: whoever watches the state must see STOPPING."""
    rig = Rig().enabled(0.1)
    rig.send(rig.now, START, ZERO)
    rig.send(rig.now + PERIOD, START + 5e-7, np.full(6, 2e-4))
    rig.run(0.05)
    begin = rig.now
    while rig.states[-1] is not State.STOPPING:
        rig.run(CYCLE)
        assert rig.now - begin < 1.0
    rig.run(0.09)
    assert rig.states[-1] is State.STOPPING
    rig.run(0.02)
    assert rig.states[-2:] == [State.STOPPING, State.ENABLED]


def test_feed_forward_forces_reach_the_drives() -> None:
    rig = Rig().enabled(0.02)
    for index in range(20):
        rig.send(rig.now + index * PERIOD, START, ZERO, np.arange(6.0))
    rig.run(0.05)

    assert rig.backend.targets[-1].forces == pytest.approx(np.arange(6.0))


def test_a_refused_setpoint_tells_the_node_why() -> None:
    rig = Rig()
    rig.ask(Request.ENABLE)
    rig.send(rig.now, START + 0.01, ZERO)
    rig.run(CYCLE)

    (refusal,) = rig.node.refusals.pop_all()
    assert refusal['text'].startswith('a path begins 0.010000 m from the held stroke')
    assert rig.node.words['verdicts'][Verdict.START_AWAY] == 1
