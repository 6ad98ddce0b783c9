# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""From experiments to parameters: the noise, the verdicts, the fit, and what people want to read.

The forces' noise is not known beforehand. A linear fit gives it first, leg by leg; it weighs the
legs and decides which parameter is determined well enough to be printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any, cast, get_args

import numpy as np
from scipy.special import ndtri
from stewart_identification.choice import Chosen, pooled, with_terms
from stewart_identification.estimators.consistent import Consistent
from stewart_identification.estimators.estimator import Estimator, Progress
from stewart_identification.estimators.least_squares import LeastSquares
from stewart_identification.estimators.levenberg_marquardt import LevenbergMarquardt
from stewart_identification.estimators.result import Result, rms
from stewart_identification.estimators.swarm import Swarm
from stewart_identification.experiment import Experiment
from stewart_identification.goodness import Goodness, goodness
from stewart_identification.identifiability import identifiability
from stewart_identification.models.platform import FrictionKind, PlatformModel
from stewart_identification.models.terms import KINDS
from stewart_identification.outcome import Outcome, Parameter
from stewart_identification.readable import body_of, payload_of, readable
from stewart_identification.recording.from_bag import Extracted
from stewart_identification.remarks import (
    about_delay,
    about_fit,
    about_lean,
    about_offset,
    about_search,
    beyond,
    beyond_any_body,
    late_or_leaning,
    turned,
    younger,
)
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_tables.settings import param, require

ESTIMATORS: dict[str, Any] = {
    'consistent': Consistent,
    'least-squares': LeastSquares,
    'levenberg-marquardt': LevenbergMarquardt,
    'swarm': Swarm,
}
"""Estimators by name; all but the first may return what no body can have."""

YOUNGER = 'forces are younger than strokes: the model lacks rotors or friction'
"""Why inertias do not count, however narrow their intervals are."""

TESTS = 6
"""Of a fit, each of which can refuse it: residuals, age, lean, gains, joints, and whether a body
exists. They share the probability of a false alarm (Bonferroni)."""

PACKAGES = ('stewart_identification', 'numpy', 'scipy', 'pyswarms', 'rosbags')


@dataclass(frozen=True)
class Options:
    """What is asked of an identification; all standard deviations are of what is allowed for.

    Raises:
        ConfigurationError: If a value is out of range.
    """

    estimator: str = param('consistent', 'how to fit', choices=tuple(ESTIMATORS))
    friction: str = param(
        'per leg',
        'viscous and dry friction identified along',
        choices=get_args(FrictionKind),
    )
    joint_tolerance: float = param(
        5e-4,
        'standard deviation of joint coordinates, allowed for; 1e-4 if calibrated [m]',
        min=0.0,
        max=0.05,
    )
    force_delay: float = param(
        1e-3,
        'standard deviation of the time by which forces are older than strokes, allowed for [s]',
        min=0.0,
        max=0.05,
    )
    level: float = param(0.95, 'of the intervals', min=0.5, max=0.999999)
    seed: int = param(0, 'of all that is random', min=0)
    force_gain: float = param(
        1e-2,
        "standard deviation of the relative error of each leg's force, allowed for; 0 where it "
        'was calibrated',
        min=0.0,
        max=0.09,
    )
    base_lean: float = param(
        1e-2,
        'standard deviation of the angles by which the base leans, allowed for [rad]',
        min=0.0,
        max=0.09,
    )
    terms: tuple[str, ...] = param(
        KINDS, 'what is identified along where the recordings show it', choices=('', *KINDS)
    )
    false_alarm: float = param(
        0.01,
        'probability with which a verdict, or a term, speaks up where nothing is wrong',
        min=1e-9,
        max=0.5,
    )
    inertia_tolerance: float = param(
        0.2,
        'half the interval of an inertia that counts as determined, as a share of the inertia (of '
        'a product: of the geometric mean of its two moments)',
        min=1e-6,
        max=1e3,
    )

    def __post_init__(self) -> None:
        """Take terms as options and parameters have them, which cannot be an empty list."""
        object.__setattr__(self, 'terms', tuple(filter(None, self.terms)))
        require(self)

    @property
    def reach(self) -> float:
        """Standard deviations that chance exceeds with the probability `false_alarm`."""
        return float(-ndtri(0.5 * self.false_alarm))

    def model(self, platform: Platform) -> PlatformModel:
        """Return the model of a described platform, without terms."""
        return PlatformModel.from_platform(
            platform,
            friction=cast('FrictionKind', self.friction),
            joint_tolerance=self.joint_tolerance,
            force_delay=self.force_delay,
            force_gain=self.force_gain,
            base_lean=self.base_lean,
        )

    def make(self) -> Estimator:
        """Return the estimator."""
        found: Estimator = ESTIMATORS[self.estimator](level=self.level)
        return found


