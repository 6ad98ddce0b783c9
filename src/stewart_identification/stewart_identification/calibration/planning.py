# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Poses that show the joints best: D-optimal, one after the other, inside the guard."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_identification.calibration.fit import Prior
from stewart_identification.calibration.machine import free_directions, Machine, SIZE
from stewart_identification.calibration.observations import Noise, Observations
from stewart_identification.calibration.prediction import by_tracker
from stewart_identification.errors import NotIdentifiable
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion

CANDIDATES, TRIES = 2000, 200
# Poses that are to be held stay clear of every limit by this much of their range.
MARGIN = 0.02


def allowed_poses(platform: Platform, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return poses all over the workspace, at which the platform may stand.

    Returns:
        (count, 3), (count, 3, 3): Positions [m] and rotations in ``base_link``.

    Raises:
        NotIdentifiable: If hardly any pose is allowed.
    """
    guard, neutral = MotionGuard(platform), platform.geometry.neutral_pose
    limits = platform.limits
    half = 0.5 * float(np.ptp(limits.stroke, axis=1).max())
    angles = np.array([limits.roll, limits.pitch, limits.yaw])
    positions, rotations = np.empty((0, 3)), np.empty((0, 3, 3))
    for _ in range(TRIES):
        size = 4 * count
        position = neutral.position + rng.uniform(-half, half, (size, 3))
        turn = Rotation.from_euler('xyz', rng.uniform(angles[:, 0], angles[:, 1], (size, 3)))
        motion = Motion(position, turn.as_quat())
        inside = np.min(list(guard.margins(motion).values()), axis=0) > MARGIN
        positions = np.concatenate([positions, position[inside]])
        rotations = np.concatenate([rotations, turn.as_matrix()[inside]])
        if len(positions) >= count:
            return positions[:count], rotations[:count]
    raise NotIdentifiable(
        f'of {TRIES * size} poses of {platform.name} only {len(positions)} are allowed: there is '
        'no workspace in which to calibrate'
    )


def best_poses(
    platform: Platform,
    count: int,
    rng: np.random.Generator,
    *,
    noise: Noise | None = None,
    prior: Prior | None = None,
    covariance: Array | None = None,
    machine: Machine | None = None,
) -> tuple[Array, Array]:
    """Return the poses whose measurement by a tracker tells most.

    Args:
        noise: Of tracker and encoders.
        prior: What is known before, where there is no `covariance`.
        covariance (k, k): What is known so far, of a `Calibration` with a tracker.
        machine: Where tracker and target are; by default in the links' origins.

    Returns:
        (count, 3), (count, 3, 3): Positions [m] and rotations in ``base_link``.

    Raises:
        NotIdentifiable: If hardly any pose is allowed.
    """
    noise, prior = noise or Noise(), prior or Prior()
    machine = machine or Machine.described(platform)
    position, rotation = allowed_poses(platform, CANDIDATES, rng)
    directions = free_directions(machine, tracked=True, felt=False)
    sigma = prior.deviations()
    known = np.asarray(np.linalg.inv(directions.T @ (directions / sigma[:, None] ** 2)))
    if covariance is not None and covariance.shape == known.shape:
        known = covariance
    strokes, nowhere = np.zeros((len(position), 6)), np.zeros((len(position), 3))
    source = np.full(len(position), 'a candidate')
    seen = Observations(strokes, strokes, nowhere, rotation, nowhere, nowhere, source)
    told_by = by_tracker(machine, seen, (position, rotation), noise)
    shown = told_by.weights(noise) @ told_by.jacobian[:, :, :SIZE] @ directions
    chosen: list[int] = []
    for _ in range(count):
        told = np.eye(6) + shown @ known @ shown.swapaxes(1, 2)
        gains = np.linalg.slogdet(told)[1]
        gains[chosen] = -np.inf
        best = int(gains.argmax())
        chosen.append(best)
        across = known @ shown[best].T
        known = known - across @ np.linalg.solve(told[best], across.T)
    return position[chosen], rotation[chosen]
