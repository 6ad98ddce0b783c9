# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The weighted linear problem that an experiment makes of a model, compressed by QR.

Nuisances (unknowns with a unit prior that nobody asks for, such as joint errors) are eliminated
first, so what remains holds exactly what the data say about the parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from stewart_identification.confidence import intervals, middle
from stewart_identification.errors import FitError
from stewart_identification.estimators.result import Result, sigmas_of
from stewart_identification.experiment import Experiment
from stewart_identification.models.model import LinearModel
from stewart_kinematics.motion import Array

Flags = NDArray[np.bool_]

RELATIVE = 1e-9
"""Singular value, relative to the largest, from which on a direction is seen."""

CHANCE = 1.2
"""By which noise may look like more information than another draw of it: in ten seconds below 5 Hz
both vary by 4 %."""

UNSURE = 0.5
"""Part of the correction for noisy strokes that counts as its standard deviation."""

ROUGH = 0.03
"""Part of a rough law's force, leg by leg, that another law may make instead: its standard
deviation (decision 0087)."""

LARGEST_FORCE = 1e100
"""Squares of larger ones are no numbers any more [N]."""


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """Rows of an experiment and their triangle.

    Attributes:
        design (n, m, k + p): Weighted nuisances, then weighted regressor; rows of absent forces
            are zero.
        seen (n, m, k + p): What the instruments explain of the design, which makes the normal
            equations (two-stage least squares); the design itself where there are none.
        target (n, m): Weighted forces less the offset; zero where absent.
        prior: Weight of the nuisances' unit priors.
        triangle (p, p): R of the parameters, nuisances eliminated.
        reduced (p,): Right-hand side beside it.
        rest: Sum of squares that no parameters can explain.
    """

    model: LinearModel
    experiment: Experiment
    design: Array
    seen: Array
    target: Array
    prior: float
    triangle: Array
    reduced: Array
    rest: float

    @property
    def nuisances(self) -> int:
        """How many columns of the design are nuisances."""
        return self.design.shape[2] - self.triangle.shape[0]

    @cached_property
    def normal(self) -> Array:
        """Normal equations of nuisances and parameters, priors included, (k + p, k + p)."""
        flat = self.seen.reshape(-1, self.seen.shape[2])
        known = np.arange(flat.shape[1]) < self.nuisances
        return np.asarray(flat.T @ flat + self.prior**2 * np.diag(known.astype(float)))

    def cost(self, parameters: Array) -> Array:
        """Sum of squares, shape (...), of parameters, shape (..., p)."""
        left = parameters @ self.triangle.T - self.reduced
        return np.asarray(np.einsum('...i,...i->...', left, left) + self.rest)

    @cached_property
    def solution(self) -> tuple[Array, Flags]:
        """Solution of least length among the best (in units of the scale), by singular values.

        The second array, shape (p,) as well, tells whether the data determine a parameter.
        """
        scale = self.model.scale
        u, values, vt = np.linalg.svd(self.triangle * scale)
        seen = values > RELATIVE * max(values[0], 1e-300)
        solution = vt[seen].T @ ((u[:, seen].T @ self.reduced) / values[seen])
        unseen = np.linalg.norm(vt[~seen], axis=0) if np.any(~seen) else np.zeros(len(scale))
        return solution * scale, np.asarray(unseen < 1e-6)

    def residuals(self, parameters: Array) -> tuple[Array, Array]:
        """Split what the parameters, shape (p,), leave.

        Returns:
            (k,): The nuisances that fit best, in standard deviations.
            (n, m): Weighted residuals beside them; NaN where absent.
        """
        k = self.nuisances
        left = self.target - self.design[..., k:] @ parameters
        best: Array = np.zeros((k,))
        if k:
            flat = self.seen[..., :k].reshape(-1, k)
            best = np.asarray(np.linalg.solve(self.normal[:k, :k], flat.T @ left.ravel()))
            left = left - self.design[..., :k] @ best
        return best, np.where(self.experiment.used, left, np.nan)

    def joint_covariance(self, parameters: Array, left: Array) -> tuple[Array, Array]:
        """Return the covariance of nuisances and estimates under coloured residuals.

        Args:
            parameters (p,): Estimates.
            left (n, m): Weighted residuals that they leave.

        Returns:
            (k + p, k + p): Nuisances are in units of their priors. Rows and columns of what the
                data do not determine are 0.
            (k, k): Covariance with which nuisances as large as their priors are found.
        """
        seen, k, whole = self.solution[1], self.nuisances, self.design.shape[2]
        keep = np.concatenate([np.arange(k), k + np.flatnonzero(seen)])
        design = self.seen[..., keep]
        information = self.normal[np.ix_(keep, keep)]
        size = np.sqrt(np.maximum(np.diag(information), 1e-300))
        prior = np.diag((np.arange(len(keep)) < k).astype(float))
        inverse = np.linalg.inv(information / np.outer(size, size)) / np.outer(size, size)
        heart = middle(design, left, self.experiment.stamps, whole - k) + self.prior**4 * prior
        # Of what was taken off for the strokes' noise, so much is uncertain.
        bias = UNSURE * inverse @ self._pull(parameters)[keep]
        result = np.zeros((whole, whole))
        result[np.ix_(keep, keep)] = inverse @ heart @ inverse + np.outer(bias, bias)
        result += self._model_error(parameters)
        # What noise leaves of a prior is not found; what noise and rough laws add is.
        found = np.eye(k) - 2.0 * self.prior**2 * inverse[:k, :k] + result[:k, :k]
        return result, found

    def _model_error(self, parameters: Array) -> Array:
        """Return the covariance that rough laws add, shape (k + p, k + p).

        A fit cannot tell how wrong a law is that it has itself adapted. So each counts as what
        it would do to the rest if a part of it, leg by leg, were not in the model.
        """
        k, whole, seen = self.nuisances, self.design.shape[2], self.solution[1]
        result = np.zeros((whole, whole))
        laws = k + np.array([n for n in self.model.laws if seen[n]], dtype=int)
        rest = np.setdiff1d(np.r_[:k, k + np.flatnonzero(seen)], laws)
        if not laws.size:
            return result
        size = np.sqrt(np.diag(self.normal)[rest])
        scaled = self.normal[np.ix_(rest, rest)] / np.outer(size, size)
        drawn = np.linalg.solve(scaled, self.normal[np.ix_(rest, laws)] / size[:, None])
        moved = ROUGH * drawn / size[:, None] * parameters[laws - k]
        result[np.ix_(rest, rest)] = moved @ moved.T
        return result

    def _pull(self, parameters: Array) -> Array:
        """Return what the noise of the strokes adds to the normal equations, shape (k + p,).

        A noisy regressor draws estimates towards zero. Shaken once more, the motion shows by how
        much (simulation and extrapolation: Cook, Stefanski 1994), and `corrected` takes it off.
        """
        experiment, shaken = self.experiment, self.experiment.shaken
        if shaken is None or experiment.instruments is not None:
            return np.zeros(self.design.shape[2])
        factor = experiment.used * experiment.weights
        regressor = self.model.regressor(shaken) - self.model.regressor(experiment)
        beside = self.model.nuisance_change(parameters, experiment)
        columns = np.concatenate([beside[..., : self.nuisances], regressor], axis=2)
        forces = self.model.predict(parameters, shaken)
        change = (forces - self.model.predict(parameters, experiment)) * factor
        return np.asarray(np.einsum('nmp,nm->p', columns * factor[..., None], change))

    def corrected(self) -> LinearSystem:
        """Return the system whose solution is free of what noisy strokes make of it."""
        if self.experiment.shaken is None or self.experiment.instruments is not None:
            return self
        k, scale = self.nuisances, self.model.scale
        pull = self._pull(self.solution[0])
        normal = self.normal[:k]
        drawn = pull[k:] - normal[:, k:].T @ np.linalg.solve(normal[:, :k], pull[:k])
        moved = np.linalg.lstsq((self.triangle * scale).T, scale * drawn, rcond=RELATIVE)[0]
        return replace(self, reduced=self.reduced + moved)

    def result(
        self,
        parameters: Array,
        level: float,
        method: str,
        iterations: int = 1,
        *,
        converged: bool = True,
        constrained: bool = False,
    ) -> Result:
        """Return what the data know of estimates, shape (p,), whoever found them."""
        (nuisances, left), (free, seen) = self.residuals(parameters), self.solution
        joint, found = self.joint_covariance(parameters, left)
        estimated = joint[self.nuisances :, self.nuisances :]
        covariance = np.where(np.outer(seen, seen), estimated, np.nan)
        weights = self.experiment.weights
        beyond = left if parameters is free else self.residuals(free)[1]
        return Result(
            self.model.parameter_names,
            self.model.parameter_units,
            parameters,
            nuisances,
            covariance,
            joint,
            found,
            intervals(parameters, sigmas_of(covariance), level),
            left / weights,
            free,
            float(np.sqrt(np.nanmean(np.square(beyond / weights)))),
            float(np.nansum(left**2)),
            iterations,
            converged,
            self.model.physical(parameters),
            constrained,
            level,
            method,
        )


