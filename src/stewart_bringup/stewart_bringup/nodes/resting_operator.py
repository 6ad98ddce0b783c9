# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Wait until the platform rests, and tell where."""

from __future__ import annotations

from functools import partial
from typing import Any

from geometry_msgs.msg import PoseStamped
from stewart_bringup.errors import RequestRefused
from stewart_bringup.nodes.operator import Operator
from stewart_kinematics.motion import Pose
from stewart_kinematics.nodes.arrival import REST_TIME
from stewart_kinematics.spatial import apart, REST_ANGLE, REST_DISTANCE
from stewart_node_support.conversions import pose_from_msg
from stewart_node_support.qos import SENSOR_QOS
from stewart_node_support.stamps import NANOSECONDS, to_nanoseconds
from stewart_node_support.stop_signals import StopSignals


class RestingOperator(Operator):
    """An operator that subscribes ``platform/pose``."""

    def __init__(self, stop: StopSignals, name: str, **kwargs: Any) -> None:
        super().__init__(stop, name, **kwargs)
        self._measured: PoseStamped | None = None
        self.create_subscription(PoseStamped, 'platform/pose', self._on_pose, SENSOR_QOS)

    async def place_of_rest(self, at_least: float = 0.0) -> Pose:
        """Return the measured pose once it stays: what was commanded before may still arrive.

        Args:
            at_least: Lengthens the parameter ``patience`` [s].

        Raises:
            RequestRefused: If it does not stay in that time.
        """
        end = self.now() + max(self.settings.patience, at_least)
        await self.until(lambda: self._measured is not None, 'platform/pose')
        while True:
            before = self._measured
            assert before is not None
            await self.pause(REST_TIME / NANOSECONDS)
            # By the stamps: on a busy machine poses come late, and many at once.
            await self.until(partial(self._is_later, before), 'platform/pose')
            assert self._measured is not None
            pose = Pose(*pose_from_msg(self._measured.pose))
            moved, turned = apart(Pose(*pose_from_msg(before.pose)), pose)
            if moved < REST_DISTANCE and turned < REST_ANGLE:
                return pose
            if self.now() > end:
                raise RequestRefused('platform/pose', 'the platform does not come to rest')

    def _is_later(self, before: PoseStamped) -> bool:
        """Tell whether a pose was measured so much later that a platform has moved, or rests."""
        assert self._measured is not None
        first, second = (to_nanoseconds(item.header.stamp) for item in (before, self._measured))
        return second - first >= REST_TIME

    def _on_pose(self, message: PoseStamped) -> None:
        self._measured = message
