# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A violation says in one sentence what, where, how much, and what is allowed."""

import math

import pytest
from stewart_kinematics.errors import MotionRefused, Violation


@pytest.mark.parametrize(
    ('violation', 'sentence'),
    [
        (
            Violation('stroke', 0.7, 0.0, 0.6, 'm', 3, 12),
            'stroke of leg 3 at sample 12 is 0.7 m, allowed are 0 to 0.6 m',
        ),
        (
            Violation('linear velocity', 0.61, -math.inf, 0.6, 'm/s'),
            'linear velocity is 0.61 m/s, allowed is at most 0.6 m/s',
        ),
        (
            Violation('leg distance', 0.01, 0.06, math.inf, 'm'),
            'leg distance is 0.01 m, allowed is at least 0.06 m',
        ),
        (
            Violation('condition number', 80.0, -math.inf, 50.0, '1'),
            'condition number is 80, allowed is at most 50',
        ),
        (
            Violation('position', math.nan, -math.inf, math.inf, 'm', None, 4),
            'position at sample 4 is nan m, allowed is any finite number',
        ),
    ],
)
def test_only_bounds_that_exist_are_named(violation: Violation, sentence: str) -> None:
    assert str(violation) == sentence
    assert str(MotionRefused(violation)) == sentence
