# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Inverse and forward dynamics of the closed chain by Pinocchio, a peer."""

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
        self._closings = pin.StdVec_RigidConstraintModel()
        self._closing_data = pin.StdVec_RigidConstraintData()
        for pair in zip(self.tips, self.joints, strict=True):
            self._closings.append(self._closing(*pair))
            self._closing_data.append(self._closings[-1].createData())
        pin.initConstraintDynamics(self.model, self.data, self._closings, self._closing_data)

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

    def _closing(self, tip: int, joint: int) -> pin.RigidConstraintModel:
        """Return the constraint that holds a leg's tip at its joint, without a corrector."""
        frames = [self.model.frames[number] for number in (tip, joint)]
        ends = [item for frame in frames for item in (frame.parentJoint, frame.placement)]
        return pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, self.model, *ends, pin.ReferenceFrame.LOCAL
        )

    def derivative(self, state: Array, forces: Array) -> Array:
        """Return the derivative of positions and velocities, shape (49,), under leg forces."""
        q, v = state[:25], state[25:]
        torques = np.zeros(24)
        torques[2:18:3] = forces
        acceleration = pin.constraintDynamics(
            self.model, self.data, q, v, torques, self._closings, self._closing_data
        )
        x, y, z, w = q[21:]
        vector, omega = q[21:24], v[21:]
        # Of a quaternion without unit length, which the stages of a step have, the same rotation.
        turn = np.concatenate([w * omega + np.cross(vector, omega), [-vector @ omega]])
        rotation = pin.Quaternion(w, x, y, z).normalized().toRotationMatrix()
        return np.concatenate([v[:18], rotation @ v[18:21], 0.5 * turn, acceleration])

    def step(self, state: Array, forces: Array, duration: float) -> Array:
        """Go on by one Runge-Kutta step of fourth order."""
        first = self.derivative(state, forces)
        second = self.derivative(state + 0.5 * duration * first, forces)
        third = self.derivative(state + 0.5 * duration * second, forces)
        fourth = self.derivative(state + duration * third, forces)
        out = state + duration / 6.0 * (first + 2.0 * (second + third) + fourth)
        out[21:25] /= np.linalg.norm(out[21:25])
        return out

    def motion(self, state: Array) -> Motion:
        """Return the platform's motion of a state, without acceleration."""
        rotation = Rotation.from_quat(state[21:25])
        twist = np.concatenate([rotation.apply(state[43:46]), rotation.apply(state[46:49])])
        return Motion(state[18:21], state[21:25], twist)

    def gap(self, state: Array) -> float:
        """Return the largest distance of a leg's tip from its joint [m]."""
        pin.framesForwardKinematics(self.model, self.data, state[:25])
        ends = zip(self.tips, self.joints, strict=True)
        places = [[self.data.oMf[end].translation for end in pair] for pair in ends]
        return float(max(np.linalg.norm(tip - joint) for tip, joint in places))

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
