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

from abc import ABC, abstractmethod

import numpy as np
from stewart_cueing.kernels import governor as kernels
from stewart_kinematics.control.steering import (
    PlanFollower,
    RESERVE,
    SHORTEST_STOP,
    SteeredPlan,
    STRENGTH,
)
from stewart_kinematics.kernels.steering import COLUMNS, PIECES
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Array, magnitudes, Motion, Pose
from stewart_kinematics.spatial import compose_quaternions, invert_quaternion, log_quaternion

BANDWIDTH = 8.0
"""Of the governor, if nothing else is said [rad/s]."""

LEAST_CHECKS = 10
"""Instants at which a stop is checked at least."""

ROUNDING = 1e-9
"""Of instants [s]."""


class Governor(PlanFollower):
    """Follow a wanted motion from a rest, one period after the other.

    Args:
        start: Pose at rest at time 0.
        period: Time between two calls of `advance` [s].
        scale: Part of velocity, acceleration and jerk with which a deviation is worked off.
        bandwidth: How fast a deviation from the wanted motion is worked off [rad/s].

    The share is the part of the wanted change of acceleration that was made in the last step.
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
        super().__init__(guard, start)
        self._speeds = guard.scale * guard.platform.limits.velocities
        self._bounds = STRENGTH * self._limits
        self._period, self._scale, self._bandwidth = period, scale, bandwidth
        self._wanted = Motion.at_rest(start)
        self.plan = self._made(self._wanted, 0.0, np.zeros((2, 3)))

    def advance(self, now: float, wanted: Motion) -> Motion:
        """Choose the plan to follow from `now` on, towards what is wanted a period later.

        Args:
            now: Time since the start [s]; it must not go back.
            wanted: One sample.

        Returns:
            The motion at `now`.
        """
        state = self.plan.sample(now)
        self._go_on(state, now, self._accelerations(state, wanted))
        self._wanted = wanted
        return state

    def accelerate(self, now: float, asked: Array) -> Motion:
        """Choose the plan to follow from `now` on, towards accelerations a period later.

        Args:
            now: Time since the start [s]; it must not go back.
            asked: Linear and angular, (6,) [m/s², rad/s²]; too large ones keep their directions.

        Returns:
            The motion at `now`.
        """
        state = self.plan.sample(now)
        self._go_on(state, now, asked.reshape(2, 3))
        return state

    def _go_on(self, state: Motion, now: float, asked: Array) -> None:
        """Adopt the plan nearest to accelerations (2, 3) after a period that keeps the limits."""
        target = self._reached(state, asked)
        base = self.plan.sample(now + self._period).acceleration.reshape(2, 3)
        check = now + self._period, LEAST_CHECKS
        self.share, self.limited_by = 1.0, self._adopt(self._made(state, now, target), *check)
        if self.limited_by:
            self.share = self._largest(
                lambda part: self._made(state, now, base + part * (target - base)), 0.5, *check
            )
        if self.plan.duration <= now:
            # It rests in front of a limit, and still something is wanted.
            self.plan = self._made(state, now, np.zeros((2, 3)))

    def _accelerations(self, state: Motion, wanted: Motion) -> Array:
        """Return the accelerations to have after a period (2, 3).

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
        return wanted.acceleration.reshape(2, 3) + 2.0 * self._bandwidth * gap

    def _reached(self, state: Motion, asked: Array) -> Array:
        """Return asked accelerations (2, 3) within their bounds and those of the jerk."""
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


class Follower(ABC):
    """Follow something live from a rest, one row for every period that has elapsed.

    Attributes:
        governor: What follows; it says what limits it.
    """

    def __init__(self, governor: Governor, period: float) -> None:
        self.governor = governor
        self._period, self._rows = period, 0

    @property
    def plan(self) -> SteeredPlan:
        """What is followed now; it ends at rest."""
        return self.governor.plan

    def advance(self, now: float) -> None:
        """Go on to an instant since the start [s]."""
        while self._rows * self._period <= now + ROUNDING:
            self.step(self._rows * self._period)
            self._rows += 1

    @abstractmethod
    def step(self, moment: float) -> None:
        """Follow for a period from a moment since the start on [s]."""


def shortened(vectors: Array, longest: Array) -> Array:
    """Return two vectors (2, 3), each with its direction and at most its length (2,)."""
    length = magnitudes(vectors.ravel())
    return vectors * np.minimum(1.0, longest / np.maximum(length, 1e-300))[:, None]
