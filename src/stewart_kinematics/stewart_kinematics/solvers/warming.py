# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Everything that takes long the first time, done before anything moves."""

from __future__ import annotations

from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Motion
from stewart_kinematics.solvers.forward import forward_from_positions, forward_twist
from stewart_kinematics.solvers.inverse import inverse, passive_angles
from stewart_kinematics.solvers.jacobian import condition_number, jacobian_derivative


def warm_up(*geometries: Geometry) -> None:
    """Solve each geometry once; afterwards no call on it takes longer than any other.

    Kernels have fixed signatures and are compiled, or read from the cache on disk, when their
    module is imported. What is computed once for a geometry, its assured region above all, is
    computed here.
    """
    for geometry in geometries:
        pose = geometry.neutral_pose
        rest = Motion.at_rest(pose)
        legs = inverse(geometry, rest)
        passive_angles(geometry, pose.position, pose.quaternion_xyzw)
        jacobian_derivative(geometry, rest)
        condition_number(geometry, pose.position, pose.quaternion_xyzw)
        forward_twist(geometry, forward_from_positions(geometry, legs.stroke), legs.rate)
