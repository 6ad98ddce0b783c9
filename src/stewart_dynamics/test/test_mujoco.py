# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Newton-Euler against MuJoCo, an independent peer that reads the model of ``stewart export``.

Forces: MuJoCo's mass matrix, bias and connect Jacobian, solved rigidly. Motion: MuJoCo's own
simulation of the exported file under our forces and nothing else.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.exchange.mjcf import mjcf
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import plan_move
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.trajectories import Cycloidal

mujoco = pytest.importorskip('mujoco', reason='MuJoCo is an independent peer, PyPI: mujoco')

LEGS = range(1, 7)


class MujocoChain:
    """Forces of one sample from MuJoCo's mass matrix, bias and constraint Jacobian."""

    def __init__(self, platform: Platform) -> None:
        self.geometry = platform.geometry
        self.model = mujoco.MjModel.from_xml_string(mjcf(platform))
        self.data = mujoco.MjData(self.model)
        joints = [
            self.model.joint(f'leg_{n}{kind}') for n in LEGS for kind in ('_base_u', '_base_v', '')
        ]
        self.legs = [int(joint.dofadr[0]) for joint in joints]
        self.places = [int(joint.qposadr[0]) for joint in joints]
        self.slides = self.legs[2::3]

    def _closing(self) -> np.ndarray:
        rows, tip, socket = [], np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        for n in LEGS:
            for name, jacobian in (('tip', tip), ('socket', socket)):
                site = self.model.site(f'leg_{n}_{name}').id
                mujoco.mj_jacSite(self.model, self.data, jacobian, None, site)
            rows.append(tip - socket)
        return np.vstack(rows)

    def gap(self) -> float:
        """The largest distance between a leg's tip and its socket, as the chain stands."""
        mujoco.mj_kinematics(self.model, self.data)
        ends = [[self.data.site(f'leg_{n}_{k}').xpos for k in ('tip', 'socket')] for n in LEGS]
        return float(np.linalg.norm(np.diff(ends, axis=1), axis=2).max())

    def _place(self, motion: Motion) -> None:
        """Put the platform, then every leg on its socket by Newton's method."""
        self.data.qpos[:7] = [*motion.position, *motion.quaternion_xyzw[[3, 0, 1, 2]]]
        for _ in range(20):
            mujoco.mj_forward(self.model, self.data)
            gaps = [
                self.data.site(f'leg_{n}_tip').xpos - self.data.site(f'leg_{n}_socket').xpos
                for n in LEGS
            ]
            step = np.linalg.solve(self._closing()[:, self.legs], np.concatenate(gaps))
            self.data.qpos[self.places] -= step
        assert self.gap() < 1e-12

    def forces(self, motion: Motion, step: float = 1e-5) -> np.ndarray:
        """Actuator forces; the drift of the constraints by a central difference."""
        model, data = self.model, self.data
        rotation = Rotation.from_quat(motion.quaternion_xyzw).as_matrix()
        moved = np.arange(6)
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


@pytest.fixture(scope='module')
def oblique(asymmetric: Platform) -> Platform:
    """The asymmetric platform on base joints whose fixed axes point anywhere."""
    axes = np.add(np.random.default_rng(3).normal(size=(6, 3)), [2.0, 0.0, 0.0])
    return replace(asymmetric, base_joint_axes=axes / np.linalg.norm(axes, axis=1, keepdims=True))


@pytest.mark.parametrize('moving', ['general', 'circle', 'wave', 'wave as printed'])
@pytest.mark.parametrize('name', ['ex800', 'asymmetric', 'oblique'])
def test_forces_equal_mujocos_to_a_millionth(
    name: str, moving: str, request: pytest.FixtureRequest, motions: dict[str, Motion]
) -> None:
    platform, motion = request.getfixturevalue(name), motions[moving]
    chain = MujocoChain(platform)

    peer = np.array([chain.forces(motion[n]) for n in range(40)])
    ours = actuator_forces(InertialModel.from_platform(platform), motion)

    assert np.abs(ours - peer).max() < 1e-6 * np.abs(peer).max()


