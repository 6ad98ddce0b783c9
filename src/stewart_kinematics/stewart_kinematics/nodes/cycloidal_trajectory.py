# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Move the platform from where it is to a pose, or through several, as actions."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.task import Future
from stewart_interfaces.action import FollowWaypoints, MovePlatform
from stewart_kinematics.errors import (
    ConfigurationError,
    MotionRefused,
    StewartError,
    TrajectoryError,
)
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import plan_move, plan_stop
from stewart_kinematics.limits.waypoints import LONGEST_DWELL, Route, route_steps, Waypoint
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.nodes.arrival import Arrival
from stewart_kinematics.nodes.parameters import CycloidalTrajectoryParameters
from stewart_kinematics.nodes.start_pose import NotReady
from stewart_kinematics.nodes.trajectory_node import TrajectoryNode
from stewart_kinematics.trajectories import Sequence
from stewart_node_support.conversions import pose_from_msg, pose_msg
from stewart_node_support.errors import MessageError

Planning: TypeAlias = Generator[None, None, Route]
Plan: TypeAlias = Callable[[Any, Pose, MotionGuard], Planning]

# Between two looks whether the platform has arrived [s].
LOOK = 0.02


class CycloidalTrajectory(TrajectoryNode):
    """Serve the actions ``move_platform`` and ``follow_waypoints``; one goal at a time.

    A goal is refused while the node is not active, the driver not ENABLED, another goal or source
    moves the platform, or anywhere on the way a limit would be broken; the reason is logged and
    stands in the diagnostics, for a refused goal has no result. A cancelled goal comes to rest on
    its own path, before the next waypoint. A goal ends when the platform is measured where it was
    sent; it is aborted when it rests elsewhere, when the driver leaves ENABLED or the node is
    deactivated.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('cycloidal_trajectory', CycloidalTrajectoryParameters, **kwargs)
        self._route: Route | None = None
        self._taken = self._cancelled = False
        self._arrival: Arrival | None = None
        self._looking = self.create_timer(LOOK, self._look)
        self._looking.cancel()
        self._kind: Any = MovePlatform
        self._handle: Any = None
        self._outcome: Any = None
        self._pose: Any = None
        self._visited, self._next_feedback = 0, 0.0
        self._servers = [
            self._server(MovePlatform, 'move_platform', self._plan_move),
            self._server(FollowWaypoints, 'follow_waypoints', self._plan_waypoints),
        ]

    def _server(self, kind: Any, name: str, plan: Plan) -> ActionServer:
        return ActionServer(
            self,
            kind,
            name,
            partial(self._execute, kind),
            goal_callback=partial(self._on_goal, plan),
            cancel_callback=self._on_cancel,
        )

    def destroy_node(self) -> None:
        """Close the actions, too."""
        for server in self._servers:
            server.destroy()
        super().destroy_node()

    async def _on_goal(self, plan: Plan, goal: Any) -> GoalResponse:
        """Plan one move after the other; between two of them other nodes get their turn."""
        try:
            if self._taken:
                raise NotReady('another goal is running')
            start, guard = self.require_start()
            self._taken = True
            try:
                self._route = await _Unhurried(plan(goal, start, guard))
                now, _ = self.require_start()
                if not np.allclose(now.position, start.position, rtol=0.0, atol=1e-9):
                    raise NotReady('the platform was moved while the way was planned')
            except Exception:
                self._taken = False
                raise
        except (StewartError, MessageError) as error:
            self.refuse(error)
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _plan_move(self, goal: Any, start: Pose, guard: MotionGuard) -> Planning:
        scale = self._scale(goal.speed_scale)
        if not goal.duration >= 0.0:
            raise ConfigurationError('duration', goal.duration, 'a time of at least 0 s')
        target = Pose(*pose_from_msg(goal.target))
        duration = goal.duration or None
        move = plan_move(start, target, guard, duration=duration, scale=scale)
        yield from ()
        return Route(Sequence((move,)), (0,))

    def _plan_waypoints(self, goal: Any, start: Pose, guard: MotionGuard) -> Planning:
        waypoints = []
        for item in goal.waypoints:
            pose, dwell = Pose(*pose_from_msg(item.pose)), self._dwell(item.dwell)
            waypoints.append(Waypoint(pose, item.name, dwell, self._scale(item.speed_scale)))
        return (yield from route_steps(start, waypoints, guard, goal.repeat or 1))

    def _scale(self, asked: float) -> float:
        if not 0.0 <= asked <= 1.0:
            raise ConfigurationError('speed_scale', asked, 'a number from 0 to 1')
        return float(asked or self.parameters.speed_scale)

    @staticmethod
    def _dwell(asked: float) -> float:
        if not 0.0 <= asked <= LONGEST_DWELL:
            raise ConfigurationError('dwell', asked, f'a time from 0 to {LONGEST_DWELL:g} s')
        return float(asked)

    async def _execute(self, kind: Any, handle: Any) -> Any:
        self._kind, self._handle, self._outcome = kind, handle, Future()
        self._cancelled, self._next_feedback, self._visited = False, 0.0, 0
        assert self._route is not None
        start = self._route.sample(0.0)
        self._pose = pose_msg(start.position, start.quaternion_xyzw)
        if self.start_pose.enabled:
            self.play(self._route)
        else:
            self.on_abort('the driver left ENABLED before the move began')
        code, message, pose = await self._outcome
        finish = {
            kind.Result.REACHED: handle.succeed,
            kind.Result.CANCELED: handle.canceled,
            kind.Result.ABORTED: handle.abort,
        }
        finish[code]()
        self._handle, self._taken = None, False
        visited = {'visited': self._visited} if kind is FollowWaypoints else {}
        return kind.Result(code=code, message=message, pose=pose, **visited)

    def _on_cancel(self, _: Any) -> CancelResponse:
        if self._cancelled and self._handle is not None:
            return CancelResponse.ACCEPT
        if self._arrival is not None:
            # All has been said; a driver that plays it slowly is on its way yet.
            self._cancelled = True
            return CancelResponse.ACCEPT
        if self.playback is None or self._route is None or self.guard is None:
            return CancelResponse.REJECT
        self._cancelled = True
        # Taken before planning, which takes several periods: the stop begins at this moment.
        now, elapsed = self.moment()
        part, begun = self._route.part(elapsed)
        try:
            stop = plan_stop(part, elapsed - begun, self.guard)
        except (MotionRefused, TrajectoryError) as refusal:
            self.abort(f'no stop along the path is allowed: {refusal}')
        else:
            self.play(stop, now)
        return CancelResponse.ACCEPT

    def on_sample(self, elapsed: float, motion: Motion) -> None:
        """Publish feedback from time to time; while stopping there is no progress."""
        self._pose = pose_msg(motion.position, motion.quaternion_xyzw)
        route = self._route
        if self._cancelled or route is None:
            return
        self._visited = route.visited(elapsed)
        if elapsed < self._next_feedback:
            return
        self._next_feedback = elapsed + 1.0 / self.parameters.feedback_rate
        left = max(route.duration - elapsed, 0.0)
        feedback = self._kind.Feedback(
            pose=self._pose, progress=1.0 - left / route.duration, time_remaining=left
        )
        if self._kind is FollowWaypoints:
            feedback.waypoint, feedback.round = route.place(elapsed)
        self._handle.publish_feedback(feedback)

    def on_rest(self) -> None:
        """Let a cancelled goal end; wait until the platform is at the end of another."""
        if self._cancelled:
            self._end(MovePlatform.Result.CANCELED, 'came to rest on the way, as asked')
            return
        self._visited = len(set(self._route.numbers)) if self._route else 0
        sent = Pose(*pose_from_msg(self._pose))
        self._arrival = Arrival(self.start_pose, sent, self.said_ns)
        self._looking.reset()

    def _look(self) -> None:
        """Let the goal end once the platform has arrived, or will not."""
        assert self._arrival is not None
        try:
            if self._arrival.over():
                self._end(MovePlatform.Result.REACHED, 'the target is reached')
            elif self._cancelled:
                self._end(
                    MovePlatform.Result.CANCELED, 'the driver still plays the last of the way'
                )
        except StewartError as error:
            self._end(MovePlatform.Result.ABORTED, str(error))

    def abort(self, reason: str) -> None:
        """Let a goal end whose platform is still arriving, too."""
        if self._arrival is not None:
            self._end(MovePlatform.Result.ABORTED, reason)
        super().abort(reason)

    def on_abort(self, reason: str) -> None:
        """Let the goal end."""
        self._end(MovePlatform.Result.ABORTED, reason)

    def _end(self, code: int, message: str) -> None:
        self._arrival = None
        self._looking.cancel()
        self._outcome.set_result((code, message, self._pose))


class _Unhurried:
    """Await a planning: every step is done in a turn of its own of the executor."""

    def __init__(self, planning: Planning) -> None:
        self._planning = planning

    def __await__(self) -> Planning:
        return (yield from self._planning)
