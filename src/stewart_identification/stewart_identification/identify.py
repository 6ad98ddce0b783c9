# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""From experiments to parameters: the noise, the verdicts, the fit, and what people want to read.

The forces' noise is not known beforehand. A linear fit gives it first, leg by leg; it weighs the
legs and decides which parameter is determined well enough to be printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any

import numpy as np
from stewart_identification.confidence import slow_noise
from stewart_identification.errors import ConfigurationError, FitError
from stewart_identification.estimators.consistent import Consistent
from stewart_identification.estimators.estimator import Estimator, Progress, Result
from stewart_identification.estimators.least_squares import LeastSquares
from stewart_identification.estimators.levenberg_marquardt import LevenbergMarquardt
from stewart_identification.estimators.linear_system import linear_system, LinearSystem
from stewart_identification.estimators.swarm import Swarm
from stewart_identification.experiment import Experiment
from stewart_identification.identifiability import identifiability
from stewart_identification.models.platform import FrictionKind, PlatformModel
from stewart_identification.outcome import missed, Outcome, rms
from stewart_identification.readable import body_of, payload_of, readable
from stewart_identification.recording.from_bag import Extracted, joined
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion

ESTIMATORS: dict[str, Any] = {
    'consistent': Consistent,
    'least-squares': LeastSquares,
    'levenberg-marquardt': LevenbergMarquardt,
    'levenberg-marquardt-scipy': lambda level: LevenbergMarquardt('scipy', level=level),
    'swarm': Swarm,
}
"""Estimators by name; all but the first may return what no body can have."""

ALLOWED = 3.0
"""Standard deviations of the age of the forces that surprise nobody."""
PAUSE = 1e3
"""Between two recordings, in seconds, so that nothing correlates across."""
PACKAGES = ('stewart_identification', 'numpy', 'scipy', 'pyswarms', 'rosbags')


@dataclass(frozen=True)
class Options:
    """What is asked of an identification.

    Attributes:
        estimator: One of `ESTIMATORS`.
        friction: Identified along.
        joint_tolerance: Standard deviation of the joints' coordinates that the description does
            not know [m].
        force_delay: Standard deviation of the time by which forces are older than strokes [s].
        level: Of the intervals.
        seed: Of everything random.

    Raises:
        ConfigurationError: If a value cannot be used.
    """

    estimator: str = 'consistent'
    friction: FrictionKind = 'per leg'
    joint_tolerance: float = 1e-4
    force_delay: float = 1e-3
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        """Check."""
        if self.estimator not in ESTIMATORS:
            raise ConfigurationError(
                'estimator', self.estimator, f'one of {", ".join(ESTIMATORS)}'
            )
        if not 0.5 <= self.level < 1.0:
            raise ConfigurationError('level', self.level, '0.5 to 1')
        if self.seed < 0:
            raise ConfigurationError('seed', self.seed, 'an integer >= 0')

    def make(self) -> Estimator:
        """Return the estimator."""
        found: Estimator = ESTIMATORS[self.estimator](level=self.level)
        return found


def identify(
    recordings: Sequence[Extracted],
    platform: Platform,
    options: Options | None = None,
    *,
    origins: Sequence[Mapping[str, Any]] = (),
    progress: Progress | None = None,
) -> Outcome:
    """Identify the ten parameters of a platform with all that is fixed to it, and its friction.

    Args:
        recordings: Experiments of one platform; several count as one.
        platform: Description with masses: legs are taken from there, and it is what is compared
            with.
        options: What is asked.
        origins: Where each recording is from, kept in the provenance.
        progress: Told after every iteration; answers whether to go on.

    Returns:
        Parameters, intervals, verdicts.

    Raises:
        FitError: If there are fewer forces than parameters.
        MissingMasses: If the description has no masses.
    """
    options = options or Options()
    model = PlatformModel.from_platform(
        platform,
        friction=options.friction,
        joint_tolerance=options.joint_tolerance,
        force_delay=options.force_delay,
    )
    experiment = with_noise(model, pooled([item.experiment for item in recordings]))
    rng = np.random.default_rng(options.seed)
    watch = _Watch(progress)
    result = options.make().fit(model, experiment, rng=rng, progress=watch)
    found = identifiability(model, experiment, result.parameters)
    parameters, covariance = readable(model, result, found)
    payload, body = payload_of(model, result, found), body_of(parameters, model, result)
    system = linear_system(model, experiment)
    free = system.solve(model.scale)[0]
    least = rms(system.residuals(free)[1] / experiment.weights)
    if missed(result, least):
        parameters = tuple(item.without_interval() for item in parameters)
        payload, body, covariance = (), None, np.full_like(covariance, np.nan)
    remarks = [
        *(str(remark) for item in recordings for remark in item.remarks),
        *(() if missed(result, least) else _about_delay(model, system, result)),
        *_about_search(result, stopped=watch.stopped),
        *_about_fit(result, free, least, options.estimator),
    ]
    return Outcome(
        platform,
        model,
        experiment,
        result,
        found,
        parameters,
        payload,
        body,
        covariance,
        least,
        _provenance(recordings, origins, platform, options, result),
        tuple(remarks),
        watch.stopped,
    )


