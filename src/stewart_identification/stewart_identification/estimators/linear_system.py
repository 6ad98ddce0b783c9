# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The weighted linear problem that an experiment makes of a model, compressed by QR.

Nuisances (unknowns with a unit prior that nobody asks for, such as joint errors) are eliminated
first, so what remains holds exactly what the data say about the parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stewart_identification import confidence
from stewart_identification.errors import FitError
from stewart_identification.experiment import Experiment
from stewart_identification.models.model import LinearModel
from stewart_kinematics.motion import Array

Flags = NDArray[np.bool_]

RELATIVE = 1e-9
"""Singular value, relative to the largest, from which on a direction is seen."""

LARGEST_FORCE = 1e100
"""Squares of larger ones are no numbers any more [N]."""


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """Rows of an experiment and their triangle.

    Attributes:
        design (n, m, k + p): Weighted nuisances, then weighted regressor; rows of absent forces
            are zero.
        target (n, m): Weighted forces less the offset; zero where absent.
        used (n, m): Which forces count.
        stamps (n,): [s].
        prior: Weight of the nuisances' unit priors.
        triangle (p, p): R of the parameters, nuisances eliminated.
        reduced (p,): Right-hand side beside it.
        rest: Sum of squares that no parameters can explain.
    """

    design: Array
    target: Array
    used: Flags
    stamps: Array
    prior: float
    triangle: Array
    reduced: Array
    rest: float

    @property
    def nuisances(self) -> int:
        """How many columns of the design are nuisances."""
        return self.design.shape[2] - self.triangle.shape[0]

    @property
    def count(self) -> int:
        """How many forces count."""
        return int(np.count_nonzero(self.used))

    def cost(self, parameters: Array) -> Array:
        """Sum of squares, shape (...), of parameters, shape (..., p)."""
        left = parameters @ self.triangle.T - self.reduced
        return np.asarray(np.einsum('...i,...i->...', left, left) + self.rest)

    def solve(self, scale: Array) -> tuple[Array, Flags]:
        """Solve by singular values.

        Args:
            scale (p,): Makes the columns comparable.

        Returns:
            (p,): The solution of least length (in units of the scale) among the best.
            (p,): Whether the data determine a parameter.
        """
        u, values, vt = np.linalg.svd(self.triangle * scale)
        seen = values > RELATIVE * max(values[0], 1e-300)
        solution = vt[seen].T @ ((u[:, seen].T @ self.reduced) / values[seen])
        unseen = np.linalg.norm(vt[~seen], axis=0) if np.any(~seen) else np.zeros(len(scale))
        return solution * scale, np.asarray(unseen < 1e-6)

    def residuals(self, parameters: Array) -> tuple[Array, Array]:
        """Split what the parameters leave.

        Args:
            parameters (p,): Where.

        Returns:
            (k,): The nuisances that fit best, in standard deviations.
            (n, m): Weighted residuals beside them; NaN where absent.
        """
        k = self.nuisances
        left = self.target - self.design[..., k:] @ parameters
        best: Array = np.zeros((k,))
        if k:
            flat = self.design[..., :k].reshape(-1, k)
            information = flat.T @ flat + self.prior**2 * np.eye(k)
            best = np.asarray(np.linalg.solve(information, flat.T @ left.ravel()))
            left = left - self.design[..., :k] @ best
        return best, np.where(self.used, left, np.nan)

    def covariance(self, parameters: Array, seen: Flags) -> Array:
        """Give the covariance of the estimates under coloured residuals.

        Args:
            parameters (p,): Estimates.
            seen (p,): Which of them the data determine.

        Returns:
            (p, p): NaN in rows and columns of the others.
        """
        k, whole = self.nuisances, self.design.shape[2]
        keep = np.concatenate([np.arange(k), k + np.flatnonzero(seen)])
        design = self.design[..., keep]
        flat = design.reshape(-1, len(keep))
        size = np.sqrt(np.maximum(np.sum(flat**2, axis=0), 1e-300))
        prior = np.zeros((len(keep), len(keep)))
        prior[np.arange(k), np.arange(k)] = 1.0
        information = (flat.T @ flat + self.prior**2 * prior) / np.outer(size, size)
        inverse = np.linalg.inv(information) / np.outer(size, size)
        _, left = self.residuals(parameters)
        heart = confidence.middle(design, left, self.stamps, whole - k) + self.prior**4 * prior
        result = np.full((whole - k, whole - k), np.nan)
        result[np.ix_(seen, seen)] = (inverse @ heart @ inverse)[k:, k:]
        return result

    def variance(self, left: Array) -> float:
        """Mean square of weighted residuals, corrected for the parameters."""
        return float(np.nansum(left**2)) / max(self.count - self.triangle.shape[0], 1)


def linear_system(model: LinearModel, experiment: Experiment) -> LinearSystem:
    """Set up and compress.

    Args:
        model: Regressor, offset and nuisances.
        experiment: Motion and forces.

    Returns:
        Ready to be solved.

    Raises:
        FitError: If there are fewer forces than parameters, or a force that cannot be reckoned
            with.
    """
    used, weights = experiment.used, experiment.weights
    regressor = model.regressor(experiment)
    count, size = int(np.count_nonzero(used)), regressor.shape[2]
    if count < size:
        raise FitError(f'{size} parameters need at least {size} measured forces, got {count}')
    largest = float(np.abs(experiment.forces[used]).max())
    if largest > LARGEST_FORCE:
        raise FitError(f'a force of {largest:.6g} N is measured, at most {LARGEST_FORCE:g} N fit')
    target = np.where(used, (experiment.forces - model.offset(experiment)) * weights, 0.0)
    rows = regressor * (weights[:, None] * used[..., None])
    system = _compressed(rows, target, used, experiment.stamps, 0, 1.0)
    at = system.solve(model.scale)[0]
    nuisance = model.nuisance(at, experiment)
    k = nuisance.shape[2]
    if not k:
        return system
    # The prior is in standard deviations; the rows are in units of the noise, known or not.
    design = np.concatenate([nuisance * (weights[:, None] * used[..., None]), rows], axis=2)
    if not np.any(np.isnan(experiment.noise)):
        return _compressed(design, target, used, experiment.stamps, k, 1.0)
    for _ in range(2):
        noise = np.sqrt(system.variance(system.residuals(at)[1]))
        system = _compressed(design, target, used, experiment.stamps, k, max(noise, 1e-12))
        at = system.solve(model.scale)[0]
    return system


def _compressed(
    design: Array, target: Array, used: Flags, stamps: Array, k: int, prior: float
) -> LinearSystem:
    width = design.shape[2]
    flat = np.column_stack([design.reshape(-1, width), target.ravel()])
    if k:
        flat = np.concatenate([flat, prior * np.eye(k, width + 1)])
    triangle = np.asarray(np.linalg.qr(flat, mode='r'))
    return LinearSystem(
        design,
        target,
        used,
        stamps,
        prior,
        triangle[k:width, k:width],
        triangle[k:width, -1],
        float(triangle[-1, -1] ** 2) if len(triangle) > width else 0.0,
    )
