# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics: from the motion of the platform to the motion of its legs.

Source: Vigo (Machines 2022, 10, 711), Algorithm 1, extended by rates and accelerations.
Samples that are not numbers give legs that are not numbers: the motion guard refuses them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.kernels import legs as leg_kernels
from stewart_kinematics.model.geometry import Geometry, X_AXES
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.spatial.leading_axes import pose_rows


@dataclass(frozen=True, eq=False)
class LegKinematics:
    """Motion of the six legs, for one sample or many.

    Attributes:
        length (..., 6): Joint-to-joint length, of rods their own [m].
        stroke (..., 6): Position of the leg's joint: length above the retracted length or carriage
            position [m], crank angle [rad]; NaN where a rod does not reach.
        rate (..., 6): [m/s], [rad/s].
        acceleration (..., 6): [m/s²], [rad/s²].
    """

    length: Array
    stroke: Array
    rate: Array
    acceleration: Array

    def __post_init__(self) -> None:
        for array in (self.length, self.stroke, self.rate, self.acceleration):
            array.setflags(write=False)


def leg_lengths(geometry: Geometry, position: ArrayLike, quaternion_xyzw: ArrayLike) -> Array:
    """Return the joint-to-joint lengths (..., 6) of the legs [m].

    Positions (..., 3) [m] and quaternions (..., 4) of any norm but zero, scalar last, are those of
    ``platform_link`` in ``base_link``; leading axes broadcast.

    Raises:
        ShapeError: If a shape differs.
    """
    p, q, lead = pose_rows(position, quaternion_xyzw)
    length = np.empty((p.shape[0], 6))
    leg_kernels.leg_lengths(geometry.base_joints, geometry.platform_joints, p, q, length)
    return length.reshape(*lead, 6)


def leg_positions(geometry: Geometry, position: ArrayLike, quaternion_xyzw: ArrayLike) -> Array:
    """Return the positions (..., 6) of the legs' joints: strokes, carriages [m] or angles [rad].

    NaN where a rod does not reach; poses are those of `leg_lengths`.
    """
    if geometry.rods is None:
        return leg_lengths(geometry, position, quaternion_xyzw) - geometry.retracted_length
    p, q, lead = pose_rows(position, quaternion_xyzw)
    return geometry.rods.positions(p, q).reshape(*lead, 6)


def inverse(geometry: Geometry, motion: Motion) -> LegKinematics:
    r"""Return lengths, strokes, rates and accelerations (..., 6) of the legs for a motion (...).

    With :math:`s_i = R b_i`, :math:`L_i = p + s_i - a_i`, :math:`d_i = L_i / l_i` (Vigo, Algorithm
    1):

    .. math::

        \dot l_i = d_i \cdot \dot L_i, \qquad
        \ddot l_i = d_i \cdot \ddot L_i + (|\dot L_i|^2 - \dot l_i^2) / l_i
    """
    (p, q, twist, acceleration), lead = motion.rows(), motion.shape
    if geometry.rods is not None:
        moved = geometry.rods.motion((p, q), twist, acceleration)
        value, rate, second = moved.reshape(3, *lead, 6)
        return LegKinematics(np.tile(geometry.rods.lengths, (*lead, 1)), value, rate, second)
    legs = np.empty((3, p.shape[0], 6))
    leg_kernels.leg_motion(
        geometry.base_joints, geometry.platform_joints, p, q, twist, acceleration, legs
    )
    length, rate, second = legs.reshape(3, *lead, 6)
    return LegKinematics(length, length - geometry.retracted_length, rate, second)


def passive_angles(
    geometry: Geometry,
    position: ArrayLike,
    quaternion_xyzw: ArrayLike,
    base_joint_axes: Array = X_AXES,
) -> Array:
    """Return the angles u and v (..., 6, 2) of the universal joints at the base [rad].

    F R_x(u) R_y(v) takes the z axis to the leg's direction, where F = R_z R_y takes the x axis to
    the axis that is fixed in the base, `base_joint_axes` (6, 3); v lies from -pi/2 to pi/2. Poses
    are those of `leg_lengths`. On a crank F is the crank's frame: x along its axis, y from its
    centre to the rod.
    """
    p, q, lead = pose_rows(position, quaternion_xyzw)
    if geometry.rods is not None:
        return geometry.rods.passive_angles(p, q, base_joint_axes).reshape(*lead, 6, 2)
    angles = np.empty((p.shape[0], 6, 2))
    leg_kernels.passive_angles(
        geometry.base_joints, geometry.platform_joints, base_joint_axes, p, q, angles
    )
    return angles.reshape(*lead, 6, 2)
