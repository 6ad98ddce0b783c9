# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Fit a machine to what was measured: maximum a posteriori, Gauss and Newton, analytic Jacobians.

Every row is predicted from its strokes: the pose that the machine has there, seen by the tracker
and felt by the IMU. The noise of the encoders reaches the prediction through the same Jacobian, so
the six components of a pose are weighted by their common covariance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc
from stewart_identification.calibration.machine import (
    FORCE_BIAS,
    FORCE_SCALE,
    free_directions,
    LENGTH,
    Machine,
    MOUNTING,
    PLATFORM,
    RATE_BIAS,
    RATE_SCALE,
    SIZE,
    TILT,
)
from stewart_identification.calibration.observations import Noise, Observations
from stewart_identification.calibration.plausible import (
    check_felt,
    check_placed,
    check_strokes,
)
from stewart_identification.calibration.prediction import weighted
from stewart_identification.errors import FitError, NotIdentifiable
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array

STEPS, SMALLEST_GAIN, MOST_DAMPING = 50, 1e-9, 1e6
GROSS, GROSS_GAIN = 1e4, 1e-3
"""Mean square of residuals that no noise explains, and the share of it that ends such a fit."""
MISFIT = 1e-3
"""Probability of the residuals from which on they contradict the noise [-]."""
LEAST_LEFT = 1e-9
"""Of the weights of residuals, where a fit goes through all rows."""
BROAD = 1e3


@dataclass(frozen=True)
class Prior:
    """What is known before, as standard deviations.

    Attributes:
        joint: Of every coordinate of a joint centre [m].
        length: Of the length at stroke zero [m].
        mounting, tilt: Of the IMU and of the base against gravity [rad].
        scale: Of the IMU [-].
        force_bias, rate_bias: Of the IMU, per axis [m/s²], [rad/s].
    """

    joint: float = 1e-3
    length: float = 1e-3
    mounting: float = 0.05
    tilt: float = 0.05
    scale: float = 0.01
    force_bias: float = 0.2
    rate_bias: float = 0.01

    def deviations(self) -> Array:
        """Return the standard deviations of all unknowns, shape (67,); frames are free."""
        sigma = np.full(SIZE, BROAD)
        sigma[: PLATFORM.stop], sigma[LENGTH] = self.joint, self.length
        sigma[MOUNTING], sigma[TILT] = self.mounting, self.tilt
        sigma[FORCE_SCALE] = sigma[RATE_SCALE] = self.scale
        sigma[FORCE_BIAS], sigma[RATE_BIAS] = self.force_bias, self.rate_bias
        return sigma


@dataclass(frozen=True, eq=False)
class Calibration:
    """A fitted machine.

    Attributes:
        described: As the platform file has it, tracker and target where they fit it best.
        directions (67, k): What was free to change, as columns.
        covariance (k, k): Of the coordinates along these, for noise as assumed.
        prior (k, k): Of the same, before.
        cost: Sum of the squares of the weighted residuals, without the prior.
        residuals: How many there were.
        noise: What was assumed.
    """

    machine: Machine
    described: Machine
    directions: Array
    covariance: Array
    prior: Array
    cost: float
    residuals: int
    noise: Noise

    @cached_property
    def misfit(self) -> float:
        """Probability that noise as assumed leaves residuals as large as these [-].

        Their squares add up to a sum of chi-squares, each with a weight that says how much of it
        the fit leaves; it is taken for one chi-square of the same mean and variance
        (Satterthwaite).
        """
        mean, squares = self._left
        return float(chdtrc(self.freedoms, self.cost * mean / squares))

    @property
    def freedoms(self) -> float:
        """Of that chi-square [-]."""
        mean, squares = self._left
        return mean**2 / squares

    @property
    def excess(self) -> float:
        """Root mean square of the residuals, in units of what noise as assumed leaves [-]."""
        return float(np.sqrt(self.cost / self._left[0]))

    @property
    def widening(self) -> float:
        """What deviations for noise as assumed are multiplied by to be honest [-].

        `excess`, the Birge ratio, where the residuals contradict that noise, else 1.
        """
        return self.excess if self.misfit < MISFIT else 1.0

    @cached_property
    def _left(self) -> tuple[float, float]:
        """Sums of the weights and of their squares.

        Of errors e and J d, where d leaves the description as the prior has it, the fit leaves
        (I + J P J')^-1: as much as the poses do not show of an unknown, all of what none touches.
        """
        shares = np.linalg.eigvals(np.linalg.solve(self.prior, self.covariance)).real
        weights = np.clip(shares, 0.0, 1.0)
        beside = self.residuals - len(weights)
        return (
            max(beside + float(weights.sum()), LEAST_LEFT),
            max(beside + float(np.sum(weights**2)), LEAST_LEFT),
        )

    def deviations(self, of: Array) -> Array:
        """Return the standard deviations of linear functions of the unknowns, rows of (m, 67).

        They are those that `covariance` has for noise as assumed, times `widening`.
        """
        rows = of @ self.directions
        stated = np.sqrt(np.einsum('ij,jk,ik->i', rows, self.covariance, rows))
        return np.asarray(self.widening * stated)


