# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The EX800 paper's platform and motions, as printed and corrected, in each reading."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from reproduction import published
from scipy.spatial.transform import Rotation
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.model.geometry import Geometry, ring_points
from stewart_kinematics.model.platform import MassProperties, Platform, RigidBody
from stewart_kinematics.motion import Array, Motion, read_only
from stewart_kinematics.trajectories import Circle, MultiSine


@dataclass(frozen=True)
class Variant:
    """One reading of the paper.

    Attributes:
        name: ``printed`` or ``corrected``: amplitude of Eq. 18's last angle and the cylinder's
            inertia.
        turn: Where R_z(phi_0) stands: ``after``, R = R_zxy R_z, or ``before``, R = R_z R_zxy.
        exchanged: Which of Eq. 18's two angles of one name is the first rotation: the one printed
            first, or, exchanged, the one printed last.
    """

    name: str = 'corrected'
    turn: str = 'after'
    exchanged: bool = False

    @cached_property
    def said(self) -> dict[str, Any]:
        """The data file."""
        return published('ex800')

    @cached_property
    def platform(self) -> Platform:
        """The platform with this variant's cylinders."""
        platform = Platform.from_yaml('ex800')
        inertia = np.diag(self.said['variants'][self.name]['cylinder_inertia'])
        cylinder = replace(masses_of(platform).cylinder, inertia=read_only(inertia))
        return with_masses(platform, cylinder=cylinder)

    @cached_property
    def angle_amplitudes(self) -> tuple[float, float, float]:
        """Amplitudes of the three local ZXY angles of Eq. 18 [rad]."""
        first, last = (
            self.said['wave']['first_amplitude'],
            self.said['variants'][self.name]['third_amplitude'],
        )
        return (last, 0.0, first) if self.exchanged else (first, 0.0, last)

    def circle(self, time: Array) -> Motion:
        """Return Eq. 17 about the home pose, samples of shape (n,)."""
        said = self.said['circle']
        home = self.platform.geometry.neutral_pose
        return Circle(home, said['radius_m'], said['angular_frequency_radps']).sample(time)

    def wave(self, time: Array) -> Motion:
        """Return Eq. 18 about the home pose, samples of shape (n,)."""
        said = self.said['wave']
        amplitude = np.array([*said['amplitude_m'], *self.angle_amplitudes])
        phase = np.where(np.arange(6) == 2, np.pi / 2, 0.0)
        frequency = np.full((6, 1), said['angular_frequency_radps'])
        home = self.platform.geometry.neutral_pose
        motion = MultiSine(home, 'ZXY', amplitude[:, None], frequency, phase[:, None]).sample(time)
        return motion if self.turn == 'after' else self._turned(motion)

    def _turned(self, motion: Motion) -> Motion:
        """Return the motion with R_z(phi_0) before R_zxy; platform_link has it taken off again."""
        turn = self.turn_rotation
        attitude = turn * Rotation.from_quat(motion.quaternion_xyzw) * turn.inv()
        return motion.replaced(
            quaternion_xyzw=attitude.as_quat(),
            angular_velocity=turn.apply(motion.angular_velocity),
            angular_acceleration=turn.apply(motion.angular_acceleration),
        )

    @property
    def turn_rotation(self) -> Rotation:
        """R_z(phi_0), which the stored platform has in its ring of joints."""
        return Rotation.from_euler('Z', self.said['turn_deg'], degrees=True)

    def paper_attitude(self, motion: Motion) -> Array:
        """Return the attitude of the paper's platform frame, phi_0 included, shape (n, 3, 3)."""
        attitude = Rotation.from_quat(motion.quaternion_xyzw) * self.turn_rotation
        return np.asarray(attitude.as_matrix())


def masses_of(platform: Platform) -> MassProperties:
    """Return the masses of a platform that has them."""
    assert platform.masses is not None
    return platform.masses


