# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Smooth falls against finite differences: rates are slopes, and no acceleration is exceeded."""

from __future__ import annotations

import numpy as np
import pytest
from stewart_driver.legs import LegLimits
from stewart_driver.path.common_stop import CommonStop, StartOffset

LIMITS = LegLimits(np.zeros(6), np.full(6, 0.6), rate=0.6, acceleration=6.0)
STROKES = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.3])
RATES = np.array([0.05, -0.1, 0.2, 0.0, -0.3, 0.15])


def sampled(fall, begin: float, end: float) -> tuple[np.ndarray, ...]:
    """Return positions, rates said, and rates and accelerations by central differences."""
    time = np.linspace(begin, end, 4001)
    positions, rates = (np.array(values) for values in zip(*map(fall, time), strict=True))
    slopes = np.gradient(positions, time, axis=0)
    bends = np.gradient(rates, time, axis=0)
    return positions, rates, slopes[1:-1], bends[1:-1]


def test_a_stop_is_smooth_and_as_hard_as_asked() -> None:
    stop = CommonStop(STROKES, RATES, 6.0, LIMITS)
    positions, rates, slopes, bends = sampled(stop.at, 0.0, stop.duration * (1.0 - 1e-9))
    assert stop.shortened_for is None
    assert np.allclose(positions[0], STROKES)
    assert np.allclose(rates[0], RATES)
    assert np.allclose(positions[-1], stop.end)
    assert np.allclose(stop.at(2.0 * stop.duration), (stop.end, np.zeros(6)))
    assert np.allclose(slopes, rates[1:-1], atol=1e-6)
    assert np.abs(bends).max() == pytest.approx(6.0, rel=1e-3)
    # All legs on one path: what each has covered is in the proportion of its rate.
    covered = positions - STROKES
    assert np.allclose(covered, covered[:, 4:5] / RATES[4] * RATES, atol=1e-12)


def test_a_stop_is_shortened_for_the_nearest_end_up_to_the_limit() -> None:
    """Leg 5 comes towards its lower end, leg 6 towards its upper one, which is nearer."""
    near = STROKES.copy()
    near[4], near[5] = 1.3e-2, 0.6 - 6e-3
    free = CommonStop(near, RATES, 3.0, None)
    assert free.end[5] > 0.6
    assert np.allclose(free.end, near + RATES * free.duration / 2.0, atol=1e-12)
    stop = CommonStop(near, RATES, 3.0, LIMITS)
    assert stop.shortened_for == 6
    assert stop.end[5] == pytest.approx(0.6, abs=1e-12)
    assert np.allclose(stop.end - near, RATES * stop.duration / 2.0, atol=1e-12)
    assert free.duration / 2.0 < stop.duration < free.duration


@pytest.mark.parametrize('room', [1e-3, 1e-5, 1e-6, 0.0])
def test_a_leg_that_creeps_at_its_end_makes_no_other_stop_dead(room: float) -> None:
    """Others at full speed were asked for 30 to 150 times their limit."""
    near, rates = STROKES.copy(), RATES.copy()
    near[0], rates[0] = room, -1e-3
    stop = CommonStop(near, rates, 3.0, LIMITS)
    positions, said, slopes, bends = sampled(stop.at, 0.0, stop.duration * (1.0 - 1e-9))

    assert np.abs(bends[:, 1:]).max() <= 6.0 * (1.0 + 1e-3)
    assert positions[:, 0].min() >= 0.0
    # Harder than asked only by what the end takes.
    assert stop.end[0] == pytest.approx(max(room - 1e-3 * stop.duration / 2.0, 0.0), abs=1e-12)
    others = slice(1, None)
    covered = positions[:, others] - near[others]
    assert np.allclose(covered, covered[:, 3:4] / rates[4] * rates[others], atol=1e-12)
    assert np.allclose(slopes[:, others], said[1:-1, others], atol=1e-6)
    assert np.allclose(stop.at(stop.duration)[1], 0.0)


def test_a_stop_that_fits_in_front_of_an_end_is_not_shortened() -> None:
    free = CommonStop(STROKES, RATES, 6.0, None)
    room = np.maximum(1.01 * np.abs(free.end - STROKES), 1e-3)
    near = LegLimits(STROKES - room, STROKES + room, rate=0.6, acceleration=6.0)
    stop = CommonStop(STROKES, RATES, 6.0, near)
    assert (stop.shortened_for, stop.duration) == (None, free.duration)
    assert np.allclose(stop.at(stop.duration), (free.end, np.zeros(6)))


def test_a_leg_beyond_an_end_does_not_step_back() -> None:
    beyond = STROKES.copy()
    beyond[2], beyond[4] = 0.601, -0.001
    stop = CommonStop(beyond, np.where(RATES == 0.05, 0.05, 0.0), 6.0, LIMITS)
    assert np.array_equal(stop.end[[2, 4]], beyond[[2, 4]])
    assert stop.shortened_for is None
    moving = CommonStop(beyond, RATES, 6.0, LIMITS)
    assert moving.shortened_for in {3, 5}
    assert np.array_equal(moving.end[[2, 4]], beyond[[2, 4]])
    assert np.array_equal(moving.at(0.5 * moving.duration)[0][[2, 4]], beyond[[2, 4]])
    assert moving.duration == pytest.approx(1.5 * 0.3 / 6.0)


def test_an_offset_fades_as_fast_as_its_acceleration_allows() -> None:
    away = 1e-3 * np.array([0.1, -0.4, 0.0, 0.2, 0.3, -0.1])
    offset = StartOffset(away, 5.0, 0.6)
    duration = np.sqrt(6.0 * 0.4e-3 / 0.6)
    positions, rates, slopes, bends = sampled(offset.at, 5.0, 5.0 + duration)
    assert np.allclose(positions[0], away)
    assert np.allclose(positions[-1], 0.0, atol=1e-12)
    assert np.allclose(slopes, rates[1:-1], atol=1e-6)
    assert np.abs(bends).max() == pytest.approx(0.6, rel=2e-3)
    assert not offset.over(5.0 + 0.999 * duration)
    assert offset.over(5.0 + 1.001 * duration)
