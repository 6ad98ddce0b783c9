# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the nodes share that follow something live about the neutral pose."""

from __future__ import annotations

from abc import abstractmethod
from enum import Enum
from typing import Any

from std_srvs.srv import Trigger
from stewart_cueing.governor import Follower
from stewart_kinematics.control.steering import SteeredPlan
from stewart_kinematics.errors import StewartError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import plan_move
from stewart_kinematics.nodes.parameters import TrajectoryParameters
from stewart_kinematics.nodes.trajectory_node import TrajectoryNode
from stewart_node_support.diagnostics import Level, Report
from stewart_node_support.errors import MessageError


class Phase(Enum):
    """Where a following node is."""

    IDLE = 'idle'
    APPROACH = 'on the way to the neutral pose'
    FOLLOW = 'following'
    STOP = 'stopping'
    HOME = 'returning'


class FollowingNode(TrajectoryNode):
    """Serve ``<prefix>/start`` and ``<prefix>/stop``.

    Start: a move to the neutral pose, then the follower, until it is stopped. Stop: the plan that
    is followed runs out, for it ends at rest, and the platform returns. The answer comes at once.
    """

    def __init__(
        self, name: str, prefix: str, parameters: type[TrajectoryParameters], **kwargs: Any
    ) -> None:
        super().__init__(name, parameters, **kwargs)
        self.phase = Phase.IDLE
        self.follower: Any = None
        self.create_service(Trigger, f'{prefix}/start', self._on_start)
        self.create_service(Trigger, f'{prefix}/stop', self._on_stop)
        self.diagnostics.add('following', self._report_following)

    @abstractmethod
    def make_follower(self, guard: MotionGuard) -> Follower:
        """Return what is followed, at rest at the neutral pose at time 0."""

    def before_sample(self, now: int) -> None:
        """Let the follower go on to an instant [ns]."""
        if self.phase is Phase.FOLLOW:
            assert self.playback is not None
            self.follower.advance(self.playback.elapsed(now))
            self.continue_with(self.follower.plan)

    def on_rest(self) -> None:
        """Go on with what comes next."""
        if self.phase is Phase.APPROACH:
            self.phase = Phase.FOLLOW
            self.play(self.follower.plan)
        elif self.phase is Phase.STOP:
            self._return(self.follower.plan)
        else:
            self.phase = Phase.IDLE
            self.get_logger().info('at rest')

    def on_abort(self, reason: str) -> None:
        """Forget what was followed."""
        self.phase = Phase.IDLE

    def _return(self, plan: SteeredPlan) -> None:
        assert self.guard is not None
        end = plan.sample(plan.duration).pose
        try:
            home = plan_move(
                end,
                self.guard.platform.geometry.neutral_pose,
                self.guard,
                scale=self.parameters.speed_scale,
            )
        except StewartError as error:
            self.phase = Phase.IDLE
            self.get_logger().warning(f'stays where it is: {error}')
            return
        self.phase = Phase.HOME
        self.play(home)

    def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            start, guard = self.require_start()
            neutral = guard.platform.geometry.neutral_pose
            approach = plan_move(start, neutral, guard, scale=self.parameters.speed_scale)
            self.follower = self.make_follower(guard)
        except (StewartError, MessageError) as error:
            response.message = self.refuse(error)
            return response
        self.phase = Phase.APPROACH
        self.play(approach)
        response.success = True
        response.message = f'approaching for {approach.duration:.2f} s'
        return response

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self.playback is None:
            response.message = self.refuse(self.nothing_to_stop())
            return response
        if self.phase is Phase.APPROACH:
            self.phase = Phase.HOME
        elif self.phase is Phase.FOLLOW:
            self.phase = Phase.STOP
        response.success, response.message = True, self.phase.value
        return response

    def _report_following(self) -> Report:
        values = {'phase': self.phase.value}
        if self.phase is Phase.FOLLOW:
            governor = self.follower.governor
            values['share of the wanted change'] = f'{governor.share:.2f}'
            if governor.limited_by:
                return Report(Level.OK, f'held back by the {governor.limited_by}', values)
        return Report(Level.OK, self.phase.value, values)
