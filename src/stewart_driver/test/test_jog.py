# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Jogging is slow, ends when the key is let go, and leads back from where nothing else does."""

from __future__ import annotations

from cycle_rig import CYCLE, Rig, START, ZERO
import numpy as np
import pytest
from stewart_driver.control.state_machine import Request, State

LIMITS = Rig().backend.limits
SPEED = 0.1 * LIMITS.rate
LEG_3 = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def press(rig: Rig, rates: np.ndarray, duration: float) -> None:
    """Ask for a jog 50 times a second."""

    def every_tenth(now: float) -> None:
        if round(now / CYCLE) % 10 == 0:
            rig.node.jogs.push(stamp=now, rates=rates)

    rig.run(duration, every_tenth)


def refusals(rig: Rig) -> list[str]:
    return [record['text'] for record in rig.node.refusals.pop_all()]


def test_a_jogged_leg_moves_alone_within_the_limits() -> None:
    rig = Rig().enabled()
    press(rig, SPEED * LEG_3, 1.0)

    moved = rig.targets[-1] - START
    assert moved[2] == pytest.approx(SPEED * 1.0, rel=0.05)
    assert np.all(moved[[0, 1, 3, 4, 5]] == 0.0)
    rates = np.diff(rig.targets, axis=0) / CYCLE
    assert np.abs(rates).max() <= SPEED * (1 + 1e-9)
    assert np.abs(np.diff(rates, axis=0)).max() / CYCLE <= LIMITS.acceleration


def test_legs_rest_a_tenth_of_a_second_after_the_last_request() -> None:
    rig = Rig().enabled()
    press(rig, SPEED * LEG_3, 0.5)
    rig.node.jogs.push(stamp=rig.now, rates=SPEED * LEG_3)
    last = rig.now
    rig.run(0.3)

    moves = np.abs(np.diff(rig.targets[:, 2])) > 0.0
    stops = rig.now - CYCLE * (moves.size - np.flatnonzero(moves)[-1])
    ramp = SPEED / (0.25 * LIMITS.acceleration)
    assert last + 0.1 <= stops + 2 * CYCLE
    assert stops <= last + 0.1 + ramp + 2 * CYCLE
    assert rig.cycle.state is State.ENABLED


def test_no_rate_stops_a_jog_at_once() -> None:
    rig = Rig().enabled()
    press(rig, SPEED * LEG_3, 0.5)
    rig.node.jogs.push(stamp=rig.now, rates=ZERO)
    rig.run(SPEED / (0.25 * LIMITS.acceleration) + 3 * CYCLE)
    rest = rig.targets[-1]
    rig.run(0.1)

    assert np.all(rig.targets[-1] == rest)


def test_a_jog_that_waited_for_a_frozen_loop_moves_nothing() -> None:
    rig = Rig().enabled()
    for age in (0.3, 0.2, 0.12):
        rig.node.jogs.push(stamp=rig.now - age, rates=SPEED * LEG_3)
    rig.run(0.3)

    assert np.all(rig.targets == START)


@pytest.mark.parametrize(
    ('rates', 'words'),
    [
        (1.01 * SPEED * LEG_3, 'a jog needs 0.0606 m/s in leg 3, allowed are 0.06 m/s'),
        (np.full(6, np.nan), 'not finite'),
    ],
)
def test_what_cannot_be_jogged_is_refused(rates: np.ndarray, words: str) -> None:
    rig = Rig().enabled()
    rig.node.jogs.push(stamp=rig.now, rates=rates)
    rig.run(0.1)

    assert any(words in text for text in refusals(rig))
    assert np.all(rig.targets == START)


def test_only_legs_at_rest_with_drives_that_follow_are_jogged() -> None:
    rig = Rig()
    rig.node.jogs.push(stamp=rig.now, rates=SPEED * LEG_3)
    rig.run(CYCLE)
    assert refusals(rig) == ['legs are not jogged while the driver is DISABLED']

    rig = Rig().moving()
    rig.node.jogs.push(stamp=rig.now, rates=SPEED * LEG_3)
    rig.run(CYCLE, rig.feed)
    assert refusals(rig) == ['only legs at rest are jogged']
    assert rig.cycle.state is State.ENABLED


def test_setpoints_do_not_move_legs_that_are_jogged() -> None:
    rig = Rig().enabled()
    press(rig, SPEED * LEG_3, 0.1)
    rig.send(rig.now, rig.targets[-1], ZERO)
    rig.run(CYCLE)

    assert refusals(rig) == ['the legs do not follow setpoints now']