def with_masses(platform: Platform, /, **bodies: RigidBody) -> Platform:
    """Return the platform with other bodies."""
    return replace(platform, masses=replace(masses_of(platform), **bodies))


def without_legs(platform: Platform) -> Platform:
    """Return the platform on massless legs."""
    nothing = RigidBody(0.0, np.zeros(3), np.zeros((3, 3)))
    return with_masses(platform, cylinder=nothing, rod=nothing)


def without_spin(platform: Platform) -> Platform:
    """Return the platform with legs that feel no spin.

    A leg that is symmetric about its axis has the angular momentum I (d × d') + I_zz w d; without
    I_zz the spin w is nowhere, as in a model that leaves it out.
    """
    masses = masses_of(platform)
    slim = {
        name: replace(body, inertia=read_only(body.inertia * np.diag([1.0, 1.0, 0.0])))
        for name, body in (('cylinder', masses.cylinder), ('rod', masses.rod))
    }
    return with_masses(platform, **slim)


def with_centres_moved(platform: Platform, way: float) -> Platform:
    """Return the platform with the legs' centres of mass `way` [m] further from their joints."""
    masses, along = masses_of(platform), np.array([0.0, 0.0, way])
    cylinder, rod = masses.cylinder, masses.rod
    return with_masses(
        platform,
        cylinder=replace(cylinder, centre_of_mass=cylinder.centre_of_mass + along),
        rod=replace(rod, centre_of_mass=rod.centre_of_mass - along),
    )


def joints(
    platform: Platform, alpha: float, beta: float, *, turn: float = 60.0, shift: int = 1
) -> tuple[Array, Array]:
    """Return B_i and the platform joint that leg i ends at, by Eqs. 9 and 10.

    Args:
        platform: Gives the radii.
        alpha, beta, turn: Half-angles and phi_0 [deg].
        shift: Leg i ends at P_(i - shift): 0 as printed.

    Returns:
        base, platform (6, 3): [m].
    """
    geometry = platform.geometry
    radii = [
        float(np.hypot(*points[0, :2]))
        for points in (geometry.base_joints, geometry.platform_joints)
    ]
    base = ring_points(radii[0], np.radians(2.0 * alpha), 0.0, 0.0)
    upper = ring_points(radii[1], np.radians(2.0 * beta), 0.0, np.radians(turn))
    return base, np.roll(upper, shift, axis=0)


def with_joints(platform: Platform, base: Array, upper: Array) -> Platform:
    """Return the platform with other joints; GeometryError if they are singular."""
    g = platform.geometry
    return replace(
        platform,
        geometry=Geometry(g.name, base, upper, g.retracted_length, g.zero_pose, g.neutral_pose),
    )


def home_condition(platform: Platform, base: Array, upper: Array) -> float:
    """Return the condition number at home, moments divided by the radius of `upper` [m]."""
    legs = platform.geometry.neutral_pose.position + upper - base
    legs /= np.linalg.norm(legs, axis=1, keepdims=True)
    radius = np.hypot(*upper[0, :2])
    return float(np.linalg.cond(np.hstack([legs, np.cross(upper, legs) / radius])))


def radial_axes(platform: Platform) -> Array:
    """Return the paper's X_M (Eq. 16): outwards through every base joint, shape (6, 3)."""
    axes = platform.geometry.base_joints * [1.0, 1.0, 0.0]
    return np.asarray(axes / np.linalg.norm(axes, axis=1, keepdims=True))


def leg_forces(platform: Platform, motion: Motion) -> Array:
    """Return the actuator forces by Newton and Euler with the paper's axes, shape (n, 6) [N]."""
    return actuator_forces(InertialModel.from_platform(platform, radial_axes(platform)), motion)


def change(forces: Array, reference: Array) -> float:
    """Return the largest change of a force, as a part of the largest force."""
    return float(np.abs(forces - reference).max() / np.abs(reference).max())
