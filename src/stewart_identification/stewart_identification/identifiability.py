# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""What a motion shows of a model's parameters, derived from the regressor.

The columns of the (local) regressor are scaled by what counts as a large change of each parameter
and by the noise where it is known. A singular value then says how many standard deviations a
large change along its direction makes; directions below a threshold are not seen. A parameter that
no unseen direction touches is identifiable. The others are looked at in the echelon form of the
seen ones, by QR with pivoting: what a row ties together is known only as that sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy.linalg import qr
from stewart_identification.errors import NotIdentifiable
from stewart_identification.estimators.estimator import Result
from stewart_identification.experiment import Experiment
from stewart_identification.models.model import LinearModel, local_regressor, Model, WithJacobian
from stewart_kinematics.motion import Array

EXACT, NUMERICAL = 1e-9, 1e-6
"""Relative singular value of zero: for a regressor, and for differences of a prediction."""

TOLERANCE = 0.1
"""Largest standard deviation, in units of a parameter's scale, that counts as known."""

SMALL = 1e-2
"""Part of a sum, in units of the scales, that is not worth telling where noise decides."""


SHARE = 0.2
"""Where noise decides, a parameter is in a sum if a large change of it makes so much of the
largest one's."""


class Verdict(Enum):
    """What a motion says of one parameter."""

    IDENTIFIABLE = 'identifiable'
    IN_A_SUM = 'only in a sum'
    UNIDENTIFIABLE = 'unidentifiable'


@dataclass(frozen=True, eq=False)
class Combination:
    """A sum that the motion shows.

    Attributes:
        names: Parameters in it.
        coefficients: Of these, in their units; the largest is 1.
        expression: To be read.
    """

    names: tuple[str, ...]
    coefficients: Array
    expression: str

    def ties(self, name: str, names: tuple[str, ...], scale: Array, share: float) -> bool:
        """Tell whether a parameter has a share in this sum that matters, beside others."""
        if name not in self.names or len(self.names) == 1:
            return False
        shares = np.abs(self.coefficients * scale[[names.index(part) for part in self.names]])
        return bool(shares[self.names.index(name)] >= share * shares.max())

    def value(self, names: tuple[str, ...], parameters: Array) -> float:
        """Evaluate the sum for parameters, shape (p,), in the order of `names`."""
        chosen = [names.index(name) for name in self.names]
        return float(self.coefficients @ np.asarray(parameters)[chosen])


@dataclass(frozen=True, eq=False)
class Identifiability:
    """The verdicts on a model's parameters.

    Attributes:
        names: Parameters.
        verdicts: One per parameter.
        sums: For each parameter that is known in a sum only, the sum; otherwise ''.
        combinations: Base parameters: as many as the rank.
        rank: Directions that are seen.
        condition_number: Of the scaled regressor; infinite where a direction is exactly zero.
        singular_values (p,): Falling.
        sigmas (p,): Standard deviations to be expected, infinite where a parameter is not
            determined; NaN where the noise is not known.
    """

    names: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    sums: tuple[str, ...]
    combinations: tuple[Combination, ...]
    rank: int
    condition_number: float
    singular_values: Array
    sigmas: Array

    def of(self, name: str) -> Verdict:
        """Return the verdict on one parameter."""
        return self.verdicts[self.names.index(name)]

    def say(self, result: Result, name: str) -> str:
        """Say a parameter as a number with its interval, or why there is no number.

        Args:
            result: Estimates for the same parameters.
            name: Parameter.

        Returns:
            One line.
        """
        k = self.names.index(name)
        if self.verdicts[k] is Verdict.UNIDENTIFIABLE:
            return f'{name}: not identifiable from this motion'
        if self.verdicts[k] is Verdict.IN_A_SUM:
            return f'{name}: only in the sum {self.sums[k]}'
        low, high = result.intervals[:, k]
        return (
            f'{name} = {result.parameters[k]:.6g} {result.units[k]}, '
            f'{100 * result.level:g} % interval {low:.6g} to {high:.6g}'
        )

    def require(self, name: str) -> None:
        """Refuse a parameter that the motion does not determine.

        Args:
            name: Parameter.

        Raises:
            NotIdentifiable: Unless it is identifiable; says in which sum it is known, if in any.
        """
        k = self.names.index(name)
        if self.verdicts[k] is not Verdict.IDENTIFIABLE:
            known = f', only the sum {self.sums[k]} is' if self.sums[k] else ''
            raise NotIdentifiable(f'{name} is not identifiable from this motion{known}')


