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
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.solvers.inverse import leg_positions
from stewart_kinematics.solvers.jacobian import jacobian
from stewart_kinematics.spatial import compose_quaternions, rpy_from_quaternion

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


def upwards(x: Array) -> Array:
    """Return the world's z in the axes of a base that moves, with two derivatives.

    Args:
        x (..., 3, 3): As `levelling` takes it; the heave does not count.

    Returns:
        (3, 3, ...): Value and derivatives, each x, y, z.
    """
    (roll, pitch), (dr, dp), (ar, ap) = (np.moveaxis(x[..., n, :2], -1, 0) for n in range(3))
    c, s, cp, sp = np.cos(roll), np.sin(roll), np.cos(pitch), np.sin(pitch)
    bend, twist = sp * ap + cp * dp**2, 2.0 * sp * dp * dr
    return np.array(
        [
            [-sp, cp * s, cp * c],
            [-cp * dp, cp * c * dr - sp * s * dp, -cp * s * dr - sp * c * dp],
            [
                sp * dp**2 - cp * ap,
                cp * (c * ar - s * dr**2) - twist * c - bend * s,
                -cp * (s * ar + c * dr**2) + twist * s - bend * c,
            ],
        ]
    )


def product(share: Array, motion: Array) -> Array:
    """Return the product of values (n,), each given with two derivatives, shape (3, n)."""
    (part, slope, bend), (value, rate, change) = share, motion
    return np.stack(
        [
            part * value,
            part * rate + slope * value,
            part * change + 2.0 * slope * rate + bend * value,
        ]
    )


def levelling(x: Array, neutral: Pose) -> Motion:
    """Return the motion of the platform that makes up for the base's.

    Args:
        x (..., 3, 3): Value, rate and acceleration (rows) of the base's roll, pitch, heave.
        neutral: Where the platform is on a base at rest: its height and attitude in the world are
            kept, and x and y on the base.
    """
    value, rate, change = np.moveaxis(x, -2, 0)
    roll, pitch = value[..., 0], value[..., 1]
    c, s, zero = np.cos(roll), np.sin(roll), np.zeros_like(roll)
    (dr, dp, dz), (ar, ap, az) = np.moveaxis(rate, -1, 0), np.moveaxis(change, -1, 0)
    omega = -np.stack([dr, dp * c, -dp * s], axis=-1)
    alpha = -np.stack([ar, ap * c - dp * dr * s, -ap * s - dp * dr * c], axis=-1)
    # Up, in the base's axes, times the place is height - heave.
    (ux, uy, d), (ux1, uy1, d1), (ux2, uy2, d2) = upwards(x)
    px, py, height = neutral.position.tolist()
    z = (height - value[..., 2] - ux * px - uy * py) / d
    z1 = (-dz - ux1 * px - uy1 * py - z * d1) / d
    z2 = (-az - ux2 * px - uy2 * py - 2.0 * z1 * d1 - z * d2) / d
    half = 0.5 * np.stack([roll, pitch])
    (cr, cq), (sr, sq) = np.cos(half), np.sin(half)
    quaternion = np.stack([-sr * cq, -cr * sq, sr * sq, cr * cq], axis=-1)
    turned = compose_quaternions(quaternion, neutral.quaternion_xyzw)
    place = np.stack([zero + px, zero + py, z], axis=-1)
    up1, up2 = (np.stack([zero, zero, v], axis=-1) for v in (z1, z2))
    return Motion.of_vectors(place, turned, up1, omega, up2, alpha)


class BaseStabiliser:
    """Setpoints that keep a platform level, one every period, from a rest at the neutral pose.

    Args:
        period: Between setpoints [s].
        peak_period: Of the sea, roughly [s].

    Attributes:
        governor: What follows; it says what limits it.
        shares (3, 2): Parts of the angles and of the heave that are made up for [-], and their
            two derivatives.
    """

    def __init__(self, guard: MotionGuard, period: float, peak_period: float) -> None:
        geometry, limits = guard.platform.geometry, guard.platform.limits
        self._neutral = neutral = geometry.neutral_pose
        self.governor = Governor(
            guard, neutral, period=period, bandwidth=BANDWIDTH, scale=CATCH_UP
        )
        self.shares = np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
        self._platform, self._period = guard.platform, period
        self._omega = 2.0 * np.pi / peak_period
        self._waves = np.zeros(3)
        self._middle = self._drawn(Motion.at_rest(neutral))
        # Upwards, a leg of a platform that hangs grows shorter.
        lift = jacobian(geometry, neutral.position, neutral.quaternion_xyzw)[:, 2]
        self._lift = np.maximum(np.abs(lift), 1e-9)
        ends = np.concatenate([limits.stroke, limits.angles[:2]]).T
        orders = self._omega ** np.arange(4)
        # An amplitude of a leg or of the heave at the sea's frequency that keeps every limit.
        moving = guard.scale * min(limits.rate / orders[1], limits.acceleration / orders[2])
        room = np.abs(ends - self._middle)
        room[:, :6] = np.minimum(room[:, :6], moving)
        self._room = USED * room
        bounds = [limits.linear_velocity, limits.linear_acceleration, limits.linear_jerk]
        self._most = float(USED * guard.scale * np.min(np.array(bounds) / orders[1:]))

    def advance(self, now: float, predicted: Array) -> Motion:
        """Return the setpoint for `now`.

        Args:
            now: Time since the start [s]; it must not go back.
            predicted (3, 3): How the base will be a period later, see `levelling`.
        """
        self._change_shares(predicted)
        wanted = product(self.shares[:, [0, 0, 1]], predicted)
        return self.governor.advance(now, levelling(wanted, self._neutral))

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
        away = self._drawn(levelling(tilted, self._neutral)) - self._middle
        used = np.maximum([-away.min(axis=0), away.max(axis=0)], 1e-9)
        level = min(1.0, float((self._room / used).min()))
        left = np.maximum(self._room - level * used, 0.0)[:, :6] / self._lift
        heave = min(float(left.min()), self._most) / max(float(self._waves[2]), 1e-9)
        return np.array([level, min(1.0, heave)])

    def _drawn(self, motion: Motion) -> Array:
        """Return positions of the legs' joints and roll, pitch (..., 8) of poses."""
        pose = motion.position, motion.quaternion_xyzw
        angles = self._platform.limits.nearest_turn(rpy_from_quaternion(pose[1]))
        legs = leg_positions(self._platform.geometry, *pose)
        # A rod that does not reach has no position: no room holds it.
        return np.concatenate([np.nan_to_num(legs, nan=1e9), angles[..., :2]], axis=-1)
