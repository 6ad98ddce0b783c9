# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The constrained multibody model: what a motion costs in forces, with every reaction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_dynamics.errors import MissingMasses, refuse_not_finite, SingularPose
from stewart_dynamics.multibody.coordinates import Coordinates
from stewart_dynamics.multibody.kernel import (
    BODIES,
    CONVERGED,
    SINGULAR_COORDINATES,
    SINGULAR_POSE,
    solve_sample,
)
from stewart_kinematics.errors import ConvergenceError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion, read_only
from stewart_kinematics.solvers.jacobian import joint_condition


@dataclass(frozen=True, eq=False)
class MultibodySolution:
    """Everything the model knows about a motion; n samples.

    Bodies are platform, cylinders 1-6, rods 1-6; a body's six coordinates are its centre of mass
    and three ZXZ angles.

    Attributes:
        coordinates, velocities, accelerations (n, 78): q, dq, ddq [m, rad and per s, s²].
        multipliers (n, 78): Eq. 7: twelve a leg (universal 4, prismatic 5, spherical 3), then the
            six drives.
        generalised_forces (n, 13, 6): Eq. 8, Q_c = C_qᵀ λ of every body [N, N m along the angles'
            axes].
        actuator_forces (n, 6): With the drives replaced by actuators in the legs, positive pushes
            apart [N].
        position_violation, velocity_violation (n,): Largest magnitude of C [m, -] and of its time
            derivative [m/s, 1/s].
    """

    coordinates: Array
    velocities: Array
    accelerations: Array
    multipliers: Array
    generalised_forces: Array
    actuator_forces: Array
    position_violation: Array
    velocity_violation: Array


@dataclass(frozen=True, eq=False)
class MultibodyModel:
    """Thirteen rigid bodies and their joints.

    Attributes:
        base_joints, platform_joints, universal_axes (6, 3): Joint centres and the universal
            joints' axes that are fixed in the base [m, -].
        gravity (3,): In ``base_link`` [m/s²].
        masses (3,): Platform with payload, cylinder, rod [kg].
        centres (3, 3): Their centres of mass from platform_link's origin, base joint, upper joint
            [m].
        inertias (3, 3, 3): About the centres of mass, body axes [kg m²].
        coordinates: Which axes the Euler angles describe.
    """

    base_joints: Array
    platform_joints: Array
    universal_axes: Array
    gravity: Array
    masses: Array
    centres: Array
    inertias: Array
    coordinates: Coordinates = Coordinates.OFFSET

    @classmethod
    def from_platform(
        cls,
        platform: Platform,
        coordinates: Coordinates = Coordinates.OFFSET,
        universal_axes: Array | None = None,
    ) -> MultibodyModel:
        """Read the model off a platform's description; a payload is fixed to the platform.

        `universal_axes` (6, 3), the paper's X_M, replaces the description's axes of the universal
        joints in the base.

        Raises:
            MissingMasses: If the description holds no masses.
        """
        known = platform.masses
        if known is None:
            raise MissingMasses(platform.name)
        carried = known.platform if known.payload is None else known.platform.joined(known.payload)
        bodies = (carried, known.cylinder, known.rod)
        geometry = platform.geometry
        return cls(
            geometry.base_joints,
            geometry.platform_joints,
            read_only(platform.base_joint_axes if universal_axes is None else universal_axes),
            read_only(known.gravity),
            read_only([body.mass for body in bodies]),
            read_only([body.centre_of_mass for body in bodies]),
            read_only([body.inertia for body in bodies]),
            coordinates,
        )

    def solve(self, motion: Motion) -> MultibodySolution:
        """Solve coordinates, their derivatives and multipliers for a motion, (n,) or ().

        Raises:
            SingularPose: If the legs do not span all wrenches at a sample.
            ConvergenceError: If the angles are singular there (``Coordinates.PAPER`` near home),
                or the constraints of a leg cannot be closed: it has no length or lies along its
                universal joint's axis.
            StewartError: If a value is not finite.
        """
        for name in Motion.__dataclass_fields__:
            refuse_not_finite(name, getattr(motion, name))
        positions = motion.position.reshape(-1, 3)
        rotations = Rotation.from_quat(motion.quaternion_xyzw.reshape(-1, 4)).as_matrix()
        twists, accelerations = motion.twist.reshape(-1, 6), motion.acceleration.reshape(-1, 6)
        count = positions.shape[0]
        q, dq, ddq, multipliers = (np.zeros((count, 6 * BODIES)) for _ in range(4))
        generalised, forces = np.empty((count, BODIES, 6)), np.empty((count, 6))
        violations = np.empty((count, 2))
        offset = self.coordinates.offset
        for n in range(count):
            status = solve_sample(
                self.base_joints, self.platform_joints, self.universal_axes, self.gravity,
                self.masses, self.centres, self.inertias, offset, positions[n], rotations[n],
                twists[n], accelerations[n], q[n], dq[n], ddq[n], multipliers[n], generalised[n],
                forces[n], violations[n],
            )  # fmt: skip
            if status != CONVERGED:
                self._explain(status, n, positions[n], rotations[n])
        return MultibodySolution(
            q, dq, ddq, multipliers, generalised, forces, violations[:, 0], violations[:, 1]
        )

    def _explain(self, status: int, index: int, position: Array, rotation: Array) -> None:
        if status == SINGULAR_POSE:
            scale = float(np.sqrt(np.mean(np.sum(self.platform_joints**2, axis=1))))
            joints = self.base_joints, self.platform_joints, scale
            attitude = Rotation.from_matrix(rotation).as_quat()[None]
            raise SingularPose(float(joint_condition(*joints, position[None], attitude)[0]), index)
        if status == SINGULAR_COORDINATES and self.coordinates is Coordinates.PAPER:
            raise ConvergenceError(
                f'the ZXZ angles are singular at sample {index} '
                f'({self.coordinates.value} coordinates); the offset coordinates are regular there'
            )
        raise ConvergenceError(f'the constraints of a leg cannot be closed at sample {index}')
