# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
import logging
import os
import re

import numpy as np
import pytest
from scipy.stats import chi2
from stewart_identification.confidence import middle
from stewart_identification.errors import FitError
from stewart_identification.estimators.consistent import Consistent
from stewart_identification.estimators.least_squares import LeastSquares
from stewart_identification.estimators.levenberg_marquardt import LevenbergMarquardt
from stewart_identification.estimators.linear_system import linear_system, ROUGH
from stewart_identification.estimators.result import rms
from stewart_identification.estimators.swarm import Swarm
from stewart_identification.experiment import Experiment
from stewart_identification.identifiability import cramer_rao
from stewart_identification.models.platform import PlatformModel
from stewart_identification.pseudo_inertia import from_chart, is_physical, to_chart
from stewart_identification.recording.low_pass import LowPass
from stewart_identification.remarks import beyond_any_body
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.trajectories.multi_sine import from_yaml, shipped
from study import binomial_band, summarise

NOISE = 0.5


@pytest.fixture(scope='module')
def model() -> PlatformModel:
    platform = Platform.from_yaml('ex800')
    # Hundreds of fits are of one motion.
    return PlatformModel.from_platform(platform, friction='common').remembering()


@pytest.fixture(scope='module')
def clean(model: PlatformModel) -> Experiment:
    time = 0.02 * np.arange(500)
    motion = from_yaml(shipped()['ex800_identification'], model.geometry.neutral_pose)
    still = Experiment(time, motion.sample(time), np.zeros((500, 6)))
    return still.with_forces(model.predict(truth(model), still))


def truth(model: PlatformModel) -> np.ndarray:
    """The nominal platform, a little fatter so that noise does not hide it behind a wall."""
    values = model.nominal.copy()
    values[[4, 7, 9]] += 0.02
    values[10:] = 20.0, 2.0
    return values


def known(experiment: Experiment) -> Experiment:
    return replace(experiment, noise=np.array(NOISE))


def noisy(clean: Experiment, seed: int) -> Experiment:
    rng = np.random.default_rng(seed)
    return clean.with_forces(clean.forces + rng.normal(0.0, NOISE, clean.forces.shape))


@pytest.mark.parametrize(
    'estimator',
    [
        LeastSquares(),
        Consistent(),
        LevenbergMarquardt(),
        Swarm(60, 800, 1.5, 1.5, 0.72),
    ],
    ids=lambda e: type(e).__name__,
)
def test_every_estimator_finds_the_truth_of_exact_forces(estimator, model, clean):
    result = estimator.fit(model, clean, rng=np.random.default_rng(1))
    loose = isinstance(estimator, Swarm)
    tolerance = (0.02 if loose else 1e-6) * model.scale
    assert np.all(np.abs(result.parameters - truth(model)) < tolerance)
    assert result.physical


