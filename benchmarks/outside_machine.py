# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A second world for the estimator: machine, motion, IMU and tracker, in numpy alone.

Nothing of ours is imported. Every seed draws another machine: six joints of no symmetry on either
side, an IMU anywhere on the platform and turned in any way, another noise for every leg and axis,
and a motion of twelve sines after a rest. Attitudes are products of three rotations, their
derivatives follow from the product rule, so there is neither a quaternion nor a difference
quotient. Sensors keep their own time: stamps jitter, and no IMU sample falls on one of the legs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GRAVITY = 9.80665
REST, FADE = 3.0, 2.0
"""Seconds at rest before the motion, and until it has its full size."""
IMU_RATE, LEG_RATE, POSE_RATE = 200.0, 100.0, 25.0
"""[Hz]."""
JITTER = 2e-4
"""Of the instants of measurement, which are stamped as they are [s]."""
GENERATORS = np.array(
    [
        [[0.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]],
        [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 0.0]],
        [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ]
)
"""Derivative of a rotation by its angle, at zero, for x, y and z."""


def about(axis: Array, angle: float) -> Array:
    """Return a rotation matrix by Rodrigues' formula; the axis has length 1."""
    cross = np.tensordot(axis, GENERATORS, 1)
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross)


@dataclass(frozen=True, eq=False)
class State:
    """Motion of the platform at n instants, all in base axes.

    Attributes:
        place, rate, acceleration (n, 3): Of the platform's origin [m], [m/s], [m/s²].
        turn, turn_rate, turn_acceleration (n, 3, 3): Rotation matrix and its time derivatives.
    """

    place: Array
    rate: Array
    acceleration: Array
    turn: Array
    turn_rate: Array
    turn_acceleration: Array


