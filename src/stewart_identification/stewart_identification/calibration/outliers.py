# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Poses that contradict all the others, such as one that a tracker saw off a reflection."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtri
from stewart_identification.calibration.fit import calibrate, Calibration, MISFIT, Prior
from stewart_identification.calibration.observations import Noise, Observations
from stewart_identification.calibration.prediction import weighted
from stewart_identification.errors import FitError, NotIdentifiable
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array

UNLIKELY = 1e-6
"""Probability of a row's residual from which on it may be an outlier [-]."""
MOST, NAMED = 0.1, 1.0 / 3.0
"""Share of rows that may be left out, and up to which they are named."""


def excess(found: Calibration, observations: Observations) -> Array:
    """Return the squared residuals of rows, (n,), over those that are `UNLIKELY`.

    A row draws the fit towards itself; its residual is judged by what that leaves of its noise,
    r' (I - J C J')^-1 r with the covariance C of the fit.
    """
    poses = found.machine.poses(observations)
    residual, jacobian = weighted(found.machine, observations, poses, found.noise)
    reduced = jacobian @ found.directions
    sizes = (observations.tracked, 6), (observations.felt, 3), (observations.turned, 3)
    rows = np.concatenate([np.repeat(np.flatnonzero(mask), size) for mask, size in sizes])
    out = np.zeros(len(observations))
    for row in np.unique(rows):
        own = rows == row
        left = np.eye(int(own.sum())) - reduced[own] @ found.covariance @ reduced[own].T
        size = residual[own] @ np.linalg.solve(left, residual[own])
        out[row] = size / chdtri(own.sum(), UNLIKELY)
    return out


def without_outliers(
    platform: Platform,
    observations: Observations,
    noise: Noise,
    prior: Prior,
    found: Calibration,
    most: float = MOST,
) -> tuple[Calibration, list[int]]:
    """Leave out rows one by one, up to the share `most`, while residuals contradict the noise.

    Returns:
        Calibration and rows that were left out; those of before, and none, where what is left
        contradicts the noise still.
    """
    kept, better = np.arange(len(observations)), found
    gone: list[int] = []
    while better.misfit < MISFIT:
        large = excess(better, observations[kept])
        worst = int(large.argmax())
        if large[worst] < 1.0 or len(gone) >= max(1, int(most * len(observations))):
            return found, []
        gone.append(int(kept[worst]))
        kept = np.delete(kept, worst)
        try:
            better = calibrate(platform, observations[kept], noise, prior)
        except (FitError, NotIdentifiable):
            return found, []
    return better, sorted(gone)
