# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A probe node that is a whole rig to the page: it publishes, and takes down what it is asked."""

from __future__ import annotations

from functools import partial
from typing import Any

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from node_harness import Harness
import numpy as np
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from stewart_interfaces.action import MovePlatform
from stewart_interfaces.msg import DriverState, PlatformSetpoint
from stewart_kinematics.motion import Array, Pose
from stewart_node_support.conversions import header_msg, pose_msg
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS

SERVICES = (
    'driver/enable',
    'driver/disable',
    'driver/quick_stop',
    'driver/reset_fault',
    'ocean/start',
    'ocean/stop',
    'excitation/start',
    'excitation/stop',
)


class ProbeRig:
    """What the page shows, and whom it asks.

    Attributes:
        called: Services, in the order in which they were called.
        goals: Where it was told to move.
        poses: Publisher of where it is.
        lasting: Whether a move goes on until it is cancelled; a second one is refused meanwhile.
    """

    def __init__(self, harness: Harness) -> None:
        """Offer everything a rig offers."""
        self.called: list[str] = []
        self.goals: list[Any] = []
        self.lasting = False
        self._cancelled: Any = None
        probe = self._probe = harness.probe
        self.poses = probe.create_publisher(PoseStamped, 'platform/pose', SENSOR_QOS)
        # A rig tells this all the time, and a page that does not hear it says so.
        self._pose: Pose | None = None
        probe.create_timer(0.1, self._repeat)
        self._states = probe.create_publisher(DriverState, 'driver/state', STATE_QOS)
        self._setpoints = probe.create_publisher(
            PlatformSetpoint, 'platform/commanded', COMMAND_QOS
        )
        self._legs = probe.create_publisher(JointState, 'actuator_states', SENSOR_QOS)
        self._estimates = probe.create_publisher(Odometry, 'platform/odometry', SENSOR_QOS)
        for name in SERVICES:
            probe.create_service(Trigger, name, partial(self._take, name))
        self._moves = ActionServer(
            probe,
            MovePlatform,
            'move_platform',
            self._move,
            goal_callback=self._admit,
            cancel_callback=self._cancel,
        )

    def _take(self, name: str, _: Any, answer: Any) -> Any:
        self.called.append(name)
        answer.success, answer.message = True, 'as you wish'
        return answer

    def _admit(self, goal: Any) -> GoalResponse:
        self.goals.append(goal)
        return GoalResponse.REJECT if self._cancelled is not None else GoalResponse.ACCEPT

    async def _move(self, handle: Any) -> Any:
        if not self.lasting:
            handle.succeed()
            return MovePlatform.Result(message='that was quick')
        self._cancelled = Future()
        await self._cancelled
        self._cancelled = None
        handle.canceled()
        return MovePlatform.Result(code=MovePlatform.Result.CANCELED, message='that was long')

    def _cancel(self, _: Any) -> CancelResponse:
        self._cancelled.set_result(None)
        return CancelResponse.ACCEPT

    def say(self, pose: Pose, state: int, reason: str) -> None:
        """Tell where the platform is, from now on, and what the driver says."""
        self._pose = pose
        self._repeat()
        self._states.publish(DriverState(state=state, simulated=True, reason=reason))

    def die(self) -> None:
        """Publish no more of what `say` tells."""
        self._pose = None
        self._probe.destroy_publisher(self._states)

    def _repeat(self) -> None:
        if self._pose is not None:
            self.poses.publish(self._stamped(self._pose))

    def command(self, pose: Pose) -> None:
        """Tell where the platform shall be."""
        target = pose_msg(pose.position, pose.quaternion_xyzw)
        self._setpoints.publish(PlatformSetpoint(header=self._header(), pose=target))

    def measure(self, strokes: Array, forces: Array | None = None) -> None:
        """Tell what the legs do."""
        names = [f'leg_{leg}' for leg in range(1, 7)]
        message = JointState(header=self._header(), name=names, position=strokes.tolist())
        if forces is not None:
            message.effort = forces.tolist()
        self._legs.publish(message)

    def estimate(self, pose: Pose, stddev: float) -> None:
        """Tell where the platform is believed to be."""
        message = Odometry(header=self._header())
        message.pose.pose = pose_msg(pose.position, pose.quaternion_xyzw)
        message.pose.covariance = np.diag(np.full(6, stddev**2)).ravel().tolist()
        self._estimates.publish(message)

    def _stamped(self, pose: Pose) -> Any:
        return PoseStamped(
            header=self._header(), pose=pose_msg(pose.position, pose.quaternion_xyzw)
        )

    def _header(self) -> Any:
        return header_msg(self._probe.get_clock().now().to_msg())
