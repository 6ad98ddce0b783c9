# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Searches for models whose forces are not linear in their parameters.

Such a model has the names, units, nominal values, scale, bounds, `predict` and `physical` of a
`LinearModel`, and may have `jacobian` and `costs` of its own. What the data know of an estimate is
that of the model's tangent there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from stewart_identification.estimators.linear_system import linear_system
from stewart_identification.estimators.result import Result
from stewart_identification.estimators.swarm import Swarm
from stewart_identification.experiment import Experiment
from stewart_identification.models.model import LinearModel
from stewart_kinematics.motion import Array

STEP = 1e-6
"""Step of numerical derivatives, in units of a parameter's scale."""


class Tangent(LinearModel):
    """A model's forces to first order about some parameters."""

    def __init__(self, model: Any, at: Array) -> None:
        """Take names and sizes from the model."""
        self._model, self._at = model, np.asarray(at, dtype=float)
        self.parameter_names, self.parameter_units = model.parameter_names, model.parameter_units
        self.nominal, self.scale, self.bounds = self._at, model.scale, model.bounds

    def regressor(self, experiment: Experiment) -> Array:
        """Return the derivative of the forces, shape (n, m, p)."""
        if hasattr(self._model, 'jacobian'):
            return self._model.jacobian(self._at, experiment)
        columns = []
        for step in np.diag(STEP * self.scale):
            ends = [self._model.predict(self._at + turn * step, experiment) for turn in (1, -1)]
            columns.append((ends[0] - ends[1]) / (2.0 * step.sum()))
        return np.stack(columns, axis=-1)

    def offset(self, experiment: Experiment) -> Array:
        """Return the forces that the tangent has at zero, shape (n, m)."""
        forces = self._model.predict(self._at, experiment)
        return forces - self.regressor(experiment) @ self._at

    def physical(self, parameters: Array) -> bool:
        """Ask the model."""
        return self._model.physical(parameters)


def costs_of(model: Any, experiment: Experiment) -> Callable[[Array], Array]:
    """Return the function of positions, (k, p), to sums of squared weighted residuals, (k,)."""
    if hasattr(model, 'costs'):
        return model.costs(experiment)

    def costs(positions: Array) -> Array:
        return np.array([np.sum(_left(model, experiment, item) ** 2) for item in positions])

    return costs


def fit_by_swarm(
    swarm: Swarm, model: Any, experiment: Experiment, rng: np.random.Generator
) -> Result:
    """Search the model's box."""
    best, _, done = swarm.minimise(costs_of(model, experiment), model.bounds, rng)
    return _result(model, experiment, best, 'particle swarm', done)


def fit_by_descent(model: Any, experiment: Experiment) -> Result:
    """Search from the nominal parameters by MINPACK's Levenberg-Marquardt."""
    scale = model.scale

    def slope(point: Array) -> Array:
        matrix = Tangent(model, point * scale).regressor(experiment)
        return (matrix * experiment.weights[:, None] * scale)[experiment.used]

    found = least_squares(
        lambda point: _left(model, experiment, point * scale),
        model.nominal / scale,
        slope,
        method='lm',
        xtol=1e-12,
    )
    return _result(model, experiment, found.x * scale, 'Levenberg-Marquardt', found.nfev)


def _left(model: Any, experiment: Experiment, parameters: Array) -> Array:
    """Return weighted residuals of the measured forces."""
    left = (model.predict(parameters, experiment) - experiment.forces) * experiment.weights
    return left[experiment.used]


def _result(model: Any, experiment: Experiment, best: Array, method: str, count: int) -> Result:
    return linear_system(Tangent(model, best), experiment).result(best, 0.95, method, count)
