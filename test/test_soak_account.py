# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A soak that ended early, lost its rate or its clock is not as it should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what an hour without any trouble leaves."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / 'benchmarks'))
    from soak_account import Account

    made = Account(asked=1.0, hours=1.0)
    made.looks = [(0.1 * number, 300.0, 18, 34) for number in range(11)]
    made.legs, made.legs_due, made.cycles = 720_000, 720_000.0, 720_000
    return made


@pytest.mark.parametrize(
    ('found', 'said'),
    [
        ({}, []),
        ({'hours': 0.48}, ['ended early, after 0.48 of 1 h']),
        ({'legs': 700_000}, ['700000 leg states of 720000']),
        ({'off': 0.08}, ['stamps 80 ms off the clock']),
        ({'missed': 7_201}, ['7201 of 720000 cycles missed']),
        ({'gaps': [(3.0, 0.2)]}, ['1 gaps in the leg states']),
    ],
)
def test_what_is_not_as_it_should_be_is_told(
    found: dict[str, Any], said: list[str], account: Any
) -> None:
    vars(account).update(found)
    assert account.failures() == said
