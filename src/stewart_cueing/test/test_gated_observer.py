# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Glitches of a base's IMU do not reach the observer of waves; slams and steep seas do."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from seas import felt, MODEL_PERIOD, PERIOD, SCALE
from stewart_cueing.ship.gated_observer import GATE, GatedObserver, REAL
from stewart_cueing.ship.wave_observer import WaveObserver
from stewart_kinematics.trajectories.spectrum import Jonswap
from stewart_simulation.ship import at_scale, Ship

BEFORE, AFTER, AHEAD = 250, 150, 0.06


@cache
def ride() -> np.ndarray:
    """Samples (n, 6) of the sea of `seas`."""
    rng = np.random.default_rng(1)
    return np.array([felt(n * PERIOD, rng) for n in range(BEFORE + AFTER)])


def ungated(samples: np.ndarray, lost: tuple[int, ...] = ()) -> np.ndarray:
    """Return roll, pitch, heave (n, 3) as predicted after each sample, without a gate."""
    observer, rows = WaveObserver(MODEL_PERIOD, PERIOD), []
    for n, sample in enumerate(samples):
        if n in lost:
            observer.coast()
        else:
            observer.update(sample[:3], sample[3:])
        rows.append(observer.predict(AHEAD)[0])
    return np.array(rows)


def predictions(gated: GatedObserver, samples: np.ndarray, lost: int = -1) -> np.ndarray:
    """Return the same behind the gate."""
    rows = []
    for n, sample in enumerate(samples):
        if n == lost:
            gated.coast()
        else:
            gated.update(sample)
        rows.append(gated.predict(AHEAD)[0])
    return np.array(rows)


def test_glitches_within_the_limits_are_as_if_they_had_not_come() -> None:
    gated, spoilt = GatedObserver(MODEL_PERIOD, PERIOD), ride().copy()
    glitches = {(2, -19.0): 1, (2, 10.5): REAL - 1, (3, 3.0): 1, (4, -0.1): REAL - 1}
    lost: list[int] = []
    for place, ((axis, value), count) in enumerate(glitches.items()):
        first = BEFORE + 20 * place
        spoilt[first : first + count, axis] = value
        lost.extend(range(first, first + count))
    found = predictions(gated, spoilt)
    np.testing.assert_allclose(found, ungated(ride(), tuple(lost)), atol=1e-12)
    assert (gated.refused, gated.changes) == (len(lost), 0)
    assert '-0.1' in gated.refusal
    assert f'at most {GATE:g} are' in gated.refusal
    there = ungated(ride())
    refused, taken = (1e3 * np.abs(off - there)[:, 2].max() for off in (found, ungated(spoilt)))
    print(f'predicted heave is off by {refused:.1f} mm, without a gate by {taken:.0f} mm')
    assert 30.0 * refused < taken


@pytest.mark.parametrize('lost', [-1, BEFORE + 1])
def test_nothing_of_a_slam_is_refused(lost: int) -> None:
    hit = ride().copy()
    hit[BEFORE : BEFORE + 6, 2] += 8.0 * np.sin(np.pi * (np.arange(6) + 0.5) / 6)
    gated = GatedObserver(MODEL_PERIOD, PERIOD)
    off = np.abs(predictions(gated, hit, lost) - ungated(hit, (lost,)))[BEFORE:]
    # What waits comes in late, and then it is as if it had never waited.
    assert off[0, 2] > 0.02
    assert off[REAL:].max() < 1e-12
    assert (gated.refused, gated.changes) == (0, 1)


def test_nothing_of_a_sea_twice_as_steep_is_refused() -> None:
    height, peak = 4.0, 6.5
    ship = Ship(Jonswap(height, peak), 1, np.radians(150.0), at_scale(SCALE))
    gated, rng = GatedObserver(peak / SCALE**0.5, PERIOD), np.random.default_rng(1)
    for n in range(800):
        base = ship.at(n * PERIOD)
        truth = np.concatenate([-base.field(np.array([0.0, 0.0, -9.80665]))[:3], base.turn])
        gated.update(truth + rng.normal(0.0, np.repeat([0.02, 1e-3], 3)))
    assert (gated.refused, gated.changes) == (0, 0)


def test_an_imu_that_is_noisier_than_expected_is_heard() -> None:
    gated, rng = GatedObserver(MODEL_PERIOD, PERIOD), np.random.default_rng(2)
    samples = ride() + rng.normal(0.0, np.repeat([0.4, 0.02], 3), ride().shape)
    predictions(gated, samples[:BEFORE])
    settled = gated.refused
    assert settled < 0.1 * BEFORE
    predictions(gated, samples[BEFORE:])
    assert gated.refused == settled
