# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the smoother: better than the filter, as good as it says, and honest at its ends."""

from __future__ import annotations

import numpy as np
import pytest
from srs_simulated import AT_JOINT_CENTRE, simulate
from srs_study import nees
from stewart_estimation.errors import EstimationError
from stewart_estimation.replay import replay
from stewart_estimation.settings import DelayEstimation
from stewart_estimation.smoother import smooth


@pytest.fixture(scope='module')
def runs(srs):
    """Filter and smooth six short runs."""
    found = []
    for seed in range(6):
        run = simulate('MP1', seed, duration=14.0, mounting=AT_JOINT_CENTRE)
        settings = srs.settings(run)
        filtered = replay(srs.geometry, settings, run.imu, run.legs, keep=True)
        found.append((run, filtered, smooth(srs.geometry, settings, filtered)))
    return found


def test_smoothing_halves_the_errors_and_knows_it(srs, runs) -> None:
    rows = slice(300, -100)
    before, after = (
        np.sqrt(np.mean([srs.rms(item[n], item[0], rows) ** 2 for item in runs], axis=0))
        for n in (1, 2)
    )
    # Position, velocity, attitude; a constant bias is known as well as at the end.
    assert np.all(after[:2] < 0.6 * before[:2])
    assert after[2] < 0.8 * before[2]
    assert np.all(after[3:] < before[3:])
    middle = [
        float(nees(srs.errors(smoothed, run)[700], smoothed.covariance[700]))
        for run, _, smoothed in runs
    ]
    # Mean of six values of chi-squared with 15 degrees: 99.9 % lie inside.
    assert 8.5 < np.mean(middle) < 23.5


def test_the_last_row_knows_no_more_than_the_filter(runs) -> None:
    _, filtered, smoothed = runs[0]
    np.testing.assert_allclose(smoothed.position[-1], filtered.position[-1], atol=1e-12)
    np.testing.assert_allclose(smoothed.covariance[-1], filtered.covariance[-1], atol=1e-15)
    assert np.all(
        np.diagonal(smoothed.covariance[100]) < 1.01 * np.diagonal(filtered.covariance[100])
    )


def test_a_delay_that_is_found_late_is_known_from_the_beginning(srs) -> None:
    run = simulate('MP1', 3, duration=16.0, mounting=AT_JOINT_CENTRE, imu_delay=0.02)
    settings = srs.settings(run, delay=DelayEstimation())
    filtered = replay(srs.geometry, settings, run.imu, run.legs, keep=True)
    smoothed = smooth(srs.geometry, settings, filtered)
    assert abs(filtered.delay[20] - 0.02) > 1e-3
    assert np.abs(smoothed.delay[20:-20] - 0.02).max() < 1e-4
    before, after = (srs.rms(item, run, slice(20, 200))[1] for item in (filtered, smoothed))
    assert after < 0.5 * before


def test_smoothing_needs_the_steps(srs, runs) -> None:
    run, filtered, smoothed = runs[0]
    assert filtered.steps is not None
    with pytest.raises(EstimationError, match='keep=True'):
        smooth(srs.geometry, srs.settings(run), smoothed)
