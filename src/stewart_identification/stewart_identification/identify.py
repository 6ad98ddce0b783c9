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
from scipy.special import chdtrc, ndtri
from stewart_identification.choice import pooled, with_terms
from stewart_identification.estimators.consistent import Consistent
from stewart_identification.estimators.estimator import Estimator, Progress
from stewart_identification.estimators.least_squares import LeastSquares
from stewart_identification.estimators.levenberg_marquardt import LevenbergMarquardt
from stewart_identification.estimators.result import Result, rms
from stewart_identification.estimators.swarm import Swarm
from stewart_identification.experiment import Experiment
from stewart_identification.goodness import Goodness, goodness
from stewart_identification.identifiability import identifiability
from stewart_identification.models.friction import KINDS
from stewart_identification.models.platform import FrictionKind, PlatformModel
from stewart_identification.outcome import Outcome, Parameter
from stewart_identification.readable import body_of, payload_of, readable
from stewart_identification.recording.from_bag import Extracted
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_tables.settings import param, require

ESTIMATORS: dict[str, Any] = {
    'consistent': Consistent,
    'least-squares': LeastSquares,
    'levenberg-marquardt': LevenbergMarquardt,
    'levenberg-marquardt-scipy': lambda level: LevenbergMarquardt('scipy', level=level),
    'swarm': Swarm,
}
"""Estimators by name; all but the first may return what no body can have."""

