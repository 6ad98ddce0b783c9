# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Motion commanded by a velocity: whatever is asked for, the platform can still come to rest.

What is followed at any time is a plan that ends at rest within every limit. A new command makes
another plan, which goes on from the pose, velocity and acceleration of the present one: for a
short time towards the velocity asked for, and then to rest. It is followed only if the guard
allows all of it. Otherwise a smaller part of the velocity is tried, and in the end the present
plan simply goes on. So setpoints near a limit become slower, and none can be refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import StewartError
from stewart_kinematics.kernels import steering as kernels
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Array, magnitudes, mean_jerk, Motion, Pose
from stewart_kinematics.trajectories.trajectory import clamp, motion_from_rows, motion_rows

TIMEOUT = 0.1  # age at which a command has no effect any more [s]
HORIZON = 4  # for so many periods a plan follows the command: a late period makes no difference
SMOOTHING = 0.06  # shortest transition from one velocity to another [s]; a stop has no such limit
SHORTEST_STOP = 0.02  # shortest stop [s]

RESERVE, JERK_RESERVE = 0.005, 0.02
"""Parts of the limits that a plan leaves: it is checked at instants only [-]."""

ROD_RESERVE = 0.015
"""The same of legs that end in rods: their acceleration changes with the angle of the rod, too."""

STRENGTH = 0.95
"""Part of acceleration and jerk that a plan uses; turning about changing axes needs the rest."""

CHECK_STEP, LEAST_CHECKS, MOST_CHECKS = 0.015, 12, 64
"""Longest time Δ between checks of a plan [s], and bounds of their number.

Between two checks a velocity exceeds both by at most j Δ² / 8, which the reserve must cover.
"""

CLOSEST_CHECKS = 1e-4  # of a plan [s]: over less a mean jerk would be rounding

TRIALS = 4  # parts of a velocity that are tried after all of it was refused


