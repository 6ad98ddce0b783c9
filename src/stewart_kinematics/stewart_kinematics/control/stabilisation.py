# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Keep a platform level, and where the legs allow at its height, on a base that moves.

The state is the base's roll, pitch and heave that are made up for, x (3,), with two derivatives.
It follows what is predicted; level comes first: height takes what strokes and rates of the legs
leave. A step is taken only if the guard allows it with a stop after it; otherwise the stop of the
step before is followed, so no setpoint breaks a limit.
"""

from __future__ import annotations

import numpy as np
from stewart_kinematics.kernels.steering import shortest
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Array, mean_jerk, Motion
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.solvers.jacobian import jacobian
from stewart_kinematics.spatial import quaternion_from_matrix

STRENGTH, RESERVE = 0.7, 0.005
"""Parts of acceleration and jerk that are used, and of every limit that is left [-]."""
PULL, GRIP = 8.0, 30.0
"""Gains from a deviation to a rate, and from a rate's to an acceleration [1/s]."""
ROLL, PITCH, HEAVE = range(3)


def levelling(x: Array, height: float) -> Motion:
    """Return the motion of the platform that makes up for the base's.

    Args:
        x (..., 3, 3): Value, rate and acceleration (rows) of the base's roll, pitch, heave.
        height: Of the platform in the world where the heave is 0 [m].
    """
    value, rate, change = np.moveaxis(x, -2, 0)
    roll, pitch = value[..., 0], value[..., 1]
    c, s, cp, sp = np.cos(roll), np.sin(roll), np.cos(pitch), np.sin(pitch)
    zero = np.zeros_like(roll)
    to_base = np.stack([cp, zero, -sp, sp * s, c, cp * s, sp * c, -s, cp * c], axis=-1)
    (dr, dp, dz), (ar, ap, az) = np.moveaxis(rate, -1, 0), np.moveaxis(change, -1, 0)
    omega = -np.stack([dr, dp * c, -dp * s], axis=-1)
    alpha = -np.stack([ar, ap * c - dp * dr * s, -ap * s - dp * dr * c], axis=-1)
    # z = n / d with n = height - heave and d = cos roll cos pitch.
    n, d = height - value[..., 2], c * cp
    d1 = -s * cp * dr - c * sp * dp
    d2 = -d * (dr**2 + dp**2) + 2.0 * s * sp * dr * dp - s * cp * ar - c * sp * ap
    z = n / d
    z1 = (-dz - z * d1) / d
    z2 = (-az - 2.0 * z1 * d1 - z * d2) / d
    quaternion = quaternion_from_matrix(to_base.reshape(*roll.shape, 3, 3))
    up = [np.stack([zero, zero, v], axis=-1) for v in (z, z1, z2)]
    return Motion.of_vectors(up[0], quaternion, up[1], omega, up[2], alpha)


