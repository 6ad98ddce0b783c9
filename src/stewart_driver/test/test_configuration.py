# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Settings that cannot be used are refused with their name, value and what is expected."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from stewart_driver.control.configuration import (
    CycleConfiguration,
    InterpolationSettings,
    SupervisionSettings,
)
from stewart_driver.errors import ConfigurationError, DriveFault
from stewart_driver.legs import LegLimits

ZERO = np.zeros(6)
LIMITS = LegLimits(ZERO, ZERO + 0.6, rate=0.6, acceleration=6.0)


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        ({'stroke_lower': np.zeros(5)}, 'stroke_lower: expected six finite numbers'),
        ({'stroke_upper': np.full(6, np.nan)}, 'stroke_upper: expected six finite numbers'),
        ({'stroke_upper': ZERO}, 'stroke_upper: expected more than stroke_lower'),
        ({'rate': 0.0}, 'rate: expected a positive number, got 0'),
        ({'acceleration': float('inf')}, 'acceleration: expected a positive number, got inf'),
    ],
)
def test_limits_that_are_none_are_refused(change: dict[str, Any], words: str) -> None:
    good = {'stroke_lower': ZERO, 'stroke_upper': ZERO + 1, 'rate': 1.0, 'acceleration': 1.0}
    with pytest.raises(ConfigurationError, match=words):
        LegLimits(**{**good, **change})


def test_limits_cannot_be_changed_behind_anyones_back() -> None:
    mine = np.zeros(6)
    limits = LegLimits(mine, ZERO + 1, 1.0, 1.0)
    mine[0] = -1.0

    assert limits.stroke_lower[0] == 0.0
    with pytest.raises(ValueError, match='read-only'):
        limits.stroke_upper[0] = 2.0


def test_limits_are_narrowed_and_never_widened() -> None:
    narrow = LIMITS.narrowed(rate=0.06)
    assert (narrow.rate, narrow.acceleration) == (0.06, 6.0)
    with pytest.raises(ConfigurationError, match=r'acceleration_limit: .*not above 6.*got 6\.1'):
        LIMITS.narrowed(acceleration=6.1)


@pytest.mark.parametrize('name', ['start_tolerance', 'look_ahead', 'margin', 'rest_rate'])
@pytest.mark.parametrize('value', [0.0, -1.0, float('nan'), float('inf')])
def test_the_path_needs_positive_settings(name: str, value: float) -> None:
    with pytest.raises(ConfigurationError, match=name):
        InterpolationSettings(**{name: value})


def test_a_quick_stop_is_at_least_as_hard_as_a_stop_and_no_harder_than_allowed() -> None:
    with pytest.raises(ConfigurationError, match='quick_stop_strength'):
        InterpolationSettings(stop_strength=0.5, quick_stop_strength=0.4)
    with pytest.raises(ConfigurationError, match='quick_stop_strength'):
        InterpolationSettings(quick_stop_strength=1.1)


@pytest.mark.parametrize('name', ['command_timeout', 'following_error', 'tracking_position'])
def test_the_supervision_cannot_be_switched_off_by_a_number(name: str) -> None:
    for value in (0.0, -1.0, float('inf'), float('nan')):
        with pytest.raises(ConfigurationError, match=name):
            SupervisionSettings(**{name: value})


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        ({'publish_every': 0}, 'publish_every'),
        ({'realtime_priority': 100}, 'realtime_priority'),
    ],
)
def test_the_cycle_checks_its_own_numbers(change: dict[str, int], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        CycleConfiguration(LIMITS, **change)


def test_the_configuration_crosses_into_another_process() -> None:
    there = pickle.loads(pickle.dumps(CycleConfiguration(LIMITS, publish_every=3)))

    assert there.publish_every == 3
    assert np.array_equal(there.limits.stroke_upper, LIMITS.stroke_upper)


def test_a_drive_fault_crosses_with_its_leg_and_code() -> None:
    there = pickle.loads(pickle.dumps(DriveFault(3, 0x7305, 'encoder')))

    assert (there.leg, there.code, there.text) == (3, 0x7305, 'encoder')
    assert str(there) == 'drive of leg 3 reports fault 0x7305: encoder'
