# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Turn measured strokes into pose, joint states and tracking error."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import PoseStamped, TwistStamped
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from stewart_interfaces.msg import DriverState, Jog, PlatformSetpoint, TrackingError
from stewart_kinematics.control.tracking import PoseTracking
from stewart_kinematics.errors import StewartError
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array
from stewart_kinematics.nodes.parameters import ForwardKinematicsParameters
from stewart_kinematics.solvers.jacobian import jacobian
from stewart_kinematics.solvers.joint_states import JOINT_NAMES, joint_positions
from stewart_kinematics.solvers.warming import warm_up
from stewart_node_support.codec import Writer
from stewart_node_support.conversions import BASE_FRAME, vector_from_msg
from stewart_node_support.diagnostics import Diagnostics, Refusals
from stewart_node_support.errors import MessageError
from stewart_node_support.hot_messages import PoseWriter, setpoint_reader, TrackingErrorWriter
from stewart_node_support.inbox import Inbox
from stewart_node_support.legs import leg_reader
from stewart_node_support.parameters import declare
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import COMMAND_QOS, COMMANDED_QOS, EVERY_STATE_QOS, SENSOR_QOS
from stewart_node_support.stamps import NANOSECONDS, to_nanoseconds


class ForwardKinematics(Node):
    """Subscribe ``actuator_states``, publish ``platform/pose``, ``joint_states``, tracking error.

    All carry the stamp of the actuator state; ``joint_states``, which is for RViz and the viewer,
    leaves out those that come sooner than ``joint_states_rate`` asks for. Strokes without a
    solution give nothing but an ERROR. ``platform/tracking_error`` compares with
    ``platform/commanded``, which is what was executed, at the instant that the driver plays at
    that stamp, as ``driver/state`` tells it. It pauses while nothing is commanded, and what was
    commanded before the last change of ``driver/state`` does not count.

    ``platform/jog`` becomes ``driver/jog``: the leg rates that give the platform this twist, in
    axes of ``base_link``, where it is now.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('forward_kinematics', **kwargs)
        parameters = declare(self, ForwardKinematicsParameters)
        platform = load_platform(parameters.platform)
        self._platform = platform
        # Tolerate 10 % stamp jitter.
        self._joints_period = round(0.9 * NANOSECONDS / parameters.joint_states_rate)
        self._joints_stamp = 0
        self._tracking = PoseTracking(platform.geometry)
        warm_up(platform.geometry)
        self._changed, self._state = 0, -1
        self._now, self._playout_delay = 0, 0.0
        self._legs, self._setpoints = leg_reader(), setpoint_reader()
        self._pose, self._error = PoseWriter(), TrackingErrorWriter()
        shown = JointState(name=list(JOINT_NAMES), position=[0.0] * len(JOINT_NAMES))
        self._shown = Writer(shown, 'position')
        self.refusals = Refusals('actuator states')
        self.published: dict[str, CountedPublisher] = {}
        self._poses = CountedPublisher(self, PoseStamped, 'platform/pose', SENSOR_QOS)
        self._joints = CountedPublisher(self, JointState, 'joint_states', SENSOR_QOS)
        self._errors = CountedPublisher(self, TrackingError, 'platform/tracking_error', SENSOR_QOS)
        self._here: Array | None = None
        self._jogs = CountedPublisher(self, Jog, 'driver/jog', COMMAND_QOS)
        self.create_subscription(TwistStamped, 'platform/jog', self._on_jog, COMMAND_QOS)
        self.diagnostics = Diagnostics(self, platform.name)
        self.diagnostics.add('solution', self.refusals.report)
        self.create_subscription(
            DriverState, 'driver/state', self._on_driver_state, EVERY_STATE_QOS
        )
        self._executed = Inbox(self, PlatformSetpoint, 'platform/commanded', COMMANDED_QOS)
        self.create_subscription(
            JointState, 'actuator_states', self._on_state, SENSOR_QOS, raw=True
        )

    def _on_state(self, data: bytes) -> None:
        try:
            self._take_commanded()
            legs = self._legs.read(data)
            strokes = legs.position
            if strokes is None:
                raise MessageError('an actuator state without strokes has no pose')
            pose = self._tracking.solve(strokes)
        except (StewartError, MessageError) as error:
            self._here = None
            self.refusals.refuse(self, error)
            return
        self._here = pose
        self.refusals.accept()
        now = self.get_clock().now().nanoseconds
        if now < self._now:  # the clock was set back
            self._changed = 0
            self._tracking.begin_anew(self._playout_delay)
        self._now = now
        self._publish(legs.stamp, pose, strokes)

    def _on_jog(self, message: TwistStamped) -> None:
        here, frame = self._here, message.header.frame_id
        if here is None or frame not in ('', BASE_FRAME):
            why = (
                'no pose is known'
                if here is None
                else f'its twist is in {BASE_FRAME}, not {frame}'
            )
            self.get_logger().warning(f'no jog: {why}', throttle_duration_sec=1.0)
            return
        twist = [vector_from_msg(part) for part in (message.twist.linear, message.twist.angular)]
        matrix = jacobian(self._platform.geometry, here[:3], here[3:])
        rates = matrix @ np.concatenate(twist)
        self._jogs.publish(Jog(header=message.header, rates=rates.tolist()))

    def _publish(self, stamp: int, pose: Array, strokes: Array) -> None:
        position, quaternion = pose[:3], pose[3:]
        self._poses.publish(self._pose.write(stamp, position, quaternion))
        error = self._tracking.error(stamp / NANOSECONDS, pose, strokes)
        if error is not None:
            self._errors.publish(self._error.write(stamp, *error))
        # A clock that was set back begins anew.
        if abs(stamp - self._joints_stamp) < self._joints_period:
            return
        self._joints_stamp = stamp
        positions = joint_positions(self._platform, position, quaternion)
        self._joints.publish(self._shown.write(stamp, positions))

    def _take_commanded(self) -> None:
        """Add what was executed since the last actuator state."""
        for data in self._executed.take():
            setpoint = self._setpoints.read(data)
            if setpoint.stamp > self._changed:
                self._tracking.commanded(setpoint.stamp / NANOSECONDS, *setpoint.motion)

    def _on_driver_state(self, message: DriverState) -> None:
        before, self._state = self._state, message.state
        if message.state == before:
            return
        # Any transition of the driver invalidates what was commanded before it.
        self._changed = to_nanoseconds(message.header.stamp)
        self._playout_delay = message.playout_delay
        self._tracking.begin_anew(self._playout_delay)
