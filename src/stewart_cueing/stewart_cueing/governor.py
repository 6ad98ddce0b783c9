# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Follow a wanted motion within every limit of a platform: no step without a stop behind it.

As in `stewart_kinematics.control.steering` (docs/decisions/0082), what is followed is a plan that
ends at rest and that the guard allows as a whole. Each period another plan is tried: one step of
constant jerk towards the wanted acceleration, then the stop. If the guard refuses it, a smaller
part of the way from the old plan's acceleration to the wanted one is tried, and in the end the
old plan goes on. A wanted motion that keeps the limits is followed one period late, as it is.
"""

from __future__ import annotations

import numpy as np
from stewart_cueing.kernels import governor as kernels
from stewart_kinematics.control.steering import (
    JERK_RESERVE,
    RESERVE,
    SHORTEST_STOP,
    SteeredPlan,
    STRENGTH,
)
from stewart_kinematics.kernels.steering import COLUMNS, PIECES
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Array, magnitudes, mean_jerk, Motion, Pose
from stewart_kinematics.spatial import compose_quaternions, invert_quaternion, log_quaternion

BANDWIDTH = 8.0
"""Of the governor, if nothing else is said [rad/s]."""

TRIALS = 4
"""Parts of a step that are tried after all of it was refused."""

CHECK_STEP, LEAST_CHECKS, MOST_CHECKS = 0.015, 10, 64
"""Time between the instants at which a stop is checked [s], and bounds of their number."""


class Governor:
    """Follow a wanted motion from a rest, one period after the other.

    Args:
        guard: Judge of every plan.
        start: Pose at rest at time 0.
        period: Time between two calls of `advance` [s].
        scale: Part of velocity, acceleration and jerk with which a deviation is worked off.
        bandwidth: How fast a deviation from the wanted motion is worked off [rad/s].

    Attributes:
        plan: What is followed now.
        share: Part of the wanted change of acceleration that was made in the last step [-].
        limited_by: What forbade more; empty if nothing did.

    Raises:
        MotionRefused: If the platform may not rest at the start.
    """

    def __init__(
        self,
        guard: MotionGuard,
        start: Pose,
        *,
        period: float = 0.005,
        scale: float = 0.5,
        bandwidth: float = BANDWIDTH,
    ) -> None:
        rest = Motion.at_rest(start)
        guard.check(rest)
        limits = guard.platform.limits
        self._guard, self._period = guard, period
        self._speeds = guard.scale * np.array([limits.linear_velocity, limits.angular_velocity])
        bounds = [
            [limits.linear_acceleration, limits.linear_jerk],
            [limits.angular_acceleration, limits.angular_jerk],
        ]
        self._bounds = np.ascontiguousarray(STRENGTH * guard.scale * np.array(bounds))
        self._jerks = (1.0 - JERK_RESERVE) * guard.scale * np.array([row[1] for row in bounds])
        self._scale, self._bandwidth, self._work = scale, bandwidth, np.empty((5, 3))
        self._wanted = rest
        self.share, self.limited_by = 1.0, ''
        self.plan = self._made(rest, 0.0, np.zeros((2, 3)))

    def advance(self, now: float, wanted: Motion) -> Motion:
        """Choose the plan to follow from `now` on, towards what is wanted a period later.

        Args:
            now: Time since the start [s]; it must not go back.
            wanted: One sample.

        Returns:
            The motion at `now`.
        """
        state = self.plan.sample(now)
        target = self._accelerations(state, wanted)
        base = self.plan.sample(now + self._period).acceleration.reshape(2, 3)
        self.share, self.limited_by = 1.0, self._adopt(self._made(state, now, target))
        if self.limited_by:
            low, high, part = 0.0, 1.0, 0.5
            for _ in range(TRIALS):
                plan = self._made(state, now, base + part * (target - base))
                if why := self._adopt(plan):
                    high, self.limited_by = part, why
                else:
                    low = part
                part = 0.5 * (low + high)
            self.share = low
        if self.plan.duration <= now:
            # It rests in front of a limit, and still something is wanted.
            self.plan = self._made(state, now, np.zeros((2, 3)))
        self._wanted = wanted
        return state

    def _accelerations(self, state: Motion, wanted: Motion) -> Array:
        """Return the accelerations to have after a period (2, 3), within bounds of their own.

        The wanted motion is followed a period late: the state belongs to the last one wanted.
        """
        last = self._wanted
        turn = log_quaternion(
            compose_quaternions(last.quaternion_xyzw, invert_quaternion(state.quaternion_xyzw))
        )
        away = np.stack([last.position - state.position, turn])
        speed = last.twist.reshape(2, 3)
        # Twice critically damped: a velocity that is worked towards, and the way to it.
        aim = speed + shortened(0.5 * self._bandwidth * away, self._scale * self._speeds)
        aim = shortened(aim, (1.0 - 4.0 * RESERVE) * self._speeds)
        gap = aim - state.twist.reshape(2, 3)
        asked = wanted.acceleration.reshape(2, 3) + 2.0 * self._bandwidth * gap
        asked = shortened(asked, self._bounds[:, 0])
        now = state.acceleration.reshape(2, 3)
        return now + shortened(asked - now, self._bounds[:, 1] * self._period)

    def _made(self, state: Motion, now: float, target: Array) -> SteeredPlan:
        """Return the plan of a step to accelerations (2, 3), and its stop."""
        pieces = np.empty((2 * PIECES, COLUMNS))
        moving = np.concatenate([state.twist, state.acceleration]).reshape(4, 3)
        rest = kernels.plan_step(
            moving, target, self._period, SHORTEST_STOP, self._bounds, pieces, self._work
        )
        attitude = state.quaternion_xyzw.reshape(1, 4)
        return SteeredPlan(now, now + rest, state.position, attitude, pieces)

    def _adopt(self, plan: SteeredPlan) -> str:
        """Follow a plan if it keeps every limit; else say which one it would break."""
        ends = plan.sample(np.array([plan.begin, plan.duration]))
        if refusal := self._guard.nearer(ends, RESERVE):
            return refusal
        first = plan.begin + self._period
        count = int((plan.duration - first) / CHECK_STEP) + 2
        stop = np.linspace(first, plan.duration, min(max(LEAST_CHECKS, count), MOST_CHECKS))
        time = np.concatenate([[plan.begin], stop])
        motion = plan.sample(time)
        if refusal := self._guard.nearer(motion, RESERVE):
            return refusal
        jerk = mean_jerk(motion, time).max(axis=0)
        if np.any(jerk > self._jerks):
            return f'{"linear" if jerk[0] > self._jerks[0] else "angular"} jerk'
        self.plan = plan
        return ''


def shortened(vectors: Array, longest: Array) -> Array:
    """Return two vectors (2, 3), each with its direction and at most its length (2,)."""
    length = magnitudes(vectors.ravel())
    return vectors * np.minimum(1.0, longest / np.maximum(length, 1e-300))[:, None]
