# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Fit a machine to what was measured: maximum a posteriori, Gauss and Newton, analytic Jacobians.

Every row is predicted from its strokes: the pose that the machine has there, seen by the tracker
and felt by the IMU. The noise of the encoders reaches the prediction through the same Jacobian, so
the six components of a pose are weighted by their common covariance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.stats import chi2
from stewart_identification.calibration.machine import (
    FORCE_SCALE,
    free_directions,
    LENGTH,
    Machine,
    MOUNTING,
    PLATFORM,
    RATE_SCALE,
    SIZE,
    TILT,
)
from stewart_identification.calibration.observations import Noise, Observations
from stewart_identification.calibration.prediction import weighted
from stewart_identification.errors import FitError, NotIdentifiable
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array

STEPS, SMALLEST_GAIN, MOST_DAMPING = 50, 1e-9, 1e6
BROAD = 1e3


@dataclass(frozen=True)
class Prior:
    """What is known before, as standard deviations.

    Attributes:
        joint: Of every coordinate of a joint centre [m].
        length: Of the length at stroke zero [m].
        mounting, tilt: Of the IMU and of the base against gravity [rad].
        scale: Of the IMU [-].
    """

    joint: float = 1e-3
    length: float = 1e-3
    mounting: float = 0.05
    tilt: float = 0.05
    scale: float = 0.01

    def deviations(self) -> Array:
        """Return the standard deviations of all unknowns, shape (61,); frames are free."""
        sigma = np.full(SIZE, BROAD)
        sigma[: PLATFORM.stop], sigma[LENGTH] = self.joint, self.length
        sigma[MOUNTING], sigma[TILT] = self.mounting, self.tilt
        sigma[FORCE_SCALE] = sigma[RATE_SCALE] = self.scale
        return sigma


