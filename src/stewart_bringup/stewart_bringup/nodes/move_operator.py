# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Send the platform to a pose, watch it go, and let it come to rest when asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from rclpy.task import Future
from stewart_bringup.errors import RequestRefused
from stewart_bringup.nodes.operator import STEP, UNTOLD
from stewart_bringup.nodes.resting_operator import RestingOperator
from stewart_interfaces.action import MovePlatform
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.spatial import compose_poses
from stewart_node_support.conversions import pose_from_msg, pose_msg
from stewart_node_support.rig_time import RigTime
from stewart_node_support.stop_signals import StopSignals

STATUS = 'cycloidal_trajectory: motion'
# So long a goal is waited for that shall be cancelled as soon as it has been planned [s].
PLANNING_LIMIT = 60.0
GONE = 'its node does not answer any more'


class MoveOperator(RestingOperator):
    """Client of the action ``move_platform``; a request to stop brings the platform to rest.

    Subscribes ``/diagnostics`` of the node that serves the action: there stand its platform and
    why it refused a goal, which a refused goal does not tell.
    """

    kind: Any = MovePlatform
    action = 'move_platform'

    def __init__(self, stop: StopSignals, **kwargs: Any) -> None:
        super().__init__(stop, 'move_operator', **kwargs)
        self._client = ActionClient(self, self.kind, self.action)
        self.follow_status(STATUS)
        self._rig_time = RigTime(self)

    def destroy_node(self) -> None:
        """Close the action, too."""
        self._client.destroy()
        super().destroy_node()

    async def reference(self, name: str) -> Pose:
        """Return a pose in ``base_link`` to count from: ``base``, ``zero``, ``neutral``, ``here``.

        ``here`` is where the platform is measured to be, at rest. RequestRefused if the rig does
        not tell.
        """
        if name == 'base':
            return Pose.identity()
        if name == 'here':
            return await self.place_of_rest()
        geometry = (await self.platform()).geometry
        return geometry.zero_pose if name == 'zero' else geometry.neutral_pose

    async def platform(self) -> Platform:
        """Return the platform that the rig says it is; RequestRefused if it does not tell."""
        await self.until(lambda: self.status is not None, f'diagnostics of {self.action}')
        return load_platform(self.status.hardware_id)

    async def move(
        self,
        away: Pose,
        reference: str,
        *,
        duration: float = 0.0,
        speed: float = 0.0,
        feedback: Callable[[float, float], None] = lambda _progress, _left: None,
    ) -> tuple[bool, str, Pose]:
        """Go to a pose; after a request to stop, come to rest on the way.

        Args:
            away: Target, counted from the reference.
            reference: As `reference` takes it.
            duration: Time of the move [s]; 0: as short as the limits allow.
            speed: Fraction of the limits to use; 0: as the rig has it.
            feedback: Told the part of the move that is done, and the time that is left [s].

        Returns:
            Whether the target was reached.
            What became of it, one sentence.
            Where the platform was sent to.

        Raises:
            RequestRefused: If the move is refused or cut off, or the driver has not followed.
        """
        await self.until(self._client.server_is_ready, self.action)
        target = compose_poses(await self.reference(reference), away)
        goal = MovePlatform.Goal(
            target=pose_msg(target.position, target.quaternion_xyzw),
            duration=duration,
            speed_scale=speed,
        )
        reached, pose, result = await self.go(
            goal, lambda told: feedback(told.feedback.progress, told.feedback.time_remaining)
        )
        return reached, result.message, pose

    async def go(self, goal: Any, feedback: Callable[[Any], None]) -> tuple[bool, Pose, Any]:
        """Send a goal; after a request to stop, cancel it.

        Returns:
            Whether its end was reached, where the platform was sent to, and the result.

        Raises:
            RequestRefused: If it is refused or cut off, or the driver has not followed.
        """
        future = self._client.send_goal_async(goal, feedback)
        await self._planned(future)
        handle = future.result()
        if not handle.accepted:
            raise RequestRefused(self.action, await self._refusal())
        result = await self._result(handle)
        if result.code == self.kind.Result.ABORTED:
            raise RequestRefused(self.action, result.message)
        pose = Pose(*pose_from_msg(result.pose))
        return result.code == self.kind.Result.REACHED, pose, result

    async def _planned(self, future: Future) -> None:
        """Wait until a goal is accepted or refused, which a long way takes a while to plan.

        After a request to stop, too: a goal that is accepted has to be cancelled.
        """
        begun, told = self._patience_clock(), False
        stopped: float | None = None
        while not future.done():
            now = self._patience_clock()
            stopped = now if self.stopped and stopped is None else stopped
            if not self._client.server_is_ready():
                raise RequestRefused(self.action, GONE)
            if stopped is not None and now - stopped > PLANNING_LIMIT:
                left = f'no answer within {PLANNING_LIMIT:g} s; the goal may still be accepted'
                raise RequestRefused(self.action, left)
            if self.show and not told and now - begun > UNTOLD:
                self.show(f'{self.action}: waiting until the way is planned')
                told = True
            await self.pause(STEP)
        if self.show and told:
            self.show('')

    async def _result(self, handle: Any) -> Any:
        """Wait for the end of a move; cancel it when a request to stop comes."""
        future = handle.get_result_async()
        cancelled: float | None = None
        while not future.done():
            if self.stopped and cancelled is None:
                cancelled = self.now()
                await self.answer(handle.cancel_goal_async(), self.action, heedless=True)
            late = cancelled is not None and self.now() - cancelled > self.settings.patience
            if late or not self._client.server_is_ready():
                raise RequestRefused(self.action, GONE)
            await self.pause(STEP)
        return future.result().result

    async def _refusal(self) -> str:
        """Return why the last goal was refused, from the next report after it."""
        refused = self._rig_time.now()

        def told_since() -> bool:
            nonlocal refused
            # Of a rig that stands still no simulated time is heard, and ours is another.
            refused = min(refused, self._rig_time.now())
            return bool(self.told > refused.nanoseconds)

        await self.until(told_since, f'{self.action} was refused; its reason')
        return next(
            (str(pair.value) for pair in self.status.values if pair.key == 'last_refusal'),
            'no reason was given',
        )
