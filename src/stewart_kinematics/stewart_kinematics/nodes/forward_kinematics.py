# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Turn measured strokes into pose, joint states and tracking error."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from stewart_interfaces.msg import DriverState, PlatformSetpoint, TrackingError
from stewart_kinematics.command_history import CommandHistory
from stewart_kinematics.errors import ConvergenceError, StewartError
from stewart_kinematics.forward import forward, ForwardResult
from stewart_kinematics.joint_states import JOINT_NAMES, joint_positions
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.shared_platform import load_platform
from stewart_kinematics.tracking import tracking_error
from stewart_kinematics.warming import warm_up
from stewart_node_support.conversions import (
    header_msg,
    legs_from_msg,
    motion_from_msg,
    pose_stamped_msg,
    vector3_msg,
)
from stewart_node_support.diagnostics import Diagnostics
from stewart_node_support.errors import MessageError
from stewart_node_support.parameters import declare, param
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.refusals import Refusals
from stewart_node_support.running import run
from stewart_node_support.stamps import NANOSECONDS, to_nanoseconds, to_seconds

PENDING = 100
"""Setpoints kept until the inverse kinematics executes them."""


@dataclass(frozen=True)
class ForwardKinematicsParameters:
    """Parameters of the forward kinematics node."""

    platform: str = param('vigo', 'platform by name, or path of its YAML file')
    playout_delay: float = param(
        0.03, 'how long after its stamp the driver executes a setpoint [s]', min=0.0, max=1.0
    )
    joint_states_rate: float = param(
        50.0, 'at most so many joint_states, for eyes [Hz]', min=1.0, max=1000.0
    )


class ForwardKinematics(Node):
    """
    Subscribe ``actuator_states``, publish ``platform/pose``, ``joint_states``, tracking error.

    All carry the stamp of the actuator state; ``joint_states``, which is for RViz and the viewer,
    leaves out those that come sooner than ``joint_states_rate`` asks for. Strokes without a
    solution give nothing but an ERROR. ``platform/tracking_error`` compares with the setpoints
    that ``joint_commands`` shows to have been executed, at the instant that the driver plays at
    that stamp: ``playout_delay`` before it. It pauses while nothing is commanded.

    """

    def __init__(self, **kwargs: Any) -> None:
        """Declare parameters, read the geometry, then open the interfaces."""
        super().__init__('forward_kinematics', **kwargs)
        parameters = declare(self, ForwardKinematicsParameters)
        platform = load_platform(parameters.platform)
        self._geometry = platform.geometry
        self._delay = parameters.playout_delay
        # Stamps shake: a tenth of the period may be missing.
        self._joints_period = round(0.9 * NANOSECONDS / parameters.joint_states_rate)
        self._joints_stamp = 0
        self._start: Pose = platform.geometry.neutral_pose
        warm_up(self._geometry)
        self._pending: OrderedDict[int, PlatformSetpoint] = OrderedDict()
        self._commanded = CommandHistory()
        self.refusals = Refusals('actuator states')
        self.published: dict[str, CountedPublisher] = {}
        self._poses = CountedPublisher(self, PoseStamped, 'platform/pose', SENSOR_QOS)
        self._joints = CountedPublisher(self, JointState, 'joint_states', SENSOR_QOS)
        self._errors = CountedPublisher(self, TrackingError, 'platform/tracking_error', SENSOR_QOS)
        self.diagnostics = Diagnostics(self, platform.name)
        self.diagnostics.add('solution', self.refusals.report)
        self.create_subscription(DriverState, 'driver/state', self._on_driver_state, STATE_QOS)
        self.create_subscription(PlatformSetpoint, 'setpoint', self._on_setpoint, COMMAND_QOS)
        self.create_subscription(JointState, 'joint_commands', self._on_command, COMMAND_QOS)
        self.create_subscription(JointState, 'actuator_states', self._on_state, SENSOR_QOS)

    def _on_state(self, message: JointState) -> None:
        try:
            strokes = legs_from_msg(message).position
            if strokes is None:
                raise MessageError('an actuator state without strokes has no pose')
            result = forward(
                self._geometry, strokes + self._geometry.retracted_length, self._start
            )
            if not result.converged:
                raise ConvergenceError(f'strokes {strokes} m: {result.reason}')
        except (StewartError, MessageError) as error:
            self._start = self._geometry.neutral_pose
            self.refusals.refuse(self, error)
            return
        self._start = Pose(result.position, result.quaternion_xyzw)
        self.refusals.accept()
        self._publish(header_msg(message.header.stamp), result, strokes)
        self._publish_joints(message.header.stamp, result)

    def _publish(self, header: Header, result: ForwardResult, strokes: Any) -> None:
        pose = (result.position, result.quaternion_xyzw)
        self._poses.publish(pose_stamped_msg(header, *pose))
        commanded = self._commanded.at(to_seconds(header.stamp) - self._delay)
        if commanded is None:
            return
        error = tracking_error(self._geometry, commanded, pose, strokes)
        self._errors.publish(
            TrackingError(
                header=header,
                position=vector3_msg(error.position),
                rotation=vector3_msg(error.rotation),
                strokes=error.strokes.tolist(),
            )
        )

    def _publish_joints(self, stamp: Time, result: ForwardResult) -> None:
        now = to_nanoseconds(stamp)
        # A clock that was set back begins anew.
        if abs(now - self._joints_stamp) < self._joints_period:
            return
        self._joints_stamp = now
        positions = joint_positions(self._geometry, result.position, result.quaternion_xyzw)
        self._joints.publish(
            JointState(
                header=header_msg(stamp, ''),
                name=list(JOINT_NAMES),
                position=positions.tolist(),
            )
        )

    def _on_setpoint(self, message: PlatformSetpoint) -> None:
        self._pending[to_nanoseconds(message.header.stamp)] = message
        if len(self._pending) > PENDING:
            self._pending.popitem(last=False)

    def _on_command(self, message: JointState) -> None:
        setpoint = self._pending.pop(to_nanoseconds(message.header.stamp), None)
        if setpoint is None:
            return
        motion = Motion(*motion_from_msg(setpoint))
        self._commanded.add(to_seconds(setpoint.header.stamp), motion)

    def _on_driver_state(self, _: DriverState) -> None:
        # Whatever it goes to, and ENABLED above all, what was commanded before does not count.
        self._pending.clear()
        self._commanded.clear()


def main() -> None:
    """Run the node until it is asked to stop."""
    run(ForwardKinematics)


if __name__ == '__main__':
    main()
