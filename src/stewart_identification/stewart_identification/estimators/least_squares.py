# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear least squares, weighted by the actuators' noise where it is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_identification.estimators.estimator import Progress, Result
from stewart_identification.estimators.linear_system import linear_system
from stewart_identification.experiment import Experiment
from stewart_identification.models.model import LinearModel


@dataclass(frozen=True)
class LeastSquares:
    """The unconstrained solution; of what the motion does not show, the one of least length."""

    level: float = 0.95

    def fit(
        self,
        model: LinearModel,
        experiment: Experiment,
        *,
        rng: np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Result:
        """Estimate the parameters; see `Estimator`."""
        system = linear_system(model, experiment)
        result = system.result(system.solution[0], self.level, 'linear least squares')
        if progress is not None:
            progress(1, 1, result.parameters, result.cost)
        return result
