# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What distinguishes the actions that move the platform: plan, feedback and result."""

from __future__ import annotations

from collections.abc import Generator
from enum import IntEnum
from typing import Any, Protocol, TypeAlias

from stewart_interfaces.action import FollowWaypoints, MovePlatform
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import plan_move
from stewart_kinematics.limits.waypoints import LONGEST_DWELL, Route, route_steps, Waypoint
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.trajectories import Sequence
from stewart_node_support.conversions import pose_from_msg, pose_msg

# Part of the limits, and duration [s]: what is slower takes seconds to plan, and all wait.
LEAST_SPEED, LONGEST_MOVE = 1e-3, 3600.0

Planning: TypeAlias = Generator[None, None, Any]


class Ending(IntEnum):
    """How a goal ended, with the numbers of our own actions."""

    REACHED = MovePlatform.Result.REACHED
    CANCELED = MovePlatform.Result.CANCELED
    ABORTED = MovePlatform.Result.ABORTED


class Way(Protocol):
    """What was planned for a goal: parts in each of which it may stop."""

    @property
    def sequence(self) -> Sequence:
        """The motion."""


class Goals(Protocol):
    """The goals of one action.

    Attributes:
        action: Its type.
        name: Of the action.
    """

    action: Any
    name: str

    def plan(self, goal: Any, start: Pose, guard: MotionGuard) -> Planning:
        """Plan a `Way` in steps, between which others get their turn."""

    def feedback(self, way: Any, elapsed: float, motion: Motion) -> Any:
        """Return what is said at a time of the way [s]; None: nothing."""

    def supervise(self, way: Any) -> None:
        """Raise `NotReady` if the platform is not where it should be on its way now."""

    def arrived(self, way: Any, late: float) -> bool:
        """Tell whether it is exact enough at the end, so long after it should be there [s].

        Raises:
            NotReady: If it won't be.
        """

    def result(
        self, way: Any, elapsed: float, motion: Motion, ending: Ending, message: str
    ) -> Any:
        """Return the result of a goal that left its way at a time [s], with what was sent last."""


class Moves:
    """``move_platform``: to one pose."""

    action: Any = MovePlatform
    name = 'move_platform'

    def __init__(self, speed_scale: float) -> None:
        self._speed_scale = speed_scale

    def plan(self, goal: Any, start: Pose, guard: MotionGuard) -> Planning:
        """Plan a straight move."""
        scale = self._scale(goal.speed_scale)
        if not 0.0 <= goal.duration <= LONGEST_MOVE:
            expected = f'a time from 0 to {LONGEST_MOVE:g} s'
            raise ConfigurationError('duration', goal.duration, expected)
        target = Pose(*pose_from_msg(goal.target))
        duration = goal.duration or None
        move = plan_move(start, target, guard, duration=duration, scale=scale)
        yield from ()
        return Route(Sequence((move,)), (0,))

    def _scale(self, asked: float) -> float:
        if asked and not LEAST_SPEED <= asked <= 1.0:
            expected = f'a number from {LEAST_SPEED:g} to 1, or 0 for the default of the node'
            raise ConfigurationError('speed_scale', asked, expected)
        return float(asked or self._speed_scale)

    def feedback(self, way: Route, elapsed: float, motion: Motion) -> Any:
        """Return how far it is."""
        left = max(way.duration - elapsed, 0.0)
        return self.action.Feedback(
            pose=pose_msg(motion.position, motion.quaternion_xyzw),
            progress=1.0 - left / way.duration,
            time_remaining=left,
        )

    def supervise(self, way: Route) -> None:
        """Leave it to the driver."""

    def arrived(self, way: Route, late: float) -> bool:
        """Take what `Arrival` takes."""
        return True

    def result(
        self, way: Route, elapsed: float, motion: Motion, ending: Ending, message: str
    ) -> Any:
        """Return how it ended, and where."""
        pose = pose_msg(motion.position, motion.quaternion_xyzw)
        return self.action.Result(code=int(ending), message=message, pose=pose)


class Tours(Moves):
    """``follow_waypoints``: to several poses, from rest to rest."""

    action: Any = FollowWaypoints
    name = 'follow_waypoints'

    def plan(self, goal: Any, start: Pose, guard: MotionGuard) -> Planning:
        """Plan one move after the other."""
        waypoints = []
        for item in goal.waypoints:
            pose, dwell = Pose(*pose_from_msg(item.pose)), item.dwell
            if not 0.0 <= dwell <= LONGEST_DWELL:
                raise ConfigurationError('dwell', dwell, f'a time from 0 to {LONGEST_DWELL:g} s')
            waypoints.append(Waypoint(pose, item.name, dwell, self._scale(item.speed_scale)))
        return (yield from route_steps(start, waypoints, guard, goal.repeat or 1))

    def feedback(self, way: Route, elapsed: float, motion: Motion) -> Any:
        """Return how far it is, and where it goes next."""
        feedback = super().feedback(way, elapsed, motion)
        feedback.waypoint, feedback.round = way.place(elapsed)
        return feedback

    def result(
        self, way: Route, elapsed: float, motion: Motion, ending: Ending, message: str
    ) -> Any:
        """Return how it ended, where, and after how many waypoints."""
        result = super().result(way, elapsed, motion, ending, message)
        result.visited = way.visited(elapsed)
        return result
