# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The platform in MuJoCo, a peer: a free body and six legs, joined by connect constraints."""

from __future__ import annotations

from leg_coordinates import leg_coordinates
import mujoco
import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.platform import Platform, RigidBody

HARDEST = 'solimp="0.9999 0.9999 0.001 0.5 2"'
"""The largest impedance that MuJoCo takes: the constraint gives way as little as it can."""


def _text(vector: Array) -> str:
    return ' '.join(repr(float(x)) for x in vector)


def _inertial(body: RigidBody) -> str:
    full = _text(body.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
    centre = _text(body.centre_of_mass)
    return f'<inertial pos="{centre}" mass="{body.mass!r}" fullinertia="{full}"/>'


def describe(platform: Platform, option: str = '', connect: str = '') -> str:
    """
    Describe the closed chain in MJCF.

    Parameters
    ----------
    platform : Platform
        With masses, without payload.
    option, connect : str
        Further attributes of ``<option>`` and of every ``<connect>``.

    Returns
    -------
    str
        XML; the platform comes first, then the legs' joints u, v and length.

    """
    masses, geometry = platform.masses, platform.geometry
    assert masses is not None
    legs, sockets, closings = '', '', ''
    for i in range(6):
        legs += (
            f'<body pos="{_text(geometry.base_joints[i])}"><joint axis="1 0 0"/>'
            f'<joint axis="0 1 0"/>{_inertial(masses.cylinder)}'
            f'<body><joint type="slide" axis="0 0 1"/>{_inertial(masses.rod)}'
            f'<site name="tip{i}"/></body></body>'
        )
        sockets += f'<site name="socket{i}" pos="{_text(geometry.platform_joints[i])}"/>'
        closings += f'<connect site1="tip{i}" site2="socket{i}" {connect}/>'
    return (
        '<mujoco><compiler angle="radian" balanceinertia="false" boundmass="0" boundinertia="0"/>'
        f'<option gravity="{_text(masses.gravity)}" jacobian="dense" {option}>'
        f'<flag energy="enable"/></option><worldbody>'
        f'<body><freejoint/>{_inertial(masses.platform)}{sockets}</body>{legs}</worldbody>'
        f'<equality>{closings}</equality></mujoco>'
    )


class MujocoChain:
    """
    A platform in MuJoCo that can be put into a motion's state.

    Parameters
    ----------
    platform : Platform
        With masses, without payload.
    option, connect : str
        As in `describe`.

    """

    def __init__(self, platform: Platform, option: str = '', connect: str = '') -> None:
        self.geometry = platform.geometry
        self.model = mujoco.MjModel.from_xml_string(describe(platform, option, connect))
        self.data = mujoco.MjData(self.model)
        self.drive = np.zeros((self.model.nv, 6))
        self.drive[8::3] = np.eye(6)
        self._system = np.hstack([self.drive, np.zeros((self.model.nv, 18))])

    def put(self, motion: Motion) -> None:
        """Set positions, velocities and accelerations of all joints for one sample."""
        rotation = Rotation.from_quat(motion.quaternion_xyzw).as_matrix()
        value, rate, acceleration = leg_coordinates(self.geometry, motion)
        quaternion = motion.quaternion_xyzw[[3, 0, 1, 2]]
        self.data.qpos[:] = np.concatenate([motion.position, quaternion, value.ravel()])
        # A free joint's translation is global, its rotation local.
        turning = motion.angular_velocity @ rotation, motion.angular_acceleration @ rotation
        self.data.qvel[:] = np.concatenate([motion.linear_velocity, turning[0], rate.ravel()])
        self.data.qacc[:] = np.concatenate(
            [motion.linear_acceleration, turning[1], acceleration.ravel()]
        )

    def forces(self) -> Array:
        """Return the actuator forces of the state at hand, the closings taken as rigid."""
        mujoco.mj_inverse(self.model, self.data)
        load = self.data.qfrc_inverse + self.data.qfrc_constraint
        self._system[:, 6:] = self.data.efc_J.reshape(18, -1).T
        return np.linalg.solve(self._system, load)[:6]

    def platform_state(self) -> Array:
        """Return position and quaternion x, y, z, w of the platform, shape (7,)."""
        return self.data.qpos[[0, 1, 2, 4, 5, 6, 3]].copy()

    def energy(self) -> float:
        """Return potential and kinetic energy of the state at hand [J]."""
        mujoco.mj_forward(self.model, self.data)
        return float(self.data.energy.sum())

    def gap(self) -> float:
        """Return the largest distance between a leg's tip and its socket [m]."""
        mujoco.mj_forward(self.model, self.data)
        tips, sockets = self.data.site_xpos[6:], self.data.site_xpos[:6]
        return float(np.linalg.norm(tips - sockets, axis=1).max())
