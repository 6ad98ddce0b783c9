# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A model's parameters as people want them: about the centre of mass, with verdicts, as a body."""

from __future__ import annotations

import numpy as np
from stewart_identification.estimators.estimator import Result
from stewart_identification.identifiability import Identifiability, Verdict
from stewart_identification.models.platform import (
    centroidal,
    CENTROIDAL_NAMES,
    CENTROIDAL_UNITS,
    PlatformModel,
)
from stewart_identification.outcome import Parameter
from stewart_kinematics.model.platform import inertia_fault, RigidBody
from stewart_kinematics.motion import Array, read_only

PAYLOAD = 5.0
"""Standard deviations by which a mass must differ from the description to be a payload."""


def readable(
    model: PlatformModel, result: Result, found: Identifiability
) -> tuple[tuple[Parameter, ...], Array]:
    """Turn a model's parameters into those that people ask for.

    Args:
        model: With ten parameters.
        result: Its estimates.
        found: Verdicts on them.

    Returns:
        Mass, centre of mass, inertia about it, friction.
        (10, 10): Covariance of the ten; NaN where a parameter is not determined.
    """
    described, _ = centroidal(model.nominal[:10], np.zeros((10, 10)))
    values, covariance = _centroidal(result)
    sigmas = np.sqrt(np.where(np.isfinite(np.diag(covariance)), np.diag(covariance), np.nan))
    # Half the width of an interval in standard deviations, as the estimator has it.
    with np.errstate(invalid='ignore'):
        half = np.ptp(result.intervals, axis=0) / 2.0
        reach = float(np.nanmedian(np.where(np.isfinite(half), half, np.nan) / result.sigmas))
    items = []
    for k, (name, unit) in enumerate(zip(CENTROIDAL_NAMES, CENTROIDAL_UNITS, strict=True)):
        verdict, note = _verdict_on(k, found)
        items.append(
            Parameter(
                name,
                unit,
                float(values[k]),
                float(sigmas[k]),
                float(values[k] - reach * sigmas[k]),
                float(values[k] + reach * sigmas[k]),
                float(described[k]),
                verdict,
                note,
            )
        )
    for k in range(10, len(result.names)):
        low, high = result.intervals[:, k]
        items.append(
            Parameter(
                result.names[k],
                result.units[k],
                float(result.parameters[k]),
                float(result.sigmas[k]),
                float(low),
                float(high),
                float('nan'),
                found.verdicts[k],
                found.sums[k],
            )
        )
    return tuple(items), covariance


def _centroidal(result: Result) -> tuple[Array, Array]:
    """Return values about the centre of mass; NaN for all but a mass that is not positive."""
    if not result.parameters[0] > 0.0:
        return np.append(result.parameters[0], np.full(9, np.nan)), np.full((10, 10), np.nan)
    return centroidal(result.parameters[:10], result.covariance[:10, :10])


def _verdict_on(k: int, found: Identifiability) -> tuple[Verdict, str]:
    """Judge a parameter about the centre of mass by those it is made of."""
    axes = {4: (1,), 5: (1, 2), 6: (1, 3), 7: (2,), 8: (2, 3), 9: (3,)}
    if k == 0:
        parts: tuple[int, ...] = (0,)
    elif k < 4:
        parts = (0, k)
    else:
        # Steiner's term of a diagonal entry has the two other coordinates of the centre.
        coordinates = axes[k] if len(axes[k]) == 2 else tuple({1, 2, 3} - set(axes[k]))
        parts = (k, 0, *coordinates)
    for part in parts:
        verdict = found.verdicts[part]
        if verdict is not Verdict.IDENTIFIABLE:
            name = found.names[part]
            note = (
                f'{name} is known only in the sum {found.sums[part]}' if found.sums[part] else ''
            )
            return verdict, note or f'{name} is not determined by this motion'
    return Verdict.IDENTIFIABLE, ''


def body_of(
    parameters: tuple[Parameter, ...], model: PlatformModel, result: Result
) -> RigidBody | None:
    """Return the body found if all of it is known and it can exist."""
    if any(not item.known for item in parameters[:10]) or not model.physical(
        np.where(np.arange(len(result.parameters)) < 10, result.parameters, 1.0)
    ):
        return None
    values = [item.value for item in parameters[:10]]
    inertia = np.zeros((3, 3))
    inertia[np.triu_indices(3)] = values[4:]
    inertia = inertia + np.triu(inertia, 1).T
    if inertia_fault(inertia):
        return None
    return RigidBody(values[0], read_only(values[1:4]), read_only(inertia))


def payload_of(
    model: PlatformModel, result: Result, found: Identifiability
) -> tuple[Parameter, ...]:
    """Say what is fixed to the platform beyond its description, if that is clear."""
    beyond = result.parameters[:4] - model.nominal[:4]
    covariance = result.covariance[:4, :4]
    known = all(verdict is Verdict.IDENTIFIABLE for verdict in found.verdicts[:4])
    if not known or beyond[0] < PAYLOAD * np.sqrt(covariance[0, 0]) or not beyond[0] > 0.0:
        return ()
    centre = beyond[1:] / beyond[0]
    slope = np.zeros((4, 4))
    slope[0, 0] = 1.0
    slope[1:, 0], slope[[1, 2, 3], [1, 2, 3]] = -centre / beyond[0], 1.0 / beyond[0]
    sigmas = np.sqrt(np.diag(slope @ covariance @ slope.T))
    reach = np.ptp(result.intervals, axis=0)[0] / 2.0 / result.sigmas[0]
    return tuple(
        Parameter(
            name,
            unit,
            float(value),
            float(sigma),
            float(value - reach * sigma),
            float(value + reach * sigma),
            float('nan'),
            Verdict.IDENTIFIABLE,
        )
        for name, unit, value, sigma in zip(
            ('payload m', 'payload cx', 'payload cy', 'payload cz'),
            ('kg', 'm', 'm', 'm'),
            (beyond[0], *centre),
            sigmas,
            strict=True,
        )
    )
