# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers on the command line are what other programs take for numbers, too."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import pytest
from stewart_tables.errors import counted
from stewart_tables.numbers import positive, whole_from
from stewart_tables.settings import param, rules

# Python alone takes these for 1000, 12 and 1.5.
FOREIGN = ['1_000', '١٢', '１.5']


@dataclass(frozen=True)
class Settings:
    """Parameters of nothing."""

    rate: float = param(200.0, 'a rate [Hz]')
    seed: int = param(1, 'a seed')
    name: str = param('', 'a name')


@pytest.mark.parametrize('text', FOREIGN)
def test_digits_that_python_alone_takes_are_refused(text: str) -> None:
    rate, seed, name = rules(Settings)
    for kind in (positive, whole_from(1), rate.typed, seed.typed):
        with pytest.raises(argparse.ArgumentTypeError, match=f'expected a.*, got {text!r}'):
            kind(text)
    assert name.typed(text) == text


def test_plain_digits_are_taken() -> None:
    rate, seed, _ = rules(Settings)
    assert (positive('1e3'), whole_from(1)('12'), rate.typed('1.5'), seed.typed('-3')) == (
        1000.0,
        12,
        1.5,
        -3,
    )


def test_one_of_something_has_no_plural() -> None:
    assert [counted(n, 'false cue') for n in range(3)] == [
        '0 false cues',
        '1 false cue',
        '2 false cues',
    ]
