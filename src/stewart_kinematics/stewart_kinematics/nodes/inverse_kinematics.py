# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Turn platform setpoints into strokes and rates of the six legs."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import JointState
from stewart_interfaces.msg import DriverState, PlatformSetpoint
from stewart_kinematics.control.admission import Admission
from stewart_kinematics.errors import StewartError
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Motion
from stewart_kinematics.nodes.parameters import InverseKinematicsParameters
from stewart_node_support.diagnostics import Diagnostics, Refusals
from stewart_node_support.errors import MessageError
from stewart_node_support.hot_messages import setpoint_reader
from stewart_node_support.legs import LegWriter
from stewart_node_support.parameters import declare
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import COMMAND_QOS, COMMANDED_QOS, EVERY_STATE_QOS
from stewart_node_support.stamps import NANOSECONDS


class InverseKinematics(Node):
    """Subscribe ``setpoint``, publish ``joint_commands``; nothing for what is refused.

    What is executed is published on ``platform/commanded``, too, as the setpoint that it was. A
    silence brings the platform to rest: the driver sees to that. After a second of it, or where
    ``driver/state`` says that the platform stood still by other means, every source may begin
    anew.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('inverse_kinematics', **kwargs)
        parameters = declare(self, InverseKinematicsParameters)
        platform = load_platform(parameters.platform)
        self._admission = Admission(
            platform, scale=parameters.limit_scale, silence=parameters.silence
        )
        self._driver_state: int | None = None
        self._reader, self._writer = setpoint_reader(), LegWriter()
        self.refusals = Refusals('setpoints')
        self.published: dict[str, CountedPublisher] = {}
        self._commands = CountedPublisher(self, JointState, 'joint_commands', COMMAND_QOS)
        self._commanded = CountedPublisher(
            self, PlatformSetpoint, 'platform/commanded', COMMANDED_QOS
        )
        self.diagnostics = Diagnostics(self, platform.name)
        self.diagnostics.add('setpoints', self.refusals.report)
        self.create_subscription(
            DriverState, 'driver/state', self._on_driver_state, EVERY_STATE_QOS
        )
        self.create_subscription(
            PlatformSetpoint, 'setpoint', self._on_setpoint, COMMAND_QOS, raw=True
        )

    def _on_setpoint(self, data: bytes) -> None:
        try:
            setpoint = self._reader.read(data)
            motion, stamp = Motion(*setpoint.motion), setpoint.stamp / NANOSECONDS
            now = self.get_clock().now().nanoseconds / NANOSECONDS
            legs = self._admission.admit(setpoint.source, motion, stamp, now)
        except (StewartError, MessageError) as error:
            self.refusals.refuse(self, error)
            return
        self.refusals.accept()
        self._commands.publish(self._writer.write(setpoint.stamp, legs.stroke, legs.rate))
        self._commanded.publish(data)

    def _on_driver_state(self, message: DriverState) -> None:
        before, self._driver_state = self._driver_state, message.state
        if before not in (None, message.state) and message.state == DriverState.ENABLED:
            self._admission.begin_anew()
