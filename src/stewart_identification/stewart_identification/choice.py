# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is fitted: recordings as one, with the terms that they show and the noise that is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri
from stewart_identification.confidence import slow_noise
from stewart_identification.errors import FitError
from stewart_identification.estimators.linear_system import linear_system
from stewart_identification.evidence import colour, Evidence, evidence
from stewart_identification.experiment import Experiment, joined
from stewart_identification.identifiability import Identifiability, Verdict
from stewart_identification.models.platform import PlatformModel
from stewart_identification.models.terms import KINDS, SPRING, TERMS
from stewart_kinematics.motion import Array

FARTHEST = 8.0
"""Forces that are farther from a fit are not believed, in robust standard deviations."""
PAUSE = 1e3
"""Between two recordings, in seconds, so that nothing correlates across."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """A model with the terms that a recording shows.

    Attributes:
        model, experiment: With terms, and with the noise that is left.
        taken, refused: What speaks for the terms in the model, and for those that were not
            allowed.
        outliers: Forces that were not believed.
    """

    model: PlatformModel
    experiment: Experiment
    taken: tuple[Evidence, ...]
    refused: tuple[Evidence, ...]
    outliers: int

    def remarks(self, found: Identifiability) -> Iterator[str]:
        """Say what was taken up and why, and of what the motion gives no number."""
        verdicts = dict(zip(found.names, found.verdicts, strict=True))
        for item in self.taken:
            names = {f'{item.name}{end}' for end in TERMS[item.name].units} & verdicts.keys()
            dark = names and Verdict.IDENTIFIABLE not in {verdicts[name] for name in names}
            without = ', though this motion tells none of its values' if dark else ''
            yield f'identified along, as the forces show it{without}: {item}'
        if self.outliers:
            yield (
                f'{self.outliers} forces are more than {FARTHEST:g} robust standard deviations '
                'from the fit and are not used'
            )

    def suspects(self, residuals: Array) -> str:
        """Name the physics that the model lacks."""
        if self.refused:
            return f'missing: {"; ".join(map(str, self.refused))}'
        shape = colour(residuals, self.experiment.stamps)
        return f'missing: none of the known laws; {shape}'


def with_terms(
    model: PlatformModel, experiment: Experiment, kinds: Sequence[str], false_alarm: float
) -> Chosen:
    """Choose the terms of `kinds` that an experiment shows, and find the noise of its forces."""
    largest = replace(model, terms=tuple(TERMS))
    unknowns = len(largest.parameter_names)
    if np.count_nonzero(experiment.used) < 10 * unknowns:
        return Chosen(model, with_noise(model, experiment), (), (), 0)
    # A spring takes the noise of the accelerations with it, and everything else seems certain.
    unsprung = replace(model, terms=tuple(name for name in TERMS if name != SPRING))
    quiet = with_noise(unsprung, experiment)
    taken = evidence(model, quiet, kinds, false_alarm)
    if any(item.name == SPRING for item in taken):
        quiet = with_noise(largest, experiment)
        taken = evidence(model, quiet, kinds, false_alarm)
    model = replace(model, terms=tuple(name for name in TERMS if name in {t.name for t in taken}))
    others = [kind for kind in KINDS if kind not in kinds]
    refused = evidence(model, quiet, others, false_alarm)
    first = _residuals(model, quiet)
    spread = np.nanmedian(np.abs(first) * quiet.weights) / ndtri(0.75) / quiet.weights
    wild = np.abs(first) > FARTHEST * np.maximum(spread, 1e-9)
    if wild.any():
        experiment = experiment.with_forces(np.where(wild, np.nan, experiment.forces))
    return Chosen(model, with_noise(model, experiment), taken, refused, int(wild.sum()))


def pooled(experiments: Sequence[Experiment]) -> Experiment:
    """Put recordings of one platform behind each other, far enough apart in time.

    Raises:
        FitError: If there is none.
    """
    if not experiments:
        raise FitError('there is no recording to identify from')
    if len(experiments) == 1:
        return experiments[0]
    moved, last = [], 0.0
    for item in experiments:
        moved.append(replace(item, stamps=item.stamps - item.stamps[0] + last))
        last = float(moved[-1].stamps[-1]) + PAUSE
    return joined(moved)


def with_noise(model: PlatformModel, experiment: Experiment) -> Experiment:
    """Return an experiment with the noise that a linear fit leaves, leg by leg.

    That is the noise which blurs slow signals as much (`confidence.slow_noise`).
    """
    first = _residuals(model, experiment)
    sigma = slow_noise(first, experiment.stamps, len(model.nominal))
    # A leg without forces has no noise, and no weight that matters.
    measured = np.isfinite(first).any(axis=0)
    noise = np.where(measured, np.maximum(sigma, 1e-9), np.median(sigma[measured]))
    return replace(experiment, noise=noise)


def _residuals(model: PlatformModel, experiment: Experiment) -> Array:
    """Return what the best parameters leave of the forces [N], shape (n, 6); NaN where absent."""
    system = linear_system(model, experiment)
    return np.asarray(system.residuals(system.solution[0])[1] / experiment.weights)
