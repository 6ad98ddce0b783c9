# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Levenberg and Marquardt's method: the update of the EX800 paper, and scipy's.

The paper (Eq. 29): ``step = -[J' w J + eta I]^-1 J' w e``, here in units of each parameter's
scale, so that eta weighs kilograms and kg m² alike; eta falls tenfold after a step that lowers the
cost and rises tenfold after one that does not. A linear model is compressed to its triangle first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from scipy.optimize import least_squares
from stewart_identification.errors import ConfigurationError
from stewart_identification.estimators.estimator import Estimator, Found, Progress, Stopped
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
        update: Eq. 29, or ``scipy.optimize.least_squares`` (MINPACK's).
        damping: Eta_0 of Eq. 29.
        iterations: At most.
        level: Of the intervals.
    """

    update: Literal['paper', 'scipy'] = 'paper'
    damping: float = 1e-2
    iterations: int = 200
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.update not in ('paper', 'scipy'):
            raise ConfigurationError('update', self.update, 'paper or scipy')

    def search(self, system: LinearSystem, rng: np.random.Generator, progress: Progress) -> Found:
        """Descend from the nominal parameters; see `Estimator`."""
        scale = system.model.scale
        # The triangle allows for what moves the forces and is not asked for.
        matrix = np.vstack([system.triangle * scale, np.zeros(len(scale))])
        reduced = np.append(system.reduced, np.sqrt(system.rest))
        search: Callable[..., Descent] = self._scipy
        if self.update == 'paper':
            search = partial(descend, damping=self.damping, iterations=self.iterations)
        found = search(
            lambda point: matrix @ point - reduced,
            lambda _: matrix,
            system.model.nominal / scale,
            progress=lambda done, planned, point, cost: progress(
                done, planned, point * scale, cost
            ),
        )
        method = f'Levenberg-Marquardt ({self.update})'
        return Found(found.point * scale, method, found.iterations, found.converged)

    def _scipy(
        self, residuals: Function, slope: Function, first: Array, progress: Progress
    ) -> Descent:
        best, count = Descent(first, np.inf, 0, converged=False), 0

        def watched(point: Array) -> Array:
            nonlocal best, count
            left = residuals(point)
            cost = float(left @ left)
            count += 1
            if cost < best.cost:
                best = Descent(np.array(point), cost, count, converged=False)
            if not progress(min(count, self.iterations), self.iterations, best.point, best.cost):
                raise Stopped
            return left

        try:
            found = least_squares(
                watched, first, slope, method='lm', max_nfev=self.iterations, xtol=1e-12
            )
        except Stopped:
            return best
        return Descent(found.x, 2.0 * found.cost, count, converged=bool(found.status > 0))
