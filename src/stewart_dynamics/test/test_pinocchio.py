# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Newton-Euler and the multibody model against Pinocchio's closed loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.multibody import MultibodyModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.model.platform import Platform, RigidBody
from stewart_kinematics.motion import Motion

pin = pytest.importorskip('pinocchio', reason='Pinocchio is an independent peer, PyPI: pin')


class ClosedChain:
    """The platform on a free joint, six legs cut at their upper joints.

    All kinematics and dynamics are Pinocchio's; only the closing equations are written here.
    """

    def __init__(self, platform: Platform) -> None:
        masses, geometry = platform.masses, platform.geometry
        assert masses is not None
        self.geometry = geometry
        self.model = pin.Model()
        self.model.gravity.linear = masses.gravity
        free = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), 'platform')
        for body in (masses.platform, masses.payload):
            if body is not None:
                self._append(free, body)
        self.tips, self.sockets, self.slides = [], [], []
        for i in range(6):
            at = pin.SE3(np.eye(3), geometry.base_joints[i])
            u = self.model.addJoint(0, pin.JointModelRX(), at, f'u{i}')
            v = self.model.addJoint(u, pin.JointModelRY(), pin.SE3.Identity(), f'v{i}')
            slide = self.model.addJoint(v, pin.JointModelPZ(), pin.SE3.Identity(), f'leg{i}')
            self._append(v, masses.cylinder)
            self._append(slide, masses.rod)
            socket = pin.SE3(np.eye(3), geometry.platform_joints[i])
            self.slides.append(self.model.joints[slide].idx_v)
            self.tips.append(self._frame(f'tip{i}', slide, pin.SE3.Identity()))
            self.sockets.append(self._frame(f'socket{i}', free, socket))
        self.data = self.model.createData()

    def _append(self, joint: int, body: RigidBody) -> None:
        inertia = pin.Inertia(body.mass, body.centre_of_mass, body.inertia)
        self.model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())

    def _frame(self, name: str, joint: int, placement: object) -> int:
        frame = pin.Frame(name, joint, placement, pin.FrameType.OP_FRAME)
        return int(self.model.addFrame(frame))

    def forces(self, motion: Motion) -> np.ndarray:
        """Actuator forces of one sample: 24 equations for six forces and six joint forces."""
        model, data = self.model, self.data
        rotation = Rotation.from_quat(motion.quaternion_xyzw).as_matrix()
        q, v, a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        q[:3], q[3:7] = motion.position, motion.quaternion_xyzw
        legs = (
            motion.position
            + self.geometry.platform_joints @ rotation.T
            - self.geometry.base_joints
        )
        for i, leg in enumerate(legs):
            length = np.linalg.norm(leg)
            d = leg / length
            q[7 + 3 * i : 10 + 3 * i] = np.arctan2(-d[1], d[2]), np.arcsin(d[0]), length
        v[:3] = rotation.T @ motion.linear_velocity
        v[3:6] = rotation.T @ motion.angular_velocity
        # the free joint's acceleration is spatial: take off omega x v
        a[:3] = rotation.T @ motion.linear_acceleration - np.cross(v[3:6], v[:3])
        a[3:6] = rotation.T @ motion.angular_acceleration
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        closing = np.vstack([self._closing_jacobian(i) for i in range(6)])
        own, moved = closing[:, 6:], closing[:, :6]
        v[6:] = np.linalg.solve(own, -moved @ v[:6])
        pin.forwardKinematics(model, data, q, v, np.concatenate([a[:6], np.zeros(18)]))
        drift = np.concatenate([self._closing_acceleration(i) for i in range(6)])
        a[6:] = np.linalg.solve(own, -drift)
        load = pin.rnea(model, data, q, v, a)
        drive = np.zeros((model.nv, 6))
        drive[self.slides, range(6)] = 1.0
        unknowns = np.linalg.solve(np.hstack([drive, closing.T]), load)
        return np.asarray(unknowns[:6])

    def _closing_jacobian(self, i: int) -> np.ndarray:
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        tip = pin.getFrameJacobian(self.model, self.data, self.tips[i], axes)[:3]
        return np.asarray(
            tip - pin.getFrameJacobian(self.model, self.data, self.sockets[i], axes)[:3]
        )

    def _closing_acceleration(self, i: int) -> np.ndarray:
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        tip, socket = (
            pin.getFrameClassicalAcceleration(self.model, self.data, frame, axes).linear
            for frame in (self.tips[i], self.sockets[i])
        )
        return np.asarray(tip - socket)


@pytest.mark.parametrize('moving', ['general', 'circle', 'wave', 'wave as printed'])
@pytest.mark.parametrize('name', ['ex800', 'asymmetric'])
def test_forces_equal_pinocchios_to_a_billionth(
    name: str, moving: str, request: pytest.FixtureRequest, motions: dict[str, Motion]
) -> None:
    platform, motion = request.getfixturevalue(name), motions[moving]
    chain = ClosedChain(platform)

    peer = np.array([chain.forces(motion[n]) for n in range(40)])
    ours = actuator_forces(InertialModel.from_platform(platform), motion)
    multibody = MultibodyModel.from_platform(platform).solve(motion).actuator_forces

    largest = np.abs(peer).max()
    assert np.abs(ours - peer).max() < 1e-9 * largest
    assert np.abs(multibody - peer).max() < 1e-9 * largest


def test_leg_spin_is_not_negligible(
    asymmetric: Platform, six_axis_motion: Callable[[np.ndarray], Motion]
) -> None:
    """The comparison above can fail: turning the universal joints changes the forces by 1e-5."""
    motion = six_axis_motion(np.linspace(0.0, 6.0, 40))
    model = InertialModel.from_platform(asymmetric)
    turned = InertialModel.from_platform(
        asymmetric, universal_axes=np.tile([0.0, 1.0, 0.0], (6, 1))
    )

    difference = actuator_forces(model, motion) - actuator_forces(turned, motion)

    assert np.abs(difference).max() > 1e-5 * np.abs(actuator_forces(model, motion)).max()
