# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics of the closed chain by Pinocchio, a peer."""

from __future__ import annotations

from closed_loop import ClosedLoop
from leg_coordinates import leg_coordinates
import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion

AXES = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


class PinocchioChain(ClosedLoop):
    """The closed loop with masses; 24 coordinates, legs first.

    Args:
        platform: With masses, without payload.
    """

    def __init__(self, platform: Platform) -> None:
        super().__init__(platform.geometry)
        masses = platform.masses
        assert masses is not None
        self.geometry = platform.geometry
        self.model.gravity.linear = masses.gravity.copy()
        bodies = [(self.platform, masses.platform)]
        for leg in range(1, 7):
            bodies.append((self.model.getJointId(f'leg_{leg}_v'), masses.cylinder))
            bodies.append((self.model.getJointId(f'leg_{leg}'), masses.rod))
        for joint, body in bodies:
            inertia = pin.Inertia(body.mass, body.centre_of_mass.copy(), body.inertia.copy())
            self.model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        self.data = self.model.createData()
        self._system = np.zeros((24, 24))
        self._system[2:18:3, :6] = np.eye(6)

    def state(self, motion: Motion) -> tuple[Array, Array, Array]:
        """Return the joints' positions, velocities and accelerations for one sample."""
        value, rate, second = leg_coordinates(self.geometry, motion)
        back = Rotation.from_quat(motion.quaternion_xyzw).as_matrix().T
        velocity, omega = back @ motion.linear_velocity, back @ motion.angular_velocity
        # A free joint's acceleration is spatial: less omega x v.
        acceleration = back @ motion.linear_acceleration - np.cross(omega, velocity)
        alpha = back @ motion.angular_acceleration
        q = np.concatenate([value.ravel(), motion.position, motion.quaternion_xyzw])
        v = np.concatenate([rate.ravel(), velocity, omega])
        return q, v, np.concatenate([second.ravel(), acceleration, alpha])

    def tree(self, state: tuple[Array, Array, Array]) -> Array:
        """Return the joint forces of the open tree."""
        return np.asarray(pin.rnea(self.model, self.data, *state))

    def tree_regressor(self, state: tuple[Array, Array, Array]) -> Array:
        """Return what all bodies' parameters are multiplied by, for the open tree."""
        return np.asarray(pin.computeJointTorqueRegressor(self.model, self.data, *state))

    def forces(self, state: tuple[Array, Array, Array]) -> Array:
        """Return the actuator forces of the closed chain."""
        load = pin.rnea(self.model, self.data, *state)
        pin.computeJointJacobians(self.model, self.data, state[0])
        pin.updateFramePlacements(self.model, self.data)
        for leg, (tip, joint) in enumerate(zip(self.tips, self.joints, strict=True)):
            closing = (
                pin.getFrameJacobian(self.model, self.data, tip, AXES)[:3]
                - pin.getFrameJacobian(self.model, self.data, joint, AXES)[:3]
            )
            self._system[:, 6 + 3 * leg : 9 + 3 * leg] = closing.T
        return np.linalg.solve(self._system, load)[:6]
