# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Encoders give whole counts, the stated noise, and a rate that follows."""

from __future__ import annotations

import numpy as np
import pytest
from stewart_simulation.encoders import Encoders

CYCLE = 0.002


def encoders(resolution: float = 1e-6, noise: float = 0.0, seed: int = 0) -> Encoders:
    return Encoders(resolution, noise, 100.0, np.random.default_rng(seed))


def test_readings_are_whole_counts_next_to_the_truth() -> None:
    true = np.linspace(0.1, 0.5, 6)
    strokes, _ = encoders(resolution=3e-5).read(true, CYCLE)

    assert strokes / 3e-5 == pytest.approx(np.round(strokes / 3e-5), abs=1e-9)
    assert np.abs(strokes - true).max() <= 1.5e-5 * (1 + 1e-9)


def test_the_noise_has_its_standard_deviation() -> None:
    sensor = encoders(resolution=1e-9, noise=1e-5)
    readings = np.array([sensor.read(np.full(6, 0.3), CYCLE)[0] for _ in range(2000)])

    # 12000 samples: the estimate of a standard deviation is within 3 % (5 sigma).
    assert readings.std() == pytest.approx(1e-5, rel=0.03)
    assert readings.mean() == pytest.approx(0.3, abs=1e-6)


def test_the_same_seed_gives_the_same_noise() -> None:
    one, same, other = (encoders(noise=1e-5, seed=seed) for seed in (1, 1, 2))
    true = np.full(6, 0.3)

    assert np.array_equal(one.read(true, CYCLE)[0], same.read(true, CYCLE)[0])
    assert not np.array_equal(one.read(true, CYCLE)[0], other.read(true, CYCLE)[0])


def test_the_rate_follows_a_constant_speed_with_its_bandwidth() -> None:
    sensor = encoders(resolution=1e-9)
    speeds = np.linspace(-0.2, 0.2, 6)
    rates = np.array([sensor.read(speeds * index * CYCLE, CYCLE)[1] for index in range(30)])

    assert rates[0] == pytest.approx(np.zeros(6))
    # After 2 ms a filter of 100 Hz has covered 1 - exp(-0.4 pi) = 0.715 of a step.
    assert rates[1] == pytest.approx(0.715 * speeds, rel=1e-2)
    assert rates[-1] == pytest.approx(speeds, rel=1e-6, abs=1e-9)
