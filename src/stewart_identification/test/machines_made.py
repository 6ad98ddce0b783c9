# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Machines that are not as described, and what tracker, encoders and IMU say of them."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_identification.calibration.machine import (
    FORCE_BIAS,
    FORCE_SCALE,
    free_directions,
    LENGTH,
    Machine,
    MOUNTING,
    RATE_BIAS,
    RATE_SCALE,
    SIZE,
    TARGET,
    TILT,
    TRACKER,
)
from stewart_identification.calibration.observations import Noise, Observations
from stewart_kinematics.model.platform import Platform

JOINT_ERROR, LENGTH_ERROR = 0.5e-3, 0.3e-3
NOISE = Noise()
EXACT = Noise(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def wrong(platform: Platform, rng: np.random.Generator) -> Machine:
    """Return a machine that is not as described, with tracker, target and IMU anywhere."""
    machine = Machine.described(platform)
    step = np.zeros(SIZE)
    step[: LENGTH.start] = rng.normal(0.0, JOINT_ERROR, LENGTH.start)
    step[LENGTH] = rng.normal(0.0, LENGTH_ERROR, 6)
    free = free_directions(machine, tracked=True, felt=True)
    step = free @ (free.T @ step)
    step[TRACKER] = [*rng.normal(0.0, 1.0, 3), *rng.normal(0.0, 0.5, 3)]
    step[TARGET] = [*rng.normal(0.0, 0.1, 3), *rng.normal(0.0, 0.3, 3)]
    step[MOUNTING], step[TILT] = rng.normal(0.0, 0.01, 3), rng.normal(0.0, 0.01, 2)
    step[[FORCE_SCALE, RATE_SCALE]] = rng.normal(0.0, 0.003, 2)
    step[FORCE_BIAS], step[RATE_BIAS] = [0.1, 0.05, -0.1], [2e-3, -3e-3, 1e-3]
    return machine.moved(step)


def measured(
    machine: Machine,
    poses: tuple[np.ndarray, np.ndarray],
    rng: np.random.Generator,
    noise: Noise = NOISE,
    *,
    tracked: bool = True,
    felt: bool = False,
    rates: np.ndarray | None = None,
) -> Observations:
    """Return what tracker, encoders and IMU say; without the code that is to be tested."""
    position, rotation = poses
    count = len(position)
    legs = position[:, None] + np.einsum('nij,lj->nli', rotation, machine.platform) - machine.base
    strokes = np.linalg.norm(legs, axis=2) - machine.length
    world, target = machine.tracker, machine.target
    place = (position + rotation @ target[:3, 3]) @ world[:3, :3].T + world[:3, 3]
    turn = Rotation.from_rotvec(rng.normal(0.0, 1.0, (count, 3)) * noise.attitude).as_matrix()
    felt_force = -np.einsum('nji,j->ni', rotation, machine.gravity) @ machine.mounting
    nothing = np.full((count, 3), np.nan)
    moving = np.zeros((count, 6)) if rates is None else rates
    omega = machine.twists(position, rotation, moving)[:, 3:]
    felt_turn = np.einsum('nji,nj->ni', rotation, omega) @ machine.mounting
    return Observations(
        strokes + rng.normal(0.0, 1.0, strokes.shape) * noise.stroke,
        moving,
        place + rng.normal(0.0, 1.0, place.shape) * noise.position if tracked else nothing,
        turn @ world[:3, :3] @ rotation @ target[:3, :3],
        machine.scales[0] * felt_force
        + machine.biases[:3]
        + rng.normal(0.0, 1.0, place.shape) * noise.specific_force
        if felt
        else nothing,
        machine.scales[1] * felt_turn
        + machine.biases[3:]
        + rng.normal(0.0, 1.0, place.shape) * noise.angular_velocity
        if rates is not None
        else nothing,
        np.array([f'row {row}' for row in range(count)]),
    )