class OutsideMachine:
    """One machine with its motion and its sensors; which one follows from the seed.

    Args:
        seed: Of all that is drawn.
        turned: Angle by which the IMU is turned against what is written, about a drawn axis [rad].
        imu_late, pose_late: Age of samples of IMU and tracker at their stamps [s].
        leg_noise_grows: What the legs' noise is multiplied by once the platform moves.
        pose_noise: Of the tracker's position and attitude [m], [rad].
    """

    def __init__(
        self,
        seed: int,
        *,
        turned: float = 0.0,
        imu_late: float = 0.0,
        pose_late: float = 0.0,
        leg_noise_grows: float = 1.0,
        pose_noise: tuple[float, float] = (1e-3, 2e-3),
    ) -> None:
        rng = self.rng = np.random.default_rng([17, seed])
        self.imu_late, self.pose_late, self.pose_noise = imu_late, pose_late, pose_noise
        self.leg_noise_grows = leg_noise_grows
        angles = np.radians([-12.0, 12.0, 108.0, 132.0, 228.0, 252.0]) + rng.normal(0, 0.05, 6)
        upper = np.radians([-48.0, 48.0, 72.0, 168.0, 192.0, 288.0]) + rng.normal(0, 0.05, 6)
        self.base = _ring(angles, 0.55) + rng.normal(0.0, 0.01, (6, 3))
        self.platform = _ring(upper, 0.42) + rng.normal(0.0, 0.01, (6, 3))
        self.home = np.array([0.0, 0.0, 0.8])
        self.imu_place = rng.uniform(-0.2, 0.2, 3)
        self.mounting = _any_rotation(rng)
        self.turn_axis = _unit(rng)
        self.misalignment = turned * self.turn_axis
        self.imu_turn = self.mounting @ about(self.turn_axis, turned)
        self.force_noise = 0.01 * rng.uniform(0.7, 1.4, 3)
        self.rate_noise = 5e-4 * rng.uniform(0.7, 1.4, 3)
        self.leg_noise = 1.5e-5 * rng.uniform(0.6, 1.6, 6)
        self.force_bias, self.rate_bias = rng.normal(0, 0.05, 3), rng.normal(0, 2e-3, 3)
        # Two sines in each coordinate: place along x, y, z, then angles about x, y, z.
        sizes = np.array([0.02, 0.02, 0.015, 0.06, 0.06, 0.06])
        self._sizes = sizes[:, None] * rng.uniform(0.4, 1.0, (6, 2))
        self._omega = (
            2.0 * np.pi * np.column_stack([rng.uniform(0.15, 0.5, 6), rng.uniform(0.6, 1.3, 6)])
        )
        self._phases = rng.uniform(0.0, 2.0 * np.pi, (6, 2))

    def state(self, time: Array) -> State:
        """Return the motion at n instants."""
        q, dq, ddq = self._coordinates(time)
        factors = [_axis_turns(q[:, 3 + k], dq[:, 3 + k], ddq[:, 3 + k], k) for k in range(3)]
        (x, dx, ddx), (y, dy, ddy), (z, dz, ddz) = factors
        zy, dzy = z @ y, dz @ y + z @ dy
        ddzy = ddz @ y + 2.0 * dz @ dy + z @ ddy
        return State(
            self.home + q[:, :3],
            dq[:, :3],
            ddq[:, :3],
            zy @ x,
            dzy @ x + zy @ dx,
            ddzy @ x + 2.0 * dzy @ dx + zy @ ddx,
        )

    def _coordinates(self, time: Array) -> tuple[Array, Array, Array]:
        """Return six coordinates (n, 6) and their derivatives: sines under a smooth beginning."""
        s = np.clip((time - REST) / FADE, 0.0, 1.0)[:, None]
        w = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        dw = 30.0 * s**2 * (1.0 - s) ** 2 / FADE
        ddw = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / FADE**2
        angle = time[:, None, None] * self._omega + self._phases
        f = (self._sizes * np.sin(angle)).sum(axis=2)
        df = (self._sizes * self._omega * np.cos(angle)).sum(axis=2)
        ddf = -(self._sizes * self._omega**2 * np.sin(angle)).sum(axis=2)
        return w * f, dw * f + w * df, ddw * f + 2.0 * dw * df + w * ddf

    def legs(self, seconds: float) -> tuple[Array, Array]:
        """Return stamps (n,) and measured lengths (n, 6) [m]."""
        time = self._instants(seconds, LEG_RATE, 0.0)
        now = self.state(time)
        joints = now.place[:, None] + self.platform @ now.turn.transpose(0, 2, 1)
        lengths = np.linalg.norm(joints - self.base, axis=2)
        grown = np.where(time > REST, self.leg_noise_grows, 1.0)[:, None]
        noise = grown * self.leg_noise * self.rng.normal(size=lengths.shape)
        return time, lengths + noise

    def imu(self, seconds: float) -> tuple[Array, Array, Array]:
        """Return stamps (n,), specific force and angular velocity (n, 3) in sensor axes."""
        time = self._instants(seconds, IMU_RATE, 0.3 / IMU_RATE)
        now = self.state(time)
        pull = now.acceleration + now.turn_acceleration @ self.imu_place
        pull[:, 2] += GRAVITY
        axes = (now.turn @ self.imu_turn).transpose(0, 2, 1)
        spin = now.turn_rate @ now.turn.transpose(0, 2, 1)
        omega = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
        shape = omega.shape
        force = (axes @ pull[:, :, None])[:, :, 0] + self.force_bias
        rate = (axes @ omega[:, :, None])[:, :, 0] + self.rate_bias
        force += self.force_noise * self.rng.normal(size=shape)
        rate += self.rate_noise * self.rng.normal(size=shape)
        return time + self.imu_late, force, rate

    def poses(self, seconds: float) -> tuple[Array, Array, Array]:
        """Return stamps (n,), positions (n, 3) and rotation matrices (n, 3, 3) of a tracker."""
        time = self._instants(seconds, POSE_RATE, 0.007)
        now = self.state(time)
        position, attitude = self.pose_noise
        wrong = np.stack([about(_unit(self.rng), a) for a in self._angles(attitude, time.size)])
        noise = position * self.rng.normal(size=now.place.shape)
        return time + self.pose_late, now.place + noise, wrong @ now.turn

    def _angles(self, sigma: float, count: int) -> Array:
        """Return angles of turns whose three components have a standard deviation [rad]."""
        return sigma * np.linalg.norm(self.rng.normal(size=(count, 3)), axis=1)

    def _instants(self, seconds: float, rate: float, offset: float) -> Array:
        count = int(seconds * rate)
        return offset + np.arange(1, count + 1) / rate + self.rng.uniform(-JITTER, JITTER, count)

    def write_description(self, path: Path) -> None:
        """Write what the machine's owner believes: everything right but the turn of the IMU."""
        m = self.mounting
        rpy = np.degrees(
            [np.arctan2(m[2, 1], m[2, 2]), -np.arcsin(m[2, 0]), np.arctan2(m[1, 0], m[0, 0])]
        )
        least = 0.4
        path.write_text(
            '\n'.join(
                [
                    'name: outside',
                    'title: Machine of another world',
                    f'base_joints: {{points_m: {self.base.tolist()}}}',
                    f'platform_joints: {{points_m: {self.platform.tolist()}}}',
                    'pairing: [1, 2, 3, 4, 5, 6]',
                    f'zero_pose: {{position_m: {self.home.tolist()}, rpy_deg: [0.0, 0.0, 0.0]}}',
                    f'neutral_pose: {{position_m: {self.home.tolist()}, '
                    'rpy_deg: [0.0, 0.0, 0.0]}',
                    f'legs: {{retracted_length_m: {least}, stroke_m: [0.0, 1.0], rate_mps: 1.0, '
                    'acceleration_mps2: 10.0, base_joint_angle_deg: 60.0, '
                    'platform_joint_angle_deg: 60.0, distance_m: 0.01}',
                    'limits: {roll_deg: [-30.0, 30.0], pitch_deg: [-30.0, 30.0], '
                    'yaw_deg: [-30.0, 30.0], condition_number: 50.0, linear_velocity_mps: 1.0, '
                    'linear_acceleration_mps2: 10.0, linear_jerk_mps3: 100.0, '
                    'angular_velocity_radps: 2.0, angular_acceleration_radps2: 20.0, '
                    'angular_jerk_radps3: 200.0}',
                    f'masses: {{gravity_mps2: [0.0, 0.0, {-GRAVITY}]}}',
                    f'imu: {{position_m: {self.imu_place.tolist()}, rpy_deg: {rpy.tolist()}}}',
                    'sources: {base_joints: drawn, platform_joints: drawn, pairing: drawn, '
                    'zero_pose: drawn, neutral_pose: drawn, legs: drawn, limits: drawn, '
                    'masses: drawn, imu: drawn}',
                    '',
                ]
            ),
            encoding='utf-8',
        )


def _ring(angles: Array, radius: float) -> Array:
    return radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])


def _unit(rng: np.random.Generator) -> Array:
    direction = rng.normal(size=3)
    return np.asarray(direction / np.linalg.norm(direction))


def _any_rotation(rng: np.random.Generator) -> Array:
    """Return a rotation drawn evenly from all there are."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diagonal(r))
    return q if np.linalg.det(q) > 0.0 else q[:, [1, 0, 2]]


def _axis_turns(
    angle: Array, rate: Array, acceleration: Array, axis: int
) -> tuple[Array, Array, Array]:
    """Return rotations about a base axis, (n, 3, 3), and their first two time derivatives."""
    cross = GENERATORS[axis]
    s, c = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    turn = np.eye(3) + s * cross + (1.0 - c) * cross @ cross
    first = cross @ turn
    dq, ddq = rate[:, None, None], acceleration[:, None, None]
    return turn, dq * first, ddq * first + dq**2 * cross @ first
