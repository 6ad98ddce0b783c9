# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A command finds the force of its own stamp, or the newest that is not too old."""

from __future__ import annotations

import numpy as np
import pytest
from stewart_driver.control.effort_join import EffortJoin

PERIOD = 5_000_000
FORCES = [np.full(6, float(index)) for index in range(20)]


@pytest.fixture
def join() -> EffortJoin:
    """A join that has seen two commands, so that it knows their period."""
    join = EffortJoin()
    join.at(0)
    join.at(PERIOD)
    return join


def test_the_same_stamp_is_joined_whatever_came_after_it(join: EffortJoin) -> None:
    for index in range(2, 5):
        join.add(index * PERIOD, FORCES[index])

    assert join.at(2 * PERIOD) is FORCES[2]
    assert join.at(3 * PERIOD) is FORCES[3]
    assert join.joined == 2


def test_a_late_force_is_replaced_by_the_one_before(join: EffortJoin) -> None:
    join.add(1 * PERIOD, FORCES[1])

    assert join.at(2 * PERIOD) is FORCES[1]
    assert join.at(3 * PERIOD) is FORCES[1]


def test_a_force_older_than_two_periods_is_ignored_and_counted(join: EffortJoin) -> None:
    join.add(1 * PERIOD, FORCES[1])
    for index in (2, 3):
        join.at(index * PERIOD)

    assert join.at(4 * PERIOD) is None
    assert join.missing == 1


def test_a_pause_makes_no_force_young_enough(join: EffortJoin) -> None:
    join.add(1 * PERIOD, FORCES[1])

    assert join.at(1000 * PERIOD) is None


def test_without_any_force_nothing_is_missing(join: EffortJoin) -> None:
    assert join.at(2 * PERIOD) is None
    assert (join.joined, join.missing) == (0, 0)
