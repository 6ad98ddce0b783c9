# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The rig's mechanics: the nominal platform, and how this one differs from it.

Payload, joints that are not where the drawing has them, and friction make the plant. Whoever
identifies it reads the nominal description and must not know them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from stewart_driver.legs import Array, read_only
from stewart_dynamics.forward_dynamics import Friction, initial_state, kernel_arguments
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.model.platform import Platform, RigidBody
from stewart_kinematics.motion import Motion, Pose
from stewart_simulation.rigid_drives import Plant

if TYPE_CHECKING:
    from stewart_simulation.plant_options import PlantOptions

# The joints' ends lie this far outside the angles that may be used [rad].
JOINT_MARGIN = np.radians(2.0)
# Of the payload [m].
PAYLOAD_RADIUS = 0.05


def build_plant(platform: Platform, pose: Pose, options: PlantOptions) -> Plant:
    """Return the plant of a platform at rest at a pose; raises `MissingMasses`."""
    actual = _with_payload(platform, options)
    model = InertialModel.from_platform(actual)
    rng = np.random.default_rng(options.plant_seed)
    model = replace(
        model,
        base_joints=model.base_joints + rng.normal(0.0, options.joint_error, (6, 3)),
        platform_joints=model.platform_joints + rng.normal(0.0, options.joint_error, (6, 3)),
    )
    friction = Friction(np.full(6, options.viscous_friction), np.full(6, options.coulomb_friction))
    masses = _leg_mass_matrix(model, pose)
    damping = friction.viscous + friction.coulomb / friction.stiction_rate
    rates = np.linalg.eigvals(np.linalg.solve(masses, np.diag(damping)))
    return Plant(
        kernel_arguments(model, friction),
        *_joint_ends(platform),
        read_only(platform.geometry.retracted_length),
        read_only(initial_state(pose)),
        effective_mass=float(np.diag(masses).max()),
        damping_rate=float(rates.real.max()),
    )


def payload_of(mass: float, centre: ArrayLike) -> RigidBody:
    """Return a payload, a solid sphere, by its mass [kg] and centre [m]."""
    inertia = 0.4 * mass * PAYLOAD_RADIUS**2 * np.eye(3)
    return RigidBody(mass, read_only(centre), read_only(inertia))


def _joint_ends(platform: Platform) -> tuple[Array, Array]:
    """Return the cones of the passive joints, about the legs at the neutral pose."""
    geometry, limits = platform.geometry, platform.limits
    pose = geometry.neutral_pose
    legs = pose.position + geometry.platform_joints @ pose.rotation.T - geometry.base_joints
    legs /= np.linalg.norm(legs, axis=1, keepdims=True)
    angles = np.array([limits.base_joint_angle, limits.platform_joint_angle]) + JOINT_MARGIN
    return read_only(np.stack([legs, legs @ pose.rotation])), read_only(angles)


def _with_payload(platform: Platform, options: PlantOptions) -> Platform:
    """Put the payload beside one that the description may already have."""
    if platform.masses is None or options.payload_mass == 0.0:
        return platform
    sphere = payload_of(options.payload_mass, options.payload_position)
    known = platform.masses.payload
    return replace(
        platform,
        masses=replace(platform.masses, payload=sphere if known is None else known.joined(sphere)),
    )


def _leg_mass_matrix(model: InertialModel, pose: Pose) -> Array:
    """Mass matrix seen from the legs, J^-T M J^-1 [kg]."""
    arms = model.platform_joints @ pose.rotation.T
    legs = pose.position + arms - model.base_joints
    legs /= np.linalg.norm(legs, axis=1, keepdims=True)
    twists = np.linalg.inv(np.hstack([legs, np.cross(arms, legs)])).T
    still = actuator_forces(model, Motion.at_rest(pose))
    moved = Motion(
        np.broadcast_to(pose.position, (6, 3)),
        np.broadcast_to(pose.quaternion_xyzw, (6, 4)),
        np.zeros((6, 6)),
        twists,
    )
    return np.asarray(actuator_forces(model, moved) - still).T