class Stabilisation:
    """Setpoints that keep a platform level, one every period.

    Args:
        guard: Judge of every setpoint.
        period: Between setpoints [s].

    Attributes:
        x (3, 3): See `levelling`.
        limited: Share of the steps that followed a stop instead of what was predicted [-].
    """

    def __init__(self, guard: MotionGuard, period: float) -> None:
        limits, part = guard.platform.limits, STRENGTH * guard.scale
        self._guard, self._period = guard, period
        self._height = float(guard.platform.geometry.neutral_pose.position[2])
        self._jerks = 0.98 * guard.scale * np.array([limits.linear_jerk, limits.angular_jerk])
        # A turn lifts a tilted platform, so angles get less than height does.
        self._bounds = part * np.array(
            [
                [0.5 * limits.angular_acceleration, 0.5 * limits.angular_jerk],
                [limits.linear_acceleration, limits.linear_jerk],
            ]
        )
        self._rate = (1.0 - 4.0 * RESERVE) * guard.scale * limits.rate
        self._speed = (1.0 - 4.0 * RESERVE) * guard.scale * limits.linear_velocity
        self._angles = 0.97 * np.array([limits.roll, limits.pitch]).T
        self.x = np.zeros((3, 3))
        self._stop, self._since = self._stopping(self.x), 0.0
        self._steps = self._refused = 0

    @property
    def limited(self) -> float:
        """Share of the steps that followed a stop."""
        return self._refused / max(self._steps, 1)

    def advance(self, predicted: Array) -> Motion:
        """Return the next setpoint for a base that will move as predicted, see `levelling`."""
        x = self._followed(predicted)
        plan = self._stopping(x)
        times = np.arange(0.0, plan[1].max() + self._period, self._period)
        self._steps += 1
        # The first, the state before, is taken for granted.
        coming = np.concatenate([self.x[None], self._along(plan, times)])
        motion = levelling(coming, self._height)
        jerk = mean_jerk(motion, np.linspace(0.0, self._period * len(times), len(times) + 1)).max(
            axis=0
        )
        if np.any(jerk > self._jerks) or self._guard.nearer(motion, RESERVE):
            self._refused += 1
            self._since += self._period
            self.x = self._along(self._stop, np.array([self._since]))[0]
        else:
            self._stop, self._since, self.x = plan, 0.0, x
        return levelling(self.x, self._height)

    def _followed(self, predicted: Array) -> Array:
        """Return the state one period later on the way to what is predicted."""
        bounds = self._bounds[[0, 0, 1]]
        lower, upper, slow, fast = self._room()
        h = self._period
        value, speed, change = self.x
        coming, coming_rate = value + h * (speed + 0.5 * h * change), speed + h * change
        target = np.clip(predicted[0], lower, upper)
        free = target == predicted[0]
        rate = np.where(free, predicted[1], 0.0) + PULL * (target - coming)
        # Whoever comes to an end can still brake before it.
        brake = 0.4 * bounds[:, 0]
        near = np.sqrt(2.0 * brake * np.maximum(value - lower, 0.0))
        far = np.sqrt(2.0 * brake * np.maximum(upper - value, 0.0))
        wanted = np.clip(rate, np.maximum(slow, -near), np.minimum(fast, far))
        ahead = np.where(free & (wanted == rate), predicted[2], 0.0)
        push = np.clip(ahead + GRIP * (wanted - coming_rate), -bounds[:, 0], bounds[:, 0])
        jerk = np.clip((push - change) / h, -bounds[:, 1], bounds[:, 1])
        return np.stack(
            [
                value + h * (speed + h * (change / 2.0 + h * jerk / 6.0)),
                speed + h * (change + h * jerk / 2.0),
                change + h * jerk,
            ]
        )

    def _room(self) -> tuple[Array, Array, Array, Array]:
        """Return what each coordinate may be, and how fast, given the others; (3,) each."""
        still = levelling(self.x, self._height)
        geometry, limits = self._guard.platform.geometry, self._guard.platform.limits
        place = still.position, still.quaternion_xyzw
        push = jacobian(geometry, *place)
        lift = push[:, 2]
        lengths = leg_lengths(geometry, *place) - geometry.retracted_length
        margin = 2.0 * RESERVE * np.ptp(limits.stroke, axis=1)
        # To first order in what is left of the strokes, which is small where it matters.
        up = ((limits.stroke[:, 1] - margin - lengths) / lift).min()
        down = ((limits.stroke[:, 0] + margin - lengths) / lift).max()
        turning = push[:, 3:] @ still.angular_velocity
        quickest = min(((self._rate - turning) / lift).min(), self._speed)
        slowest = max(((-self._rate - turning) / lift).max(), -self._speed)
        heave = self.x[0, HEAVE]
        lower = np.array([*self._angles[0], heave - up])
        upper = np.array([*self._angles[1], heave - down])
        turn = 0.95 * self._guard.scale * limits.angular_velocity / np.sqrt(2.0)
        return lower, upper, np.array([-turn, -turn, -quickest]), np.array([turn, turn, -slowest])

    def _stopping(self, x: Array) -> tuple[Array, Array]:
        """Return a state and how long its angles and its heave need to come to rest [s]."""
        durations = np.empty(3)
        for axes, (acceleration, jerk) in zip(([0, 1], [2]), self._bounds / STRENGTH, strict=True):
            change, start = np.zeros(3), np.zeros(3)
            change[: len(axes)], start[: len(axes)] = -x[1, axes], x[2, axes]
            durations[axes] = shortest(change, start, 0.02, 0.95 * acceleration, 0.95 * jerk)
        return x, durations

    @staticmethod
    def _along(plan: tuple[Array, Array], time: Array) -> Array:
        """Return the states (n, 3, 3) of a stop at times (n,): a cubic to rate 0."""
        (value, rate, change), duration = plan
        s = np.clip(time[:, None] / duration, 0.0, 1.0)
        a, b = change * duration, -3.0 * rate - 2.0 * change * duration
        c = 2.0 * rate + change * duration
        way = duration * s * (rate + s * (a / 2.0 + s * (b / 3.0 + s * c / 4.0)))
        speed = rate + s * (a + s * (b + s * c))
        push = (a + s * (2.0 * b + 3.0 * s * c)) / duration
        return np.stack([value + way, speed, push], axis=1)
