# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The EX800 with a payload on the simulated plant: errors, intervals, and who is found out."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
import multiprocessing
import os

import numpy as np
from plant_runs import bound, experiment_of, identify, model_of, Run, task
import pytest
from scipy.special import chdtrc
from stewart_identification.identifiability import identifiability, Verdict
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.trajectories.multi_sine import from_yaml
from study import run_study, summarise

TEN, FRICTION = slice(0, 10), slice(10, 22)
RUNS = 300


@pytest.fixture(scope='module')
def run() -> Run:
    ex800 = Platform.from_yaml('ex800')
    motion = from_yaml('ex800_identification', ex800.geometry.neutral_pose)
    return Run(ex800, motion, 1)


@pytest.fixture(scope='module')
def result(run: Run):
    return identify(run)


def test_one_run_finds_mass_and_centre_of_mass(run, result):
    assert result.physical
    truth = run.truth
    assert abs(result.parameters[0] / truth[0] - 1.0) < 1e-3
    centre = result.parameters[1:4] / result.parameters[0]
    assert np.all(np.abs(centre - truth[1:4] / truth[0]) < 0.6e-3)
    # Ten at once: three standard deviations leave 2.7 % for chance, and the seed is fixed.
    assert np.all(np.abs(result.parameters - truth)[TEN] < 3.0 * result.sigmas[TEN])


def test_a_wrong_payload_is_found_out_and_the_right_one_is_not(run, result):
    covariance = result.covariance[TEN, TEN]
    right = result.parameters[TEN] - run.truth[TEN]
    assert chance(right, covariance) > 1e-3
    for mass in (1.95, 0.0):
        wrong = replace(run, options=replace(run.options, payload_mass=mass))
        assert chance(result.parameters[TEN] - wrong.truth[TEN], covariance) < 1e-6


def test_the_waves_own_recording_is_told_not_to_identify_what_it_does_not(run):
    wave = from_yaml('ex800_wave', run.platform.geometry.neutral_pose)
    experiment = experiment_of(replace(run, motion=wave))
    experiment = replace(experiment, noise=np.full(6, 0.58))
    found = identifiability(model_of(run.platform), experiment)
    verdicts = dict(zip(found.names, found.verdicts, strict=True))
    assert verdicts['m'] is Verdict.IDENTIFIABLE
    for name in ('Ixx', 'Iyy', 'Izz', 'Ixy', 'Ixz', 'Iyz'):
        assert verdicts[name] is not Verdict.IDENTIFIABLE


def chance(difference: np.ndarray, covariance: np.ndarray) -> float:
    """Give the probability that an estimate misses the truth by as much as this or more."""
    size = np.sqrt(np.diag(covariance))
    scaled = difference / size
    square = scaled @ np.linalg.solve(covariance / np.outer(size, size), scaled)
    return float(chdtrc(len(difference), square))


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_three_hundred_plants_stay_near_the_bound_and_inside_the_binomial_band(run):
    context = multiprocessing.get_context('fork')
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as pool:
        study = run_study(task, RUNS, 1, executor=pool)
    results = list(study.outcomes.values())
    truth, best = run.truth[TEN], bound(run)
    summary, friction = (
        summarise([_part(item, part) for item in results], run.truth[part])
        for part in (TEN, FRICTION)
    )
    centres = np.array([r.parameters[1:4] / r.parameters[0] for r in results])
    errors = np.sqrt(np.mean((centres - truth[1:4] / truth[0]) ** 2, axis=0))
    assert all(item.physical for item in results)
    assert np.all(summary.rmse <= 1.25 * best[TEN]), summary.rmse / best[TEN]
    assert np.all(friction.rmse <= 1.25 * best[FRICTION]), friction.rmse / best[FRICTION]
    assert summary.rmse[0] <= 1e-3 * truth[0]
    assert np.all(errors <= 0.3e-3)
    low, high = summary.band
    assert np.all((summary.coverage >= low) & (summary.coverage <= high)), summary.coverage
    assert summary.pooled_band[0] <= summary.pooled <= summary.pooled_band[1]


def _part(result, part):
    return replace(result, parameters=result.parameters[part], intervals=result.intervals[:, part])
