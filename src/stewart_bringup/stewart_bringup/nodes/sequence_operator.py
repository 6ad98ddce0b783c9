# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Send the platform through waypoints, or take down the pose at which it rests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from stewart_bringup.nodes.move_operator import MoveOperator
from stewart_interfaces.action import FollowWaypoints
from stewart_interfaces.msg import Waypoint
from stewart_kinematics.limits.waypoints import append_waypoint, WaypointList
from stewart_kinematics.motion import Pose
from stewart_node_support.conversions import pose_msg


class SequenceOperator(MoveOperator):
    """Client of the action ``follow_waypoints``; a request to stop brings the platform to rest."""

    kind: Any = FollowWaypoints
    action = 'follow_waypoints'

    async def follow(
        self, path: Path, repeat: int, feedback: Callable[[Any], None]
    ) -> tuple[bool, str, int, Pose]:
        """Play a file of waypoints.

        Returns:
            Whether the end was reached, what became of it, how many waypoints were visited, and
            where the platform was sent to.

        Raises:
            ConfigurationError: If the file cannot be used.
            RequestRefused: If the rig refuses it, cuts it off, or has not followed.
        """
        found = WaypointList.from_yaml(path, await self.platform())
        await self.until(self._client.server_is_ready, self.action)
        goal = FollowWaypoints.Goal(repeat=repeat or found.repeat)
        for item in found.waypoints:
            place = pose_msg(item.pose.position, item.pose.quaternion_xyzw)
            goal.waypoints.append(
                Waypoint(name=item.name, pose=place, dwell=item.dwell, speed_scale=item.speed)
            )
        reached, pose, result = await self.go(goal, lambda told: feedback(told.feedback))
        return reached, result.message, result.visited, pose

    async def teach(self, path: Path, name: str) -> tuple[int, Pose]:
        """Append the pose at which the platform rests to a file; return its number, and it.

        Raises:
            ConfigurationError: If the file cannot be used.
            MotionRefused: If the platform may not be sent there, as where it fell without drives.
            RequestRefused: If the rig does not tell.
        """
        pose = await self.reference('here')
        return append_waypoint(path, pose, await self.platform(), name), pose