def test_a_seed_repeats_a_swarm_and_leaves_numpys_generator_and_no_log(
    model, clean, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    handlers = list(logging.getLogger().handlers)
    runs = [Swarm(10, 20).fit(model, clean, rng=np.random.default_rng(seed)) for seed in (3, 3, 4)]
    assert np.array_equal(runs[0].parameters, runs[1].parameters)
    assert not np.array_equal(runs[0].parameters, runs[2].parameters)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert os.listdir(tmp_path) == []
    assert logging.getLogger().handlers == handlers


@pytest.mark.parametrize('estimator', [Swarm(10, 50), LevenbergMarquardt(damping=1e6)])
def test_who_is_stopped_returns_the_best_so_far(estimator, model, clean):
    told = []

    def progress(done, planned, parameters, cost):
        told.append((done, cost))
        return done < 5

    result = estimator.fit(model, clean, rng=np.random.default_rng(2), progress=progress)
    assert (result.iterations, result.converged) == (5, False)
    assert result.cost <= told[0][1]


def test_least_squares_reaches_the_cramer_rao_bound_and_its_intervals_hold(model, clean):
    results = [LeastSquares().fit(model, noisy(clean, k), rng=None) for k in range(300)]
    summary = summarise(results, truth(model))
    bound = np.sqrt(np.diag(cramer_rao(model, truth(model), known(clean))))
    assert np.all(summary.rmse < 1.12 * bound)
    assert np.all(summary.rmse > 0.88 * bound)
    low, high = summary.band
    assert np.all((summary.coverage >= low) & (summary.coverage <= high))
    assert summary.pooled_band[0] <= summary.pooled <= summary.pooled_band[1]


@pytest.mark.slow
def test_intervals_survive_a_low_pass_that_fools_the_textbook(model, clean):
    low_pass = LowPass(0.02, 3.0, 9.0)
    edge = low_pass.half_width
    results, naive = [], []
    for k in range(200):
        noise = np.random.default_rng(1000 + k).normal(0.0, NOISE, clean.forces.shape)
        inner = clean[edge:-edge]
        seen = inner.with_forces(inner.forces + low_pass.apply(noise)[0])
        results.append(LeastSquares().fit(model, seen, rng=None))
        flat = model.regressor(seen).reshape(-1, 12)
        variance = np.mean(results[-1].residuals ** 2)
        sigmas = np.sqrt(variance * np.diag(np.linalg.inv(flat.T @ flat)))
        naive.append(np.abs(results[-1].parameters - truth(model)) < 1.96 * sigmas)
    summary = summarise(results, truth(model))
    low, high = summary.band
    assert np.all((summary.coverage >= low) & (summary.coverage <= high)), summary.coverage
    assert np.mean(naive) < 0.8


@pytest.mark.parametrize(
    'common', [0.3, *(pytest.param(common, marks=pytest.mark.slow) for common in (0.0, 1.0))]
)
def test_what_shakes_all_legs_counts_once(common, model, clean):
    """Taken for six independent disturbances it made sigmas of 0.65 and 0.39 of the error."""
    runs, results = 120, []
    low_pass = LowPass(0.02, 3.0, 9.0)
    inner = clean[low_pass.half_width : -low_pass.half_width]
    for k in range(runs):
        rng = np.random.default_rng((k, 5))
        own, shared = rng.normal(0.0, NOISE, (500, 6)), rng.normal(0.0, NOISE, (500, 1))
        noise = np.sqrt(1.0 - common) * own + np.sqrt(common) * shared
        seen = inner.with_forces(inner.forces + low_pass.apply(noise)[0])
        results.append(LeastSquares().fit(model, seen, rng=None))
    errors = np.array([result.parameters for result in results]) - truth(model)
    claimed = np.sqrt(np.mean([result.sigmas**2 for result in results], axis=0))
    ratio = claimed / np.sqrt(np.mean(errors**2, axis=0))
    # Bands of chi-squares, for twelve parameters at once, and 5 % for what smoothing costs.
    low, high = np.sqrt(runs / chi2.ppf([1.0 - 0.005 / 12, 0.005 / 12], runs))
    assert ratio.min() > 0.95 * low
    assert ratio[0] < 1.05 * high
    # Where all is common, moments that it does not touch are known better than they are told.
    assert common == 1.0 or ratio.max() < 1.05 * high


def test_independent_legs_lose_nothing_by_their_pairs(model, clean):
    """The covariance is that of each leg for itself, within a few per cent of it."""
    alone, together = [], []
    design = model.regressor(clean) * model.scale
    for k in range(30):
        noise = noisy(clean, k).forces - clean.forces
        together.append(np.diag(middle(design, noise, clean.stamps, 0)))
        legs = [np.where(np.arange(6) == leg, noise, np.nan) for leg in range(6)]
        alone.append(sum(np.diag(middle(design, one, clean.stamps, 0)) for one in legs))
    ratio = np.sqrt(np.mean(together, axis=0) / np.mean(alone, axis=0))
    assert ratio == pytest.approx(np.ones(12), abs=0.05)


def test_a_consistent_fit_is_physical_where_least_squares_is_not(model, clean):
    thin = truth(model)
    thin[[4, 7, 9]] = 0.02, 0.02, 0.0399
    still = clean.with_forces(model.predict(thin, clean))
    free, held = [], []
    for k in range(40):
        experiment = noisy(still, 2000 + k)
        free.append(LeastSquares().fit(model, experiment, rng=None))
        held.append(Consistent().fit(model, experiment, rng=None))
    assert sum(not result.physical for result in free) > 10
    assert all(result.physical for result in held)
    for a, b in zip(free, held, strict=True):
        assert a.physical == np.allclose(a.parameters, b.parameters)
    # In the metric of the data, the constrained estimate is never further from a physical truth.
    inverse = np.linalg.inv(cramer_rao(model, thin, known(clean)))
    for a, b in zip(free, held, strict=True):
        left, right = a.parameters - thin, b.parameters - thin
        assert right @ inverse @ right <= (1.0 + 1e-6) * (left @ inverse @ left) + 1e-6


@pytest.mark.parametrize(('beyond', 'found'), [(0.0, False), (0.012, True)])
def test_forces_that_no_body_makes_are_told_from_noise(beyond: float, found: bool, model, clean):
    """Of noise alone the chance is the false alarm's; the fit as a whole hardly gets worse."""
    impossible = truth(model)
    impossible[[4, 7, 9]] = 0.02, 0.02, 0.0399 + beyond
    wrong = clean.with_forces(model.predict(impossible, clean))
    results = [Consistent().fit(model, noisy(wrong, seed)) for seed in range(20)]
    assert any(result.constrained for result in results)
    assert not any(result.missed for result in results)
    said = [list(beyond_any_body(result, 0.01)) for result in results]
    assert all(map(bool, said)) if found else sum(map(bool, said)) <= 1
    if found:
        assert re.fullmatch(
            r'no body can have what the forces say: least squares have a I\w\w of 0\.\d+ kg m², '
            r'the nearest body has 0\.\d+, \d\.\d standard deviations away',
            said[0][0],
        )


def test_a_swarm_has_arrived_where_its_intervals_hold(model, clean):
    """Ten per cent more residual, once thought near, are dozens of standard deviations."""
    near_by_residual = 0
    for seed in range(8):
        experiment = noisy(clean, seed)
        result = Swarm(30, 300).fit(model, experiment, rng=np.random.default_rng(seed))
        far = np.abs((result.parameters - result.free) / result.sigmas).max()
        assert result.missed or far < 1.0
        near_by_residual += far > 3.0 and rms(result.residuals) < 1.1 * result.least
    assert near_by_residual > 0
    near = LevenbergMarquardt().fit(model, noisy(clean, 0))
    assert near.distance < 1e-3
    assert not near.missed


def test_the_chart_of_bodies_is_inverted_and_its_derivative_is_right():
    ten = np.array([2.0, 0.1, -0.06, 0.16, 0.06, 0.003, -0.008, 0.06, 0.005, 0.05])
    assert is_physical(ten)
    chart = to_chart(ten)
    back, slope = from_chart(chart)
    assert np.allclose(back, ten, atol=1e-12)
    numerical = [
        (from_chart(chart + step)[0] - from_chart(chart - step)[0]) / 2e-6
        for step in 1e-6 * np.eye(10)
    ]
    assert np.allclose(slope, np.transpose(numerical), atol=1e-7)
    assert not is_physical(ten * np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 4.0]))


