# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What an estimator is, and what it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from stewart_identification.confidence import intervals
from stewart_identification.experiment import Experiment
from stewart_identification.models.model import Model
from stewart_kinematics.motion import Array

Progress = Callable[[int, int, Array, float], bool]
"""Told (iterations done, iterations planned, best parameters, cost) and answers whether to go on;
an estimator that is told to stop returns the best so far."""


@dataclass(frozen=True, eq=False)
class Result:
    """Parameters with what is known about them.

    Attributes:
        names, units: Of the parameters.
        parameters (p,): Estimates.
        covariance (p, p): Of the estimates; rows and columns of what the motion does not determine
            are NaN.
        intervals (2, p): Lower and upper ends at `level`; infinite where the motion does not
            determine a parameter.
        residuals (n, m): Measured less predicted forces; NaN where nothing was measured.
        cost: Sum of the squared weighted residuals.
        iterations: Of the search; 1 for a linear solution.
        converged: Whether the search ended by itself.
        physical: Whether a robot can have these parameters.
        level: Of the intervals.
        method: What was done, for reports.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    parameters: Array
    covariance: Array
    intervals: Array
    residuals: Array
    cost: float
    iterations: int
    converged: bool
    physical: bool
    level: float = 0.95
    method: str = ''

    @classmethod
    def fitted(
        cls,
        model: Model,
        experiment: Experiment,
        parameters: Array,
        covariance: Array,
        left: Array,
        *,
        level: float,
        iterations: int,
        converged: bool,
        method: str,
    ) -> Result:
        """Dress up what was fitted.

        Args:
            model, experiment: What was fitted to what.
            parameters (p,): Estimates.
            covariance (p, p): Of them.
            left (n, m): Weighted residuals; NaN where nothing was measured.
            level, iterations, converged, method: As they are.

        Returns:
            With the intervals that the covariance gives.
        """
        return cls(
            model.parameter_names,
            model.parameter_units,
            parameters,
            covariance,
            intervals(parameters, _sigmas(covariance), level),
            left / experiment.weights,
            float(np.nansum(left**2)),
            iterations,
            converged,
            model.physical(parameters),
            level,
            method,
        )

    @property
    def sigmas(self) -> Array:
        """Standard deviations of the estimates, shape (p,); infinite where not determined."""
        return _sigmas(self.covariance)


def _sigmas(covariance: Array) -> Array:
    variances = np.diag(covariance)
    return np.sqrt(np.where(np.isnan(variances), np.inf, np.maximum(variances, 0.0)))


class Estimator(Protocol):
    """Fits a model to an experiment."""

    def fit(
        self,
        model: Model,
        experiment: Experiment,
        *,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Result:
        """Estimate the parameters.

        Args:
            model: What makes the forces.
            experiment: Motion and measured forces.
            rng: Source of everything random; the same state gives the same result.
            progress: Told after every iteration; may stop the search.

        Returns:
            Estimates, intervals, residuals.

        Raises:
            FitError: If the estimator cannot fit this model, or too few forces were measured.
        """
        ...
