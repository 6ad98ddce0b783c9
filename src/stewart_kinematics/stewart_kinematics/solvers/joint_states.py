# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Positions of every joint of the URDF, the passive and the virtual ones included."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.inverse import leg_positions, passive_angles
from stewart_kinematics.spatial import rpy_from_quaternion

PLATFORM_JOINTS = tuple(f'platform_{name}' for name in ('x', 'y', 'z', 'yaw', 'pitch', 'roll'))
"""Virtual joints that carry the platform, from the base outwards."""

LEG_JOINTS = tuple(f'leg_{leg}' for leg in range(1, 7))
"""Driven joints of the legs: their positions are strokes, carriage positions or crank angles."""

PASSIVE_JOINTS = tuple(f'leg_{leg}_base_{axis}' for leg in range(1, 7) for axis in 'uv')
"""Cardan joints at the lower ends of legs or rods, leg by leg."""

JOINT_NAMES = PLATFORM_JOINTS + LEG_JOINTS + PASSIVE_JOINTS
"""Every moving joint of the URDF, in the order of `joint_positions`."""


def joint_positions(platform: Platform, position: ArrayLike, quaternion_xyzw: ArrayLike) -> Array:
    """Return the joint positions (..., 24) that close the URDF's six loops [m, rad].

    In the order of `JOINT_NAMES`, roll, pitch and yaw with the whole turns nearest to their
    limits. Poses are those of `inverse.leg_lengths`; pitch must stay clear of ±90°, where roll and
    yaw are not defined.
    """
    place = np.asarray(position, dtype=np.float64)
    attitude = np.asarray(quaternion_xyzw, dtype=np.float64)
    geometry = platform.geometry
    strokes = leg_positions(geometry, place, attitude)
    passive = passive_angles(geometry, place, attitude, platform.base_joint_axes)
    lead = strokes.shape[:-1]
    turns = platform.limits.nearest_turn(rpy_from_quaternion(attitude))[..., ::-1]
    return np.concatenate([place, turns, strokes, passive.reshape(*lead, 12)], axis=-1)
