# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Levenberg and Marquardt's method with the update of the EX800 paper.

Eq. 29: ``step = -[J' w J + eta I]^-1 J' w e``, here in units of each parameter's
scale, so that eta weighs kilograms and kg m² alike; eta falls tenfold after a step that lowers the
cost and rises tenfold after one that does not. A linear model is compressed to its triangle first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from stewart_identification.estimators.estimator import Estimator, Found, Progress
from stewart_identification.estimators.linear_system import LinearSystem
from stewart_kinematics.motion import Array

LARGEST_DAMPING = 1e14
Function = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a search ended: point, cost, iterations, and whether by itself."""

    point: Array
    cost: float
    iterations: int
    converged: bool


def descend(
    residuals: Function,
    slope: Function,
    start: Array,
    *,
    damping: float = 1e-2,
    iterations: int = 200,
    tolerance: float = 1e-12,
    progress: Progress | None = None,
) -> Descent:
    """Minimise a sum of squares by Eq. 29.

    Args:
        residuals: Point, shape (p,), to residuals, shape (n,).
        slope: Point to the residuals' derivative, shape (n, p).
        start (p,): Where to begin.
        damping: Eta at the beginning.
        iterations: At most.
        tolerance: Relative fall of the cost at which it ends.
        progress: May stop it.
    """
    point, left = np.array(start, dtype=float), residuals(start)
    cost, eta = float(left @ left), damping
    for count in range(1, iterations + 1):
        matrix = slope(point)
        normal, gradient = matrix.T @ matrix, matrix.T @ left
        while True:
            step = -np.linalg.solve(normal + eta * np.eye(len(point)), gradient)
            ahead = residuals(point + step)
            lower = float(ahead @ ahead)
            if lower <= cost or eta > LARGEST_DAMPING:
                break
            eta *= 10.0
        fall = cost - lower
        if fall >= 0.0:
            point, left, cost, eta = point + step, ahead, lower, max(0.1 * eta, 1e-12)
        if progress is not None and not progress(count, iterations, point, cost):
            return Descent(point, cost, count, converged=False)
        if fall <= tolerance * cost:
            return Descent(point, cost, count, converged=True)
    return Descent(point, cost, iterations, converged=False)


@dataclass(frozen=True, eq=False)
class LevenbergMarquardt(Estimator):
    """Local search by the derivative of the model.

    Attributes:
        damping: Eta_0 of Eq. 29.
        iterations: At most.
    """

    damping: float = 1e-2
    iterations: int = 200

    def search(self, system: LinearSystem, rng: np.random.Generator, progress: Progress) -> Found:
        """Descend from the nominal parameters; see `Estimator`."""
        scale = system.model.scale
        # The triangle allows for what moves the forces and is not asked for.
        matrix = np.vstack([system.triangle * scale, np.zeros(len(scale))])
        reduced = np.append(system.reduced, np.sqrt(system.rest))
        found = descend(
            lambda point: matrix @ point - reduced,
            lambda _: matrix,
            system.model.nominal / scale,
            damping=self.damping,
            iterations=self.iterations,
            progress=lambda done, planned, point, cost: progress(
                done, planned, point * scale, cost
            ),
        )
        where = found.point * scale
        return Found(where, 'Levenberg-Marquardt', found.iterations, found.converged)
