# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is said of a line, by what was counted on it in a second."""

from __future__ import annotations

import pytest
from stewart_driver.witmotion.health import quality, Severity, Window


@pytest.mark.parametrize(
    ('counted', 'said'),
    [
        ({}, []),
        ({'resyncs': 7}, ['the line is disturbed: 7 times bytes were lost']),
        ({'wrong_sums': 60}, ['the line is disturbed: 60 frames had a wrong sum']),
        ({'skipped': 3000}, ['the line is disturbed: 3000 bytes belonged to no frame']),
        ({'resyncs': 6, 'wrong_sums': 6, 'skipped': 60}, []),
        (
            {'gaps': 2, 'dropped': 1},
            ['2 samples never came', '1 sample dropped, not taken in time'],
        ),
    ],
)
def test_a_line_is_called_disturbed_from_one_in_a_hundred_on(
    counted: dict[str, int], said: list[str]
) -> None:
    names = ('repeated', 'resyncs', 'skipped', 'wrong_sums', 'dropped', 'gaps')
    counts = dict.fromkeys(names, 0) | counted
    window = Window(duration=1.0, bytes=6600, frames=600, samples=200, cpu=0.0, types={}, **counts)

    assert list(quality(window)) == [(Severity.WARN, text) for text in said]
