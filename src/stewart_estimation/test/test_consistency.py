# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the verdicts: the consistent pass as often as promised, others are found out."""

from __future__ import annotations

from matplotlib.figure import Figure
import numpy as np
import pytest
from scipy import stats
from srs_simulated import SensorErrors, simulate
from srs_study import mean_band, nees
from stewart_estimation.consistency import (
    assess,
    autocorrelation,
    Consistency,
)
from stewart_estimation.consistency_page import page
from stewart_estimation.plotting import plot_consistency, plot_innovations
from stewart_estimation.replay import replay
from stewart_estimation.rest import noise_at_rest
from stewart_estimation.samples import ImuSeries, LegSeries
from stewart_estimation.settings import (
    DelayEstimation,
    FilterSettings,
    ImuNoise,
)
from stewart_kinematics.errors import ConfigurationError, ShapeError

ROWS = 3000
SIGMA = np.array([1.1, 1.2, 0.6, 1.5, 1.0, 0.9]) * 1e-5


def judged(z, **options) -> Consistency:
    """Return the verdicts on innovations given in units of their sigmas."""
    return assess(
        z * SIGMA, np.tile(SIGMA, (len(z), 1)), (z**2).sum(axis=1), np.isfinite(z), **options
    )


def white(seed: int, rows: int = ROWS) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, 6))


def broken(consistency: Consistency) -> set[str]:
    return {verdict.name for verdict in consistency.verdicts if not verdict.held}


@pytest.mark.slow
def test_exact_bands_hold_white_innovations_as_often_as_they_say() -> None:
    runs = [judged(white(seed), confidence=0.9, strict=True) for seed in range(200)]
    for number, verdict in enumerate(runs[0].verdicts):
        failures = sum(not run.verdicts[number].held for run in runs)
        # Discrete bands hold a little more; 200 runs scatter by 0.021.
        assert 0.02 < failures / len(runs) < 0.18, verdict.name


def test_a_consistent_filter_holds_every_tolerated_band() -> None:
    for seed in range(5):
        assert judged(white(seed)).held
    assert judged(white(9)).mean_nis == pytest.approx(6.0, abs=0.3)


@pytest.mark.parametrize(
    ('spoil', 'names', 'words'),
    [
        (lambda z: 1.15 * z, {'inside 2 sigma', 'mean NIS', 'NIS tail'}, 'too small'),
        (lambda z: z / 1.15, {'inside 2 sigma', 'mean NIS'}, 'too large'),
        (lambda z: z + np.array([0, 0, 0.2, 0, 0, 0]), {'mean'}, 'offset'),
        (
            lambda z: (z + 0.3 * np.roll(z, 1, axis=0)) / 1.044,
            {'lag-1 correlation', 'memory'},
            'memory',
        ),
        (
            lambda z: (z - 0.3 * np.roll(z, 1, axis=0)) / 1.044,
            {'lag-1 correlation', 'memory'},
            'swing',
        ),
        (lambda z: (z + 0.3 * np.roll(z, 9, axis=0)) / 1.044, {'memory'}, 'memory'),
        (
            lambda z: np.where(np.arange(len(z))[:, None] % 20 == 7, 4.0 * z, z),
            {'NIS tail', 'mean NIS', 'inside 2 sigma'},
            'faulty',
        ),
    ],
    ids=['too small', 'too large', 'offset', 'memory', 'swing', 'ninth lag', 'outliers'],
)
def test_what_is_wrong_is_found_out_and_named(spoil, names, words) -> None:
    found = judged(spoil(white(1)))
    assert names <= broken(found)
    hints = [verdict.hint for verdict in found.verdicts if not verdict.held]
    assert any(words in hint for hint in hints)


def test_the_leg_that_is_wrong_is_named() -> None:
    z = white(2)
    z[:, 3] *= 1.5
    found = judged(z)
    assert found.verdict('inside 2 sigma').leg == 4
    assert not found.verdict('inside 2 sigma').held


def test_a_short_recording_gets_the_wider_exact_band() -> None:
    found = judged(white(3, rows=80)).verdict('inside 2 sigma')
    assert found.exact[0] < 0.88
    assert found.band[0] == found.exact[0]
    assert judged(white(3, rows=80)).held


