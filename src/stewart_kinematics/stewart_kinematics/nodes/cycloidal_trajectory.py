# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Move the platform from where it is to a pose, as an action."""

from __future__ import annotations

from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.task import Future
from stewart_interfaces.action import MovePlatform
from stewart_kinematics.errors import (
    ConfigurationError,
    MotionRefused,
    StewartError,
    TrajectoryError,
)
from stewart_kinematics.limits.planning import plan_move, plan_stop
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.nodes.parameters import CycloidalTrajectoryParameters
from stewart_kinematics.nodes.start_pose import NotReady
from stewart_kinematics.nodes.trajectory_node import TrajectoryNode
from stewart_kinematics.trajectories import Cycloidal
from stewart_node_support.conversions import pose_from_msg, pose_msg
from stewart_node_support.errors import MessageError


class CycloidalTrajectory(TrajectoryNode):
    """Serve the action ``move_platform``; one goal at a time.

    A goal is refused while the node is not active, the driver not ENABLED, another goal or source
    moves the platform, or anywhere on the way a limit would be broken; the reason is logged and
    stands in the diagnostics, for a refused goal has no result. A cancelled goal comes to rest on
    its own path. A goal is aborted when the driver leaves ENABLED or the node is deactivated.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('cycloidal_trajectory', CycloidalTrajectoryParameters, **kwargs)
        self._accepted: Cycloidal | None = None
        self._move: Cycloidal | None = None
        self._handle: Any = None
        self._outcome: Any = None
        self._cancelled = False
        self._next_feedback = 0.0
        self._pose: Any = None
        self._server = ActionServer(
            self,
            MovePlatform,
            'move_platform',
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            cancel_callback=self._on_cancel,
        )

    def destroy_node(self) -> None:
        """Close the action, too."""
        self._server.destroy()
        super().destroy_node()

    def _on_goal(self, goal: MovePlatform.Goal) -> GoalResponse:
        try:
            self._accepted = self._plan(goal)
        except (StewartError, MessageError) as error:
            self.refuse(error)
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _plan(self, goal: MovePlatform.Goal) -> Cycloidal:
        if self._accepted is not None or self._handle is not None:
            raise NotReady('another goal is running')
        start, guard = self.require_start()
        if not 0.0 <= goal.speed_scale <= 1.0:
            raise ConfigurationError('speed_scale', goal.speed_scale, 'a number from 0 to 1')
        if not goal.duration >= 0.0:
            raise ConfigurationError('duration', goal.duration, 'a time of at least 0 s')
        return plan_move(
            start,
            Pose(*pose_from_msg(goal.target)),
            guard,
            duration=goal.duration or None,
            scale=goal.speed_scale or self.parameters.speed_scale,
        )

    async def _execute(self, handle: Any) -> MovePlatform.Result:
        self._handle, self._outcome = handle, Future()
        self._move, self._accepted = self._accepted, None
        self._cancelled, self._next_feedback = False, 0.0
        assert self._move is not None
        start = self._move.start
        self._pose = pose_msg(start.position, start.quaternion_xyzw)
        if self.start_pose.enabled:
            self.play(self._move)
        else:
            self.on_abort('the driver left ENABLED before the move began')
        code, message, pose = await self._outcome
        finish = {
            MovePlatform.Result.REACHED: handle.succeed,
            MovePlatform.Result.CANCELED: handle.canceled,
            MovePlatform.Result.ABORTED: handle.abort,
        }
        finish[code]()
        self._handle = None
        return MovePlatform.Result(code=code, message=message, pose=pose)

    def _on_cancel(self, _: Any) -> CancelResponse:
        if self.playback is None or self._move is None or self.guard is None:
            return CancelResponse.REJECT
        if self._cancelled:
            return CancelResponse.ACCEPT
        self._cancelled = True
        # Taken before planning, which lasts some setpoints: the stop begins at this very moment.
        now, elapsed = self.moment()
        try:
            stop = plan_stop(self._move, elapsed, self.guard)
        except (MotionRefused, TrajectoryError) as refusal:
            self.abort(f'no stop along the path is allowed: {refusal}')
        else:
            self.play(stop, now)
        return CancelResponse.ACCEPT

    def on_sample(self, elapsed: float, motion: Motion) -> None:
        """Publish feedback from time to time; while stopping there is no progress."""
        self._pose = pose_msg(motion.position, motion.quaternion_xyzw)
        if self._cancelled or elapsed < self._next_feedback or self._move is None:
            return
        self._next_feedback = elapsed + 1.0 / self.parameters.feedback_rate
        left = max(self._move.duration - elapsed, 0.0)
        self._handle.publish_feedback(
            MovePlatform.Feedback(
                progress=1.0 - left / self._move.duration, time_remaining=left, pose=self._pose
            )
        )

    def on_rest(self) -> None:
        """Let the goal end."""
        if self._cancelled:
            self._end(MovePlatform.Result.CANCELED, 'came to rest on the way, as asked')
        else:
            self._end(MovePlatform.Result.REACHED, 'the target is reached')

    def on_abort(self, reason: str) -> None:
        """Let the goal end."""
        self._end(MovePlatform.Result.ABORTED, reason)

    def _end(self, code: int, message: str) -> None:
        self._outcome.set_result((code, message, self._pose))
