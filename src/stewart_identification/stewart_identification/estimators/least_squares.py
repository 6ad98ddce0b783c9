# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear least squares, weighted by the actuators' noise where it is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_identification.estimators.estimator import Estimator, Found, Progress
from stewart_identification.estimators.linear_system import LinearSystem


@dataclass(frozen=True)
class LeastSquares(Estimator):
    """The unconstrained solution; of what the motion does not show, the one of least length."""

    def search(self, system: LinearSystem, rng: np.random.Generator, progress: Progress) -> Found:
        """Take the solution; see `Estimator`."""
        best = system.solution[0]
        progress(1, 1, best, float(system.cost(best)))
        return Found(best, 'linear least squares')