@pytest.mark.parametrize('name', ['vigo', 'ps6tl_1500'])
def test_forces_of_other_exports_equal_ours_at_rest_and_along_a_move(name: str) -> None:
    """The PS-6TL's legs have no mass; the export gives them a tenth of a milligram."""
    platform = Platform.from_yaml(name)
    move, _ = _a_move(platform, 1.0)
    motion = move.sample(np.linspace(0.0, move.duration, 40))  # begins and ends at rest
    chain = MujocoChain(platform)

    peer = np.array([chain.forces(motion[n]) for n in range(40)])
    ours = actuator_forces(InertialModel.from_platform(platform), motion)

    assert np.abs(ours - peer).max() < 1e-6 * np.abs(peer).max()


def _a_move(platform: Platform, duration: float) -> tuple[Cycloidal, Pose]:
    """Plan a move along and about all axes."""
    home = platform.geometry.neutral_pose
    far = 0.12 * float(np.ptp(platform.limits.stroke[0]))
    goal = Pose.from_rpy(np.add(home.position, [far, -far, far]), (0.06, -0.08, 0.10))
    return plan_move(home, goal, MotionGuard(platform), duration=duration), goal


# The PS-6TL has 3 kg on legs of 2.4 m: open-loop, any difference grows by e^11 in a second, the
# 1e-7 kg that its massless legs are written with included (19 um after 0.6 s, 0.6 mm after 1 s).
@pytest.mark.parametrize(
    ('name', 'duration'), [('ex800', 1.0), ('vigo', 1.0), ('oblique', 1.0), ('ps6tl_1500', 0.6)]
)
def test_exported_model_follows_our_motion_under_our_forces_alone(
    name: str, duration: float, request: pytest.FixtureRequest
) -> None:
    stored = name != 'oblique'
    platform = Platform.from_yaml(name) if stored else request.getfixturevalue(name)
    move, goal = _a_move(platform, duration)
    model = mujoco.MjModel.from_xml_string(mjcf(platform))
    data, step = mujoco.MjData(model), model.opt.timestep
    count = round(move.duration / step)
    middles, ends = (np.arange(count) + 0.5) * step, (np.arange(count) + 1.0) * step
    forces = actuator_forces(InertialModel.from_platform(platform), move.sample(middles))
    wanted = move.sample(ends)
    where, turned = np.zeros((count, 3)), np.zeros((count, 4))

    for n in range(count):
        data.ctrl[:] = forces[n]
        mujoco.mj_step(model, data)
        where[n], turned[n] = data.qpos[:3], data.qpos[[4, 5, 6, 3]]

    off = Rotation.from_quat(wanted.quaternion_xyzw).inv() * Rotation.from_quat(turned)
    error = np.linalg.norm(where - wanted.position, axis=1)
    error += off.magnitude() * platform.geometry.length_scale
    assert np.linalg.norm(goal.position - platform.geometry.neutral_pose.position) > 0.03
    assert error.max() < 1e-4


def test_exported_sensors_say_stroke_force_and_gravity() -> None:
    platform = Platform.from_yaml('ex800')
    rest = Motion.at_rest(platform.geometry.neutral_pose)
    model = mujoco.MjModel.from_xml_string(mjcf(platform))
    data = mujoco.MjData(model)
    data.ctrl[:] = actuator_forces(InertialModel.from_platform(platform), rest)
    mujoco.mj_step(model, data)

    strokes = [data.sensor(f'leg_{n}_stroke').data[0] for n in LEGS]
    assert strokes == pytest.approx(inverse(platform.geometry, rest).stroke, abs=1e-7)
    felt = [data.sensor(f'leg_{n}_force').data[0] for n in LEGS]
    assert felt == pytest.approx(data.ctrl)
    specific = data.sensor('imu_specific_force').data
    assert specific == pytest.approx(-platform.gravity, abs=1e-3)
