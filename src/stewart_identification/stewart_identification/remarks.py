# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is to be said of a fit: what is farther off than was allowed for, and what is odd."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.special import chdtrc
from stewart_identification.estimators.least_squares import LeastSquares
from stewart_identification.estimators.result import Result, rms
from stewart_identification.experiment import Experiment
from stewart_identification.models.platform import PlatformModel
from stewart_identification.outcome import Parameter
from stewart_kinematics.motion import Array

FAR_MASS = 4.0
"""A mass so many times the described one, or so small a part of it, suggests another unit."""


def late_or_leaning(model: PlatformModel, result: Result, false_alarm: float) -> Iterator[str]:
    """Say that forces are older, or the base leans more, than was allowed for."""
    # Where much else is missing, far less than was allowed for is more than would be found.
    if _chance(result, model.groups['age']) < false_alarm and _size(result, model, 'age') > 1.0:
        age, allowed = _age(model, result)[0], 1e3 * model.force_delay
        side = 'older' if age > 0.0 else 'younger'
        yield (
            f'forces are {abs(age):.3g} ms {side} than strokes, {allowed:g} ms is allowed for '
            '(--force-delay)'
        )
    if _chance(result, model.groups['lean']) < false_alarm and _size(result, model, 'lean') > 1.0:
        lean = 1e3 * model.base_lean * result.nuisances[model.groups['lean']]
        allowed = 1e3 * model.base_lean
        yield f'{_leaning(lean)}, {allowed:g} mrad are allowed for (--base-lean)'


def beyond(model: PlatformModel, result: Result, false_alarm: float) -> Iterator[str]:
    """Say which unknowns are farther off than was allowed for, so that no interval holds.

    As a group they may be, and each be off by less than was allowed for it.
    """
    if _chance(result, model.groups['gains']) < false_alarm:
        gains, allowed = result.nuisances[model.groups['gains']], 100.0 * model.force_gain
        # What all have in common passes for mass: a leg is held against the other five.
        off = 1.2 * allowed * (gains - gains.mean())
        leg = int(np.argmax(np.abs(off)))
        yield (
            f'the force of leg {leg + 1} reads {abs(off[leg]):.2g} % too '
            f'{"high" if off[leg] > 0.0 else "low"} beside the others, {allowed:g} % are allowed '
            'for: calibrate it, or allow for more (--force-gain)'
            if abs(off[leg]) > allowed
            else f'the gains of the legs together are farther off than {allowed:g} % each allow '
            'for: calibrate them, or allow for more (--force-gain)'
        )
    if _chance(result, model.groups['joints']) < false_alarm:
        allowed = 1e3 * model.joint_tolerance
        most = allowed * np.abs(result.nuisances[model.groups['joints']]).max()
        what = (
            f'joints are off by up to {most:.2g} mm, {allowed:g} mm are allowed for'
            if most > allowed
            else f'joints together are farther off than {allowed:g} mm each allow for'
        )
        yield f'{what}: allow for more (--joint-tolerance), or are the strokes off their zero?'


def turned(result: Result) -> Iterator[str]:
    """Say that the forces have the other sign, and would hold the platform up from below."""
    if result.free[0] < 0.0:
        yield (
            f'least squares find a mass of {result.free[0]:.4g} kg: efforts have to be positive '
            'where a drive pushes its joints apart, in N, and the recording of this platform'
        )


def beyond_any_body(result: Result, false_alarm: float) -> Iterator[str]:
    """Say that the body found lies where noise does not lead from what the forces say."""
    if not result.constrained or result.missed:
        return
    if chdtrc(np.count_nonzero(result.seen), result.distance) < false_alarm:
        off = (result.parameters - result.free) / np.where(result.seen, result.sigmas, np.inf)
        worst = int(np.argmax(np.abs(off)))
        yield (
            f'no body can have what the forces say: least squares have a {result.names[worst]} of '
            f'{result.free[worst]:.4g} {result.units[worst]}, the nearest body has '
            f'{result.parameters[worst]:.4g}, {abs(off[worst]):.2g} standard deviations away'
        )


def _size(result: Result, model: PlatformModel, group: str) -> float:
    """Return how far a group of unknowns is off, in standard deviations of one of them."""
    return float(np.linalg.norm(result.nuisances[model.groups[group]]))


def _chance(result: Result, group: slice) -> float:
    """Return how often unknowns as large as allowed for would be found as large as these."""
    found, spread = result.nuisances[group], result.spread[group, group]
    if not found.size:
        return 1.0
    # A sum of squares that spread unequally is all but chi-square (Satterthwaite).
    share = float(np.sum(spread**2) / np.trace(spread))
    return float(chdtrc(np.trace(spread) / share, found @ found / share))


