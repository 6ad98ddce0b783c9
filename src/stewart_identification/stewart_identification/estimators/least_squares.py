# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear least squares, weighted by the actuators' noise where it is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_identification.errors import FitError
from stewart_identification.estimators.estimator import Progress, Result
from stewart_identification.estimators.linear_system import Flags, linear_system, LinearSystem
from stewart_identification.experiment import Experiment
from stewart_identification.models.model import LinearModel, Model
from stewart_kinematics.motion import Array


@dataclass(frozen=True)
class LeastSquares:
    """The unconstrained solution; of what the motion does not show, the one of least length.

    Attributes:
        level: Of the intervals.
    """

    level: float = 0.95

    def fit(
        self,
        model: Model,
        experiment: Experiment,
        *,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Result:
        """Estimate the parameters; see `Estimator`."""
        system = linear_system(as_linear(model, 'least squares'), experiment)
        parameters, seen = system.solve(model.scale)
        result = linear_result(
            model, experiment, system, parameters, seen, self.level, 'linear least squares'
        )
        if progress is not None:
            progress(1, 1, parameters, result.cost)
        return result


def as_linear(model: Model, who: str) -> LinearModel:
    """Return the model, or raise FitError if it is not linear in its parameters."""
    if not isinstance(model, LinearModel):
        raise FitError(
            f'{who} takes models that are linear in their parameters; '
            f'{type(model).__name__} is not: use Levenberg-Marquardt or a swarm'
        )
    return model


def linear_result(
    model: Model,
    experiment: Experiment,
    system: LinearSystem,
    parameters: Array,
    seen: Flags,
    level: float,
    method: str,
    iterations: int = 1,
    converged: bool = True,
) -> Result:
    """Dress parameters of a linear problem up as a result."""
    _, left = system.residuals(parameters)
    return Result.fitted(
        model,
        experiment,
        parameters,
        system.covariance(parameters, seen),
        left,
        level=level,
        iterations=iterations,
        converged=converged,
        method=method,
    )
