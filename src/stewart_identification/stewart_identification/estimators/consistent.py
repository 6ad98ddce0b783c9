# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The best fit among bodies that can exist.

Ten-parameter blocks are searched in log-Cholesky coordinates of their pseudo-inertia, where every
point is a body, and what cannot be negative in its logarithm. The experiment enters through its
triangle only, so the search costs nothing beside the regressor. Where the unconstrained solution
is physical it is the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_identification.estimators.estimator import Estimator, Found, Progress
from stewart_identification.estimators.levenberg_marquardt import descend
from stewart_identification.estimators.linear_system import LinearSystem
from stewart_identification.models.model import LinearModel
from stewart_identification.pseudo_inertia import from_chart, TEN, to_chart
from stewart_kinematics.motion import Array

FLOOR = 1e-6
"""Where a search begins: smallest eigenvalue of J, relative to the largest."""


@dataclass(frozen=True)
class Consistent(Estimator):
    """Least squares under positive definite pseudo-inertias.

    Intervals are those of the unconstrained problem about the constrained estimate. In the metric
    of the data as a whole that lies nearer to any physical truth; of a single coordinate nothing
    is promised where the constraint is active.

    Attributes:
        iterations: At most.
        tolerance: Relative fall of the cost at which the search ends.
    """

    iterations: int = 300
    tolerance: float = 1e-7

    def search(self, system: LinearSystem, rng: np.random.Generator, progress: Progress) -> Found:
        """Descend from the unconstrained solution where no body has it; see `Estimator`."""
        best, iterations, converged = system.solution[0], 1, True
        constrained = not system.model.physical(best)
        if constrained:
            chart = _Chart(system.model)
            # What nothing explains belongs to the cost, of which a fall has to be worth a step.
            rest, constant = np.sqrt(system.rest), np.zeros((1, len(best)))
            found = descend(
                lambda point: np.append(
                    system.triangle @ chart.parameters(point) - system.reduced, rest
                ),
                lambda point: np.vstack([system.triangle @ chart.slope(point), constant]),
                chart.start(best),
                iterations=self.iterations,
                tolerance=self.tolerance,
                progress=lambda done, planned, point, cost: progress(
                    done, planned, chart.parameters(point), cost
                ),
            )
            best = chart.parameters(found.point)
            iterations, converged = found.iterations, found.converged
        progress(iterations, self.iterations, best, float(system.cost(best)))
        method = 'least squares, physically consistent (log-Cholesky)'
        return Found(best, method, iterations, converged, constrained)


class _Chart:
    """Coordinates of a model's physical parameters; the others are themselves."""

    def __init__(self, model: LinearModel) -> None:
        self._bodies = [slice(first, first + TEN) for first in model.bodies]
        self._positive = np.array(model.non_negative, dtype=int)
        self._scale = model.scale

    def start(self, parameters: Array) -> Array:
        """Return the coordinates of the nearest point inside, roughly."""
        point = parameters / self._scale
        for body in self._bodies:
            point[body] = to_chart(parameters[body], FLOOR)
        inside = np.maximum(parameters[self._positive] / self._scale[self._positive], FLOOR)
        point[self._positive] = np.log(inside)
        return point

    def parameters(self, point: Array) -> Array:
        """Return the parameters of a point."""
        result = point * self._scale
        for body in self._bodies:
            result[body] = from_chart(point[body])[0]
        result[self._positive] = self._scale[self._positive] * self._exp(point)
        return result

    def slope(self, point: Array) -> Array:
        """Return the derivative of the parameters by the coordinates."""
        matrix = np.diag(self._scale)
        for body in self._bodies:
            matrix[body, body] = from_chart(point[body])[1]
        matrix[self._positive, self._positive] *= self._exp(point)
        return matrix

    def _exp(self, point: Array) -> Array:
        return np.asarray(np.exp(np.minimum(point[self._positive], 300.0)))
