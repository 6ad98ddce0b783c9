# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics by Pinocchio, a peer: Newton on the closure of six legs."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.inverse import leg_lengths, passive_angles


class ClosedLoop:
    """A platform on six legs, each universal – prismatic – (cut) spherical.

    Legs and platform are open chains of one model; Newton's method closes the six gaps between
    leg tips and platform joints, with the prismatic joints held at the lengths asked for.

    Args:
        geometry: Joints of the platform; the neutral pose is the first iterate.
    """

    def __init__(self, geometry: Geometry) -> None:
        self.model = pin.Model()
        self.tips, self.joints, self._prismatic = [], [], []
        for leg in range(6):
            at_base = pin.SE3(np.eye(3), geometry.base_joints[leg].copy())
            parent = self._add(0, pin.JointModelRX(), at_base, f'leg_{leg + 1}_u')
            parent = self._add(parent, pin.JointModelRY(), pin.SE3.Identity(), f'leg_{leg + 1}_v')
            parent = self._add(parent, pin.JointModelPZ(), pin.SE3.Identity(), f'leg_{leg + 1}')
            self._prismatic.append(self.model.joints[parent].idx_v)
            self.tips.append(self._frame(parent, pin.SE3.Identity(), f'tip_{leg + 1}'))
        platform = self._add(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), 'platform')
        self.platform = platform
        for leg in range(6):
            offset = pin.SE3(np.eye(3), geometry.platform_joints[leg].copy())
            self.joints.append(self._frame(platform, offset, f'joint_{leg + 1}'))
        self.data = self.model.createData()
        self._free = np.setdiff1d(np.arange(self.model.nv), self._prismatic)
        self._start = self._configuration(geometry)

    def _add(self, parent: int, joint: object, placement: object, name: str) -> int:
        return self.model.addJoint(parent, joint, placement, name)

    def _frame(self, parent: int, placement: object, name: str) -> int:
        return self.model.addFrame(pin.Frame(name, parent, 0, placement, pin.FrameType.OP_FRAME))

    def _configuration(self, geometry: Geometry) -> Array:
        """Return the configuration of the neutral pose."""
        pose = geometry.neutral_pose
        angles = passive_angles(geometry, pose.position, pose.quaternion_xyzw)
        lengths = leg_lengths(geometry, pose.position, pose.quaternion_xyzw)
        legs = np.column_stack([angles, lengths]).ravel()
        return np.concatenate([legs, pose.position, pose.quaternion_xyzw])

    def solve(self, lengths: Array, tolerance: float = 1e-12) -> tuple[Array, int]:
        """Close the loops.

        Args:
            lengths (6,): Joint-to-joint lengths [m].
            tolerance: Largest gap that is left [m].

        Returns:
            (7,): Position and quaternion x, y, z, w of the platform.
            Newton steps.

        Raises:
            RuntimeError: If thirty steps do not close the loops.
        """
        q = self._start.copy()
        q[self._prismatic] = lengths
        step = np.zeros(self.model.nv)
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        for iteration in range(30):
            pin.computeJointJacobians(self.model, self.data, q)
            pin.updateFramePlacements(self.model, self.data)
            gap, matrix = np.empty(18), np.empty((18, self.model.nv))
            for leg, (tip, joint) in enumerate(zip(self.tips, self.joints, strict=True)):
                rows = slice(3 * leg, 3 * leg + 3)
                gap[rows] = self.data.oMf[tip].translation - self.data.oMf[joint].translation
                matrix[rows] = (
                    pin.getFrameJacobian(self.model, self.data, tip, axes)[:3]
                    - pin.getFrameJacobian(self.model, self.data, joint, axes)[:3]
                )
            if np.abs(gap).max() <= tolerance:
                return q[-7:], iteration
            step[self._free] = -np.linalg.solve(matrix[:, self._free], gap)
            q = pin.integrate(self.model, q, step)
        raise RuntimeError('Pinocchio did not close the loops')