def linear_system(model: LinearModel, experiment: Experiment) -> LinearSystem:
    """Set up, compress, and take off what the noise of the strokes does; see `raw_system`."""
    return raw_system(model, experiment).corrected()


def raw_system(model: LinearModel, experiment: Experiment) -> LinearSystem:
    """Set up and compress.

    Raises:
        FitError: If there are fewer forces than parameters, or a force that cannot be reckoned
            with.
    """
    model, used, weights = model.remembering(), experiment.used, experiment.weights
    regressor = model.regressor(experiment)
    count, size = int(np.count_nonzero(used)), regressor.shape[2]
    if count < size:
        raise FitError(f'{size} parameters need at least {size} measured forces, got {count}')
    largest = float(np.abs(experiment.forces[used]).max())
    if largest > LARGEST_FORCE:
        raise FitError(f'a force of {largest:.6g} N is measured, at most {LARGEST_FORCE:g} N fit')
    target = np.where(used, (experiment.forces - model.offset(experiment)) * weights, 0.0)
    factor = weights[:, None] * used[..., None]
    rows = regressor * factor

    def squeezed(design: Array) -> tuple[Array, Array, Array]:
        """Return a design, what the instruments see of it, and R of that beside the forces."""
        width = design.shape[2]
        flat, seen = np.column_stack([design.reshape(-1, width), target.ravel()]), design
        if basis is not None:
            # What the instruments do not explain is left in one row, of the forces alone.
            part = basis.T @ flat
            seen = (basis @ part[:, :width]).reshape(design.shape)
            beyond = float(np.linalg.norm(flat[:, width] - basis @ part[:, width]))
            flat = np.vstack([part, np.append(np.zeros(width), beyond)])
        return design, seen, np.asarray(np.linalg.qr(flat, mode='r'))

    def compressed(design: Array, seen: Array, rows: Array, prior: float) -> LinearSystem:
        k, width = design.shape[2] - size, design.shape[2]
        triangle = with_prior(rows, k, prior)
        rest = float(triangle[-1, -1] ** 2) if len(triangle) + k > width else 0.0
        inner, reduced = triangle[:size, :size], triangle[:size, -1]
        return LinearSystem(model, experiment, design, seen, target, prior, inner, reduced, rest)

    basis = instrument_basis(model, model.nominal, experiment)
    system = compressed(*squeezed(rows), 1.0)
    at = system.solution[0]
    nuisance = model.nuisance(at, experiment)
    if not nuisance.shape[2]:
        return system
    basis = instrument_basis(model, at, experiment)
    whole = squeezed(np.concatenate([nuisance * factor, rows], axis=2))
    if not np.any(np.isnan(experiment.noise)):
        return compressed(*whole, 1.0)
    # The prior is in standard deviations, the rows are in units of a noise that is not known.
    for _ in range(2):
        variance = float(np.nansum(system.residuals(at)[1] ** 2)) / max(count - size, 1)
        system = compressed(*whole, max(np.sqrt(variance), 1e-12))
        at = system.solution[0]
    return system


