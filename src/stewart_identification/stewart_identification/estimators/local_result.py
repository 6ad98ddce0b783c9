# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Covariance and intervals at an estimate, from the local regressor there."""

from __future__ import annotations

import numpy as np
from stewart_identification import confidence
from stewart_identification.estimators.estimator import Result
from stewart_identification.estimators.least_squares import linear_result
from stewart_identification.estimators.linear_system import linear_system
from stewart_identification.experiment import Experiment
from stewart_identification.models.model import LinearModel, local_regressor, Model
from stewart_kinematics.motion import Array

UNSEEN = 1e-7
"""Singular value, relative to the largest: numerical derivatives have no better zeros."""


def local_result(
    model: Model,
    experiment: Experiment,
    parameters: Array,
    *,
    level: float,
    iterations: int,
    converged: bool,
    method: str,
) -> Result:
    """Say what the data know about an estimate, whoever found it.

    Args:
        model: What was fitted.
        experiment: To what.
        parameters (p,): Estimate.
        level: Of the intervals.
        iterations, converged, method: For the result.

    Returns:
        With intervals from the derivative at the estimate; infinite where that shows nothing.
    """
    if isinstance(model, LinearModel):
        # With what moves the forces and is not asked for, as in the costs that were searched.
        system = linear_system(model, experiment)
        seen = system.solve(model.scale)[1]
        return linear_result(
            model, experiment, system, parameters, seen, level, method, iterations, converged
        )
    left, covariance = _residuals_and_covariance(model, experiment, parameters)
    return Result.fitted(
        model,
        experiment,
        parameters,
        covariance,
        left,
        level=level,
        iterations=iterations,
        converged=converged,
        method=method,
    )


def _residuals_and_covariance(
    model: Model, experiment: Experiment, parameters: Array
) -> tuple[Array, Array]:
    """Return weighted residuals, shape (n, m), and the covariance that they give, (p, p)."""
    used, weights, scale = experiment.used, experiment.weights, model.scale
    left = np.where(
        used, (experiment.forces - model.predict(parameters, experiment)) * weights, np.nan
    )
    design = local_regressor(model, parameters, experiment) * scale
    design = design * (weights[:, None] * used[..., None])
    triangle = np.linalg.qr(design.reshape(-1, len(scale)), mode='r')
    _, values, vt = np.linalg.svd(triangle)
    hidden = vt[values <= UNSEEN * max(values[0], 1e-300)]
    seen = np.linalg.norm(hidden, axis=0) < 1e-4 if len(hidden) else np.ones(len(scale), bool)
    covariance = np.full((len(scale), len(scale)), np.nan)
    if seen.any():
        shown = values > UNSEEN * values[0]
        inverse = (vt[shown].T / values[shown] ** 2) @ vt[shown]
        heart = confidence.middle(design, left, experiment.stamps, int(np.count_nonzero(shown)))
        whole = inverse @ heart @ inverse * np.outer(scale, scale)
        covariance[np.ix_(seen, seen)] = whole[np.ix_(seen, seen)]
    return left, covariance