def test_missing_legs_count_neither_for_nor_against() -> None:
    z = white(4)
    z[::3, 1] = np.nan
    found = assess(z * SIGMA, np.tile(SIGMA, (ROWS, 1)), np.nansum(z**2, axis=1), np.isfinite(z))
    assert found.held
    assert found.used.tolist() == [ROWS, ROWS - ROWS // 3, *([ROWS] * 4)]
    assert found.rejected.tolist() == [0] * 6
    # Nobody's neighbours are counted as a pair across the gap.
    assert autocorrelation(z, 3)[:, 1] == pytest.approx(0.0, abs=0.08)


def test_refused_samples_are_counted() -> None:
    z, used = white(5), np.ones((ROWS, 6), dtype=bool)
    used[100:110, 2] = False
    found = assess(
        z * SIGMA, np.tile(SIGMA, (ROWS, 1)), np.where(used, z**2, 0.0).sum(axis=1), used
    )
    assert found.rejected.tolist() == [0, 0, 10, 0, 0, 0]


@pytest.mark.filterwarnings('error')
@pytest.mark.parametrize('kept', [0, 300], ids=['throughout', 'nine of ten'])
def test_a_leg_that_is_refused_is_not_called_held(kept) -> None:
    z, used = white(7), np.ones((ROWS, 6), dtype=bool)
    used[kept:, 2] = False
    z[kept:, 2] += 50.0
    nis = np.where(used, z**2, 0.0).sum(axis=1)
    found = assess(z * SIGMA, np.tile(SIGMA, (ROWS, 1)), nis, used)
    assert not found.held
    assert broken(found) == {'rejected'}
    verdict = found.verdict('rejected')
    assert verdict.leg == 3
    assert verdict.found == pytest.approx(1.0 - kept / ROWS)
    assert 'contradicts the others' in verdict.hint
    picture = Figure()
    plot_consistency(picture, np.arange(float(ROWS)), found)
    written = page(found, {}, {'': picture})
    assert 'rejected of leg 3' in written
    assert 'every test held' not in written


def test_what_a_gate_refuses_by_chance_is_in_the_exact_band() -> None:
    z = white(8)
    used = np.abs(z) < 2.5
    nis = np.where(used, z**2, 0.0).sum(axis=1)
    parts = z * SIGMA, np.tile(SIGMA, (ROWS, 1)), nis, used
    share = float(2.0 * stats.norm.sf(2.5))
    for gate, held in ((0.0, False), (share, True)):
        assert assess(*parts, strict=True, gate=gate).verdict('rejected').held is held
    assert assess(*parts).verdict('rejected').held


def test_nees_is_chi_squared_and_its_mean_lies_in_the_band() -> None:
    generator = np.random.default_rng(6)
    root = generator.standard_normal((15, 15))
    covariance = root @ root.T
    errors = generator.standard_normal((400, 15)) @ np.linalg.cholesky(covariance).T
    values = nees(errors, np.tile(covariance, (400, 1, 1)))
    assert stats.kstest(values, stats.chi2(15).cdf).pvalue > 0.01
    low, high = mean_band(15, 400)
    assert low < values.mean() < high
    assert (low, high) == pytest.approx((14.468, 15.541), abs=2e-3)


def test_what_cannot_be_judged_is_refused() -> None:
    with pytest.raises(ConfigurationError, match='50 rows or more, got 20'):
        judged(white(0, rows=20))
    alternate = white(0, rows=60)
    alternate[::2, :3] = alternate[1::2, 3:] = np.nan
    with pytest.raises(ConfigurationError, match='50 rows or more, got 30'):
        judged(alternate)
    with pytest.raises(ConfigurationError, match='between 0 and 1, got 1'):
        judged(white(0), confidence=1.0)
    with pytest.raises(ShapeError, match=r'innovations: expected shape \(n, 6\)'):
        assess(np.zeros((9, 5)), np.zeros((9, 5)), np.zeros(9), np.zeros((9, 5)))
    with pytest.raises(ShapeError, match=r'nis: expected shape \(90,\)'):
        assess(np.zeros((90, 6)), np.ones((90, 6)), np.zeros(9), np.ones((90, 6)))


def test_measured_sigmas_widen_the_bands() -> None:
    rng = np.random.default_rng(4)
    wrong = 1.06 * rng.normal(size=(4000, 6))
    sigmas, used = np.ones((4000, 6)), np.ones((4000, 6), dtype=bool)
    nis = (wrong**2).sum(axis=1)
    assert not assess(wrong, sigmas, nis, used).held
    # 200 samples at rest leave 5 %; a noise that is a third too small is still found.
    assert assess(wrong, sigmas, nis, used, sigma_error=0.05).held
    worse = 1.25 * wrong
    assert not assess(worse, sigmas, (worse**2).sum(axis=1), used, sigma_error=0.05).held


def with_rest(platform, motion, seed, **late):
    """Two seconds of rest before a motion, and the noises that this rest shows."""
    run = simulate(motion, 100 + seed, platform=platform, duration=30.0, **late)
    still = simulate(motion, 0, platform=platform, duration=12.0, errors=SensorErrors.none())
    rng, count, errors = np.random.default_rng(5000 + seed), 200, run.errors
    time = 0.01 * np.arange(count)
    forces, rates, lengths = (
        first + sigma * rng.normal(size=(count, first.size))
        for first, sigma in (
            (still.imu.specific_forces[0] + errors.accelerometer_bias, errors.specific_force),
            (still.imu.angular_velocities[0] + errors.gyroscope_bias, errors.angular_velocity),
            (still.legs.lengths[0], errors.length),
        )
    )
    imu = ImuSeries(
        np.concatenate([time, run.imu.stamps + 2.0]),
        np.vstack([forces, run.imu.specific_forces]),
        np.vstack([rates, run.imu.angular_velocities]),
    )
    legs = LegSeries(
        np.concatenate([time, run.legs.stamps + 2.0]), np.vstack([lengths, run.legs.lengths])
    )
    return imu, legs, noise_at_rest(imu, legs, 2.0)


def accepted(platform, imu, legs, noise, factor=1.0, **options) -> bool:
    """Whether the filter with measured noises, the legs' times a factor, counts as consistent."""
    force, rate, length, error, _ = noise
    told = FilterSettings(
        ImuNoise(force, rate), factor * length, platform.imu, platform.gravity, **options
    )
    found = replay(platform.geometry, told, imu, legs)
    rows = found.stamps > found.stamps[0] + 2.0
    parts = (found.innovations, found.sigmas, found.nis, found.used)
    return assess(*(part[rows] for part in parts), sigma_error=error).held


@pytest.mark.slow
@pytest.mark.parametrize('delay', [None, DelayEstimation()])
def test_right_models_are_accepted_and_wrong_ones_refused(srs, delay) -> None:
    late = {} if delay is None else {'imu_delay': 0.017}
    right, unaware, wrong = 0, 0, 0
    for seed in range(20):
        for motion in ('MP1', 'MP2'):
            imu, legs, noise = with_rest(srs.platform, motion, seed, **late)
            right += accepted(srs.platform, imu, legs, noise, delay=delay)
            wrong += accepted(srs.platform, imu, legs, noise, 1.5, delay=delay)
            unaware += accepted(srs.platform, imu, legs, noise) if delay else 0
    assert right >= 37
    assert wrong == 0
    assert unaware == 0


def test_a_filter_that_begins_does_not_hide_the_rest() -> None:
    figure, time = Figure(), np.arange(400.0)
    sigmas = np.full((400, 6), 1e-5)
    sigmas[0] = 1e-2
    plot_innovations(figure, time, np.zeros((400, 6)), sigmas)
    assert len(figure.axes) == 6
    for axes in figure.axes:
        assert axes.get_ylim() == pytest.approx((-26.0, 26.0))


def test_the_picture_counts_the_nis_for_six_legs_whatever_is_missing() -> None:
    z, figure = np.random.default_rng(4).normal(size=(ROWS, 6)), Figure()
    used = np.ones_like(z, dtype=bool)
    used[:, 2] = False
    nis = np.where(used, z**2, 0.0).sum(axis=1)
    found = assess(z * SIGMA, np.tile(SIGMA, (ROWS, 1)), nis, used)
    plot_consistency(figure, np.arange(float(ROWS)), found)
    (mean,) = [line for line in figure.axes[0].lines if line.get_label().startswith('mean of')]
    assert np.mean(mean.get_ydata()) == pytest.approx(6.0, abs=0.3)
