# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Turn platform setpoints into strokes and rates of the six legs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import JointState
from stewart_interfaces.msg import DriverState, PlatformSetpoint
from stewart_kinematics.arbitration import SetpointArbiter
from stewart_kinematics.errors import StewartError
from stewart_kinematics.motion import Motion
from stewart_kinematics.motion_guard import MotionGuard
from stewart_kinematics.shared_platform import load_platform
from stewart_kinematics.warming import warm_up
from stewart_node_support.conversions import motion_from_msg
from stewart_node_support.diagnostics import Diagnostics
from stewart_node_support.errors import MessageError
from stewart_node_support.legs import LegStateMessage
from stewart_node_support.parameters import declare, param
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import COMMAND_QOS, STATE_QOS
from stewart_node_support.refusals import Refusals
from stewart_node_support.running import run
from stewart_node_support.stamps import to_seconds


@dataclass(frozen=True)
class InverseKinematicsParameters:
    """Parameters of the inverse kinematics node."""

    platform: str = param('vigo', 'platform by name, or path of its YAML file')
    limit_scale: float = param(
        1.0, 'part of the rate and acceleration limits that is allowed [-]', min=1e-3, max=1.0
    )
    silence: float = param(
        0.25, 'silence of one source before another is heard [s]', min=0.01, max=60.0
    )


class InverseKinematics(Node):
    """
    Subscribe ``setpoint``, publish ``joint_commands``; nothing for what is refused.

    A silence brings the platform to rest: the driver sees to that. Where ``driver/state`` says
    that the platform stood still by other means, every source may begin anew.

    """

    def __init__(self, **kwargs: Any) -> None:
        """Declare parameters, build guard and arbiter, then open the interfaces."""
        super().__init__('inverse_kinematics', **kwargs)
        parameters = declare(self, InverseKinematicsParameters)
        platform = load_platform(parameters.platform)
        warm_up()
        self._guard = MotionGuard(platform, scale=parameters.limit_scale)
        self._arbiter = SetpointArbiter(parameters.silence)
        self._driver_state: int | None = None
        self._message = LegStateMessage()
        self.refusals = Refusals('setpoints')
        self.published: dict[str, CountedPublisher] = {}
        self._commands = CountedPublisher(self, JointState, 'joint_commands', COMMAND_QOS)
        self.diagnostics = Diagnostics(self, platform.name)
        self.diagnostics.add('setpoints', self.refusals.report)
        self.create_subscription(DriverState, 'driver/state', self._on_driver_state, STATE_QOS)
        self.create_subscription(PlatformSetpoint, 'setpoint', self._on_setpoint, COMMAND_QOS)

    def _on_setpoint(self, message: PlatformSetpoint) -> None:
        stamp = to_seconds(message.header.stamp)
        try:
            motion = Motion(*motion_from_msg(message))
            self._arbiter.require(message.source, motion, stamp)
            legs = self._guard.admit(motion, stamp)
        except (StewartError, MessageError) as error:
            self.refusals.refuse(self, error)
            return
        self._arbiter.latch(message.source, motion, stamp)
        self.refusals.accept()
        self._commands.publish(self._message.filled(message.header.stamp, legs.stroke, legs.rate))

    def _on_driver_state(self, message: DriverState) -> None:
        before, self._driver_state = self._driver_state, message.state
        if before not in (None, message.state) and message.state == DriverState.ENABLED:
            self._guard.forget()
            self._arbiter.release()


def main() -> None:
    """Run the node until it is asked to stop."""
    run(InverseKinematics)


if __name__ == '__main__':
    main()
