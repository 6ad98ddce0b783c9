# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Speed scaling plays the same path in more time, and changes its pace smoothly."""

from __future__ import annotations

from cycle_rig import CYCLE, Rig, START
import numpy as np
import pytest
from stewart_driver.control.state_machine import Request, State
from stewart_driver.path.path import CAPACITY

AWAY = np.array([0.10, -0.05, 0.02, 0.08, -0.10, 0.01])
DURATION = 1.0


def move(time: float) -> tuple[np.ndarray, np.ndarray]:
    """From rest to rest in one second."""
    x = min(max(time / DURATION, 0.0), 1.0)
    share, slope = x**3 * (10 - 15 * x + 6 * x**2), 30 * x**2 * (1 - x) ** 2 / DURATION
    return START + AWAY * share, AWAY * slope


def played(scaling: float, change: tuple[float, float] | None = None) -> Rig:
    """Play the move with a scaling, which may change at an instant; the source does not wait."""
    rig = Rig()
    if scaling != 1.0:
        assert rig.ask(Request.SPEED_SCALING, scaling)[0]
    rig.enabled()
    begin = rig.now

    def feed(now: float) -> None:
        time = now - begin
        if round(time / CYCLE) % 3 == 0 and time <= DURATION + 0.006:
            rig.send(now, *move(time))
        if change is not None and abs(time - change[0]) < 0.5 * CYCLE:
            rig.node.requests.push(code=Request.SPEED_SCALING, value=change[1])

    slowest = min(scaling, 1.0 if change is None else change[1])
    rig.run(1.1 * DURATION / slowest + 0.5, feed)
    return rig


@pytest.mark.parametrize('scaling', [1.0, 0.5, 0.1])
def test_the_path_is_the_same_and_takes_its_time(scaling: float) -> None:
    rig = played(scaling)

    assert rig.cycle.state is State.ENABLED
    assert rig.states.count(State.STOPPING) == 0
    way = rig.targets - START
    assert way[-1] == pytest.approx(AWAY, abs=1e-9)
    assert np.abs(way - np.outer(way[:, 0] / AWAY[0], AWAY)).max() < 1e-9
    fastest = np.abs(np.diff(rig.targets, axis=0)).max() / CYCLE
    assert fastest == pytest.approx(scaling * 1.875 * 0.1 / DURATION, rel=2e-3)


@pytest.mark.parametrize(('before', 'after'), [(1.0, 0.2), (0.2, 1.0), (0.5, 0.05)])
def test_a_change_while_moving_is_smooth(before: float, after: float) -> None:
    rig = played(before, (0.5 / before if before > 0.5 else 1.5, after))

    assert rig.cycle.state is State.ENABLED
    assert rig.states.count(State.STOPPING) == 0
    way = rig.targets - START
    assert way[-1] == pytest.approx(AWAY, abs=1e-9)
    assert np.abs(way - np.outer(way[:, 0] / AWAY[0], AWAY)).max() < 1e-9
    rates = np.diff(rig.targets, axis=0) / CYCLE
    # That of the move itself, and 1/s of its speed.
    assert np.abs(np.diff(rates, axis=0)).max() / CYCLE <= 0.1 * (5.78 * 1.21 + 1.875) / DURATION


@pytest.mark.parametrize('scaling', [0.0, 0.009, 1.01, -1.0, float('nan')])
def test_what_is_no_share_of_the_speed_is_refused(scaling: float) -> None:
    accepted, message = Rig().ask(Request.SPEED_SCALING, scaling)

    assert not accepted
    assert '0.01 to 1' in message


def test_a_stream_that_piles_up_ends_in_a_stop_that_says_so() -> None:
    rig = Rig()
    rig.ask(Request.SPEED_SCALING, 0.01)
    rig.enabled()
    begin = rig.now

    def feed(now: float) -> None:
        time, omega = now - begin, 2.0 * np.pi * 0.2
        swing = AWAY * (1.0 - np.cos(omega * time))
        rig.send(now, START + 0.5 * swing, 0.5 * omega * AWAY * np.sin(omega * time))

    rig.run((CAPACITY + 100) * CYCLE, feed)

    assert State.STOPPING in rig.states
    assert f'{CAPACITY} setpoints wait: the path is 8.' in ' '.join(rig.reasons)
