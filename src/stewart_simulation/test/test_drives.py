# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated drives lag as their equation says and never do what drives cannot."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.signal import lti, step
from stewart_driver.legs import LegLimits
from stewart_simulation.drives import END_MARGIN, LaggingDrives
from stewart_simulation.simulated_backend import SimulatedOptions

LIMITS = LegLimits(np.full(6, -0.003), np.full(6, 0.603), 0.75, 7.5)
LOWER, UPPER = LIMITS.stroke_lower - END_MARGIN, LIMITS.stroke_upper + END_MARGIN
START = np.full(6, 0.3)
ZERO = np.zeros(6)
CYCLE = 0.002


def drives() -> LaggingDrives:
    options = SimulatedOptions(cycle_time=CYCLE, reserve=1.0)
    result = LaggingDrives(START, options, LIMITS)
    result.on = True
    return result


def test_a_small_step_is_answered_as_a_system_of_second_order() -> None:
    model = drives()
    omega = 2 * np.pi * 20.0
    times = np.arange(1, 101) * CYCLE
    height = 1e-4
    answers = []
    for _ in times:
        model.command(START + height, ZERO, ZERO)
        model.advance(CYCLE)
        answers.append(model.strokes[0] - START[0])

    _, expected = step(lti([omega**2], [1, 2 * 0.8 * omega, omega**2]), T=np.append(0.0, times))
    assert np.array(answers) / height == pytest.approx(expected[1:], abs=0.03)


def test_a_constant_rate_is_followed_without_lag() -> None:
    model, rates = drives(), np.linspace(-0.2, 0.2, 6)
    for index in range(500):
        model.command(START + rates * index * CYCLE, rates, ZERO)
        model.advance(CYCLE)

    assert model.strokes == pytest.approx(START + rates * 500 * CYCLE, abs=1e-6)
    assert model.rates == pytest.approx(rates, abs=1e-5)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_rate_acceleration_and_ends_hold_for_any_target(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = drives()
    for _ in range(150):
        before = model.rates
        model.command(rng.uniform(-1.0, 2.0, 6), rng.normal(0.0, 2.0, 6), ZERO)
        model.advance(CYCLE)
        inside = (model.strokes > LOWER) & (model.strokes < UPPER)
        assert np.all(np.abs(model.rates) <= 0.75 + 1e-12)
        assert np.all(np.abs(model.rates - before)[inside] <= 7.5 * CYCLE + 1e-12)
        assert np.all((model.strokes >= LOWER) & (model.strokes <= UPPER))


def test_a_drive_that_hears_nothing_more_stays() -> None:
    model, rates = drives(), np.full(6, 0.1)
    for index in range(200):
        model.command(START + rates * index * CYCLE, rates, ZERO)
        model.advance(CYCLE)
    heard = model.strokes.copy()
    model.advance(0.5)
    stayed = model.strokes.copy()
    model.advance(0.5)

    assert stayed == pytest.approx(heard + 0.1 * CYCLE, abs=2e-3)
    assert model.strokes == pytest.approx(stayed, abs=1e-9)


def test_without_power_the_legs_slow_down_and_then_sink() -> None:
    model, rates, sag = drives(), np.full(6, 0.3), 0.05
    for index in range(200):
        model.command(START + rates * index * CYCLE, rates, ZERO)
        model.advance(CYCLE)
    model.on = False
    begin = model.strokes.copy()
    model.advance(0.1)

    assert model.rates == pytest.approx(np.full(6, -sag))
    slowing = (0.3**2 - sag**2) / (2 * 7.5)
    sinking = sag * (0.1 - (0.3 + sag) / 7.5)
    assert model.strokes - begin == pytest.approx(np.full(6, slowing - sinking), rel=0.02)


def test_long_and_short_waits_between_exchanges_agree() -> None:
    fine, coarse = drives(), drives()
    for model in (fine, coarse):
        model.command(START + 1e-3, ZERO, ZERO)
    for _ in range(20):
        fine.advance(1e-3)
    coarse.advance(0.02)

    assert coarse.strokes == pytest.approx(fine.strokes, abs=1e-12)
