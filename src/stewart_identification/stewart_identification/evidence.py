# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which physics a recording shows beside viscous and dry friction: likelihood-ratio tests.

Terms of `models.terms` are taken up one after the other, the most telling first. A term counts
if the sum of squares falls by more than chance makes it fall, once in 1 / `false_alarm` recordings
over all terms that are tried (Bonferroni). The noise is what the largest model leaves, counted as
slow motions see it, so coloured residuals prove no more than they should. Nor does the noise of
the strokes: terms, rotors above all, fit what it does to the other columns. How much they gain by
that alone is found on forces that need no term, predicted and fitted with noise put on once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc, gammaln
from stewart_identification.estimators.linear_system import CHANCE, LinearSystem, raw_system
from stewart_identification.experiment import Experiment
from stewart_identification.goodness import KNOWN_TO
from stewart_identification.models.platform import PlatformModel
from stewart_identification.models.terms import SPRING, TERMS
from stewart_kinematics.motion import Array

WHOLE = 2.0
"""In a sine a spring stands for all inertia, and with it goes all noise of the accelerations. In
the forces that need no term there is as much of it again, and half of the gain is lost there."""


@dataclass(frozen=True)
class Evidence:
    """What speaks for a term.

    Attributes:
        ratio: Twice the logarithm of the likelihood ratio.
        unknowns: Parameters that it adds.
        surprise: Logarithm of the probability that chance alone gives such a ratio.
    """

    name: str
    ratio: float
    unknowns: int
    surprise: float

    def __str__(self) -> str:
        """Say it in a clause."""
        exponent = int(max(np.floor(self.surprise / np.log(10.0)), -300.0))
        chance = f'{"below " if exponent == -300 else ""}1e{exponent}'
        return (
            f'{TERMS[self.name].about} (likelihood ratio {self.ratio:.0f} for {self.unknowns} '
            f'more, chance {chance})'
        )


def log_chance(ratio: float, unknowns: int) -> float:
    """Return the logarithm of the probability of a greater chi-square with so many freedoms.

    Where the probability is no number any more, from some 1 400 on, its logarithm still tells two
    ratios apart: the first term of the series of the incomplete gamma function (DLMF 8.11.2).
    """
    chance = float(chdtrc(unknowns, ratio))
    if chance > np.finfo(float).tiny:
        return float(np.log(chance))
    half = 0.5 * unknowns
    return float((half - 1.0) * np.log(0.5 * ratio) - 0.5 * ratio - gammaln(half))


def evidence(
    model: PlatformModel, experiment: Experiment, kinds: Sequence[str], false_alarm: float
) -> tuple[Evidence, ...]:
    """Return the terms that a recording shows, the most telling first.

    Args:
        model: With no terms, or those that count already.
        experiment: With the noise that the largest model leaves.
        kinds: Which may be tried, of `models.terms.KINDS`.
        false_alarm: Probability that a term is found where none is.
    """
    tried = [name for name, term in TERMS.items() if term.kind in kinds]
    if not tried:
        return ()
    names = [name for name in TERMS if name in tried or name in model.terms]
    largest = replace(model, terms=tuple(names))
    search = _Search(raw_system(largest, experiment))
    blurred = _termless(model, largest, experiment)
    limit = np.log(false_alarm / max(len(tried), 1))
    taken = list(model.terms)
    found: list[Evidence] = []
    cost = search.cost(taken)[0]
    while True:
        best: Evidence | None = None
        for name in tried:
            kind = TERMS[name].kind
            old = [other for other in taken if TERMS[other].kind == kind]
            if name in taken or (old and name != 'rotors'):
                continue
            # Rotors of each leg take the place of one for all.
            chosen = [*(other for other in taken if other not in old), name]
            lower, possible = search.cost(chosen)
            more = search.count(chosen) - search.count(taken)
            # The noise is known to this factor only: what it may exaggerate is no evidence.
            ratio = (cost - lower) / KNOWN_TO**2
            if blurred is not None:
                chance = CHANCE * (WHOLE if name == SPRING else 1.0)
                ratio -= chance * max(blurred.cost(taken)[0] - blurred.cost(chosen)[0], 0.0)
            surprise = log_chance(max(ratio, 0.0), more)
            if possible and surprise < min(limit, best.surprise if best else 0.0):
                best = Evidence(name, ratio, more, surprise)
        if best is None:
            return tuple(item for item in found if item.name in taken)
        kind = TERMS[best.name].kind
        taken = [*(name for name in taken if TERMS[name].kind != kind), best.name]
        found.append(best)
        cost = search.cost(taken)[0]


def _termless(
    model: PlatformModel, largest: PlatformModel, experiment: Experiment
) -> _Search | None:
    """Search forces of `model` for the terms of `largest`, with noisy strokes; None without."""
    if experiment.shaken is None:
        return None
    found = raw_system(model, experiment).solution[0]
    forces = np.where(experiment.used, model.predict(found, experiment), np.nan)
    noisy = replace(experiment.shaken, forces=forces, noise=experiment.noise)
    return _Search(raw_system(largest, replace(noisy, instruments=experiment.instruments)))


class _Search:
    """Sums of squares of submodels, from the triangle of the largest."""

    def __init__(self, system: LinearSystem) -> None:
        self._triangle = system.triangle * system.model.scale
        self._reduced, model = system.reduced, system.model
        assert isinstance(model, PlatformModel)
        base = len(replace(model, terms=()).parameter_names)
        self._columns: dict[str, list[int]] = {'': list(range(base))}
        for name in model.terms:
            size = len(TERMS[name].units)
            self._columns[name] = list(range(base, base + size))
            base += size

    def count(self, terms: Sequence[str]) -> int:
        """Return how many parameters the terms have."""
        return sum(len(self._columns[name]) for name in terms)

    def cost(self, terms: Sequence[str]) -> tuple[float, bool]:
        """Return the sum of squares beside what nothing explains, and whether signs are right."""
        chosen = [k for name in ('', *terms) for k in self._columns[name]]
        found, *_ = np.linalg.lstsq(self._triangle[:, chosen], self._reduced, rcond=1e-9)
        left = self._triangle[:, chosen] @ found - self._reduced
        values = dict(zip(chosen, found, strict=True))
        possible = all(
            sum(values[k] for k in self._columns[name]) > 0.0
            for name in terms
            if not TERMS[name].signed
        )
        return float(left @ left), possible


def colour(residuals: Array, stamps: Array) -> str:
    """Say at which frequency residuals, shape (n, m), are strongest."""
    rate = 1.0 / float(np.median(np.diff(stamps)))
    spectrum = np.sum(np.abs(np.fft.rfft(np.nan_to_num(residuals), axis=0)) ** 2, axis=1)
    smooth = np.convolve(spectrum, np.ones(5) / 5.0, 'same')
    peak = np.fft.rfftfreq(len(residuals), 1.0 / rate)[2 + int(np.argmax(smooth[2:]))]
    return f'residuals are strongest at {peak:.2g} Hz'
