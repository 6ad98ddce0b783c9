# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Of machines as the prior has them chance alone calls as many a misfit as it is said to."""

from __future__ import annotations

from machines_made import JOINT_ERROR, LENGTH_ERROR, measured, wrong
import numpy as np
import pytest
from scipy.stats import binom
from stewart_identification.calibration.fit import calibrate, Calibration, MISFIT, Prior
from stewart_identification.calibration.observations import Noise
from stewart_identification.calibration.outliers import without_outliers
from stewart_identification.calibration.planning import best_poses
from stewart_kinematics.model.platform import Platform

MACHINES = 100
COARSE = Noise(position=0.5e-3, attitude=1e-3)
PRIOR = Prior(joint=JOINT_ERROR, length=LENGTH_ERROR)


@pytest.mark.parametrize(
    'poses', [8, *(pytest.param(poses, marks=pytest.mark.slow) for poses in (5, 20))]
)
def test_right_machines_are_misfits_as_often_as_chance_has_it(poses: int) -> None:
    """Of eight poses 62 % were, for 42 unknowns that the prior holds counted as found."""
    vigo = Platform.from_yaml('vigo')
    there = best_poses(vigo, poses, np.random.default_rng(1))
    found: list[Calibration] = []
    for seed in range(MACHINES):
        rng = np.random.default_rng((seed, poses))
        seen = measured(wrong(vigo, rng), there, rng, COARSE)
        found.append(calibrate(vigo, seen, COARSE, PRIOR))
        if found[-1].misfit < MISFIT:
            continue
        same, gone = without_outliers(vigo, seen, COARSE, PRIOR, found[-1])
        assert same is found[-1]
        assert not gone
    told = np.array([each.misfit for each in found])
    for level in (MISFIT, 0.05, 0.5):
        low, high = binom.interval(0.999, MACHINES, level)
        assert low <= np.sum(told < level) <= high, level
    excess = np.array([each.excess for each in found])
    assert np.mean(excess**2) == pytest.approx(1.0, rel=0.15)
