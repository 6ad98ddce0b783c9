# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The demo takes a real-time priority where it may, and gives it back."""

from __future__ import annotations

import os
import resource

import pytest
from stewart_bringup.demo.machine import driver_priority, real_time


def test_refusal_changes_nothing_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, 'sched_setscheduler', refuse)

    with real_time() as told:
        assert told.startswith('ordinary')
        assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_priority_is_given_back_also_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    policies: list[int] = []
    monkeypatch.setattr(os, 'sched_setscheduler', lambda _, policy, __: policies.append(policy))

    def fail() -> None:
        with real_time() as told:
            assert 'real-time' in told
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert policies == [os.SCHED_RR, os.SCHED_OTHER]


@pytest.mark.parametrize(
    ('policy', 'user', 'limit', 'expected'),
    [
        (os.SCHED_OTHER, 0, 0, 0),
        (os.SCHED_RR, 0, 0, 4),
        (os.SCHED_RR, 1000, 3, 3),
        (os.SCHED_FIFO, 1000, 99, 4),
        (os.SCHED_RR, 1000, resource.RLIM_INFINITY, 4),
    ],
)
def test_the_drives_go_before_all_as_far_as_the_user_may_go(
    monkeypatch: pytest.MonkeyPatch, policy: int, user: int, limit: int, expected: int
) -> None:
    monkeypatch.setattr(os, 'sched_getscheduler', lambda _: policy)
    monkeypatch.setattr(os, 'sched_getparam', lambda _: os.sched_param(3))
    monkeypatch.setattr(os, 'geteuid', lambda: user)
    monkeypatch.setattr(resource, 'getrlimit', lambda _: (limit, limit))

    assert driver_priority() == expected