def test_rough_laws_widen_by_what_leaving_a_part_of_each_out_does(model, clean):
    """Beside a model without them, fed with a part of each law's force, one after the other."""
    rough = replace(model, terms=('asymmetry',))
    parameters = np.append(truth(model), 5.0 * np.ones(6))
    forces = known(clean.with_forces(rough.predict(parameters, clean)))
    exact = replace(forces, forces=rough.predict(parameters, forces))
    design, bare = rough.regressor(exact), [k for k in range(18) if k not in rough.laws]
    expected = np.zeros((len(bare), len(bare)))
    for law in rough.laws:
        part = ROUGH * parameters[law] * design[..., law]
        moved = np.linalg.lstsq(design[..., bare].reshape(-1, len(bare)), part.ravel())[0]
        expected += np.outer(moved, moved)

    # Without residuals nothing else is uncertain.
    covariance = linear_system(rough, exact).result(parameters, 0.95, '').joint_covariance
    covariance = covariance[np.ix_(bare, bare)]

    assert rough.laws == tuple(range(10, 18))
    assert model.laws == ()
    np.testing.assert_allclose(covariance, expected, rtol=1e-4, atol=1e-9 * expected.max())


def test_instruments_undo_what_a_noisy_motion_does(model, clean):
    rng = np.random.default_rng(4)
    shake = rng.normal(0.0, 1.0, clean.inputs.acceleration.shape)
    motion = replace(clean.inputs, acceleration=clean.inputs.acceleration + shake)
    blurred = replace(clean, inputs=motion)
    plain = LeastSquares().fit(model, blurred)
    found = LeastSquares().fit(model, replace(blurred, instruments=clean))

    # The textbook's formula, with every instrument once.
    measured, asked = (model.regressor(e).reshape(3000, -1) for e in (blurred, clean))
    target = (blurred.forces - model.offset(blurred)).ravel()
    wanted = np.linalg.solve(asked.T @ measured, asked.T @ target)
    assert np.all(np.abs(found.parameters - wanted) < 1e-6 * model.scale)
    off, other = (np.abs(one.parameters - truth(model)) / one.sigmas for one in (found, plain))
    assert off.max() < 3.5
    # Noise of the accelerations is in all legs at once. By chance one of twelve is so far off in
    # one of 1300 such fits.
    assert other.max() > 4.0


def test_a_missing_leg_costs_accuracy_and_nothing_else(model, clean):
    forces = noisy(clean, 5).forces.copy()
    forces[:, 2] = np.nan
    result = LeastSquares().fit(model, clean.with_forces(forces), rng=None)
    assert np.all(np.abs(result.parameters - truth(model)) < 5.0 * result.sigmas)
    assert np.all(np.isnan(result.residuals[:, 2]))
    with pytest.raises(FitError, match='need at least 12 measured forces, got 0'):
        LeastSquares().fit(model, clean.with_forces(forces * np.nan), rng=None)


def test_forces_whose_squares_are_no_numbers_are_refused(model, clean):
    with pytest.raises(
        FitError, match=r'a force of \d\.\d+e\+20\d N is measured, at most 1e\+100 N'
    ):
        LeastSquares().fit(model, clean.with_forces(1e200 * clean.forces), rng=None)


def test_the_band_of_300_runs_is_exact():
    low, high = binomial_band(300, 0.95, 0.99)
    assert (round(300 * low), round(300 * high)) == (275, 294)
