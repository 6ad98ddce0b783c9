# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""What a motion shows of a model's parameters, derived from the regressor.

The columns of the regressor are scaled by what counts as a large change of each parameter and by
the noise where it is known. A singular value then says how many standard deviations a large change
along its direction makes; directions below a threshold are not seen. A parameter that no unseen
direction touches is identifiable. The others are looked at in the echelon form of the seen ones,
by QR with pivoting: what a row ties together is known only as that sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy.linalg import qr
from stewart_identification.estimators.linear_system import known_triangle
from stewart_identification.experiment import Experiment
from stewart_identification.models.model import LinearModel
from stewart_kinematics.motion import Array

EXACT = 1e-9
"""Relative singular value of zero."""

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
    UNCERTAIN = 'too uncertain'
    IN_A_SUM = 'only in a sum'
    UNIDENTIFIABLE = 'unidentifiable'


@dataclass(frozen=True, eq=False)
class Combination:
    """A sum that the motion shows.

    Attributes:
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


@dataclass(frozen=True, eq=False)
class Identifiability:
    """The verdicts on a model's parameters.

    Attributes:
        sums: For each parameter that is known in a sum only, the sum; otherwise ''.
        combinations: Base parameters: as many as the rank.
        rank: Directions that are seen.
        condition_number: Of the scaled regressor; infinite where a direction is exactly zero.
        sigmas (p,): Standard deviations to be expected, infinite where a parameter is not
            determined; NaN where the noise is not known.
    """

    names: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    sums: tuple[str, ...]
    combinations: tuple[Combination, ...]
    rank: int
    condition_number: float
    sigmas: Array


def identifiability(
    model: LinearModel, experiment: Experiment, parameters: Array | None = None
) -> Identifiability:
    """Judge what an experiment shows of a model.

    Args:
        model: Whose parameters.
        experiment: Motion and which forces are measured; with its noise known, a parameter also
            has to come out to within `TOLERANCE` of its scale.
        parameters (p,): Where nuisances are looked at; the nominal ones if not given.
    """
    known = not np.any(np.isnan(experiment.noise))
    at = model.nominal if parameters is None else parameters
    if known:
        matrix = known_triangle(model, at, experiment)
    else:
        rows = model.regressor(experiment) * experiment.used[..., None] * model.scale
        matrix = np.asarray(np.linalg.qr(rows.reshape(-1, len(model.scale)), mode='r'))
    least = 1.0 / TOLERANCE if known else 0.0
    return judge(matrix, model.parameter_names, model.scale, least=least)


def judge(
    matrix: Array, names: tuple[str, ...], scale: Array, *, least: float = 0.0
) -> Identifiability:
    """Judge from a scaled regressor or its triangle.

    Args:
        matrix (n, p): Columns per parameter, each times its scale and over the noise, if that is
            known.
        scale (p,): With which the columns were multiplied.
        least: Singular values below this are too small to count; 0 where the noise is not known.
    """
    _, values, vt = np.linalg.svd(matrix)
    values = np.concatenate([values, np.zeros(len(names) - len(values))])
    exact = EXACT * max(float(values[0]), 1e-300)
    nonzero = values > exact
    seen = values > max(exact, least)
    sigmas = np.sqrt(np.sum((vt[nonzero] / values[nonzero, None]) ** 2, axis=0))
    sigmas[np.linalg.norm(vt[~nonzero], axis=0) > 1e3 * EXACT] = np.inf
    by_noise = least > 0.0
    found = _combinations(vt[seen], names, scale, SMALL if by_noise else 1e3 * EXACT)
    if by_noise:
        certain = sigmas * least <= 1.0
    else:
        certain = np.linalg.norm(vt[~seen], axis=0) <= 1e3 * EXACT
    blind = np.linalg.norm(matrix, axis=0) <= max(exact, least)
    verdicts, sums = [], []
    for k, name in enumerate(names):
        share = SHARE if by_noise else 0.0
        said = [c.expression for c in found if c.ties(name, names, scale, share)]
        if certain[k]:
            verdict = Verdict.IDENTIFIABLE
        elif blind[k] or not said:
            verdict = Verdict.UNIDENTIFIABLE
        else:
            verdict = Verdict.IN_A_SUM
        verdicts.append(verdict)
        sums.append('; '.join(said) if verdict is Verdict.IN_A_SUM else '')
    return Identifiability(
        names,
        tuple(verdicts),
        tuple(sums),
        found,
        int(np.count_nonzero(seen)),
        float(values[0] / values[-1]) if np.all(nonzero) else np.inf,
        sigmas * scale if by_noise else np.full(len(names), np.nan),
    )


def cramer_rao(model: LinearModel, parameters: Array, experiment: Experiment) -> Array:
    """Give the bound on any unbiased estimate under white Gaussian noise on the forces.

    Friction that the model holds is unknown with the rest, and so are its nuisances, with the
    standard deviations that they have.

    Args:
        model: Its parameters are the unknowns.
        parameters (p,): True values.
        experiment: Motion, which forces are measured, and their noise.

    Returns:
        (p, p): Smallest covariance; infinite where the motion shows nothing.
    """
    _, values, vt = np.linalg.svd(known_triangle(model, parameters, experiment))
    seen = values > EXACT * values[0]
    half = vt[seen].T / values[seen]
    covariance = half @ half.T * np.outer(model.scale, model.scale)
    blind = np.flatnonzero(np.linalg.norm(vt[~seen], axis=0) > 1e-6)
    covariance[blind, :] = covariance[:, blind] = np.nan
    covariance[blind, blind] = np.inf
    return np.asarray(covariance)


def _combinations(
    seen: Array, names: tuple[str, ...], scale: Array, small: float
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
        together = tuple(names[j] for j in chosen)
        expression = _expression(together, coefficients)
        found.append(Combination(together, coefficients, expression))
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


def _expression(names: tuple[str, ...], coefficients: Array) -> str:
    """Write a sum for people: m2 + 0.25 J3zz - h1x."""
    text = ''
    for name, coefficient in zip(names, coefficients, strict=True):
        size = abs(coefficient)
        said = f'{size:.4g} {name}' if abs(size - 1.0) > 1e-6 else name
        sign = '-' if coefficient < 0.0 else '+'
        text += f' {sign} {said}' if text else (f'-{said}' if sign == '-' else said)
    return text