def younger(model: PlatformModel, result: Result, reach: float) -> str:
    """Say that forces are younger than the strokes; empty where chance explains that."""
    if model.force_delay == 0.0:
        return ''
    age, sigma = _age(model, result)
    if age >= -reach * sigma:
        return ''
    return (
        f'forces are {-age:.2f} ms younger than strokes (± {sigma:.2f} ms), which no torque of a '
        'drive is; rotors or friction that the model lacks look like that, and then the inertias '
        'are wrong'
    )


def _age(model: PlatformModel, result: Result) -> tuple[float, float]:
    """Return how old the forces are, and its standard deviation [ms]."""
    place, allowed = model.groups['age'].start, 1e3 * model.force_delay
    variance = max(float(result.joint_covariance[place, place]), 0.0)
    return allowed * float(result.nuisances[place]), allowed * float(np.sqrt(variance))


def about_delay(model: PlatformModel, result: Result, reach: float) -> Iterator[str]:
    """Say how old the forces are."""
    if model.force_delay == 0.0:
        return
    age, allowed = _age(model, result)[0], 1e3 * model.force_delay
    text = f'forces are {abs(age):.2f} ms {"older" if age >= 0.0 else "younger"} than strokes'
    if doubt := younger(model, result, reach):
        yield f'warning: {doubt}'
    elif abs(age) <= reach * allowed:
        yield f'{text}, which is allowed for'
    else:
        yield f'{text}, {abs(age) / allowed:.3g} times the {allowed:g} ms allowed for'


def about_lean(model: PlatformModel, result: Result, reach: float) -> Iterator[str]:
    """Say by how much the base leans, where that is more than chance."""
    group = model.groups['lean']
    lean = 1e3 * model.base_lean * result.nuisances[group]
    sigma = 1e3 * model.base_lean * np.sqrt(np.diag(result.joint_covariance)[group])
    if np.any(np.abs(lean) > reach * sigma):
        allowed = ', which is allowed for' if _size(result, model, 'lean') <= reach else ''
        yield f'{_leaning(lean)} (± {sigma.max():.1f}){allowed}'


def _leaning(lean: Array) -> str:
    """Say how a base turns gravity about x and y (2,) [mrad]."""
    return (
        f'the base leans: gravity is turned by {lean[0]:.1f} mrad about x and by '
        f'{lean[1]:.1f} mrad about y'
    )


def about_offset(
    model: PlatformModel, experiment: Experiment, result: Result, reach: float
) -> Iterator[str]:
    """Say which mass there would be without an offset of the forces, if it is another."""
    if 'offset' not in model.terms:
        return
    less = replace(model, terms=tuple(name for name in model.terms if name != 'offset'))
    mass = float(LeastSquares().fit(less, experiment).parameters[0])
    if abs(mass - result.parameters[0]) > reach * result.sigmas[0]:
        yield (
            f'warning: without the force offset the mass is {mass:.4g} kg: what pulls by where '
            'the platform is, as a hose or a cable does, looks like an offset and another mass'
        )


def about_search(result: Result, *, stopped: bool) -> Iterator[str]:
    """Say how a search ended."""
    if stopped:
        yield f'stopped after {result.iterations} iterations; this is the best found until then'
    elif not result.converged:
        yield f'the search did not end by itself in {result.iterations} iterations'


def about_fit(mass: Parameter, result: Result, estimator: str, reach: float) -> Iterator[str]:
    """Say what is wrong with a fit beside least squares that nothing constrains."""
    left, least = rms(result.residuals), result.least
    # A negative one is the verdict.
    known = mass.known and result.free[0] >= 0.0
    if (
        known
        and mass.described > 0.0
        and not 1.0 < FAR_MASS * mass.value / mass.described < FAR_MASS**2
    ):
        yield (
            f'warning: a mass of {mass.value:.4g} kg is found and {mass.described:.4g} kg is '
            'described: are efforts forces in N along the legs?'
        )
    elif known and mass.value + reach * mass.sigma < mass.described:
        yield (
            f'warning: a mass of {mass.value:.4g} kg is found, lighter than described by '
            f'{mass.described - mass.value:.2g} kg: is the scale of the efforts right?'
        )
    if result.missed and estimator == 'consistent':
        yield (
            f'no body that can exist explains the forces as well: the best one leaves '
            f'{left:.3g} N, least squares without that demand {least:.3g} N, no interval holds'
        )
    elif result.missed:
        yield (
            f'the search left {left:.4g} N, least squares leave {least:.4g} N and are '
            f'{np.sqrt(result.distance):.2g} standard deviations away: this is not the minimum, '
            'and no interval holds'
        )
    elif not result.physical:
        yield 'no body can have what was found; the estimator consistent sees to that'