def identify(
    recordings: Sequence[Extracted],
    platform: Platform,
    options: Options | None = None,
    *,
    validation: Extracted | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Identify the ten parameters of a platform with all that is fixed to it, and its friction.

    Args:
        recordings: Experiments of one platform; several count as one.
        platform: Description with masses: legs are taken from there, and it is what is compared
            with.
        options: What is asked.
        validation: Another recording of the same machine, whose forces are to be predicted.
        progress: Told after every iteration; answers whether to go on.

    Raises:
        FitError: If there are fewer forces than parameters.
        MissingMasses: If the description has no masses.
    """
    options = options or Options()
    chosen = with_terms(
        options.model(platform).remembering(),
        pooled([item.experiment for item in recordings]),
        options.terms,
        options.false_alarm,
    )
    model, experiment = chosen.model, chosen.experiment
    result, stopped = _search(model, experiment, options, progress)
    found = identifiability(model, experiment, result.parameters)
    alarm = options.false_alarm / TESTS
    fit = goodness(model, result.parameters, experiment, result.residuals, false_alarm=alarm)
    validated = None
    if validation is not None:
        validated = validate(model, result, validation.experiment, fit, options.false_alarm)
    lacking = fit.lacking or (validated is not None and validated.lacking)
    suspects = _suspects(chosen, result, alarm, lacking=lacking)
    blind = '; '.join(dict.fromkeys(item.blind for item in recordings if item.blind))
    parameters, covariance = readable(model, result, found, options.inertia_tolerance)
    parameters = _unproven(parameters, blind)
    # Where forces were tested against their noise, that is what tells a wrong model.
    unsure = np.isnan(fit.whole) and not (result.missed or suspects)
    if unsure and younger(model, result, options.reach):
        parameters = (
            *parameters[:4],
            *_unproven(parameters[4:10], YOUNGER),
            *parameters[10:],
        )
    # Gains that are allowed for could turn the sign of every force, and leave a body of nothing.
    unbounded = result.missed or result.free[0] < 0.0
    body = None if unbounded or suspects else body_of(parameters, model, result)
    payload = (
        () if unbounded or suspects or blind else payload_of(model, result, found, options.reach)
    )
    if experiment.loads is not None and model.force_gain > 0.0:
        parameters += _unproven(gains_of(model, result, options.level), blind)
    if unbounded:
        parameters = tuple(item.without_interval() for item in parameters)
        covariance = np.full_like(covariance, np.nan)
    remarks = [
        *(str(r) for item in (*recordings, validation) if item is not None for r in item.remarks),
        *chosen.remarks(found),
        *_remarks(chosen, result, parameters[0], options, stopped=stopped),
    ]
    return Outcome(
        platform,
        replace(model, memory=None),
        experiment,
        result,
        found,
        parameters,
        payload,
        body,
        covariance,
        fit,
        validated,
        _provenance(recordings, validation, platform, options, result),
        tuple(remarks),
        stopped,
        '; '.join(suspects),
        blind=blind,
    )


def _search(
    model: PlatformModel, experiment: Experiment, options: Options, progress: Progress | None
) -> tuple[Result, bool]:
    """Fit, and tell whether the search was stopped before its end."""
    stopped = False

    def watch(done: int, planned: int, best: Array, cost: float) -> bool:
        nonlocal stopped
        going_on = progress is None or progress(done, planned, best, cost)
        stopped = stopped or (not going_on and done < planned)
        return going_on

    rng = np.random.default_rng(options.seed)
    return options.make().fit(model, experiment, rng=rng, progress=watch), stopped


def _suspects(chosen: Chosen, result: Result, alarm: float, *, lacking: bool) -> list[str]:
    """Say what may be wrong with the model, or the recording, the most likely first."""
    model = chosen.model
    return [*turned(result)] or [
        *late_or_leaning(model, result, alarm),
        *([chosen.suspects(result.residuals)] if lacking else ()),
        *beyond(model, result, alarm),
        *beyond_any_body(result, alarm),
    ]


def _unproven(parameters: Sequence[Parameter], why: str) -> tuple[Parameter, ...]:
    """Return parameters as too uncertain to count, if there is a reason."""
    return tuple(item.unproven(why) if why else item for item in parameters)


def _remarks(
    chosen: Chosen, result: Result, mass: Parameter, options: Options, *, stopped: bool
) -> Iterator[str]:
    """Say what is odd about a fit."""
    model, reach = chosen.model, options.reach
    if not result.missed:
        yield from about_delay(model, result, reach)
    yield from about_lean(model, result, reach)
    yield from about_offset(model, chosen.experiment, result, reach)
    yield from about_search(result, stopped=stopped)
    yield from about_fit(mass, result, options.estimator, reach)


def gains_of(model: PlatformModel, result: Result, level: float) -> tuple[Parameter, ...]:
    """Return what each leg's force reads per newton, which a known load shows."""
    first = model.groups['gains'].start
    allowed, reach = model.force_gain, float(ndtri(0.5 + 0.5 * level))
    best, covariance = result.nuisances, result.joint_covariance
    return tuple(
        Parameter.around(
            f'gain_{k + 1}',
            'N/N',
            1.0 + allowed * best[first + k],
            allowed * float(np.sqrt(max(covariance[first + k, first + k], 0.0))),
            reach,
        )
        for k in range(6)
    )


def validate(
    model: PlatformModel,
    result: Result,
    experiment: Experiment,
    fit: Goodness,
    false_alarm: float,
) -> Goodness:
    """Predict the forces of an experiment that was not used, of which `fit` holds for the other.

    Joint errors and the age of the forces are those that fitted best: they are the machine's.
    """
    parameters = result.parameters
    beside = model.nuisance(parameters, experiment)
    predicted = model.predict(parameters, experiment) + beside @ result.nuisances
    columns = np.concatenate([beside, model.regressor(experiment)], axis=2)
    covariance = result.joint_covariance
    variance = np.einsum('nmp,pq,nmq->nm', columns, covariance, columns, optimize=True)
    error = np.sqrt(np.maximum(variance, 0.0))
    left = experiment.forces - predicted
    return goodness(model, parameters, experiment, left, error, fit, false_alarm=false_alarm)


def _provenance(
    recordings: Sequence[Extracted],
    validation: Extracted | None,
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
    used = [*recordings, *([] if validation is None else [validation])]
    rows = [
        {
            'bag': str(item.path),
            'sha256': item.sha256,
            'topics': ', '.join(item.topics),
            'derivatives': item.method,
            'rate_hz': round(1.0 / float(np.median(np.diff(item.experiment.stamps))), 6),
            'seconds_used': round(item.duration, 6),
        }
        for item in used
    ]
    return {
        'recordings': rows[: len(recordings)],
        **({} if validation is None else {'validation': rows[-1]}),
        'platform': platform.name,
        'estimator': options.estimator,
        'method': result.method,
        'friction': options.friction,
        'joint_tolerance_m': options.joint_tolerance,
        'force_delay_s': options.force_delay,
        'force_gain': options.force_gain,
        'base_lean_rad': options.base_lean,
        'terms': ', '.join(options.terms),
        'false_alarm': options.false_alarm,
        'inertia_tolerance': options.inertia_tolerance,
        'level': options.level,
        'seed': options.seed,
        'residual_n': rms(result.residuals),
        'versions': versions,
    }
