# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What an identification found: parameters with intervals and verdicts, and where from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from stewart_identification.estimators.estimator import Result
from stewart_identification.experiment import Experiment
from stewart_identification.identifiability import Identifiability, Verdict
from stewart_identification.models.platform import PlatformModel
from stewart_kinematics.motion import Array
from stewart_kinematics.platform import Platform, RigidBody


@dataclass(frozen=True)
class Parameter:
    """
    One parameter as people want it.

    Attributes
    ----------
    name, unit : str
        For example ``cz``, ``m``.
    value, sigma, low, high : float
        Estimate, standard deviation and interval; NaN where the recording does not determine it.
    described : float
        What the description of the platform says; NaN where it says nothing.
    verdict : Verdict
        Whether the recording determines it.
    note : str
        In which sum it is known, or why it is not; empty otherwise.

    """

    name: str
    unit: str
    value: float
    sigma: float
    low: float
    high: float
    described: float
    verdict: Verdict
    note: str = ''

    @property
    def known(self) -> bool:
        """Whether there is a number."""
        return self.verdict is Verdict.IDENTIFIABLE

    def as_dict(self) -> dict[str, Any]:
        """Return plain values; what is not known is None."""
        known = self.known
        return {
            'unit': self.unit,
            'verdict': self.verdict.value,
            'value': self.value if known else None,
            'sigma': self.sigma if known else None,
            'interval': [self.low, self.high] if known else None,
            'described': None if np.isnan(self.described) else self.described,
            'note': self.note,
        }


@dataclass(frozen=True, eq=False)
class Outcome:
    """
    Everything an identification found.

    Attributes
    ----------
    platform : Platform
        As described before.
    model : PlatformModel
        What was fitted.
    experiment : Experiment
        What it was fitted to, with the noise found.
    result : Result
        As the estimator gave it.
    identifiability : Identifiability
        Verdicts on the model's own parameters.
    parameters : tuple of Parameter
        Mass, centre of mass and inertia about it, then friction.
    payload : tuple of Parameter
        Mass and centre of what the description does not know; empty where that is nothing.
    body : RigidBody or None
        The platform with all that is fixed to it; None unless all ten parameters are known and a
        body can have them.
    covariance : ndarray, shape (10, 10)
        Of the ten, in the order of `parameters`.
    provenance : mapping of str to object
        Bags, hashes, seed, versions, methods: plain values.
    remarks : tuple of str
        What was odd in the recordings or in the fit, one sentence each.
    interrupted : bool
        Whether the search was stopped; then this is the best it had.

    """

    platform: Platform
    model: PlatformModel
    experiment: Experiment
    result: Result
    identifiability: Identifiability
    parameters: tuple[Parameter, ...]
    payload: tuple[Parameter, ...]
    body: RigidBody | None
    covariance: Array
    provenance: Mapping[str, Any]
    remarks: tuple[str, ...]
    interrupted: bool

    @property
    def unknown(self) -> tuple[str, ...]:
        """Names of the ten that the recording does not determine."""
        return tuple(item.name for item in self.parameters[:10] if not item.known)

    @property
    def verdict(self) -> str:
        """The whole in one sentence."""
        if self.unknown:
            return (
                f'{10 - len(self.unknown)} of the ten parameters are determined; '
                f'{", ".join(self.unknown)} {"is" if len(self.unknown) == 1 else "are"} not'
            )
        if self.body is None:
            return 'all ten parameters are determined, but no body can have these values'
        return 'all ten parameters are determined'

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            'verdict': self.verdict,
            'interrupted': self.interrupted,
            'parameters': {item.name: item.as_dict() for item in self.parameters},
            'payload': {item.name: item.as_dict() for item in self.payload},
            'residual_n': rms(self.result.residuals),
            'condition_number': float(self.identifiability.condition_number),
            'iterations': self.result.iterations,
            'converged': self.result.converged,
            'remarks': list(self.remarks),
            'provenance': dict(self.provenance),
        }


def rms(values: Array) -> float:
    """Return the root mean square of what is finite."""
    return float(np.sqrt(np.nanmean(np.square(values))))
