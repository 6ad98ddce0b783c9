# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How drive forces change when the joints are not where the drawing has them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.kernels import legs as leg_kernels
from stewart_kinematics.motion import Array, Motion

STEP = 1e-5
"""Of the differences [m]; the forces bend over millimetres."""

Legs = tuple[Array, Array, Array]
Moved = list[tuple[Array, Motion]]


def motions_with_moved_joints(inertial: InertialModel, motion: Motion) -> Moved:
    """Return joints (2, 6, 3) with one coordinate moved by STEP, and the motion then, 36 times.

    The legs' lengths, rates and accelerations are what is measured: with other joints the same
    lengths mean another motion.

    Args:
        inertial: Nominal joints, with which the motion was made of the lengths.
        motion: Of the nominal platform, n samples.
    """
    joints = np.stack([inertial.base_joints, inertial.platform_joints])
    legs, moved = _legs_of(joints, motion), []
    for k in range(36):
        others = joints.copy()
        others.reshape(-1)[k] += STEP
        moved.append((others, _motion_of(others, legs, motion)))
    return moved


def joint_error_columns(inertial: InertialModel, motion: Motion, moved: Moved) -> Array:
    """Differentiate the forces by the coordinates of the joint centres.

    Args:
        inertial: Nominal joints, and masses.
        motion: Of the nominal platform, n samples.
        moved: What `motions_with_moved_joints` makes of it; it depends on no mass.

    Returns:
        (n, 6, 36): By x, y, z of base joints 1 to 6, then of platform joints 1 to 6 [N/m].
    """
    nominal = actuator_forces(inertial, motion)
    columns = np.empty((*motion.shape, 6, 36))
    for k, (joints, other) in enumerate(moved):
        other_model = replace(inertial, base_joints=joints[0], platform_joints=joints[1])
        columns[..., k] = (actuator_forces(other_model, other) - nominal) / STEP
    return columns


def _rows(motion: Motion) -> tuple[Array, Array]:
    return np.ascontiguousarray(motion.position), np.ascontiguousarray(motion.quaternion_xyzw)


def _legs_of(joints: Array, motion: Motion) -> Legs:
    """Lengths, rates and accelerations of the legs, each (n, 6)."""
    out = np.empty((3, *motion.shape, 6))
    leg_kernels.leg_motion(*joints, *_rows(motion), motion.twist, motion.acceleration, out)
    return out[0], out[1], out[2]


def _motion_of(joints: Array, legs: Legs, near: Motion) -> Motion:
    """Motion with the legs given, by one Newton step from a motion that all but has them."""
    length, rate, acceleration = legs
    matrix = np.empty((*near.shape, 6, 6))
    leg_kernels.jacobian(*joints, *_rows(near), matrix)
    step = _solve(matrix, length - _legs_of(joints, near)[0])
    position = near.position + step[:, :3]
    turned = Rotation.from_rotvec(step[:, 3:]) * Rotation.from_quat(near.quaternion_xyzw)
    quaternion = np.ascontiguousarray(turned.as_quat())
    leg_kernels.jacobian(*joints, position, quaternion, matrix)
    twist = _solve(matrix, rate)
    change = np.empty_like(matrix)
    leg_kernels.jacobian_derivative(*joints, position, quaternion, twist, change)
    rest = acceleration - np.einsum('nij,nj->ni', change, twist)
    return Motion(position, quaternion, twist, _solve(matrix, rest))


def _solve(matrix: Array, right: Array) -> Array:
    return np.asarray(np.linalg.solve(matrix, right[..., None])[..., 0])
