# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The platform in a browser, live."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from stewart_interfaces.msg import DriverState, PlatformSetpoint
from stewart_node_support.conversions import legs_from_msg, pose_from_msg
from stewart_node_support.diagnostics import Diagnostics, Level, Report
from stewart_node_support.errors import MessageError
from stewart_node_support.parameters import declare, param
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.running import run
from stewart_viewer.live import LiveView
from stewart_viewer.mailbox import Mailbox
from stewart_viewer.nodes.operator import GraphOperator
from stewart_viewer.snapshot import DriveReport, Estimate, pose_at

STATES = {
    getattr(DriverState, name): name
    for name in ('DISABLED', 'ENABLING', 'ENABLED', 'STOPPING', 'FAULT')
}


@dataclass(frozen=True)
class WebViewerParameters:
    """Parameters of the web viewer."""

    platform: str = param('vigo', 'platform by name, or path of its YAML file')
    host: str = param('127.0.0.1', 'address to listen at; others than this machine may then move')
    port: int = param(8080, 'port to listen at; 0: any that is free', min=0, max=65535)
    rate: float = param(20.0, 'pictures per second at most [Hz]', min=0.5, max=60.0)
    allow_commands: bool = param(default=True, description='show controls that move the platform')


class WebViewer(Node):
    """
    Show ``platform/pose``, setpoint, legs, driver and estimate; hand on what a person asks for.

    Pictures are drawn in a thread of their own from the latest messages; commands go through
    ``move_platform`` and the services of driver and wave, so that every limit holds.

    """

    def __init__(self, **kwargs: Any) -> None:
        """Open the page; it shows the neutral pose until something is heard."""
        super().__init__('web_viewer', **kwargs)
        chosen = declare(self, WebViewerParameters)
        self._mailbox, self._heard = Mailbox(), 0
        operator = GraphOperator(self, self._tell) if chosen.allow_commands else None
        self.view = LiveView(
            chosen.platform,
            self._mailbox,
            operator,
            host=chosen.host,
            port=chosen.port,
            rate=chosen.rate,
        )
        for kind, topic, read, qos in (
            (PoseStamped, 'platform/pose', self._pose, SENSOR_QOS),
            (PlatformSetpoint, 'setpoint', self._setpoint, COMMAND_QOS),
            (JointState, 'actuator_states', self._legs, SENSOR_QOS),
            (Odometry, 'platform/odometry', self._odometry, SENSOR_QOS),
            (DriverState, 'driver/state', self._state, STATE_QOS),
        ):
            self.create_subscription(kind, topic, partial(self._take, read), qos)
        diagnostics = Diagnostics(self, chosen.platform)
        diagnostics.add('page', self._report)
        self.get_logger().info(f'open {self.view.url} in a browser')

    def destroy_node(self) -> None:
        """Close the page, too."""
        self.view.close()
        super().destroy_node()

    def _report(self) -> Report:
        text = f'showing {self.view.url}' if self._heard else 'nothing of the rig was heard yet'
        return Report(Level.OK, text, {'messages heard': self._heard})

    def _tell(self, sentence: str) -> None:
        self.view.tell(sentence)

    def _take(self, read: Any, message: Any) -> None:
        """Put what a message says into the mailbox; what cannot be read is not shown."""
        self._heard += 1
        try:
            values = read(message)
        except MessageError as error:
            self.get_logger().warning(f'{error}', throttle_duration_sec=5.0)
            return
        self._mailbox.put(1e-9 * self.get_clock().now().nanoseconds, **values)

    def _pose(self, message: PoseStamped) -> dict[str, Any]:
        return {'pose': pose_at(*pose_from_msg(message.pose))}

    def _setpoint(self, message: PlatformSetpoint) -> dict[str, Any]:
        return {'commanded': pose_at(*pose_from_msg(message.pose))}

    def _legs(self, message: JointState) -> dict[str, Any]:
        legs = legs_from_msg(message)
        return {'strokes': legs.position, 'forces': legs.effort}

    def _odometry(self, message: Odometry) -> dict[str, Any]:
        pose = pose_at(*pose_from_msg(message.pose.pose))
        covariance = np.reshape(message.pose.covariance, (6, 6))[:3, :3]
        return {'estimate': Estimate(pose, covariance)}

    def _state(self, message: DriverState) -> dict[str, Any]:
        state = STATES.get(message.state, f'{message.state}')
        return {'drives': DriveReport(state, message.backend, message.simulated, message.reason)}


def main() -> None:
    """Run the node in a process of its own."""
    run(WebViewer)


if __name__ == '__main__':
    main()