def identifiability(
    model: Model,
    experiment: Experiment,
    parameters: Array | None = None,
    *,
    tolerance: float = TOLERANCE,
    expansions: Mapping[str, str] | None = None,
) -> Identifiability:
    """Judge what an experiment shows of a model.

    Args:
        model: Linear, or looked at in the neighbourhood of `parameters`.
        experiment: Motion and which forces are measured; with its noise known, a parameter also
            has to come out to within `tolerance` of its scale.
        parameters (p,): Where; the nominal ones if not given.
        tolerance: In units of the scale.
        expansions: Replaces names in sums by longer expressions.

    Returns:
        Verdicts and sums.
    """
    at = model.nominal if parameters is None else parameters
    known = not np.any(np.isnan(experiment.noise))
    weights = experiment.used[..., None] * experiment.weights[:, None]
    size = len(model.scale)
    columns = (local_regressor(model, at, experiment) * weights * model.scale).reshape(-1, size)
    k = 0
    if known and isinstance(model, LinearModel):
        nuisance = model.nuisance(at, experiment) * weights
        k = nuisance.shape[2]
        columns = np.hstack([nuisance.reshape(len(columns), k), columns])
    rows = np.concatenate([columns, np.eye(k, k + size)])
    triangle = np.asarray(np.linalg.qr(rows, mode='r'))[k:, k:]
    relative = EXACT if isinstance(model, WithJacobian) else NUMERICAL
    return judge(
        triangle,
        model.parameter_names,
        model.scale,
        relative=relative,
        least=1.0 / tolerance if known else 0.0,
        expansions=expansions,
    )


def judge(
    matrix: Array,
    names: tuple[str, ...],
    scale: Array,
    *,
    relative: float = EXACT,
    least: float = 0.0,
    expansions: Mapping[str, str] | None = None,
) -> Identifiability:
    """Judge from a scaled regressor or its triangle.

    Args:
        matrix (n, p): Columns per parameter, each times its scale and over the noise, if that is
            known.
        names: Parameters.
        scale (p,): With which the columns were multiplied.
        relative: Singular values below this times the largest are zero.
        least: Singular values below this are too small to count; 0 where the noise is not known.
        expansions: Replaces names in sums.

    Returns:
        Verdicts and sums.
    """
    _, values, vt = np.linalg.svd(matrix)
    values = np.concatenate([values, np.zeros(len(names) - len(values))])
    exact = relative * max(float(values[0]), 1e-300)
    nonzero = values > exact
    seen = values > max(exact, least)
    alone = np.linalg.norm(matrix, axis=0)
    half = vt[nonzero] / values[nonzero, None]
    sigmas = np.sqrt(np.sum(half**2, axis=0))
    sigmas[np.linalg.norm(vt[~nonzero], axis=0) > 1e3 * relative] = np.inf
    by_noise = least > 0.0
    small = SMALL if by_noise else 1e3 * relative
    found = _combinations(vt[seen], names, scale, small, expansions or {})
    verdicts, sums = [], []
    for k, name in enumerate(names):
        touched = float(np.linalg.norm(vt[~seen, k]))
        certain = sigmas[k] * least <= 1.0 if by_noise else touched <= 1e3 * relative
        blind = alone[k] <= max(exact, least)
        holding = [
            c.expression for c in found if c.ties(name, names, scale, SHARE if by_noise else 0.0)
        ]
        if certain:
            verdict, said = Verdict.IDENTIFIABLE, ''
        elif blind or not holding:
            verdict, said = Verdict.UNIDENTIFIABLE, ''
        else:
            verdict, said = Verdict.IN_A_SUM, '; '.join(holding)
        verdicts.append(verdict)
        sums.append(said)
    return Identifiability(
        names,
        tuple(verdicts),
        tuple(sums),
        found,
        int(np.count_nonzero(seen)),
        float(values[0] / values[-1]) if np.all(nonzero) else np.inf,
        values,
        sigmas * scale if by_noise else np.full(len(names), np.nan),
    )