FAR_MASS = 4.0
"""A mass so many times the described one, or so small a part of it, suggests another unit."""

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
        0.01, 'probability with which a test speaks up where nothing is wrong', min=1e-9, max=0.5
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
    alarm = options.false_alarm
    fit = goodness(model, result.parameters, experiment, result.residuals, false_alarm=alarm)
    validated = None
    if validation is not None:
        validated = validate(model, result, validation.experiment, fit, alarm)
    lacking = fit.lacking or (validated is not None and validated.lacking)
    parameters, covariance = readable(model, result, found, options.inertia_tolerance)
    blind = '; '.join(dict.fromkeys(item.blind for item in recordings if item.blind))
    if blind:
        parameters = tuple(item.unproven(blind) for item in parameters)
    # Gains that are allowed for could turn the sign of every force, and leave a body of nothing.
    unbounded = result.missed or result.free[0] < 0.0
    suspects = [
        *([chosen.suspects(result.residuals)] if lacking else ()),
        *beyond(model, result, alarm),
    ]
    body = None if unbounded or suspects else body_of(parameters, model, result)
    payload = () if suspects else payload_of(model, result, found, options.reach)
    if experiment.loads is not None and model.force_gain > 0.0:
        parameters = (*parameters, *gains_of(model, result, options.level))
    if unbounded:
        parameters = tuple(item.without_interval() for item in parameters)
        payload, covariance = (), np.full_like(covariance, np.nan)
    remarks = [
        *(str(r) for item in (*recordings, validation) if item is not None for r in item.remarks),
        *chosen.remarks,
        *(() if result.missed else _about_delay(model, result, options.reach)),
        *_about_lean(model, result, options.reach),
        *_about_offset(model, experiment, result, options.reach),
        *_about_search(result, stopped=stopped),
        *_about_fit(parameters[0], result, options),
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


def beyond(model: PlatformModel, result: Result, false_alarm: float) -> Iterator[str]:
    """Say which unknowns are farther off than was allowed for, so that no interval holds."""
    if _chance(result, model.groups['gains']) < false_alarm:
        gains, allowed = result.nuisances[model.groups['gains']], 100.0 * model.force_gain
        # What all have in common passes for mass: a leg is held against the other five.
        off = 1.2 * allowed * (gains - gains.mean())
        leg = int(np.argmax(np.abs(off)))
        yield (
            f'the force of leg {leg + 1} reads {abs(off[leg]):.2g} % too '
            f'{"high" if off[leg] > 0.0 else "low"} beside the others, {allowed:g} % are allowed '
            'for: calibrate it, or allow for more (--force-gain)'
        )
    if _chance(result, model.groups['joints']) < false_alarm:
        allowed = 1e3 * model.joint_tolerance
        most = allowed * np.abs(result.nuisances[model.groups['joints']]).max()
        yield (
            f'joints are off by up to {most:.2g} mm, {allowed:g} mm are allowed for: allow for '
            'more (--joint-tolerance), or are the strokes off their zero?'
        )


def _chance(result: Result, group: slice) -> float:
    """Return how often unknowns as large as allowed for would be found as large as these."""
    found, spread = result.nuisances[group], result.spread[group, group]
    if not found.size:
        return 1.0
    # A sum of squares that spread unequally is all but chi-square (Satterthwaite).
    share = float(np.sum(spread**2) / np.trace(spread))
    return float(chdtrc(np.trace(spread) / share, found @ found / share))


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


def _about_delay(model: PlatformModel, result: Result, reach: float) -> Iterator[str]:
    if model.force_delay == 0.0:
        return
    last, allowed = model.groups['age'].start, 1e3 * model.force_delay
    age = allowed * float(result.nuisances[last])
    variance = float(result.joint_covariance[last, last])
    sigma = allowed * np.sqrt(max(variance, 0.0))
    text = f'forces are {abs(age):.2f} ms {"older" if age >= 0.0 else "younger"} than strokes'
    if age < -reach * sigma:
        yield (
            f'warning: {text} (± {sigma:.2f} ms), which no torque of a drive is; rotors or '
            'friction that the model lacks look like that, and then the inertias are wrong'
        )
    elif abs(age) <= reach * allowed:
        yield f'{text}, which is allowed for'
    else:
        yield f'{text}, {abs(age) / allowed:.3g} times the {allowed:g} ms allowed for'


def _about_lean(model: PlatformModel, result: Result, reach: float) -> Iterator[str]:
    group = model.groups['lean']
    lean = 1e3 * model.base_lean * result.nuisances[group]
    sigma = 1e3 * model.base_lean * np.sqrt(np.diag(result.joint_covariance)[group])
    if np.any(np.abs(lean) > reach * sigma):
        yield (
            f'the base leans: gravity is turned by {lean[0]:.1f} mrad about x and by '
            f'{lean[1]:.1f} mrad about y (± {sigma.max():.1f}), which is allowed for'
        )


def _about_offset(
    model: PlatformModel, experiment: Experiment, result: Result, reach: float
) -> Iterator[str]:
    if 'offset' not in model.terms:
        return
    less = replace(model, terms=tuple(name for name in model.terms if name != 'offset'))
    mass = float(LeastSquares().fit(less, experiment).parameters[0])
    if abs(mass - result.parameters[0]) > reach * result.sigmas[0]:
        yield (
            f'warning: without the force offset the mass is {mass:.4g} kg: what pulls by where '
            'the platform is, as a hose or a cable does, looks like an offset and another mass'
        )


def _about_search(result: Result, *, stopped: bool) -> Iterator[str]:
    """Say how a search ended."""
    if stopped:
        yield f'stopped after {result.iterations} iterations; this is the best found until then'
    elif not result.converged:
        yield f'the search did not end by itself in {result.iterations} iterations'


def _about_fit(mass: Parameter, result: Result, options: Options) -> Iterator[str]:
    """Say what is wrong with a fit beside least squares that nothing constrains."""
    left, free, least = rms(result.residuals), result.free, result.least
    if free[0] < 0.0:
        yield (
            f'least squares find a mass of {free[0]:.4g} kg: efforts have to be '
            'positive where a drive pushes its joints apart, in N, and the recording of this '
            'platform'
        )
    elif (
        mass.known
        and mass.described > 0.0
        and not 1.0 < FAR_MASS * mass.value / mass.described < FAR_MASS**2
    ):
        yield (
            f'warning: a mass of {mass.value:.4g} kg is found and {mass.described:.4g} kg is '
            'described: are efforts forces in N along the legs?'
        )
    elif mass.known and mass.value + options.reach * mass.sigma < mass.described:
        yield (
            f'warning: a mass of {mass.value:.4g} kg is found, lighter than described by '
            f'{mass.described - mass.value:.2g} kg: is the scale of the efforts right?'
        )
    if result.missed and options.estimator == 'consistent':
        yield (
            f'no body that can exist explains the forces as well: the best one leaves '
            f'{left:.3g} N, least squares without that demand {least:.3g} N, no interval holds'
        )
    elif result.missed:
        yield (
            f'the search left {left:.3g} N, least squares leave {least:.3g} N: '
            'this is not the minimum, and no interval holds'
        )
    elif not result.physical:
        yield 'no body can have what was found; the estimator consistent sees to that'


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
