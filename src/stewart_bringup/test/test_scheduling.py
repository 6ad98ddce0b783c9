# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The demo takes a real-time priority where it may, and gives it back."""

from __future__ import annotations

import os

import pytest
from stewart_bringup.demo.machine import real_time


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