def _combinations(
    seen: Array,
    names: tuple[str, ...],
    scale: Array,
    small: float,
    expansions: Mapping[str, str],
) -> tuple[Combination, ...]:
    """Bring the seen directions into echelon form and read each row as a sum."""
    rank = len(seen)
    if not rank:
        return ()
    order, rest = _echelon(seen, small)
    found = []
    for row, pivot in enumerate(order[:rank]):
        others = [(j, c) for j, c in zip(order[rank:], rest[row], strict=True) if abs(c) > small]
        members = sorted([(pivot, 1.0), *others], key=lambda item: item[0])
        chosen = [j for j, _ in members]
        coefficients = np.array([c for _, c in members]) / scale[chosen]
        coefficients /= coefficients[np.argmax(np.abs(coefficients))]
        expression = _expression([names[j] for j in chosen], coefficients, expansions)
        found.append(Combination(tuple(names[j] for j in chosen), coefficients, expression))
    return tuple(sorted(found, key=lambda item: names.index(item.names[0])))


def _echelon(seen: Array, small: float) -> tuple[Array, Array]:
    """Give an order of the columns, pivots first, and what the others add to each pivot's row.

    Taking columns as pivots from the last to the first, or from the first to the last, keeps
    physical coefficients such as squares of lengths; the order with fewer terms is taken. Where
    noise cuts directions off there is no such structure, and QR's own pivots are the soundest.
    """
    rank, size = seen.shape
    tries = [qr(seen, mode='r', pivoting=True)[1]]
    if small < SMALL:
        tries += [_greedy(seen, range(size - 1, -1, -1)), _greedy(seen, range(size))]
    rests = [np.linalg.solve(seen[:, t[:rank]], seen[:, t[rank:]]) for t in tries]
    terms = [int(np.count_nonzero(np.abs(rest) > small)) for rest in rests]
    best = int(np.argmin(terms))
    return tries[best], np.asarray(rests[best], dtype=np.float64)


def _greedy(seen: Array, candidates: range) -> Array:
    """Take every column that is independent of those taken before; the others follow."""
    rank = len(seen)
    taken: list[int] = []
    basis = np.zeros((0, rank))
    for j in candidates:
        column = seen[:, j] - basis.T @ (basis @ seen[:, j])
        size = np.linalg.norm(column)
        if len(taken) < rank and size > 1e-6:
            taken.append(j)
            column = column - basis.T @ (basis @ column)
            basis = np.vstack([basis, column / np.linalg.norm(column)])
    if len(taken) < rank:
        return np.asarray(qr(seen, mode='r', pivoting=True)[1])
    return np.array([*taken, *(j for j in range(seen.shape[1]) if j not in taken)])


def _expression(names: list[str], coefficients: Array, expansions: Mapping[str, str]) -> str:
    """Write a sum for people: m2 + 0.25 J3zz - h1x."""
    text = ''
    for name, coefficient in zip(names, coefficients, strict=True):
        size = abs(coefficient)
        said = expansions.get(name, name)
        if abs(size - 1.0) > 1e-6:
            said = f'{size:.4g} ({said})' if name in expansions else f'{size:.4g} {said}'
        elif name in expansions and coefficient < 0.0:
            said = f'({said})'
        sign = '-' if coefficient < 0.0 else '+'
        text += f' {sign} {said}' if text else (f'-{said}' if sign == '-' else said)
    return text


def sum_in_detail(name: str, linear: Identifiability, expansions: Mapping[str, str]) -> str:
    """Say in which sum a parameter about the centre of mass is known.

    Args:
        name: Parameter of `CentreOfMassRobot`, such as ``s1x``.
        linear: Verdicts on the same robot about its links' frames, its sums written with
            `expansions`.
        expansions: Of the parameters about the frames.

    Returns:
        The sums it takes part in; empty if there is none.
    """
    found = []
    for combination in linear.combinations:
        words = ' '.join(expansions.get(part, part) for part in combination.names)
        if name in words.replace('(', ' ').replace(')', ' ').replace('²', ' ').split():
            found.append(combination.expression)
    return '; '.join(found)