def _about_delay(model: PlatformModel, system: LinearSystem, result: Result) -> Iterator[str]:
    if model.force_delay > 0.0:
        share = float(system.residuals(result.parameters)[0][-1])
        age = 1e3 * abs(share) * model.force_delay
        text = f'forces are {age:.2f} ms {"older" if share >= 0.0 else "younger"} than strokes'
        if abs(share) <= ALLOWED:
            yield f'{text}, which is allowed for'
        else:
            yield f'{text}, {abs(share):.3g} times the {1e3 * model.force_delay:g} ms allowed for'


def _about_search(result: Result, *, stopped: bool) -> Iterator[str]:
    """Say how a search ended."""
    if stopped:
        yield f'stopped after {result.iterations} iterations; this is the best found until then'
    elif not result.converged:
        yield f'the search did not end by itself in {result.iterations} iterations'


def _about_fit(result: Result, free: Array, least: float, estimator: str) -> Iterator[str]:
    """Say what is wrong with a fit beside least squares, which find `free` and leave `least`."""
    left = rms(result.residuals)
    if free[0] < 0.0:
        yield (
            f'least squares find a mass of {free[0]:.4g} kg: efforts have to be '
            'positive where a drive pushes its joints apart, and the platform the one described'
        )
    if missed(result, least) and estimator == 'consistent':
        yield (
            f'no body that can exist explains the forces as well: the best one leaves '
            f'{left:.3g} N, least squares without that demand {least:.3g} N, no interval holds'
        )
    elif missed(result, least):
        yield (
            f'the search left {left:.3g} N, least squares leave {least:.3g} N: '
            'this is not the minimum, and no interval holds'
        )
    elif not result.physical:
        yield 'no body can have what was found; the estimator consistent sees to that'


class _Watch:
    """Hand progress on and remember whether it asked to stop."""

    def __init__(self, progress: Progress | None) -> None:
        """Nothing happened yet."""
        self._progress = progress
        self.stopped = False

    def __call__(self, done: int, planned: int, best: Array, cost: float) -> bool:
        """Answer whether to go on."""
        going_on = self._progress is None or self._progress(done, planned, best, cost)
        self.stopped = self.stopped or (not going_on and done < planned)
        return going_on


def pooled(experiments: Sequence[Experiment]) -> Experiment:
    """Put experiments behind each other.

    Args:
        experiments: Of one platform, at least one.

    Returns:
        Their samples, far enough apart in time.

    Raises:
        FitError: If there is none.
    """
    if not experiments:
        raise FitError('there is no recording to identify from')
    if len(experiments) == 1:
        return experiments[0]
    stamps, last = [], 0.0
    for item in experiments:
        stamps.append(item.stamps - item.stamps[0] + last)
        last = float(stamps[-1][-1]) + PAUSE
    motions = [item.inputs for item in experiments if isinstance(item.inputs, Motion)]
    directions = [item.directions for item in experiments if item.directions is not None]
    return Experiment(
        np.concatenate(stamps),
        joined(motions),
        np.concatenate([item.forces for item in experiments]),
        source='; '.join(item.source for item in experiments),
        directions=np.concatenate(directions) if len(directions) == len(experiments) else None,
    )


def with_noise(model: PlatformModel, experiment: Experiment) -> Experiment:
    """Find the noise of the forces.

    Args:
        model: What makes the forces.
        experiment: Motion and forces.

    Returns:
        With the noise that a linear fit leaves, leg by leg, as `confidence.slow_noise` has it.
    """
    first = LeastSquares().fit(model, experiment, rng=np.random.default_rng(0))
    sigma = slow_noise(first.residuals, experiment.stamps, len(model.nominal))
    # A leg without forces has no noise, and no weight that matters.
    measured = np.isfinite(first.residuals).any(axis=0)
    noise = np.where(measured, np.maximum(sigma, 1e-9), np.median(sigma[measured]))
    return replace(experiment, noise=noise)


def _provenance(
    recordings: Sequence[Extracted],
    origins: Sequence[Mapping[str, Any]],
    platform: Platform,
    options: Options,
    result: Result,
) -> dict[str, Any]:
    """Return what it takes to do it again; no date, so that the same makes the same."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = 'from sources'
    return {
        'recordings': [
            {
                **dict(origin),
                'derivatives': item.method,
                'rate_hz': round(1.0 / float(np.median(np.diff(item.experiment.stamps))), 6),
                'seconds_used': round(item.duration, 6),
            }
            for item, origin in zip(recordings, [*origins, *({},) * len(recordings)], strict=False)
        ],
        'platform': platform.name,
        'estimator': options.estimator,
        'method': result.method,
        'friction': options.friction,
        'joint_tolerance_m': options.joint_tolerance,
        'force_delay_s': options.force_delay,
        'level': options.level,
        'seed': options.seed,
        'residual_n': rms(result.residuals),
        'versions': versions,
    }
