# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a recording fits its platform better with legs exchanged, or efforts read otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from typing import cast, NamedTuple

import numpy as np
from numpy.typing import NDArray
from stewart_identification.errors import StewartError
from stewart_identification.estimators.least_squares import LeastSquares
from stewart_identification.estimators.result import rms
from stewart_identification.experiment import Experiment
from stewart_identification.importing.leg_log import FORCES
from stewart_identification.models.platform import FrictionKind, PlatformModel
from stewart_identification.recording.from_bag import experiment_from, Extraction
from stewart_identification.recording.recordings import Recording
from stewart_kinematics.model.platform import Platform

LEGS = np.arange(6)
BETTER = 0.5
"""Share of the residual, beside the efforts, that is left where a recording is read rightly."""
HEAVIEST = 10.0
"""Mass that it may then have, in units of the described one, and one over the least."""
LONGEST, RATE = 4000, 20.0
"""Messages that are looked at, at most, and how many samples a second are made of them [Hz]."""
SPELLED = {'kn': 'kN', 'lbf': 'lbf', 'kgf': 'kgf'}


class _Fit(NamedTuple):
    """What one reading leaves of the efforts as a share of them [-], and its mass [kg]."""

    left: float
    mass: float


def miswired(
    recording: Recording, platform: Platform, friction: str, extraction: Extraction
) -> str:
    """Say how a recording has to be read for one body to explain its efforts; empty if as it is.

    Args:
        recording: As it was recorded.
        platform: Its description, with masses.
        friction: As `Options` has it.
        extraction: How recordings become experiments.

    Raises:
        UnusableRecording, FitError: If nothing can be made of the recording as it is.
    """
    model = PlatformModel.from_platform(platform, friction=cast('FrictionKind', friction))
    rough = replace(extraction, rate=RATE, instruments=False)

    def tried(experiment: Experiment) -> _Fit:
        fit = LeastSquares().fit(model, experiment)
        return _Fit(rms(fit.residuals) / rms(experiment.forces), float(fit.parameters[0]))

    recording = _middle(recording)
    plain = experiment_from(recording, platform, rough).experiment
    ours, found = tried(plain), dict[str, _Fit]()
    for what, forces in _other_efforts(plain):
        found[f'efforts {what}'] = tried(plain.with_forces(forces))
    for what, order in _orders():
        # Most of them have no pose at all.
        with suppress(StewartError, np.linalg.LinAlgError):
            other = experiment_from(_reordered(recording, order), platform, rough).experiment
            found[f'strokes and efforts {what}'] = tried(other)
    described = model.nominal[0]
    good = {
        what: fit
        for what, fit in found.items()
        if fit.left < BETTER * ours.left and described / HEAVIEST < fit.mass < described * HEAVIEST
    }
    if not good:
        return ''
    best = min(good, key=lambda what: good[what].left)
    return (
        f'{best}: read so, one body explains the efforts but for '
        f'{100.0 * good[best].left:.2g} % and has {good[best].mass:.3g} kg, as recorded but for '
        f'{100.0 * ours.left:.2g} % and has {ours.mass:.3g} kg'
    )


def _middle(recording: Recording) -> Recording:
    """Return `LONGEST` messages from the middle, without poses, which are those of one order."""
    legs = recording.actuators
    first = max(len(legs) - LONGEST, 0) // 2
    names = 'bag_time_ns', 'stamp_ns', 'position', 'velocity', 'effort'
    cut = {name: getattr(legs, name)[first : first + LONGEST] for name in names}
    return replace(recording, actuators=replace(legs, **cut), poses=None)


def _other_efforts(experiment: Experiment) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Give what efforts may be taken for, in words, and the forces [N] that they then are."""
    forces = experiment.forces
    for unit, name in SPELLED.items():
        yield f'are in {name}, not in N', FORCES[unit] * forces
    for leg in LEGS:
        yield f'of leg {leg + 1} have the other sign', forces * np.where(leg == LEGS, -1.0, 1.0)
    for what, order in _orders():
        yield what, forces[:, order]


def _orders() -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Give orders in which legs may have been recorded, in words and as the columns to take."""
    for one, other in combinations(LEGS, 2):
        order = LEGS.copy()
        order[[one, other]] = other, one
        yield f'of legs {one + 1} and {other + 1} are exchanged', order
    for by in LEGS[1:]:
        yield f'are counted from another leg: what leg 1 has is of leg {by + 1}', np.roll(LEGS, by)
    yield 'are counted the other way round', LEGS[::-1]


def _reordered(recording: Recording, order: NDArray[np.int64]) -> Recording:
    legs = recording.actuators
    moved = replace(legs, position=legs.position[:, order], effort=legs.effort[:, order])
    return replace(recording, actuators=moved)
