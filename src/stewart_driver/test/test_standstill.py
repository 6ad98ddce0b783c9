# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A counter that stands is told from one that was not looked at."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from stewart_driver.control.cycle_link import StateChange
from stewart_driver.control.state_machine import State
from stewart_driver.control.supervision import StallDetector


def test_a_counter_stands_for_as_long_as_it_was_seen_to() -> None:
    stall = StallDetector()

    assert stall.look(7, 1000.0) == 0.0
    assert stall.look(7, 1000.04) == pytest.approx(0.04)
    assert stall.look(7, 1000.10) == pytest.approx(0.10)
    assert stall.look(8, 1000.15) == 0.0


def test_a_pause_of_who_looks_is_not_one_of_who_counts() -> None:
    stall = StallDetector()
    stall.look(7, 1000.0)

    # As after both were frozen, with the machine.
    assert stall.look(7, 1060.0) == pytest.approx(0.1)


@pytest.mark.ros
@pytest.mark.parametrize(
    ('state', 'live', 'killed'),
    [
        (State.ENABLED, 63, True),
        (State.FAULT, 63, True),
        (State.FAULT, 0, False),
        # On a card without an enable output, whose outputs are at zero.
        (State.DISABLED, 63, False),
    ],
)
def test_a_process_that_hangs_while_drives_hold_is_killed(
    state: State, live: int, *, killed: bool
) -> None:
    from stewart_driver.nodes.drive_session import DriveSession

    session: Any = DriveSession.__new__(DriveSession)
    kills: list[State] = []
    now = iter(range(1000, 1010))
    session._client = SimpleNamespace(
        steady=lambda: 0.01 * next(now), cycles=5, kill=lambda: kills.append(state)
    )
    session._stall, session._buried, session._under_way = StallDetector(), False, 0
    session._chosen = SimpleNamespace(stall_timeout=2.5)
    session._backend = SimpleNamespace(stall_limit=0.035)
    present = StateChange(10.0, state, True, 'as it is', live=live)

    changes = [session._end_standstill(present) for _ in range(6)]

    assert bool(kills) is killed
    assert all(change.state is State.FAULT for told in changes for change in told)
