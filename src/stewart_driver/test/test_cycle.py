# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The cycle joins states, path, supervision and drives as the contract says."""

from __future__ import annotations

from collections.abc import Callable
import os
from typing import Any

import numpy as np
import pytest
from stewart_driver.configuration import CycleConfiguration
from stewart_driver.cycle import Cycle, Request
from stewart_driver.legs import Array
from stewart_driver.loopback import LoopbackBackend, LoopbackOptions, Trouble
from stewart_driver.setpoint import Verdict
from stewart_driver.shared_block import decode, SharedBlock
from stewart_driver.state_machine import State

CYCLE = 0.002
PERIOD = 0.006
START = np.full(6, 0.3)
ZERO = np.zeros(6)
SPEEDS = np.array([0.10, -0.05, 0.02, 0.08, -0.10, 0.01])


def ramp(time: float) -> tuple[Array, Array]:
    """Legs that speed up at 0.5 of their rates per second for one second, from START."""
    rise = min(max(time, 0.0), 1.0)
    strokes = START + SPEEDS * (0.5 * rise**2 + max(time - 1.0, 0.0))
    return strokes, SPEEDS * rise


class Rig:
    """A cycle with a loopback back end and the node's end of the block, without processes."""

    def __init__(self, trouble: Trouble = Trouble.NONE, after: float = 0.0) -> None:
        """Open the back end at time zero and run one cycle."""
        descriptor = SharedBlock.allocate()
        self.node, self.block = SharedBlock(descriptor), SharedBlock(descriptor)
        os.close(descriptor)
        self.backend = LoopbackBackend(
            LoopbackOptions(CYCLE, trouble=trouble.value, trouble_after=after)
        )
        self.backend.open(0.0)
        configuration = CycleConfiguration(self.backend.limits)
        self.delay = configuration.interpolation.playout_delay
        self.cycle = Cycle(self.backend, configuration, self.block)
        self.now = 0.0
        self.states: list[State] = []
        self.reason = ''
        self.run(CYCLE)

    def run(self, duration: float, feed: Callable[[float], Any] = lambda _now: None) -> None:
        """Step cycle by cycle."""
        for _ in range(round(duration / CYCLE)):
            feed(self.now)
            self.cycle.step(self.now)
            self.now += CYCLE
            for event in self.node.events.pop_all():
                self.states.append(State(int(event['state'])))
                self.reason = decode(event['reason'])

    def ask(self, request: Request) -> tuple[bool, str]:
        """Ask and run one cycle for the answer."""
        self.node.requests.push(code=request)
        self.run(CYCLE)
        (reply,) = self.node.replies.pop_all()
        return bool(reply['accepted']), decode(reply['message'])

    def send(self, stamp: float, strokes: Array, rates: Array, forces: Array = ZERO) -> None:
        """Send one setpoint."""
        self.node.setpoints.push(stamp=stamp, strokes=strokes, rates=rates, forces=forces)

    def moving(self) -> Rig:
        """Enable and move for one and a half seconds."""
        self.ask(Request.ENABLE)
        self.run(0.1)
        begin = self.now
        self._begin = begin
        self.run(1.5, self.feed)
        assert self.cycle.state is State.ENABLED
        return self

    def feed(self, now: float) -> None:
        """Send the ramp every third cycle."""
        if round(now / CYCLE) % round(PERIOD / CYCLE) == 0:
            self.send(now, *ramp(now - self._begin))

    def run_into_trouble(self) -> None:
        """Enable and move until the back end's trouble has had its consequences."""
        self.ask(Request.ENABLE)
        self.run(0.05)
        self._begin = self.now
        self.run(2.0, self.feed)

    @property
    def commanded(self) -> Array:
        """What the drives were told, from the samples, shape (n, 6) [m]."""
        strokes = np.array([s['commanded_strokes'] for s in self.node.samples.pop_all()])
        return strokes[~np.isnan(strokes).any(axis=1)]

    @property
    def targets(self) -> Array:
        """All target strokes while enabled, shape (n, 6) [m]."""
        return np.array([target.strokes for target in self.backend.targets])


def test_enabling_holds_the_legs_where_they_are() -> None:
    rig = Rig()
    rig.run(0.01)
    assert rig.ask(Request.ENABLE)[0]
    rig.run(0.1)

    assert rig.states == [State.DISABLED, State.ENABLING, State.ENABLED]
    assert np.all(rig.targets == START)


def test_nothing_is_enabled_before_the_legs_were_measured() -> None:
    """The first target would be a guess, and the drives would run there."""
    descriptor = SharedBlock.allocate()
    block = SharedBlock(descriptor)
    os.close(descriptor)
    backend = LoopbackBackend(LoopbackOptions(CYCLE))
    cycle = Cycle(backend, CycleConfiguration(backend.limits), block)
    block.requests.push(code=Request.ENABLE)
    cycle.step(0.0)

    (reply,) = block.replies.pop_all()
    assert decode(reply['message']) == 'the drives have not been measured yet'
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


