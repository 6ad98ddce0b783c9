# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The hardest case for every method: the EX800 with bodies of no symmetry on tilted ground."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.model.platform import Platform, RigidBody
from stewart_kinematics.motion import Motion
from stewart_kinematics.trajectories.multi_sine import MultiSine


def platform() -> Platform:
    """Return the EX800 with full inertias, centres of mass off every axis, tilted gravity."""
    known = Platform.from_yaml('ex800')
    assert known.masses is not None
    turn = Rotation.from_euler('ZYX', [0.5, -0.4, 0.3]).as_matrix()

    def skewed(body: RigidBody, shift: tuple[float, float, float]) -> RigidBody:
        inertia = turn @ body.inertia @ turn.T
        return RigidBody(body.mass, body.centre_of_mass + np.array(shift), inertia)

    masses = replace(
        known.masses,
        gravity=np.array([1.2, -2.1, -9.4]),
        platform=skewed(known.masses.platform, (0.02, -0.03, 0.05)),
        cylinder=skewed(known.masses.cylinder, (0.010, 0.006, 0.0)),
        rod=skewed(known.masses.rod, (-0.004, 0.007, 0.0)),
    )
    return replace(known, masses=masses)


def motion(where: Platform, samples: int) -> Motion:
    """Return samples of a motion of all six axes at once."""
    sines = MultiSine(
        where.geometry.neutral_pose,
        'ZXY',
        amplitude=np.array([[0.02], [0.03], [0.02], [0.12], [0.15], [0.2]]),
        angular_frequency=np.array([[2.0], [1.3], [3.0], [1.7], [2.1], [1.1]]),
        phase=np.array([[0.3], [1.0], [-0.4], [0.8], [2.0], [-1.2]]),
    )
    return sines.sample(np.linspace(0.0, 6.0, samples))
