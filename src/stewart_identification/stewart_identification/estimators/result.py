# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What an estimator gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stewart_kinematics.motion import Array

FAR = 1.1
"""Residual, in units of that of least squares, from which on a fit has missed the minimum."""

NEAR = 1.0
"""Squared distance from the minimum at which a search has arrived; intervals reach further."""


@dataclass(frozen=True, eq=False)
class Result:
    """Parameters with what is known about them.

    Attributes:
        names, units: Of the parameters.
        parameters (p,): Estimates.
        nuisances (k,): Unknowns that are not asked for, as they fit best, in standard
            deviations.
        covariance (p, p): Of the estimates; rows and columns of what the motion does not determine
            are NaN.
        joint_covariance (k + p, k + p): Of nuisances, in units of their priors, and estimates; 0
            where the motion does not determine one.
        spread (k, k): Covariance with which nuisances as large as their priors are found.
        intervals (2, p): Lower and upper ends at `level`; infinite where the motion does not
            determine a parameter.
        residuals (n, m): Measured less predicted forces; NaN where nothing was measured.
        free (p,): Estimates of least squares that nothing constrains.
        least: Root mean square of the residuals that these leave [N].
        cost: Sum of the squared weighted residuals.
        iterations: Of the search; 1 for a linear solution.
        converged: Whether the search ended by itself.
        physical: Whether a robot can have these parameters.
        constrained: Whether it lies beside least squares because no robot can have those.
        level: Of the intervals.
        method: What was done, for reports.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    parameters: Array
    nuisances: Array
    covariance: Array
    joint_covariance: Array
    spread: Array
    intervals: Array
    residuals: Array
    free: Array
    least: float
    cost: float
    iterations: int
    converged: bool
    physical: bool
    constrained: bool
    level: float
    method: str

    @property
    def sigmas(self) -> Array:
        """Standard deviations of the estimates, shape (p,); infinite where not determined."""
        return sigmas_of(self.covariance)

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which parameters the motion determines, shape (p,)."""
        return np.isfinite(self.sigmas) & (self.sigmas > 0.0)

    @property
    def distance(self) -> float:
        """Squared distance from least squares in their deviations: if they are noise, chi-square.

        Of what the motion determines, with all correlations.
        """
        seen, sigmas = self.seen, self.sigmas[self.seen]
        off = (self.parameters - self.free)[seen] / sigmas
        correlation = self.covariance[np.ix_(seen, seen)] / np.outer(sigmas, sigmas)
        return float(off @ np.linalg.pinv(correlation, hermitian=True) @ off)

    @property
    def missed(self) -> bool:
        """Whether it lies so far from least squares that no interval holds."""
        far = rms(self.residuals) > FAR * self.least
        return far or (not self.constrained and self.distance > NEAR)


def rms(values: Array) -> float:
    """Return the root mean square of what is finite."""
    return float(np.sqrt(np.nanmean(np.square(values))))


def sigmas_of(covariance: Array) -> Array:
    """Return standard deviations, infinite where a covariance, shape (p, p), is NaN."""
    variances = np.diag(covariance)
    return np.sqrt(np.where(np.isnan(variances), np.inf, np.maximum(variances, 0.0)))
