# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Keep a platform level, and where the legs allow at its height, on a base that moves.

Level comes first: the legs' strokes, rates and accelerations pay for roll and pitch, and the heave
is made up for by the share that what is left of them allows. `Governor` follows the result, so no
setpoint breaks a limit.
"""

from __future__ import annotations

import numpy as np
from stewart_cueing.governor import Governor
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.solvers.jacobian import jacobian

USED = 0.75
"""Part of every limit that the shares count on [-]."""
MEMORY = 30.0
"""Time constant with which the height of a wave is forgotten [s]."""
BANDWIDTH = 25.0
"""Of the governor: predicted derivatives are not quite those of the predicted values [rad/s]."""
CATCH_UP = 0.2
"""Part of the velocities with which the governor works a deviation off [-]."""
CHANGE = 4.0
"""How fast the shares change [rad/s]."""


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
    half = 0.5 * np.stack([roll, pitch])
    (cr, cq), (sr, sq) = np.cos(half), np.sin(half)
    quaternion = np.stack([-sr * cq, -cr * sq, sr * sq, cr * cq], axis=-1)
    up = [np.stack([zero, zero, v], axis=-1) for v in (z, z1, z2)]
    return Motion.of_vectors(up[0], quaternion, up[1], omega, up[2], alpha)


class BaseStabiliser:
    """Setpoints that keep a platform level, one every period, from a rest at the neutral pose.

    Args:
        guard: Judge of every setpoint.
        period: Between setpoints [s].
        peak_period: Of the sea, roughly [s].

    Attributes:
        governor: What follows; it says what limits it.
        shares (3, 2): Parts of the angles and of the heave that are made up for [-], and their
            two derivatives.
    """

    def __init__(self, guard: MotionGuard, period: float, peak_period: float) -> None:
        geometry, limits = guard.platform.geometry, guard.platform.limits
        neutral = geometry.neutral_pose
        self.governor = Governor(
            guard, neutral, period=period, bandwidth=BANDWIDTH, scale=CATCH_UP
        )
        self.shares = np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
        self._geometry, self._period = geometry, period
        self._height = float(neutral.position[2])
        self._omega = 2.0 * np.pi / peak_period
        self._waves = np.zeros(3)
        self._angles = USED * np.abs([limits.roll, limits.pitch]).min(axis=1)
        self._lengths = leg_lengths(geometry, neutral.position, neutral.quaternion_xyzw)
        self._lift = jacobian(geometry, neutral.position, neutral.quaternion_xyzw)[:, 2]
        strokes = self._lengths - geometry.retracted_length
        shorter, longer = strokes - limits.stroke[:, 0], limits.stroke[:, 1] - strokes
        orders = self._omega ** np.arange(4)
        # An amplitude of a leg or of the heave at the sea's frequency that keeps every limit.
        moving = guard.scale * np.array([limits.rate / orders[1], limits.acceleration / orders[2]])
        self._room = USED * np.minimum(np.array([shorter, longer]), moving.min(axis=0))
        bounds = [limits.linear_velocity, limits.linear_acceleration, limits.linear_jerk]
        self._most = float(USED * guard.scale * np.min(np.array(bounds) / orders[1:]))

    def advance(self, now: float, predicted: Array) -> Motion:
        """Return the setpoint for `now`.

        Args:
            now: Time since the start [s]; it must not go back.
            predicted (3, 3): How the base will be a period later, see `levelling`.
        """
        self._change_shares(predicted)
        share = self.shares[:, [0, 0, 1]]
        value, rate, change = predicted
        wanted = np.stack(
            [
                share[0] * value,
                share[0] * rate + share[1] * value,
                share[0] * change + 2.0 * share[1] * rate + share[2] * value,
            ]
        )
        return self.governor.advance(now, levelling(wanted, self._height))

    def _change_shares(self, predicted: Array) -> None:
        """Let the shares go, smoothly, to what the waves of late allow."""
        crest = np.hypot(predicted[0], predicted[1] / self._omega)
        self._waves = np.maximum(crest, self._waves * (1.0 - self._period / MEMORY))
        share, rate, _ = self.shares
        push = CHANGE**2 * (self._allowed() - share) - 2.0 * CHANGE * rate
        rate = rate + self._period * push
        self.shares = np.stack([share + self._period * rate, rate, push])

    def _allowed(self) -> Array:
        """Return the shares (2,) with which waves as those of late keep every limit."""
        # Roll and pitch on an ellipse: their crests do not come at once.
        around = 0.25 * np.pi * np.arange(8)
        tilted = np.zeros((8, 3, 3))
        tilted[:, 0, 0] = self._waves[0] * np.cos(around)
        tilted[:, 0, 1] = self._waves[1] * np.sin(around)
        still = levelling(tilted, self._height)
        longer = leg_lengths(self._geometry, still.position, still.quaternion_xyzw) - self._lengths
        used = np.maximum([(-longer).max(axis=0), longer.max(axis=0)], 1e-9)
        level = min(
            1.0,
            float((self._room / used).min()),
            float((self._angles / np.maximum(self._waves[:2], 1e-9)).min()),
        )
        left = np.maximum(self._room - level * used, 0.0) / self._lift
        heave = min(float(left.min()), self._most) / max(float(self._waves[2]), 1e-9)
        return np.array([level, min(1.0, heave)])
