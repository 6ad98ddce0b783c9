# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""Motions that show the parameters: Fourier sums chosen by a swarm, inside all limits.

For a platform the criterion is D-optimality: the largest determinant of the information on the
inertial parameters that is left when friction and other unknowns have been fitted along. The
Cylindrical paper's, which knows no parameters, is there to compare: |det(QᵀQ)| of the legs'
strokes, rates and accelerations. Limits enter as a soft penalty made of `MotionGuard.margins` and
`jerk_margins`, so that a swarm which begins outside finds its way in; the result passes the check
of the node that plays it, fades included, or there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args, Literal

import numpy as np
from stewart_identification.errors import ConfigurationError, NotIdentifiable
from stewart_identification.estimators.estimator import Progress
from stewart_identification.estimators.swarm import Costs, Swarm
from stewart_identification.experiment import Experiment
from stewart_identification.models.platform import PlatformModel
from stewart_kinematics.errors import MotionRefused, TrajectoryError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import plan_fades
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.trajectories.multi_sine import AXES, MultiSine

Criterion = Literal['information', 'joints']
FINE_RATE, EDGE = 100.0, 2e-3
"""At which the result is looked at [Hz]; part of a limit that peaks between two samples need."""
FLOOR = 1e-15
"""Of the information that counts as none, in units of all there is."""
PENALTY = 1e3
"""Cost of a mean squared margin of -1, beside a log determinant of a few tens."""


@dataclass(frozen=True)
class Design:
    """What kind of motion is looked for.

    Attributes:
        duration: Of one period, and of the experiment [s].
        harmonics: Of the period, those that are used.
        sequence: Euler angles of the multi-sine.
        travel, turn: Largest coefficient of a sine or cosine [m], [rad].
        margin: Part of every limit that stays free.
        rate: At which limits and criterion are looked at during the search [Hz].
        criterion: What is made as large as possible: the information on the inertial parameters,
            or the Cylindrical paper's determinant.
        fade: In which the motion may be faded in and out without leaving a limit [s]; what the
            node `excitation_trajectory` does by default.
    """

    duration: float = 10.0
    harmonics: tuple[int, ...] = (2, 5, 9, 13, 17)
    sequence: str = 'ZXY'
    travel: float = 0.03
    turn: float = 0.15
    margin: float = 0.05
    rate: float = 20.0
    criterion: Criterion = 'information'
    fade: float = 3.0

    def __post_init__(self) -> None:
        if self.criterion not in get_args(Criterion):
            raise ConfigurationError('criterion', self.criterion, 'information or joints')
        for name in ('duration', 'travel', 'turn', 'rate', 'fade'):
            if not getattr(self, name) > 0.0:
                raise ConfigurationError(name, getattr(self, name), 'above 0')
        # A sine faster than half the sampling rate is seen as a slower one.
        above, chosen = 0.5 * self.duration * self.rate, self.harmonics
        if len(set(chosen)) != len(chosen) or not all(1 <= k < above for k in chosen or [0]):
            expected = f'different integers from 1 to below {above:g}, {self.rate / 2:g} Hz'
            raise ConfigurationError('harmonics', chosen, expected)
        if not 0.0 <= self.margin < 1.0:
            raise ConfigurationError('margin', self.margin, 'a number from 0 to below 1')


@dataclass(frozen=True, eq=False)
class Excitation:
    """A motion and how good it is.

    Attributes:
        motion: One period, about the neutral pose.
        log_determinant: Of the information on the inertial parameters, in units of their scales
            and of 1 N.
        condition_number: Of the same information's root.
        joint_determinant: Logarithm of the Cylindrical paper's |det(QᵀQ)|, over strokes, rates and
            accelerations.
        least_margin: Of all limits over the period, those on the jerk included, as
            `MotionGuard.margins` counts it.
        limit: Which limit that is.
    """

    motion: MultiSine
    log_determinant: float
    condition_number: float
    joint_determinant: float
    least_margin: float
    limit: str

    def as_yaml(self, title: str, source: str) -> dict[str, Any]:
        """Return what `stewart_kinematics.trajectories.multi_sine.from_yaml` reads."""
        motion = self.motion
        content: dict[str, Any] = {'title': title, 'source': source, 'sequence': motion.sequence}
        for axis, name in enumerate(AXES):
            sines = (motion.amplitude, motion.angular_frequency, motion.phase)
            rows = zip(*(item[axis] for item in sines), strict=True)
            content[name] = [
                {
                    'amplitude': round(float(a), 7),
                    'angular_frequency_radps': round(float(w), 12),
                    'phase_rad': round(float(p), 7),
                }
                for a, w, p in rows
            ]
        return content


