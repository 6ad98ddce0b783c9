# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What an identification found: parameters with intervals and verdicts, and where from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from stewart_identification.estimators.result import Result, rms
from stewart_identification.experiment import Experiment
from stewart_identification.goodness import Goodness
from stewart_identification.identifiability import Identifiability, Verdict
from stewart_identification.models.platform import PlatformModel
from stewart_identification.pseudo_inertia import is_physical
from stewart_kinematics.model.platform import Platform, RigidBody
from stewart_kinematics.motion import Array


@dataclass(frozen=True)
class Parameter:
    """One parameter as people want it.

    Attributes:
        name, unit: For example ``cz``, ``m``.
        value, sigma, low, high: Estimate, standard deviation and interval; NaN where the recording
            does not determine it. A fit that missed the minimum has no interval: the last three
            are NaN.
        described: What the description of the platform says; NaN where it says nothing.
        verdict: Whether the recording determines it.
        note: In which sum it is known, or why it is not; for friction and rotors, that the
            interval includes zero; empty otherwise.
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

    @classmethod
    def around(
        cls,
        name: str,
        unit: str,
        value: float,
        sigma: float,
        reach: float,
        described: float = float('nan'),
        verdict: Verdict = Verdict.IDENTIFIABLE,
        note: str = '',
    ) -> Parameter:
        """Return a parameter whose interval reaches so many standard deviations to either side."""
        half = reach * sigma
        low, high = float(value - half), float(value + half)
        numbers = float(value), float(sigma), low, high, float(described)
        return cls(name, unit, *numbers, verdict, note)

    def unproven(self, why: str) -> Parameter:
        """Return the same number as too uncertain to count, for a reason."""
        return replace(self, verdict=Verdict.UNCERTAIN, note=why) if self.known else self

    @property
    def known(self) -> bool:
        """Whether the recording determines it."""
        return self.verdict is Verdict.IDENTIFIABLE

    @property
    def numbered(self) -> bool:
        """Whether there is a number, determined or too uncertain."""
        return self.verdict in {Verdict.IDENTIFIABLE, Verdict.UNCERTAIN}

    @property
    def bounded(self) -> bool:
        """Whether the number has an interval."""
        return self.numbered and not np.isnan(self.sigma)

    def without_interval(self) -> Parameter:
        """Return the same number with nothing said of how good it is."""
        unknown = float('nan')
        # What is said of a determined one is said of its interval.
        note = '' if self.known else self.note
        return replace(self, sigma=unknown, low=unknown, high=unknown, note=note)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values; what is not known is None."""
        numbered, bounded = self.numbered, self.bounded
        return {
            'unit': self.unit,
            'verdict': self.verdict.value,
            'value': self.value if numbered and not np.isnan(self.value) else None,
            'sigma': self.sigma if bounded else None,
            'interval': [self.low, self.high] if bounded else None,
            'described': None if np.isnan(self.described) else self.described,
            'note': self.note,
        }


@dataclass(frozen=True, eq=False)
class Outcome:
    """Everything an identification found.

    Attributes:
        platform: As described before.
        experiment: What it was fitted to, with the noise found.
        identifiability: Verdicts on the model's own parameters.
        parameters: Mass, centre of mass and inertia about it, then friction.
        payload: Mass and centre of what the description does not know; empty where that is
            nothing.
        body: The platform with all that is fixed to it; None unless all ten parameters are known,
            a body can have them, the fit has reached the minimum and the model explains the
            forces, those of another recording included.
        covariance (10, 10): Of the ten, in the order of `parameters`.
        fit: Whether the model explains the forces.
        validation: Whether it predicts those of another recording; None without one.
        provenance: Bags, hashes, seed, versions, methods: plain values.
        remarks: What was odd in the recordings or in the fit, one sentence each.
        interrupted: Whether the search was stopped; then this is the best it had.
        suspects: Which physics the model lacks, and what is farther off than was allowed for;
            empty where it explains the forces.
        another: That the recording is of another platform, or has its legs or efforts otherwise
            than described, in a sentence; empty otherwise.
        blind: Why no recording can determine anything, in a sentence; empty otherwise.
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
    fit: Goodness
    validation: Goodness | None
    provenance: Mapping[str, Any]
    remarks: tuple[str, ...]
    interrupted: bool
    suspects: str = ''
    another: str = ''
    blind: str = ''

    @property
    def doubtful(self) -> bool:
        """Whether one body on this platform does not explain the forces."""
        return self.fit.lacking or self.result.missed or not self.result.physical

    @property
    def untested(self) -> bool:
        """Whether no noise is known to test the model by, nor another recording."""
        return bool(np.isnan(self.fit.whole)) and self.validation is None

    def of_another(self, sentence: str) -> Outcome:
        """Return what is left where a sentence says that it is of another platform."""
        if not sentence:
            return self
        bare = tuple(item.without_interval() for item in self.parameters)
        return replace(self, another=sentence, parameters=bare, payload=(), body=None)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Names of the ten that the recording does not determine."""
        return tuple(item.name for item in self.parameters[:10] if not item.known)

    @property
    def verdict(self) -> str:
        """The whole in one sentence."""
        if self.another:
            return self.another
        if self.blind:
            return f'none of the ten parameters is determined: {self.blind}'
        if self.result.free[0] < 0.0:
            return f'model misfit: {self.suspects}'
        if self.unknown:
            misfit = f'; model misfit: {self.suspects}' if self.suspects else ''
            if self.untested and not self.suspects:
                misfit = '; the model was not tested'
            return (
                f'{10 - len(self.unknown)} of the ten parameters are determined; '
                f'{", ".join(self.unknown)} {"is" if len(self.unknown) == 1 else "are"} not'
                f'{misfit}'
            )
        if self.result.missed:
            left, least = rms(self.result.residuals), self.result.least
            return (
                'the motion determines all ten parameters, but they were not found: the fit '
                f'leaves {left:.4g} N, least squares {least:.4g} N'
            )
        if self.body is None and not (self.suspects and is_physical(self.result.parameters[:10])):
            return 'all ten parameters are determined, but no body can have these values'
        if self.fit.lacking:
            return (
                'model misfit: the motion determines all ten parameters, but the model does not '
                f'explain the forces: residuals are {self.fit}; {self.suspects}'
            )
        if self.validation is not None and self.validation.lacking:
            return (
                'model misfit: the motion determines all ten parameters, but they do not predict '
                f'the forces of the other recording: residuals are {self.validation}; '
                f'{self.suspects}'
            )
        if self.suspects:
            return f'model misfit: the motion determines all ten parameters, but {self.suspects}'
        told = ', and predict the forces of the other recording' if self.validation else ''
        if self.untested:
            told = ', but the model was not tested'
        return f'all ten parameters are determined{told}'

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        condition = float(self.identifiability.condition_number)
        return {
            'verdict': self.verdict,
            'interrupted': self.interrupted,
            'parameters': {item.name: item.as_dict() for item in self.parameters},
            'payload': {item.name: item.as_dict() for item in self.payload},
            'residual_n': rms(self.result.residuals),
            'fit': self.fit.as_dict(),
            'validation': None if self.validation is None else self.validation.as_dict(),
            'condition_number': condition if np.isfinite(condition) else None,
            'iterations': self.result.iterations,
            'converged': self.result.converged,
            'remarks': list(self.remarks),
            'provenance': dict(self.provenance),
        }