@dataclass(frozen=True, eq=False)
class SteeredPlan:
    """A trajectory that goes on from another and ends at rest.

    Attributes:
        begin, duration: When it begins and when it has come to rest, on one time [s].
        origin (3,), attitude (1, 4): Pose at the beginning.
        pieces (8, 16): See `kernels.steering.make_plan`.
    """

    begin: float
    duration: float
    origin: Array
    attitude: Array
    pieces: Array
    shortest_period: ClassVar[float] = math.inf

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s]; before `begin` and after `duration` it is clamped."""
        moment = np.maximum(clamp(time, self.duration), self.begin) - self.begin
        flat = np.ascontiguousarray(moment).reshape(-1)
        rows = motion_rows(flat.size)
        # The kernel's outputs are position, attitude, velocities, accelerations.
        kernels.follow_plan(self.pieces, self.origin, self.attitude, flat, *rows)
        return motion_from_rows(rows, moment.shape)


class PlanFollower:
    """Follow plans that the guard allows as a whole.

    Attributes:
        plan: What is followed now.
        share: Part of what is asked for that is aimed at [-]; 1 if nothing is asked for.
        limited_by: What forbids more than that; empty if nothing does.

    Raises:
        MotionRefused: If the platform may not rest at the start.
    """

    plan: SteeredPlan

    def __init__(self, guard: MotionGuard, start: Pose) -> None:
        guard.check(Motion.at_rest(start, (1,)))
        limits, self._guard, self._work = guard.platform.limits, guard, np.empty((5, 3))
        self._reserve = RESERVE if guard.platform.geometry.rods is None else ROD_RESERVE
        self._limits = guard.scale * np.stack([limits.accelerations, limits.jerks], axis=1)
        covered = 8.0 * RESERVE * guard.scale * limits.velocities / self._limits[:, 1]
        self._check_step = min(CHECK_STEP, math.sqrt(covered.min()))
        self.share, self.limited_by = 1.0, ''

    def _adopt(self, plan: SteeredPlan, begin: float, least: int) -> str:
        """Follow a plan if it keeps every limit; else say which one it would break.

        It is looked at where it begins and, from `begin` [s] on, at `least` instants or more.
        """
        # Most plans that are refused are so for where they end.
        ends = plan.sample(np.array([plan.begin, plan.duration]))
        if refusal := self._guard.nearer(ends, self._reserve):
            return refusal
        count = int((plan.duration - begin) / self._check_step) + 2
        time = np.linspace(begin, plan.duration, min(max(least, count), MOST_CHECKS))
        # Accelerations peak where one piece of a plan goes over into the next, and what is near a
        # limit already may grow at once.
        corners = plan.begin + plan.pieces[:, kernels.START]
        soon = begin + self._check_step * np.array([0.25, 0.5, 0.75])
        more = np.concatenate([corners, soon])
        time = np.union1d(time, more[(begin < more) & (more < plan.duration)])
        time = time[np.diff(time, prepend=-np.inf) > CLOSEST_CHECKS]
        if begin > plan.begin:
            time = np.concatenate([[plan.begin], time])
        motion = plan.sample(time)
        if refusal := self._guard.nearer(motion, self._reserve, time):
            return refusal
        broken = mean_jerk(motion, time).max(axis=0) > (1.0 - JERK_RESERVE) * self._limits[:, 1]
        if np.any(broken):
            return f'{"linear" if broken[0] else "angular"} jerk'
        self.plan = plan
        return ''

    def _largest(
        self, plan_of: Callable[[float], SteeredPlan], part: float, begin: float, least: int
    ) -> float:
        """Adopt the plan of the largest part found by halving, `part` first; return that part."""
        low, high = 0.0, 1.0
        for _ in range(TRIALS):
            if why := self._adopt(plan_of(part), begin, least):
                high, self.limited_by = part, why
            else:
                low = part
            part = 0.5 * (low + high)
        return low


class Steering(PlanFollower):
    """Velocity-commanded motion from a rest, one instant after the other.

    Args:
        start: Pose at rest at time 0.
        period: Time between two calls of `advance` [s].
        scale: Part of the platform's velocities, accelerations and jerks to use, in (0, 1]; the
            guard's own, where that is smaller.
    """

    def __init__(
        self, guard: MotionGuard, start: Pose, *, period: float = 0.005, scale: float = 0.5
    ) -> None:
        super().__init__(guard, start)
        self._horizon = HORIZON * period
        # As in a planned move, the smaller of both scales counts.
        part = min(scale, guard.scale)
        # A greatest velocity keeps the reserve, with which it could not be reached otherwise.
        self._speeds = part * (1.0 - 4.0 * RESERVE) * guard.platform.limits.velocities
        self._bounds = STRENGTH * (part / guard.scale) * self._limits
        self._twist, self._turning, self._stamp = np.zeros(6), False, -np.inf
        self._stopping = True
        self.plan = self._made(Motion.at_rest(start), 0.0, np.zeros(6), 0.0)

    def command(self, twist: ArrayLike, stamp: float, *, in_platform: bool = False) -> None:
        """Ask for a velocity, from `stamp` on for `TIMEOUT` [s].

        Args:
            twist: Linear and angular velocity (6,) of ``platform_link``'s origin [m/s, rad/s]; one
                that is greater than allowed keeps its direction.
            stamp: On the time of `advance` [s].
            in_platform: In axes of ``platform_link``, not of ``base_link``.

        Raises:
            StewartError: If it is not six finite numbers; the platform then comes to rest.
        """
        values = np.asarray(twist, dtype=float)
        if values.shape != (6,) or not np.all(np.isfinite(values)):
            self.release()
            raise StewartError(f'a velocity must be six finite numbers, got {values.tolist()}')
        excess = float((magnitudes(values) / self._speeds).max())
        self._twist = values / max(1.0, excess)
        self._turning, self._stamp = in_platform, stamp

    def release(self) -> None:
        """Ask for rest: the dead-man switch was let go."""
        self._twist = np.zeros(6)

    def asks(self, now: float) -> bool:
        """Tell whether a velocity other than 0 is asked for at an instant [s]."""
        return bool(np.any(self._twist)) and 0.0 <= now - self._stamp < TIMEOUT

    def advance(self, now: float) -> Motion:
        """Choose the plan to follow from `now` on [s], and return its motion now."""
        state = self.plan.sample(now)
        if self.asks(now):
            self._follow(state, now)
        else:
            self.share, self.limited_by = 1.0, ''
            if not self._stopping:
                # If it may not stop at once, the present plan stops a little later.
                self._stopping = True
                self._adopt(self._made(state, now, np.zeros(6), 0.0), now, LEAST_CHECKS)
        return state

    def _follow(self, state: Motion, now: float) -> None:
        """Adopt a plan towards the greatest part of the velocity that is allowed."""
        twist, self._stopping = self._twist, False
        if self._turning:
            twist = (twist.reshape(2, 3) @ state.pose.rotation.T).ravel()

        def plan_of(part: float) -> SteeredPlan:
            return self._made(state, now, part * twist, self._horizon)

        # What was possible a period ago is near what is possible now.
        part, self.share = self.share if self.share < 1.0 else 0.5, 1.0
        self.limited_by = self._adopt(plan_of(1.0), now, LEAST_CHECKS)
        if self.limited_by:
            self.share = self._largest(plan_of, part, now, LEAST_CHECKS)
        if self.plan.duration <= now:
            # It rests against a limit, and still something is asked for.
            self.plan = self._made(state, now, np.zeros(6), self._horizon)

    def _made(self, state: Motion, now: float, twist: Array, horizon: float) -> SteeredPlan:
        """Return a plan from a state [SI] at an instant towards a twist (6,), and to rest."""
        pieces = np.empty((2 * kernels.PIECES, kernels.COLUMNS))
        moving = np.concatenate([state.twist, state.acceleration]).reshape(4, 3)
        rest = kernels.make_plan(
            moving,
            twist.reshape(2, 3),
            horizon,
            SMOOTHING,
            SHORTEST_STOP,
            self._bounds,
            pieces,
            self._work,
        )
        attitude = state.quaternion_xyzw.reshape(1, 4)
        return SteeredPlan(now, now + rest, state.position, attitude, pieces)
