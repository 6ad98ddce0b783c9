# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The platform in MuJoCo, a peer: what `stewart export` writes, put where we are."""

from __future__ import annotations

from leg_coordinates import leg_coordinates
import mujoco
import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.exchange.mjcf import mjcf
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion

LEGS = range(1, 7)


class MujocoChain:
    """A platform in MuJoCo that can be put into a motion's state.

    Args:
        platform: With masses.
        integrator: ``Euler``, ``implicitfast`` or ``RK4``.
        step: Time step [s].
        hard: Closings as the export has them, as hard as MuJoCo takes; else MuJoCo's defaults.
    """

    def __init__(
        self,
        platform: Platform,
        integrator: str = 'Euler',
        step: float = 0.002,
        *,
        hard: bool = True,
    ) -> None:
        self.geometry = platform.geometry
        self.model = model = mujoco.MjModel.from_xml_string(mjcf(platform))
        # Neither end stops nor sensors: the closings are the only constraints, and what is timed.
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SENSOR
        model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        model.opt.timestep = step
        model.opt.integrator = getattr(mujoco.mjtIntegrator, f'mjINT_{integrator.upper()}')
        model.eq_solref[:] = [2.0 * step, 1.0] if hard else [0.02, 1.0]
        if not hard:
            model.eq_solimp[:] = [0.9, 0.95, 0.001, 0.5, 2.0]
        self.data = mujoco.MjData(model)
        self.drive = np.zeros((model.nv, 6))
        self.drive[8::3] = np.eye(6)
        self._system = np.hstack([self.drive, np.zeros((model.nv, 18))])

    def put(self, motion: Motion) -> None:
        """Set positions, velocities and accelerations of all joints for one sample."""
        rotation = Rotation.from_quat(motion.quaternion_xyzw).as_matrix()
        value, rate, acceleration = leg_coordinates(self.geometry, motion)
        value[:, 2] -= self.geometry.retracted_length  # the slides count strokes
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
        ends = [[self.data.site(f'leg_{n}_{k}').xpos for k in ('tip', 'socket')] for n in LEGS]
        return float(np.linalg.norm(np.diff(ends, axis=1), axis=2).max())