def test_nothing_moves_after_a_quick_stop_although_commands_continue() -> None:
    rig = Rig().moving()
    rig.node.words['quick_stops'] += 1
    rig.run(0.2, rig.feed)
    stopped = rig.targets[-1]
    rig.run(0.5, rig.feed)

    assert rig.states[-2:] == [State.STOPPING, State.DISABLED]
    assert rig.reason == 'quick stop asked for'
    assert not rig.backend.enabled
    assert np.array_equal(rig.targets[-1], stopped)
    assert rig.node.words['quick_stops_seen'] == 1


def test_a_path_that_begins_where_the_legs_came_to_rest_is_not_taken_before_they_settled() -> None:
    rig = Rig()
    rig.ask(Request.ENABLE)
    rig.run(0.1)
    begin = rig.now
    rig.run(0.05, lambda now: rig.send(now, START, ZERO))
    rig.ask(Request.DISABLE)
    # Still from the source that plays: it has not heard of the end.
    creep = np.full(6, 0.004)
    rig.run(0.06, lambda now: rig.send(now, START + creep * (now - begin), creep))
    rig.run(1.0)
    assert rig.states[-2:] == [State.STOPPING, State.DISABLED]


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
        ([], Request.DISABLE, 'DISABLED'),
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


@pytest.mark.parametrize(
    ('trouble', 'words'),
    [
        (Trouble.DRIVE_FAULT, 'leg 3 reports fault 0x7305: encoder'),
        (Trouble.NOT_A_NUMBER, 'stroke of leg 4 is nan'),
        (Trouble.JUMP, 'leg 2 jumped by 9.9'),
        (Trouble.STUCK, 'mm from its command, allowed are 12.5 mm'),
        (Trouble.DROPPED_OUT, 'left operation'),
    ],
)
def test_trouble_stops_all_legs_together_and_ends_in_fault(trouble: Trouble, words: str) -> None:
    rig = Rig(trouble, after=1.0)
    rig.run_into_trouble()

    assert rig.states[-2:] == [State.STOPPING, State.FAULT]
    assert words in rig.reason
    assert not rig.backend.enabled
    travelled = (rig.commanded[-1] - START) / SPEEDS
    assert travelled == pytest.approx(np.full(6, travelled[0]), rel=1e-6)


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


def test_where_a_leg_does_not_follow_nobody_waits_for_it_to_settle() -> None:
    rig = Rig(Trouble.STUCK, after=1.0)
    rig.ask(Request.ENABLE)
    rig.run(0.05)
    rig._begin = rig.now
    while State.STOPPING not in rig.states:
        rig.run(CYCLE, rig.feed)
    begin = rig.now
    while State.FAULT not in rig.states:
        rig.run(CYCLE)

    longest = 1.5 * np.abs(SPEEDS).max() / rig.backend.limits.acceleration
    assert rig.now - begin < longest + 3.0 * CYCLE


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
    assert rig.cycle.state is State.DISABLED


def test_drives_that_do_not_switch_on_are_a_fault() -> None:
    rig = Rig(Trouble.NEVER_ON)
    rig.ask(Request.ENABLE)
    rig.run(5.1)

    assert rig.states == [State.DISABLED, State.ENABLING, State.FAULT]
    assert 'not on after 5.0' in rig.reason


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


def test_a_stop_that_takes_less_than_a_cycle_is_still_told() -> None:
    """Legs that have hardly begun to move: whoever watches the state must see STOPPING."""
    rig = Rig()
    rig.ask(Request.ENABLE)
    rig.run(0.1)
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


def test_a_tracking_error_while_holding_is_none() -> None:
    """After a stop the setpoints may go on for a while; nobody follows them."""
    rig = Rig()
    rig.ask(Request.ENABLE)
    rig.run(0.1)
    rig.node.tracking.push(position=1.0, rotation=1.0)
    rig.run(0.1)

    assert rig.cycle.state is State.ENABLED


def test_a_tracking_error_within_its_limits_changes_nothing() -> None:
    rig = Rig().moving()
    rig.node.tracking.push(position=0.029, rotation=0.049)
    rig.run(0.1, rig.feed)

    assert rig.cycle.state is State.ENABLED


def test_feed_forward_forces_reach_the_drives() -> None:
    rig = Rig()
    rig.ask(Request.ENABLE)
    rig.run(0.02)
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
    assert decode(refusal['text']).startswith('a path begins 0.010000 m from the held stroke')
    assert rig.node.words['verdicts'][Verdict.START_AWAY] == 1