def instrument_basis(
    model: LinearModel, parameters: Array, experiment: Experiment
) -> Array | None:
    """Return an orthonormal basis of what the instruments span, shape (n m, q); None without.

    Instruments are the columns that the commanded motion has: they follow the true motion and know
    nothing of the encoders' noise (Janot, Gautier, Brunot).
    """
    other = experiment.instruments
    if other is None:
        return None
    columns = [model.nuisance(parameters, other), model.regressor(other)]
    factor = experiment.used[..., None] * experiment.weights[:, None]
    rows = np.concatenate(columns, axis=2) * factor
    flat = rows.reshape(-1, rows.shape[2])
    scaled = flat / np.maximum(np.linalg.norm(flat, axis=0), 1e-300)
    basis, triangle, _ = qr(scaled, mode='economic', pivoting=True)
    size = np.abs(np.diag(triangle))
    return np.asarray(basis[:, size > RELATIVE * size[0]])


def explained(basis: Array, design: Array) -> Array:
    """Project columns, shape (n, m, q), on a basis of rows."""
    flat = design.reshape(-1, design.shape[2])
    return np.asarray((basis @ (basis.T @ flat)).reshape(design.shape))


def with_prior(rows: Array, k: int, prior: float) -> Array:
    """Return R of rows, shape (n, k + q); the first k unknowns have a prior and are eliminated."""
    whole = np.concatenate([rows, prior * np.eye(k, rows.shape[1])]) if k else rows
    return np.asarray(np.linalg.qr(whole, mode='r'))[k:, k:]


def known_triangle(model: LinearModel, parameters: Array, experiment: Experiment) -> Array:
    """Return R of what an experiment of known noise says of the parameters, shape (p, p).

    Nuisances are eliminated; columns are per parameter, each times its scale. What the noise of
    the strokes would say as well, without any motion, does not count.
    """
    model, factor = model.remembering(), experiment.used[..., None] * experiment.weights[:, None]
    nuisance = model.nuisance(parameters, experiment) * factor
    columns = model.regressor(experiment) * factor * model.scale
    rows = np.concatenate([nuisance, columns], axis=2)
    basis = instrument_basis(model, parameters, experiment)
    if basis is not None:
        rows = explained(basis, rows)
    triangle = with_prior(rows.reshape(-1, rows.shape[2]), nuisance.shape[2], 1.0)
    if experiment.shaken is None:
        return triangle
    change = model.regressor(experiment.shaken) * factor * model.scale - columns
    if basis is not None:
        change = explained(basis, change)
    flat, seen = change.reshape(-1, change.shape[2]), triangle.T @ triangle
    values, vectors = np.linalg.eigh(seen - CHANCE * (flat.T @ flat))
    # A direction that only noise shows is as uncertain as a large change along it.
    least = np.minimum(1.0, np.sum((triangle @ vectors) ** 2, axis=0))
    return np.asarray(np.sqrt(np.maximum(values, least))[:, None] * vectors.T)
