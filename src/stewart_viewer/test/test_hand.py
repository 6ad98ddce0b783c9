# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A held button moves while it is held, by one hand, and never afterwards."""

from __future__ import annotations

import numpy as np
from stewart_viewer.hand import Hand


class Held:
    """A hand, on a clock that is told."""

    def __init__(self) -> None:
        self.hand, self.now = Hand(lambda: self.now), 100.0

    def tells(self, after: float, browser: int = 1, what: str = 'leg 1') -> tuple[bool, str]:
        self.now += after
        return self.hand.moves(browser, what)


def test_who_holds_moves_from_the_second_time_on() -> None:
    held = Held()
    assert [held.tells(0.05)[0] for _ in range(4)] == [False, True, True, True]
    # Let go, and pressed again.
    assert [held.tells(after)[0] for after in (1.0, 0.05)] == [False, True]


def test_what_a_stalled_network_brings_moves_nothing() -> None:
    held = Held()
    assert not any(held.tells(0.0005)[0] for _ in range(30))
    # By slow start: twice as many in each round trip.
    held = Held()
    for round_trip in range(6):
        assert not held.tells(0.025)[0]
        assert not any(held.tells(0.0001)[0] for _ in range(2**round_trip - 1))


def test_a_hand_over_a_network_that_jitters_moves_all_the_same() -> None:
    rng, held = np.random.default_rng(1), Held()
    arrivals = 0.05 * np.arange(200) + rng.uniform(0.0, 0.04, 200)
    moved = [held.tells(after)[0] for after in np.diff(np.maximum.accumulate(arrivals))]
    assert sum(moved) > 190


def test_another_browser_waits_until_the_hand_was_taken_away() -> None:
    held = Held()
    held.tells(0.0)
    assert held.tells(0.05)[0]
    assert held.tells(0.01, browser=2) == (False, 'another browser holds a button')
    assert held.tells(0.04)[0]
    assert [held.tells(after, browser=2)[0] for after in (0.5, 0.05)] == [False, True]


def test_a_target_is_not_moved_by_another_browser_under_the_hand() -> None:
    held = Held()
    held.hand.changes(2)
    held.tells(0.0)
    assert held.tells(0.05)[0]
    for own in (1, None):
        held.hand.changes(own)
        assert held.tells(0.05)[0]
    held.hand.changes(2)
    for _ in range(2):
        assert held.tells(0.05) == (False, 'what it moves was changed: let the button go first')
    assert [held.tells(after)[0] for after in (0.5, 0.05)] == [False, True]


def test_what_is_moved_is_not_changed_under_the_hand() -> None:
    held = Held()
    held.tells(0.0)
    assert held.tells(0.05)[0]
    for what in ('leg 2', 'leg 1'):
        assert held.tells(0.05, what=what) == (
            False,
            'what it moves was changed: let the button go first',
        )
    assert [held.tells(after, what='leg 2')[0] for after in (0.5, 0.05)] == [False, True]
