# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How an IMU is mounted: the rotation between what the platform does and what the sensor says.

The rotation is the one that turns the angular velocities and specific forces that the legs
predict into those that the sensor measures, in the least-squares sense (Wahba's problem, by the
singular value decomposition). Gravity alone fixes two angles; the third needs motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_identification.errors import UnusableRecording
from stewart_kinematics.motion import Array, Motion

LEAST_SPREAD = 1e-3
"""Ratio of the second to the first singular value below which the third angle is not seen."""


@dataclass(frozen=True, eq=False)
class Mounting:
    """Rotation of a sensor on the platform.

    Attributes:
        rotation (3, 3): Takes sensor coordinates to ``platform_link`` coordinates.
        residual: Root mean square angle left between predicted and measured specific force [rad].
        spread: Second over first singular value: how well the third angle is seen.
    """

    rotation: Array
    residual: float
    spread: float

    @property
    def rpy(self) -> Array:
        """Roll, pitch, yaw of ``imu_link`` in ``platform_link`` [rad]."""
        yaw, pitch, roll = Rotation.from_matrix(self.rotation).as_euler('ZYX')
        return np.array([roll, pitch, yaw])


def predicted(motion: Motion, position: Array, gravity: Array) -> tuple[Array, Array]:
    """Return what an IMU with its axes along ``platform_link`` would measure.

    Args:
        motion: Of the platform, n samples.
        position (3,): Of the sensor in ``platform_link`` [m].
        gravity (3,): In ``base_link`` [m/s²].

    Returns:
        specific_force, angular_velocity (n, 3): In ``platform_link`` axes [m/s²], [rad/s].
    """
    turn = Rotation.from_quat(motion.quaternion_xyzw)
    arm = turn.as_matrix() @ position
    w, alpha = motion.angular_velocity, motion.angular_acceleration
    acceleration = motion.linear_acceleration + np.cross(alpha, arm)
    acceleration = acceleration + np.cross(w, np.cross(w, arm))
    back = turn.inv()
    return np.asarray(back.apply(acceleration - gravity)), np.asarray(back.apply(w))


def find_mounting(
    expected_force: Array, expected_rate: Array, specific_force: Array, angular_velocity: Array
) -> Mounting:
    """Find how a sensor is mounted.

    Args:
        expected_force, expected_rate (n, 3): From `predicted`, in ``platform_link`` axes [m/s²],
            [rad/s].
        specific_force, angular_velocity (n, 3): Measured at the same instants, in sensor axes.

    Returns:
        The rotation; biases of the gyroscope do not matter, for means are taken out.

    Raises:
        UnusableRecording: If the motion does not show the rotation about the vertical.
    """
    pairs = [
        (expected_force, specific_force, np.linalg.norm(expected_force, axis=1).mean()),
        (
            expected_rate - expected_rate.mean(axis=0),
            angular_velocity - angular_velocity.mean(axis=0),
            max(float(np.linalg.norm(expected_rate, axis=1).mean()), 1e-12),
        ),
    ]
    profile = np.zeros((3, 3))
    for ours, theirs, scale in pairs:
        profile += (ours / scale).T @ (theirs / scale) / len(ours)
    u, singular, vt = np.linalg.svd(profile)
    sign = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    spread = float(singular[1] / singular[0])
    if spread < LEAST_SPREAD:
        raise UnusableRecording(
            'the mounting of the IMU cannot be found: the platform hardly turns, so the angle '
            f'about gravity is not seen (singular values {singular[0]:.3g}, {singular[1]:.3g})'
        )
    rotation = u @ sign @ vt
    turned = specific_force @ rotation.T
    cosine = np.sum(turned * expected_force, axis=1) / (
        np.linalg.norm(turned, axis=1) * np.linalg.norm(expected_force, axis=1)
    )
    angle = np.arccos(np.clip(cosine, -1.0, 1.0))
    return Mounting(rotation, float(np.sqrt(np.mean(angle**2))), spread)
