# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A model's parameters as people want them: about the centre of mass, with verdicts, as a body."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from stewart_identification.estimators.result import Result
from stewart_identification.identifiability import Identifiability, Verdict
from stewart_identification.models.platform import (
    centroidal,
    CENTROIDAL_NAMES,
    CENTROIDAL_UNITS,
    PlatformModel,
)
from stewart_identification.outcome import Parameter
from stewart_identification.pseudo_inertia import symmetric
from stewart_kinematics.model.platform import inertia_fault, RigidBody
from stewart_kinematics.motion import Array, read_only

MADE_OF = (
    *((0,), (0, 1), (0, 2), (0, 3)),
    *((4, 0, 2, 3), (5, 0, 1, 2), (6, 0, 1, 3), (7, 0, 1, 3), (8, 0, 2, 3), (9, 0, 1, 2)),
)
"""Of which parameters about the origin each about the centre of mass is made. Steiner's term of a
moment has the two other coordinates of the centre, that of a product its own two."""

ZERO = 'not told apart from zero'
"""Said of friction, or a rotor, whose interval includes zero."""


def readable(
    model: PlatformModel, result: Result, found: Identifiability, tolerance: float
) -> tuple[tuple[Parameter, ...], Array]:
    """Turn a model's parameters into those that people ask for.

    Args:
        tolerance: Half an interval of an inertia may be this share of the inertia.

    Returns:
        Mass, centre of mass, inertia about it, friction.
        (10, 10): Covariance of the ten; NaN where a parameter is not determined.
    """
    described, _ = centroidal(model.nominal[:10], np.zeros((10, 10)))
    values, covariance = centroidal(result.parameters[:10], result.covariance[:10, :10])
    sigmas = np.sqrt(np.where(np.isfinite(np.diag(covariance)), np.diag(covariance), np.nan))
    # Half the width of an interval in standard deviations, as the estimator has it.
    with np.errstate(invalid='ignore'):
        half = np.ptp(result.intervals, axis=0) / 2.0
        reach = float(np.nanmedian(np.where(np.isfinite(half), half, np.nan) / result.sigmas))
    rows = zip(CENTROIDAL_NAMES, CENTROIDAL_UNITS, values, sigmas, described, strict=True)
    items = [
        Parameter.around(name, unit, value, sigma, reach, said, *_verdict_on(k, found))
        for k, (name, unit, value, sigma, said) in enumerate(rows)
    ]
    items[4:] = sure(items[4:], result.level, tolerance)
    for k in range(10, len(result.names)):
        low, high = map(float, result.intervals[:, k])
        value, sigma = float(result.parameters[k]), float(result.sigmas[k])
        named = result.names[k], result.units[k]
        verdict, note = found.verdicts[k], found.sums[k]
        if verdict is Verdict.IDENTIFIABLE and low <= 0.0 <= high:
            note = ZERO
        numbers = value, sigma, low, high, float('nan')
        items.append(Parameter(*named, *numbers, verdict, note))
    return tuple(items), covariance


def _verdict_on(k: int, found: Identifiability) -> tuple[Verdict, str]:
    """Judge a parameter about the centre of mass by those it is made of."""
    for part in MADE_OF[k]:
        verdict, name, said = found.verdicts[part], found.names[part], found.sums[part]
        if verdict is not Verdict.IDENTIFIABLE:
            how = f'known only in the sum {said}' if said else 'not determined by this motion'
            return verdict, f'{name} is {how}'
    return Verdict.IDENTIFIABLE, ''


def sure(inertia: list[Parameter], level: float, tolerance: float) -> list[Parameter]:
    """Take an inertia for determined only where its interval is narrow beside the inertia.

    A product, which may well be zero, is held against the geometric mean of its two moments.
    """
    diagonal = symmetric(np.array([item.value for item in inertia])).diagonal()
    sizes = np.sqrt(np.maximum(np.outer(diagonal, diagonal), 0.0))[np.triu_indices(3)]
    judged = []
    for item, size in zip(inertia, sizes, strict=True):
        half = 0.5 * (item.high - item.low)
        if item.bounded and half > tolerance * size:
            share = f'{100.0 * half / size:.3g} %' if size > 0.0 else 'more than all'
            of = 'it' if item.name[1] == item.name[2] else 'the mean of its two moments'
            note = (
                f'the interval of {100.0 * level:g} % is ± {share} of {of}, '
                f'{100.0 * tolerance:g} % count as determined'
            )
            judged.append(replace(item, verdict=Verdict.UNCERTAIN, note=note))
        else:
            judged.append(item)
    return judged


def body_of(
    parameters: tuple[Parameter, ...], model: PlatformModel, result: Result
) -> RigidBody | None:
    """Return the body found if all of it is known and it can exist."""
    if any(not item.known for item in parameters[:10]) or not model.physical(
        np.where(np.arange(len(result.parameters)) < 10, result.parameters, 1.0)
    ):
        return None
    values = [item.value for item in parameters[:10]]
    inertia = symmetric(np.array(values[4:]))
    if inertia_fault(inertia):
        return None
    return RigidBody(values[0], read_only(values[1:4]), read_only(inertia))


def payload_of(
    model: PlatformModel, result: Result, found: Identifiability, clear: float
) -> tuple[Parameter, ...]:
    """Say what is fixed to the platform beyond its description.

    The mass has to be `clear` standard deviations above that of the description.
    """
    beyond = result.parameters[:4] - model.nominal[:4]
    covariance = result.covariance[:4, :4]
    known = all(verdict is Verdict.IDENTIFIABLE for verdict in found.verdicts[:4])
    if not known or beyond[0] < clear * np.sqrt(covariance[0, 0]) or not beyond[0] > 0.0:
        return ()
    centre = beyond[1:] / beyond[0]
    slope = np.zeros((4, 4))
    slope[0, 0] = 1.0
    slope[1:, 0], slope[[1, 2, 3], [1, 2, 3]] = -centre / beyond[0], 1.0 / beyond[0]
    sigmas = np.sqrt(np.diag(slope @ covariance @ slope.T))
    reach = np.ptp(result.intervals, axis=0)[0] / 2.0 / result.sigmas[0]
    rows = zip(
        ('m', 'cx', 'cy', 'cz'), CENTROIDAL_UNITS, (beyond[0], *centre), sigmas, strict=False
    )
    return tuple(
        Parameter.around(f'payload {name}', unit, value, sigma, reach)
        for name, unit, value, sigma in rows
    )