@pytest.mark.parametrize('direction', [1.0, -1.0])
def test_a_jog_slows_down_in_front_of_the_end_of_the_stroke(direction: float) -> None:
    """All legs slow down together, so that a direction of the platform stays one."""
    rates = direction * SPEED * np.array([0.5, 0.0, 1.0, -0.2, 0.0, 0.1])
    rig = Rig().enabled()
    press(rig, rates, 8.0)

    end = 0.6 if direction > 0.0 else 0.0
    assert rig.targets[:, 2].max() <= 0.6
    assert rig.targets[:, 2].min() >= 0.0
    assert rig.targets[-1, 2] == pytest.approx(end, abs=1e-3)
    moved = rig.targets[1:] - START
    speeds = np.diff(rig.targets, axis=0) / CYCLE
    assert moved[-1] == pytest.approx(rates * (moved[-1, 2] / rates[2]), abs=1e-5)
    assert np.abs(np.diff(speeds, axis=0)).max() / CYCLE <= LIMITS.acceleration


def test_a_leg_at_its_end_is_named_where_it_keeps_the_others() -> None:
    """It would slow them down to nothing, without a word; what rounding leaves keeps none."""
    rates = SPEED * np.array([-1e-12, 1.0, 0.0, 0.0, 0.0, 0.0])
    rig = Rig(start=0.0).enabled()
    press(rig, rates, 0.5)
    assert rig.targets[-1] == pytest.approx([0.0, 0.45 * SPEED, *[0.0] * 4], abs=0.1 * SPEED)
    assert refusals(rig) == []

    rig.run(0.3)
    held = rig.targets[-1]
    rates[0] = -1e-3
    press(rig, rates, 0.1)
    assert refusals(rig)[-1] == (
        'leg 1 stands at 0.00000 m, its end is at 0 m: a jog may move it inwards only'
    )
    assert np.array_equal(rig.targets[-1], held)


def test_a_quick_stop_ends_a_jog() -> None:
    rig = Rig().enabled()
    press(rig, SPEED * LEG_3, 0.5)
    rig.node.words['quick_stops'] += 1
    press(rig, SPEED * LEG_3, 0.3)

    assert rig.states[-2:] == [State.STOPPING, State.DISABLED]


class TestOverride:
    """A leg 8 mm outside its stroke, where measured_stroke margins allow 5 mm."""

    def test_without_it_the_drives_are_not_switched_on(self) -> None:
        rig = Rig(start=0.608)
        rig.run(0.05)
        # Without power legs may rest on their ends.
        assert rig.cycle.state is State.DISABLED
        accepted, message = rig.ask(Request.ENABLE)

        assert not accepted
        assert '0.60800 m, its range is 0 to 0.6 m: switch the override on' in message
        assert rig.cycle.state is State.DISABLED

    def test_with_it_the_legs_come_back_and_it_ends_by_itself(self) -> None:
        rig = Rig(start=0.608)
        rig.run(0.05)
        assert rig.ask(Request.OVERRIDE, 1.0)[0]
        assert rig.ask(Request.ENABLE)[0]
        rig.run(0.1)
        assert rig.cycle.state is State.ENABLED
        assert np.all(rig.targets == 0.608)

        press(rig, np.full(6, SPEED), 0.5)
        assert np.all(rig.targets == 0.608)
        press(rig, np.full(6, -SPEED), 0.5)
        rig.run(0.3)

        assert rig.targets[-1].max() < 0.6
        assert np.abs(np.diff(rig.targets, axis=0)).max() <= SPEED * CYCLE * (1 + 1e-9)
        assert np.all(np.diff(rig.targets, axis=0) <= 0.0)
        assert rig.cycle.state is State.ENABLED
        assert not rig.override
        # From now on a leg outside is a fault again.
        assert not rig.ask(Request.OVERRIDE, 1.0)[0]

    def test_a_leg_that_goes_further_out_is_a_fault_with_it_too(self) -> None:
        rig = Rig(start=0.608)
        rig.run(0.05)
        rig.ask(Request.OVERRIDE, 1.0)
        assert rig.ask(Request.ENABLE)[0]
        rig.run(0.1)
        assert rig.cycle.state is State.ENABLED
        for stroke in (0.610, 0.612, 0.6135):
            rig.backend._strokes = np.full(6, stroke)
            rig.run(CYCLE)
        assert rig.cycle.state is State.STOPPING
        rig.run(0.3)
        assert rig.cycle.state is State.FAULT

    def test_it_is_refused_where_every_leg_is_inside(self) -> None:
        accepted, message = Rig().ask(Request.OVERRIDE, 1.0)

        assert not accepted
        assert 'no leg is outside' in message

    def test_switched_off_the_legs_are_kept_within_their_strokes_again(self) -> None:
        rig = Rig(start=0.608)
        rig.run(0.05)
        rig.ask(Request.OVERRIDE, 1.0)
        assert rig.ask(Request.OVERRIDE, 0.0)[0]

        assert not rig.ask(Request.ENABLE)[0]
