# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The two simulation cases of the PS-6TL paper, and the models that compute their forces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lagrangian import LagrangianModel
import numpy as np
from scipy.spatial.transform import Rotation
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.model.platform import Platform, RigidBody
from stewart_kinematics.motion import Array, Motion


@dataclass(frozen=True, eq=False)
class Case:
    """One period of a case.

    Attributes:
        time (n,): [s].
        coordinates, rates, accelerations (n, 6): x, y, z absolute, roll, pitch, yaw, and
            derivatives [m, rad, per s, per s²].
    """

    time: Array
    coordinates: Array
    rates: Array
    accelerations: Array

    @property
    def motion(self) -> Motion:
        """The same for Newton and Euler; the attitude stands still in both cases."""
        still = np.zeros((len(self.time), 3))
        return Motion.of_vectors(
            self.coordinates[:, :3],
            Rotation.from_euler('ZYX', self.coordinates[:, [5, 4, 3]]).as_quat(),
            self.rates[:, :3],
            still,
            self.accelerations[:, :3],
            still,
        )


def case(
    platform: Platform, said: dict[str, Any], name: str, roll: float = 0.0, pitch: float = 0.0
) -> Case:
    """Sample one period of a case.

    Args:
        platform: Its zero pose is the home from which the paper's z counts.
        said: The cases of the data file.
        name: ``case_1`` or ``case_2``.
        roll, pitch: By how much the attitude is changed [deg].

    Returns:
        2001 samples from t = 0 on.
    """
    path, omega = said[name], said['angular_frequency_radps']
    time = np.linspace(0.0, 2.0 * np.pi / omega, 2001)
    offset = np.zeros(6)
    offset[:3] = platform.geometry.zero_pose.position + path['offset_m']
    offset[3:] = np.radians([roll, pitch, path['yaw_deg']])
    amplitude = np.array([*path['amplitude_m'], 0.0, 0.0, 0.0])
    sine, cosine = np.sin(omega * time)[:, None], np.cos(omega * time)[:, None]
    return Case(
        time,
        offset + amplitude * sine,
        omega * amplitude * cosine,
        -(omega**2) * amplitude * sine,
    )


def plate_forces(platform: Platform, run: Case) -> Array:
    """Return the forces of the closed-form model, the plate on massless legs, (n, 6) [N]."""
    model = LagrangianModel.from_platform(platform)
    return model.actuator_forces(run.coordinates, run.rates, run.accelerations)


def newton_forces(platform: Platform, run: Case) -> Array:
    """Return the forces by Newton and Euler, shape (n, 6) [N]."""
    return actuator_forces(InertialModel.from_platform(platform), run.motion)


def without_leg_inertia(platform: Platform) -> Platform:
    """Return the platform without I_b and I_t."""
    assert platform.masses is not None
    nothing = RigidBody(0.0, np.zeros(3), np.zeros((3, 3)))
    return replace(platform, masses=replace(platform.masses, cylinder=nothing, rod=nothing))
