# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Move the platform from where it is to a pose, through several, or as its legs shall go."""

from __future__ import annotations

from functools import partial
from types import coroutine
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.task import Future
from stewart_kinematics.errors import MotionRefused, StewartError, TrajectoryError
from stewart_kinematics.limits.planning import plan_stop
from stewart_kinematics.motion import Motion
from stewart_kinematics.nodes.arrival import Arrival
from stewart_kinematics.nodes.goals import Ending, Goals, Moves, Planning, Tours, Way
from stewart_kinematics.nodes.leg_goals import leg_goals
from stewart_kinematics.nodes.parameters import CycloidalTrajectoryParameters
from stewart_kinematics.nodes.start_pose import NotReady
from stewart_kinematics.nodes.trajectory_node import TrajectoryNode
from stewart_kinematics.spatial import apart
from stewart_node_support.errors import MessageError
from stewart_node_support.lifecycle import state_of

CAME_TO_REST = 'came to rest on the way, as asked'
# Between two looks whether the platform has arrived [s].
LOOK = 0.02


class CycloidalTrajectory(TrajectoryNode):
    """Serve the actions ``move_platform`` and ``follow_waypoints``; one goal at a time.

    Where ROS has the package control_msgs, also ``legs/follow_joint_trajectory``.
    A goal is refused while the node is not active, the driver not ENABLED, another goal or source
    moves the platform, or anywhere on the way a limit would be broken; the reason is logged and
    stands in the diagnostics, for a refused goal has no result. A cancelled goal comes to rest on
    its own path, before the next waypoint. A goal ends when the platform is measured where it was
    sent; it is aborted when it rests elsewhere, when the driver leaves ENABLED or the node is
    deactivated.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('cycloidal_trajectory', CycloidalTrajectoryParameters, **kwargs)
        self._way: Way | None = None
        self._taken = self._cancelled = False
        self._arrival: Arrival | None = None
        self._looking = self.create_timer(LOOK, self._look)
        self._looking.cancel()
        self._goals: Goals | None = None
        self._handle: Any = None
        self._outcome: Any = None
        # What was sent last, and the time on the way until it was left [s].
        self._sent: Motion | None = None
        self._elapsed = self._next_feedback = 0.0
        scale = self.parameters.speed_scale
        offered: list[Goals] = [Moves(scale), Tours(scale), *leg_goals(self, self.start_pose)]
        self._servers = [
            ActionServer(
                self,
                goals.action,
                goals.name,
                partial(self._execute, goals),
                goal_callback=partial(self._on_goal, goals),
                cancel_callback=self._on_cancel,
            )
            for goals in offered
        ]

    def destroy_node(self) -> None:
        """Close the actions, too."""
        for server in self._servers:
            server.destroy()
        super().destroy_node()

    async def _on_goal(self, goals: Goals, goal: Any) -> GoalResponse:
        """Plan step by step; between two of them other nodes get their turn."""
        try:
            if self._taken:
                raise NotReady('another goal is running')
            start, guard = self.require_start()
            self._taken, moved = True, self.start_pose.moved
            try:
                self._way = await _unhurried(goals.plan(goal, start, guard))
                self.require_start()
                # What is measured meanwhile differs by the sensors' noise.
                if self.start_pose.moved != moved:
                    raise NotReady('the platform was moved while the way was planned')
            except Exception:
                self._taken = False
                raise
        except (StewartError, MessageError) as error:
            self.refuse(error)
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    async def _execute(self, goals: Goals, handle: Any) -> Any:
        way = self._way
        assert way is not None
        self._goals, self._handle, self._outcome = goals, handle, Future()
        self._cancelled, self._elapsed, self._next_feedback = False, 0.0, 0.0
        self._sent = way.sequence.sample(0.0)
        if not self.start_pose.enabled:
            self.on_abort('the driver left ENABLED before the move began')
        elif state_of(self) != 'active':
            self.on_abort('the node was deactivated before the move began')
        else:
            self.play(way.sequence)
        ending, message = await self._outcome
        finish = {
            Ending.REACHED: handle.succeed,
            Ending.CANCELED: handle.canceled,
            Ending.ABORTED: handle.abort,
        }
        finish[ending]()
        self._handle, self._taken = None, False
        return goals.result(way, self._elapsed, self._sent, ending, message)

    def _on_cancel(self, _: Any) -> CancelResponse:
        if self._cancelled and self._handle is not None:
            return CancelResponse.ACCEPT
        if self._arrival is not None:
            # All has been said; a driver that plays it slowly is on its way yet.
            self._cancelled = True
            return CancelResponse.ACCEPT
        if self.playback is None or self._way is None or self.guard is None:
            return CancelResponse.REJECT
        self._cancelled = True
        # Taken before planning, which takes several periods: the stop begins at this moment.
        now, elapsed = self.moment()
        part, begun = self._way.sequence.part(elapsed)
        try:
            stop = plan_stop(part, elapsed - begun, self.guard)
        except (MotionRefused, TrajectoryError) as refusal:
            self.abort(f'no stop along the path is allowed: {refusal}')
        else:
            self.play(stop, now)
        return CancelResponse.ACCEPT

    def on_sample(self, elapsed: float, motion: Motion) -> None:
        """Supervise the way and publish feedback from time to time; not while stopping."""
        self._sent = motion
        if self._cancelled or self._way is None or self._goals is None:
            return
        self._elapsed = elapsed
        try:
            self._goals.supervise(self._way)
        except StewartError as error:
            self.abort(str(error))
            return
        if elapsed < self._next_feedback:
            return
        self._next_feedback = elapsed + 1.0 / self.parameters.feedback_rate
        feedback = self._goals.feedback(self._way, elapsed, motion)
        if feedback is not None:
            self._handle.publish_feedback(feedback)

    def on_rest(self) -> None:
        """Let a cancelled goal end; wait until the platform is at the end of another."""
        if self._cancelled:
            self._end(Ending.CANCELED, self.start_pose.still_played or CAME_TO_REST)
            return
        assert self._way is not None
        assert self._sent is not None
        sequence = self._way.sequence
        self._elapsed = sequence.duration
        sent = self._sent.pose
        starts = [part.sample(0.0).pose for part in sequence.parts]
        # Not where it dwells.
        begun = next((pose for pose in reversed(starts) if max(apart(pose, sent)) > 0.0), sent)
        self._arrival = Arrival(self.start_pose, begun, sent, self.said_ns)
        self._looking.reset()

    def _look(self) -> None:
        """Let the goal end once the platform has arrived, or will not."""
        assert self._arrival is not None
        assert self._goals is not None
        late = self.start_pose.since_played(self.said_ns)
        try:
            if self._arrival.over() and self._goals.arrived(self._way, late):
                self._end(Ending.REACHED, 'the target is reached')
            elif self._cancelled:
                said = self.start_pose.still_played
                self._end(Ending.CANCELED, said or 'the driver still plays the last of the way')
        except NotReady as error:
            self.start_pose.not_followed = self.said_ns
            self._end(Ending.ABORTED, str(error))
        except (StewartError, MessageError) as error:
            self._end(Ending.ABORTED, str(error))

    def abort(self, reason: str) -> None:
        """Let a goal end whose platform is still arriving, too."""
        if self._arrival is not None:
            self._end(Ending.ABORTED, reason)
        super().abort(reason)

    def on_abort(self, reason: str) -> None:
        """Let the goal end."""
        self._end(Ending.ABORTED, reason)

    def _end(self, ending: Ending, message: str) -> None:
        self._arrival = None
        self._looking.cancel()
        self._outcome.set_result((ending, message))


@coroutine
def _unhurried(planning: Planning) -> Planning:
    """Await a planning: every step is done in a turn of its own of the executor."""
    return (yield from planning)
