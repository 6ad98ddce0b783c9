# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Newton-Euler against MuJoCo: its mass matrix, bias and connect constraints, solved rigidly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.motion import Motion
from stewart_kinematics.platform import Platform, RigidBody

mujoco = pytest.importorskip('mujoco', reason='MuJoCo is an independent peer, PyPI: mujoco')


def _inertial(*bodies: RigidBody) -> str:
    """MJCF of bodies fixed to each other."""
    mass = sum(body.mass for body in bodies)
    centre = sum(body.mass * body.centre_of_mass for body in bodies) / mass
    inertia = np.zeros((3, 3))
    for body in bodies:
        d = body.centre_of_mass - centre
        inertia += body.inertia + body.mass * (d @ d * np.eye(3) - np.outer(d, d))
    full = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    text = ' '.join(repr(float(x)) for x in full)
    return f'<inertial pos="{_text(centre)}" mass="{float(mass)!r}" fullinertia="{text}"/>'


def _text(vector: np.ndarray) -> str:
    return ' '.join(repr(float(x)) for x in vector)


def _mjcf(platform: Platform) -> str:
    masses, geometry = platform.masses, platform.geometry
    assert masses is not None
    carried = [body for body in (masses.platform, masses.payload) if body is not None]
    legs, closings = [], []
    for i in range(6):
        legs.append(
            f'<body pos="{_text(geometry.base_joints[i])}"><joint name="u{i}" axis="1 0 0"/>'
            f'<joint name="v{i}" axis="0 1 0"/>{_inertial(masses.cylinder)}'
            f'<body name="rod{i}"><joint name="leg{i}" type="slide" axis="0 0 1"/>'
            f'{_inertial(masses.rod)}</body></body>'
        )
        at = _text(geometry.platform_joints[i])
        legs[-1] = legs[-1].replace('</body></body>', f'<site name="tip{i}"/></body></body>')
        closings.append(f'<site name="socket{i}" pos="{at}"/>')
    connects = ''.join(f'<connect site1="tip{i}" site2="socket{i}"/>' for i in range(6))
    return (
        '<mujoco><compiler angle="radian" balanceinertia="false" boundmass="0" boundinertia="0"/>'
        f'<option gravity="{_text(masses.gravity)}" jacobian="dense"/><worldbody>'
        f'<body name="platform"><freejoint name="free"/>{_inertial(*carried)}'
        f'{"".join(closings)}</body>{"".join(legs)}</worldbody>'
        f'<equality>{connects}</equality></mujoco>'
    )


class MujocoChain:
    """Forces of one sample from MuJoCo's mass matrix, bias and constraint Jacobian."""

    def __init__(self, platform: Platform) -> None:
        self.geometry = platform.geometry
        self.model = mujoco.MjModel.from_xml_string(_mjcf(platform))
        self.data = mujoco.MjData(self.model)
        self.legs = [
            self.model.jnt_dofadr[self.model.joint(f'{kind}{i}').id]
            for i in range(6)
            for kind in ('u', 'v', 'leg')
        ]
        self.slides = self.legs[2::3]

    def _closing(self) -> np.ndarray:
        rows, tip, socket = [], np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        for i in range(6):
            mujoco.mj_jacSite(self.model, self.data, tip, None, self.model.site(f'tip{i}').id)
            mujoco.mj_jacSite(
                self.model, self.data, socket, None, self.model.site(f'socket{i}').id
            )
            rows.append(tip - socket)
        return np.vstack(rows)

    def _place(self, motion: Motion) -> None:
        rotation = Rotation.from_quat(motion.quaternion_xyzw).as_matrix()
        legs = (
            motion.position
            + self.geometry.platform_joints @ rotation.T
            - self.geometry.base_joints
        )
        free = self.model.jnt_qposadr[self.model.joint('free').id]
        self.data.qpos[free : free + 7] = [*motion.position, *motion.quaternion_xyzw[[3, 0, 1, 2]]]
        for i, leg in enumerate(legs):
            length = np.linalg.norm(leg)
            d = leg / length
            values = np.arctan2(-d[1], d[2]), np.arcsin(d[0]), length
            for kind, value in zip(('u', 'v', 'leg'), values, strict=True):
                self.data.qpos[self.model.jnt_qposadr[self.model.joint(f'{kind}{i}').id]] = value

    def forces(self, motion: Motion, step: float = 1e-5) -> np.ndarray:
        """Actuator forces; the drift of the constraints by a central difference."""
        model, data = self.model, self.data
        rotation = Rotation.from_quat(motion.quaternion_xyzw).as_matrix()
        free = model.jnt_dofadr[model.joint('free').id]
        moved = np.arange(free, free + 6)
        given = np.concatenate([motion.linear_velocity, rotation.T @ motion.angular_velocity])
        self._place(motion)
        mujoco.mj_forward(model, data)
        closing = self._closing()
        velocity, acceleration = np.zeros(model.nv), np.zeros(model.nv)
        velocity[moved] = given
        velocity[self.legs] = np.linalg.solve(closing[:, self.legs], -closing[:, moved] @ given)
        # How the Jacobian changes along the motion.
        start, sides = data.qpos.copy(), []
        for sign in (1.0, -1.0):
            data.qpos[:] = start
            mujoco.mj_integratePos(model, data.qpos, velocity, sign * step)
            mujoco.mj_forward(model, data)
            sides.append(self._closing())
        drift = (sides[0] - sides[1]) @ velocity / (2.0 * step)
        data.qpos[:] = start
        data.qvel[:] = velocity
        mujoco.mj_forward(model, data)
        # a free joint's translation is global, its rotation local
        acceleration[moved] = np.concatenate(
            [motion.linear_acceleration, rotation.T @ motion.angular_acceleration]
        )
        acceleration[self.legs] = np.linalg.solve(
            closing[:, self.legs], -drift - closing[:, moved] @ acceleration[moved]
        )
        mass = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        drive = np.zeros((model.nv, 6))
        drive[self.slides, range(6)] = 1.0
        load = mass @ acceleration + data.qfrc_bias
        return np.asarray(np.linalg.solve(np.hstack([drive, closing.T]), load)[:6])


@pytest.mark.parametrize('moving', ['general', 'circle', 'wave', 'wave as printed'])
@pytest.mark.parametrize('name', ['ex800', 'asymmetric'])
def test_forces_equal_mujocos_to_a_millionth(
    name: str, moving: str, request: pytest.FixtureRequest, motions: dict[str, Motion]
) -> None:
    platform, motion = request.getfixturevalue(name), motions[moving]
    chain = MujocoChain(platform)

    peer = np.array([chain.forces(motion[n]) for n in range(40)])
    ours = actuator_forces(InertialModel.from_platform(platform), motion)

    assert np.abs(ours - peer).max() < 1e-6 * np.abs(peer).max()