class ExcitationPlanner:
    """Look for the most telling motion of a platform, whose model's friction is fitted along."""

    def __init__(self, platform: Platform, model: PlatformModel, design: Design | None = None):
        self._platform, self._model = platform, model
        self._design = design or Design()
        self._guard = MotionGuard(platform)

    def motion(self, coefficients: Array) -> MultiSine:
        """Return the motion of coefficients, shape (12 harmonics,), each within -1 to 1."""
        design = self._design
        count = len(design.harmonics)
        sizes = np.repeat([design.travel, design.turn], 3)[:, None]
        sine, cosine = coefficients.reshape(2, 6, count) * sizes
        base = 2.0 * np.pi / design.duration
        return MultiSine(
            self._platform.geometry.neutral_pose,
            design.sequence,
            np.hypot(sine, cosine),
            base * np.array(design.harmonics, dtype=float),
            np.arctan2(cosine, sine),
            duration=np.inf,
        )

    def experiment(self, motion: MultiSine, rate: float) -> Experiment:
        """Return one period of a motion, looked at `rate` times a second, without forces."""
        count = round(self._design.duration * rate)
        time: Array = np.linspace(0.0, self._design.duration, count, endpoint=False)
        return Experiment(time, motion.sample(time), np.zeros((count, 6)))

    def judge(self, motion: MultiSine, rate: float | None = None) -> Excitation:
        """Say how good a motion is, looking at it `rate` times a second."""
        experiment = self.experiment(motion, rate or self._design.rate)
        least = {name: float(values.min()) for name, values in self._margins(experiment).items()}
        limit = min(least, key=lambda name: least[name])
        values = self._information(experiment)
        with np.errstate(divide='ignore'):
            determinant = 2.0 * float(np.sum(np.log(values)))
            condition = float(values[0] / values[-1])
        joints = self._joints(experiment.inputs)
        return Excitation(motion, determinant, condition, joints, least[limit], limit)

    def _margins(self, experiment: Experiment) -> dict[str, Array]:
        """Return how far every quantity is from its limit, (n,), a jerk's between samples."""
        motion = experiment.inputs
        return self._guard.margins(motion) | self._guard.jerk_margins(motion, experiment.stamps)

    def _joints(self, motion: Motion) -> float:
        legs = inverse(self._platform.geometry, motion)
        return joint_criterion(legs.stroke, legs.rate, legs.acceleration)

    def _information(self, experiment: Experiment) -> Array:
        """Singular values of the inertial columns, friction eliminated, shape (q,)."""
        model, q = self._model, 10
        columns = model.regressor(experiment) * model.scale
        ordered = np.concatenate([columns[..., q:], columns[..., :q]], axis=-1)
        flat = ordered.reshape(-1, ordered.shape[-1])
        # Of the product, not of the rows: a search asks ten thousand times, and what is lost in
        # squaring is far below what a motion worth playing shows.
        product = flat.T @ flat
        floor = FLOOR * np.trace(product) * np.eye(len(product))
        triangle = np.linalg.cholesky(product + floor)[-q:, -q:]
        return np.asarray(np.linalg.svd(triangle, compute_uv=False))

    def cost(self, coefficients: Array) -> float:
        """Give the negative log determinant with the penalty for limits, for one particle."""
        design = self._design
        experiment = self.experiment(self.motion(coefficients), design.rate)
        excess = 0.0
        for name, values in self._margins(experiment).items():
            # A determinant has one sign, and a condition number no middle: no part to keep free.
            free = 0.0 if 'determinant' in name else design.margin
            short = np.minimum(values - free, 0.0)
            excess += float(np.mean(short**2)) + 0.1 * float(short.min() ** 2)
        if design.criterion == 'joints':
            gain = max(self._joints(experiment.inputs), -1e6)
        else:
            gain = 2.0 * float(np.sum(np.log(np.maximum(self._information(experiment), 1e-12))))
        return PENALTY * excess - gain

    def costs(self, positions: Array) -> Array:
        """Give the costs of many particles, shape (k,)."""
        return np.array([self.cost(item) for item in positions])

    def plan(
        self,
        swarm: Swarm,
        rng: np.random.Generator,
        progress: Progress | None = None,
        *,
        costs: Costs | None = None,
    ) -> Excitation:
        """Search.

        Args:
            swarm: Size and length of the search.
            rng: Source of everything random.
            progress: May stop it; the best so far is returned.
            costs: Gives what `costs` of this planner gives, from elsewhere (`executors.spread`).

        Raises:
            NotIdentifiable: If no motion was found inside the limits, naming the one that was
                broken.
        """
        size = 12 * len(self._design.harmonics)
        bounds = np.stack([-np.ones(size), np.ones(size)])
        # A swarm in sixty dimensions begins well with motions of every size.
        start = rng.uniform(-1.0, 1.0, (swarm.particles, size))
        start *= np.linspace(0.1, 1.0, swarm.particles)[:, None]
        return self._inside(swarm.minimise(costs or self.costs, bounds, rng, progress, start)[0])

    def _inside(self, coefficients: Array) -> Excitation:
        """Shrink, if need be, until the finely sampled motion keeps every limit."""
        for factor in np.linspace(1.0, 0.5, 26):
            found = self.judge(self.motion(factor * coefficients), FINE_RATE)
            if found.least_margin >= EDGE and self._fades(found.motion):
                return found
        why = (
            f'{found.limit} misses by {EDGE - found.least_margin:.3g} of its range'
            if found.least_margin < EDGE
            else f'fading it in and out in {self._design.fade:g} s leaves them'
        )
        raise NotIdentifiable(
            f'no motion inside the limits was found: {why}; give the swarm more iterations'
        )

    def _fades(self, motion: MultiSine) -> bool:
        """Tell whether `excitation_trajectory` would play the motion, faded in and out."""
        fade, home = self._design.fade, self._platform.geometry.neutral_pose
        whole = self._design.duration + 2.0 * fade
        try:
            plan_fades(motion, home, self._guard, fade_in=fade, fade_out=fade, duration=whole)
        except (MotionRefused, TrajectoryError):
            return False
        return True


def joint_criterion(position: Array, velocity: Array, acceleration: Array) -> float:
    """Give the Cylindrical paper's log |det(Q'Q)| (Eqs. 11, 13).

    Args:
        position, velocity, acceleration (n, d): Of the joints.

    Returns:
        Minus infinity where columns of Q depend on each other.
    """
    q = np.stack([position, velocity, acceleration], axis=-1).reshape(len(position), -1)
    values = np.linalg.svd(q, compute_uv=False)
    with np.errstate(divide='ignore'):
        return 2.0 * float(np.sum(np.log(values)))
