# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The machine that is estimated live: its platform, read and warmed, with its IMU in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.solvers.warming import warm_up

__all__ = ['Array', 'load_machine', 'Platform']


def load_machine(
    name_or_path: str, imu_position: Sequence[float] = (), imu_rpy_deg: Sequence[float] = ()
) -> Platform:
    """Read a platform and go once through what would be slow the first time.

    Args:
        name_or_path: Name of a stored platform or path of a YAML file.
        imu_position, imu_rpy_deg: Where the IMU sits in ``platform_link`` [m] and how it is
            turned: roll, pitch, yaw [deg]. What is empty is as the platform has it; where that
            has no IMU, it is not turned.

    Raises:
        ConfigurationError: If the platform cannot be read, or the place of the IMU is not three
            numbers, or is said nowhere.
        GeometryError: If the joints do not make a usable platform.
    """
    platform = load_platform(name_or_path)
    warm_up(platform.geometry)
    for name, value in (('imu_position', imu_position), ('imu_rpy_deg', imu_rpy_deg)):
        if len(value) not in {0, 3}:
            raise ConfigurationError(name, list(value), 'three numbers or none')
    if not (len(imu_position) or len(imu_rpy_deg)):
        return platform
    if platform.imu is None and not len(imu_position):
        where = f'where the IMU sits, which the platform {platform.name} does not say'
        raise ConfigurationError('imu_position', [], where)
    stated = platform.imu or Pose.identity()
    position = np.asarray(imu_position if len(imu_position) else stated.position)
    if not len(imu_rpy_deg):
        return replace(platform, imu=Pose(position, stated.quaternion_xyzw))
    roll, pitch, yaw = np.radians(imu_rpy_deg).tolist()
    return replace(platform, imu=Pose.from_rpy(position, (roll, pitch, yaw)))
