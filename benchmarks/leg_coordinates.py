# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Joint coordinates of the six legs for a motion, so that peers can be put where we are."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array, Motion


def leg_coordinates(geometry: Geometry, motion: Motion) -> tuple[Array, Array, Array]:
    """Return angles about x and y and length of every leg, with their derivatives.

    A leg's tip is l d with d = (sin v, -sin u cos v, cos u cos v) from its base joint.

    Args:
        geometry: Joints of the platform.
        motion: Of one sample.

    Returns:
        value, rate, acceleration (6, 3): u, v [rad] and l [m].
    """
    rotation = Rotation.from_quat(motion.quaternion_xyzw).as_matrix()
    arms = geometry.platform_joints @ rotation.T
    omega, alpha = motion.angular_velocity, motion.angular_acceleration
    turn = np.cross(omega, arms)
    reach = motion.position + arms - geometry.base_joints
    velocity = motion.linear_velocity + turn
    acceleration = motion.linear_acceleration + np.cross(alpha, arms) + np.cross(omega, turn)

    length = np.linalg.norm(reach, axis=1)
    d = reach / length[:, None]
    u, v = np.arctan2(-d[:, 1], d[:, 2]), np.arcsin(d[:, 0])
    zero, su, cu, sv, cv = np.zeros(6), np.sin(u), np.cos(u), np.sin(v), np.cos(v)
    du = np.stack([zero, -cu * cv, -su * cv], axis=1)
    dv = np.stack([cv, su * sv, -cu * sv], axis=1)
    columns = np.stack([length[:, None] * du, length[:, None] * dv, d], axis=2)
    rate = np.linalg.solve(columns, velocity[..., None])[..., 0]
    ru, rv, rl = rate.T[..., None]
    second_u = np.stack([zero, su * cv, -cu * cv], axis=1)
    second_uv = np.stack([zero, cu * sv, su * sv], axis=1)
    curving = length[:, None] * (ru**2 * second_u + 2.0 * ru * rv * second_uv - rv**2 * d)
    coriolis = 2.0 * rl * (ru * du + rv * dv)
    second = np.linalg.solve(columns, (acceleration - curving - coriolis)[..., None])[..., 0]
    return np.stack([u, v, length], axis=1), rate, second
