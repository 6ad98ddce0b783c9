# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What tracker and IMU would say of a machine at given strokes, and how that follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.spatial.transform import Rotation
from stewart_identification.calibration.machine import (
    FORCE_BIAS,
    FORCE_SCALE,
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
from stewart_kinematics.motion import Array
from stewart_kinematics.spatial import skew


class Seen(NamedTuple):
    """What one instrument says of n rows, m numbers each.

    Attributes:
        residual (n, m): Predicted minus measured.
        jacobian (n, m, 73): How it follows the unknowns, then the strokes.
        by_rate (n, m, 6): How it follows the rates of the legs.
        deviations (m,): Noise of the instrument itself.
    """

    residual: Array
    jacobian: Array
    by_rate: Array
    deviations: Array

    def weights(self, noise: Noise) -> Array:
        """Return the inverse square roots of the covariances of all noise, shape (n, m, m)."""
        by_stroke = self.jacobian[:, :, SIZE:]
        covariance = np.diag(self.deviations**2)
        covariance = covariance + noise.stroke**2 * by_stroke @ by_stroke.swapaxes(1, 2)
        covariance += noise.rate**2 * self.by_rate @ self.by_rate.swapaxes(1, 2)
        unit = np.eye(len(self.deviations))
        roots = np.linalg.cholesky(covariance)
        return np.array([solve_triangular(root, unit, lower=True) for root in roots])


def weighted(
    machine: Machine, observations: Observations, poses: tuple[Array, Array], noise: Noise
) -> tuple[Array, Array]:
    """Return the residuals of all rows and instruments over their noise, and their Jacobian.

    Args:
        poses (n, 3), (n, 3, 3): That the machine has at their strokes.

    Returns:
        (m,): Residuals.
        (m, 67): How they follow the unknowns.
    """
    residuals, jacobians = [], []
    for seen in _seen(machine, observations, poses, noise):
        weights = seen.weights(noise)
        residuals.append((weights @ seen.residual[..., None]).ravel())
        jacobians.append((weights @ seen.jacobian[:, :, :SIZE]).reshape(-1, SIZE))
    return np.concatenate(residuals), np.concatenate(jacobians)


def _seen(
    machine: Machine, observations: Observations, poses: tuple[Array, Array], noise: Noise
) -> Iterator[Seen]:
    instruments = (
        (observations.tracked, by_tracker),
        (observations.felt, by_accelerometer),
        (observations.turned, by_gyroscope),
    )
    for mask, instrument in instruments:
        rows = np.flatnonzero(mask)
        if rows.size:
            chosen = poses[0][rows], poses[1][rows]
            yield instrument(machine, observations[rows], chosen, noise)


def by_tracker(
    machine: Machine, seen: Observations, poses: tuple[Array, Array], noise: Noise
) -> Seen:
    """Return the pose of the target: three coordinates [m], three angles [rad]."""
    position, rotation = poses
    sensitivity = machine.sensitivity(position, rotation)
    world, world_at = machine.tracker[:3, :3], machine.tracker[:3, 3]
    arm = rotation @ machine.target[:3, 3]
    place = (position + arm) @ world.T + world_at
    attitude = world @ rotation @ machine.target[:3, :3]
    turn = Rotation.from_matrix(attitude @ seen.rotation.swapaxes(1, 2)).as_rotvec()
    jacobian = np.zeros((len(position), 6, SIZE + 6))
    moved, turned = sensitivity[:, :3], sensitivity[:, 3:]
    jacobian[:, :3] = world @ (moved - skew(arm) @ turned)
    jacobian[:, 3:] = world @ turned
    jacobian[:, :3, TRACKER.start : TRACKER.start + 3] += np.eye(3)
    jacobian[:, :3, TRACKER.start + 3 : TRACKER.stop] -= skew(place - world_at)
    jacobian[:, 3:, TRACKER.start + 3 : TRACKER.stop] += np.eye(3)
    jacobian[:, :3, TARGET.start : TARGET.start + 3] += world @ rotation
    jacobian[:, 3:, TARGET.start + 3 : TARGET.stop] += world @ rotation
    own = np.repeat([noise.position, noise.attitude], 3)
    return Seen(np.hstack([place - seen.position, turn]), jacobian, _rateless(position, 6), own)


def by_accelerometer(
    machine: Machine, seen: Observations, poses: tuple[Array, Array], noise: Noise
) -> Seen:
    """Return the specific force at rest, in sensor axes [m/s²]."""
    position, rotation = poses
    inside = -machine.scales[0] * np.einsum('nji,j->ni', rotation, machine.gravity)
    force, to_sensor = inside @ machine.mounting, machine.mounting.T
    backward = -machine.scales[0] * to_sensor @ rotation.swapaxes(1, 2)
    across = backward @ skew(machine.gravity[None])
    jacobian = across @ machine.sensitivity(position, rotation)[:, 3:]
    jacobian[:, :, TILT] -= across[:, :, :2]
    jacobian[:, :, MOUNTING] += to_sensor @ skew(inside)
    jacobian[:, :, FORCE_SCALE] += force / machine.scales[0]
    jacobian[:, :, FORCE_BIAS] += np.eye(3)
    own = np.full(3, noise.specific_force)
    return Seen(
        force + machine.biases[:3] - seen.specific_force, jacobian, _rateless(position, 3), own
    )


def by_gyroscope(
    machine: Machine, seen: Observations, poses: tuple[Array, Array], noise: Noise
) -> Seen:
    """Return the angular velocity, in sensor axes [rad/s]."""
    position, rotation = poses
    sensitivity = machine.sensitivity(position, rotation)
    twist = machine.twists(position, rotation, seen.rates)
    change = machine.twist_sensitivity(position, rotation, twist, sensitivity)
    omega = twist[:, 3:]
    inside = machine.scales[1] * np.einsum('nji,nj->ni', rotation, omega)
    rate, to_sensor = inside @ machine.mounting, machine.mounting.T
    backward = machine.scales[1] * to_sensor @ rotation.swapaxes(1, 2)
    jacobian = backward @ (change[:, 3:] + skew(omega) @ sensitivity[:, 3:])
    jacobian[:, :, MOUNTING] += to_sensor @ skew(inside)
    jacobian[:, :, RATE_SCALE] += rate / machine.scales[1]
    jacobian[:, :, RATE_BIAS] += np.eye(3)
    legs, _ = machine.jacobian(position, rotation)
    own = np.full(3, noise.angular_velocity)
    by_rate = backward @ np.linalg.inv(legs)[:, 3:]
    return Seen(rate + machine.biases[3:] - seen.angular_velocity, jacobian, by_rate, own)


def _rateless(position: Array, size: int) -> Array:
    return np.zeros((len(position), size, 6))
