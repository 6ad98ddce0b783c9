# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Poses as a person types and reads them: x, y, z [m or mm], roll, pitch, yaw [deg]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.motion import Pose
from stewart_tables.errors import LARGEST

SIX = ('X', 'Y', 'Z', 'ROLL', 'PITCH', 'YAW')
"""Names of the six numbers in a help."""


def typed_pose(option: str, numbers: Sequence[float]) -> Pose:
    """Return a pose that was typed.

    Args:
        option: What it was typed for, for the message.
        numbers: x, y, z [m], roll, pitch, yaw [deg].

    Returns:
        The pose.

    Raises:
        ConfigurationError: If one is no number up to `LARGEST`.
    """
    if not np.all(np.abs(numbers) <= LARGEST):
        expected = f'six numbers from {-LARGEST:g} to {LARGEST:g}'
        raise ConfigurationError(option, list(numbers), expected)
    roll, pitch, yaw = np.radians(numbers[3:]).tolist()
    return Pose.from_rpy(numbers[:3], (roll, pitch, yaw))


def rpy_deg(pose: Pose) -> list[float]:
    """Return roll, pitch and yaw of a pose [deg]."""
    yaw, pitch, roll = Rotation.from_quat(pose.quaternion_xyzw).as_euler('ZYX', degrees=True)
    # Adding zero turns -0.0, which nobody wants to read, into 0.0.
    return [float(roll) + 0.0, float(pitch) + 0.0, float(yaw) + 0.0]


def in_words(pose: Pose) -> str:
    """Return a pose as text, in mm and deg."""
    x, y, z = np.round(pose.position * 1e3, 1) + 0.0
    roll, pitch, yaw = np.round(rpy_deg(pose), 1) + 0.0
    return (
        f'x {x:.1f}, y {y:.1f}, z {z:.1f} mm, '
        f'roll {roll:.1f}, pitch {pitch:.1f}, yaw {yaw:.1f} deg'
    )
