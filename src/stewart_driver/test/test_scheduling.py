# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A priority is taken as far as it is permitted, and what is not permitted is said."""

from __future__ import annotations

import os

import pytest
from stewart_driver.control.scheduling import AS_PERMITTED, take_priority
from stewart_driver.errors import ConfigurationError

Taken = list[int]


def permit(monkeypatch: pytest.MonkeyPatch, highest: int) -> Taken:
    """Let the kernel permit priorities up to one; return the list of those that are taken."""
    taken: Taken = []

    def schedule(process: int, policy: int, parameter: os.sched_param) -> None:
        assert (process, policy) == (7, os.SCHED_FIFO)
        if parameter.sched_priority > highest:
            raise PermissionError
        taken.append(parameter.sched_priority)

    monkeypatch.setattr(os, 'sched_setscheduler', schedule)
    return taken


@pytest.mark.parametrize(('highest', 'expected'), [(99, [2]), (2, [2]), (1, [1]), (0, [])])
def test_what_is_permitted_is_taken(
    monkeypatch: pytest.MonkeyPatch, highest: int, expected: Taken
) -> None:
    taken = permit(monkeypatch, highest)

    note = take_priority(AS_PERMITTED, 7)

    assert taken == expected
    assert note.startswith('no real-time priority') is (not expected)


def test_zero_leaves_the_scheduler_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = permit(monkeypatch, 99)

    assert take_priority(0, 7) == ''
    assert taken == []


def test_a_number_is_taken_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = permit(monkeypatch, 50)

    assert take_priority(50, 7) == ''
    assert taken == [50]
    with pytest.raises(ConfigurationError, match='realtime_priority: expected 0, -1, or the perm'):
        take_priority(51, 7)
