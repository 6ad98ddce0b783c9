# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters filled from plain values, without a node."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from stewart_tables.errors import ParameterError
from stewart_tables.settings import filled, param


@dataclass(frozen=True)
class Settings:
    """Parameters of nothing."""

    rate: float = param(200.0, 'a rate [Hz]', min=1.0, max=1000.0)
    seed: int = param(1, 'a seed', min=0)
    kind: str = param('plain', 'a kind', choices=('plain', 'froude'))
    periods: tuple[float, ...] = param((), 'periods [s]', min=0.01)


def test_what_is_not_given_keeps_its_default() -> None:
    assert filled(Settings, {}) == Settings()
    assert filled(Settings, {'rate': 100.0, 'periods': [2.0, 3.0]}) == Settings(
        rate=100.0, periods=(2.0, 3.0)
    )


@pytest.mark.parametrize(
    ('values', 'sentence'),
    [
        ({'rat': 1.0}, 'did you mean rate'),
        ({'rate': 0.5}, 'a decimal number from 1 to 1000, got 0.5'),
        ({'rate': 5}, 'a decimal number'),
        ({'seed': True}, 'an integer of at least 0'),
        ({'kind': 'none'}, 'out of plain, froude'),
        ({'periods': [1.0, 0.0]}, 'a list of a decimal number of at least 0.01'),
        ({'periods': 1.0}, 'a list'),
    ],
)
def test_what_cannot_be_used_is_refused(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        filled(Settings, values)