@dataclass(frozen=True, eq=False)
class Calibration:
    """A fitted machine.

    Attributes:
        machine: As estimated.
        described: As the platform file has it, tracker and target where they fit it best.
        directions (61, k): What was free to change, as columns.
        covariance (k, k): Of the coordinates along these.
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
        """Probability that noise as assumed leaves residuals as large as these [-]."""
        return float(chi2.sf(self.cost, max(self.residuals - len(self.prior), 1)))

    def deviations(self, of: Array) -> Array:
        """Return the standard deviations of linear functions of the unknowns, rows of (m, 61)."""
        rows = of @ self.directions
        return np.asarray(np.sqrt(np.einsum('ij,jk,ik->i', rows, self.covariance, rows)))


def calibrate(
    platform: Platform,
    observations: Observations,
    noise: Noise | None = None,
    prior: Prior | None = None,
    progress: Callable[[int, float], object] = lambda step, cost: None,
) -> Calibration:
    """Estimate joints, lengths, and where tracker, target and IMU sit.

    Args:
        platform: As described.
        observations: Poses that were measured.
        noise: Of the measurements.
        prior: What is known before.
        progress: Told the number of a step and the cost after it.

    Returns:
        The machine, with its covariance.

    Raises:
        NotIdentifiable: If there are too few poses to place tracker and target.
        FitError: If a pose cannot be reached, or the fit does not converge.
    """
    noise, prior = noise or Noise(), prior or Prior()
    tracked = bool(observations.tracked.any())
    felt = bool(observations.felt.any() or observations.turned.any())
    if not tracked and not felt:
        raise NotIdentifiable('no row has a pose of a tracker, or an IMU at rest or in motion')
    machine = Machine.described(platform)
    poses = neutral_start(machine, observations.strokes, machine, platform)
    if tracked:
        machine = placed(machine, observations, *poses)
    directions = free_directions(machine, tracked=tracked, felt=felt)
    sigma = prior.deviations()
    information = directions.T @ (directions / sigma[:, None] ** 2)
    described, change = machine, np.zeros(len(information))
    poses = machine.poses(observations.strokes, poses)
    residual, jacobian = weighted(machine, observations, poses, noise)
    cost = float(residual @ residual)
    damping = 0.0
    for step in range(1, STEPS + 1):
        reduced = jacobian @ directions
        hessian = reduced.T @ reduced + information
        gradient = reduced.T @ residual + information @ change
        scale = np.diag(np.diag(hessian))
        delta = -np.linalg.solve(hessian + damping * scale, gradient)
        gain = float(-gradient @ delta)
        tried = machine.moved(directions @ delta)
        try:
            tried_poses = tried.poses(observations.strokes, poses)
            tried_residual, tried_jacobian = weighted(tried, observations, tried_poses, noise)
            after = change + delta
            total = float(tried_residual @ tried_residual + after @ information @ after)
        except FitError:
            total = np.inf
        if total > cost + float(change @ information @ change) and gain > SMALLEST_GAIN:
            damping = max(10.0 * damping, 1e-3)
            if damping > MOST_DAMPING:
                break
            continue
        machine, poses, change = tried, tried_poses, after
        residual, jacobian = tried_residual, tried_jacobian
        cost, damping = float(residual @ residual), 0.1 * damping if damping > 1e-3 else 0.0
        progress(step, cost)
        if gain < SMALLEST_GAIN * max(cost, 1.0):
            reduced = jacobian @ directions
            factor = cho_factor(reduced.T @ reduced + information)
            return Calibration(
                machine,
                described,
                directions,
                cho_solve(factor, np.eye(len(information))),
                np.asarray(np.linalg.inv(information)),
                cost,
                len(residual),
                noise,
            )
    raise FitError(
        f'the fit does not converge: after {step} steps the residuals are '
        f'{np.sqrt(cost / len(residual)):.3g} times their noise; check units, order of the legs '
        'and which row belongs to which pose'
    )


def neutral_start(
    machine: Machine, strokes: Array, described: Machine, platform: Platform | None = None
) -> tuple[Array, Array]:
    """Return poses to begin the search with: that of the middle of the machine, for every row."""
    if platform is not None:
        pose = platform.geometry.neutral_pose
        position, rotation = pose.position, pose.rotation
    else:
        height = float(np.mean(machine.length + strokes.mean()))
        position, rotation = np.array([0.0, 0.0, height]), np.eye(3)
    count = len(strokes)
    return np.tile(position, (count, 1)), np.tile(rotation, (count, 1, 1))


def placed(machine: Machine, seen: Observations, position: Array, rotation: Array) -> Machine:
    """Return the machine with tracker and target where the poses put them, by least squares.

    With A = tracker, B = target and X the poses of the described machine every row says A X B = M.
    Rotations first: R_A R_X = R_M R_Bᵀ is linear in the eighteen numbers of R_A and R_B; then
    translations.

    Raises:
        NotIdentifiable: If there are fewer than three poses with different attitudes.
    """
    rows = np.flatnonzero(seen.tracked)
    position, rotation = machine.poses(seen.strokes[rows], (position[rows], rotation[rows]))
    measured, place = seen.rotation[rows], seen.position[rows]
    system = np.concatenate(
        [
            np.hstack([np.kron(np.eye(3), x.T), -np.kron(m, np.eye(3))])
            for x, m in zip(rotation, measured, strict=True)
        ]
    )
    _, sizes, right = np.linalg.svd(system)
    if len(rows) < 3 or sizes[-2] < 1e-3 * sizes[0]:
        raise NotIdentifiable(
            f'{len(rows)} poses do not place the tracker: it takes at least three that are turned '
            'about different axes, by some degrees'
        )
    solution = right[-1]
    world, back = (_nearest_rotation(part.reshape(3, 3)) for part in (solution[:9], solution[9:]))
    if np.linalg.det(solution[:9].reshape(3, 3)) < 0.0:
        world, back = (
            _nearest_rotation(-part.reshape(3, 3)) for part in (solution[:9], solution[9:])
        )
    arms = np.concatenate([np.hstack([np.eye(3), world @ x]) for x in rotation])
    left = (place - position @ world.T).ravel()
    offsets = np.linalg.lstsq(arms, left, rcond=None)[0]
    tracker, target = np.eye(4), np.eye(4)
    tracker[:3, :3], tracker[:3, 3] = world, offsets[:3]
    target[:3, :3], target[:3, 3] = back.T, offsets[3:]
    return Machine(
        machine.base,
        machine.platform,
        machine.length,
        tracker,
        target,
        machine.mounting,
        machine.gravity,
        machine.scales,
    )


def _nearest_rotation(matrix: Array) -> Array:
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right)