def calibrate(
    platform: Platform,
    observations: Observations,
    noise: Noise | None = None,
    prior: Prior | None = None,
    progress: Callable[[int, float], object] = lambda step, cost: None,
) -> Calibration:
    """Estimate joints, lengths, and where tracker, target and IMU sit.

    Args:
        progress: Told the number of a step and the cost after it.

    Raises:
        NotIdentifiable: If there are too few poses to place tracker and target.
        ConfigurationError: If strokes lie far outside the limits.
        FitError: If poses and strokes do not belong together, or the fit does not converge.
    """
    noise, prior = noise or Noise(), prior or Prior()
    tracked = bool(observations.tracked.any())
    felt = bool(observations.felt.any() or observations.turned.any())
    if not tracked and not felt:
        raise NotIdentifiable('no row has a pose of a tracker, or an IMU at rest or in motion')
    machine = Machine.described(platform)
    check_strokes(platform, observations)
    if observations.felt.any():
        check_felt(machine, observations)
    if tracked:
        machine = placed(machine, observations)
        check_placed(machine, *machine.distances(observations), observations)
    directions = free_directions(machine, tracked=tracked, felt=felt)
    sigma = prior.deviations()
    information = directions.T @ (directions / sigma[:, None] ** 2)
    here = _Point.of(machine, observations, noise, np.zeros(len(information)))
    damping = 0.0
    for step in range(1, STEPS + 1):
        delta, gain = here.step(directions, information, damping)
        try:
            moved = here.machine.moved(directions @ delta)
            there = _Point.of(moved, observations, noise, here.change + delta, here.poses)
        except FitError:
            there = None
        if there is None or (
            there.total(information) > here.total(information) and gain > SMALLEST_GAIN
        ):
            damping = max(10.0 * damping, 1e-3)
            if damping > MOST_DAMPING:
                break
            continue
        here, damping = there, 0.1 * damping if damping > 1e-3 else 0.0
        progress(step, here.cost)
        gross = here.cost > GROSS * len(here.residual)
        if gain < (GROSS_GAIN if gross else SMALLEST_GAIN) * max(here.cost, 1.0):
            return Calibration(
                here.machine,
                machine,
                directions,
                np.asarray(np.linalg.inv(here.hessian(directions, information))),
                np.asarray(np.linalg.inv(information)),
                here.cost,
                len(here.residual),
                noise,
            )
    raise FitError(
        f'the fit does not converge: after {step} steps the residuals are '
        f'{np.sqrt(here.cost / len(here.residual)):.3g} times their noise; check units, order of '
        'the legs and which row belongs to which pose'
    )


class _Point(NamedTuple):
    """A machine on the way, `change` from where the fit began, and what it leaves."""

    machine: Machine
    poses: tuple[Array, Array]
    change: Array
    residual: Array
    jacobian: Array

    @classmethod
    def of(
        cls,
        machine: Machine,
        observations: Observations,
        noise: Noise,
        change: Array,
        start: tuple[Array, Array] | None = None,
    ) -> _Point:
        poses = machine.poses(observations, start)
        return cls(machine, poses, change, *weighted(machine, observations, poses, noise))

    @property
    def cost(self) -> float:
        """Sum of the squares of the weighted residuals."""
        return float(self.residual @ self.residual)

    def total(self, information: Array) -> float:
        """Return the cost with that of leaving the prior."""
        return self.cost + float(self.change @ information @ self.change)

    def hessian(self, directions: Array, information: Array) -> Array:
        reduced = self.jacobian @ directions
        return np.asarray(reduced.T @ reduced + information)

    def step(self, directions: Array, information: Array, damping: float) -> tuple[Array, float]:
        """Return the damped step of Gauss and Newton, and what it promises to gain."""
        hessian = self.hessian(directions, information)
        gradient = directions.T @ (self.jacobian.T @ self.residual) + information @ self.change
        damped = hessian + damping * np.diag(np.diag(hessian))
        delta = np.asarray(-np.linalg.solve(damped, gradient))
        return delta, float(-gradient @ delta)


def placed(machine: Machine, seen: Observations) -> Machine:
    """Return the machine with tracker and target where the poses put them, by least squares.

    With A = tracker, B = target and X the poses of the described machine every row says A X B = M.
    Rotations first: R_A R_X = R_M R_Bᵀ is linear in the eighteen numbers of R_A and R_B; then
    translations.

    Raises:
        NotIdentifiable: If there are fewer than three poses with different attitudes.
    """
    rows = np.flatnonzero(seen.tracked)
    position, rotation = machine.poses(seen[rows])
    measured, place = seen.rotation[rows], seen.position[rows]
    system = np.concatenate(
        [
            np.hstack([np.kron(np.eye(3), x.T), -np.kron(m, np.eye(3))])
            for x, m in zip(rotation, measured, strict=True)
        ]
    )
    # The rows are nine times the poses: the left side would be their square.
    _, sizes, right = np.linalg.svd(system, full_matrices=False)
    if len(rows) < 3 or sizes[-2] < 1e-3 * sizes[0]:
        raise NotIdentifiable(
            f'{len(rows)} poses do not place the tracker: it takes at least three that are turned '
            'about different axes, by some degrees'
        )
    both = right[-1].reshape(2, 3, 3)
    # A singular vector has no sign, a rotation has.
    world, back = map(_nearest_rotation, -both if np.linalg.det(both[0]) < 0.0 else both)
    arms = np.concatenate([np.hstack([np.eye(3), world @ x]) for x in rotation])
    left = (place - position @ world.T).ravel()
    offsets = np.linalg.lstsq(arms, left, rcond=None)[0]
    tracker, target = np.eye(4), np.eye(4)
    tracker[:3, :3], tracker[:3, 3] = world, offsets[:3]
    target[:3, :3], target[:3, 3] = back.T, offsets[3:]
    return replace(machine, tracker=tracker, target=target)


def _nearest_rotation(matrix: Array) -> Array:
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right)
