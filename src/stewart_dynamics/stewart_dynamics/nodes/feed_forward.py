# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Turn platform setpoints into feed-forward forces of the six legs."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import JointState
from stewart_dynamics.errors import StewartError
from stewart_dynamics.feed_forward import FeedForward
from stewart_dynamics.nodes.feed_forward_parameters import FeedForwardParameters
from stewart_interfaces.msg import PlatformSetpoint
from stewart_node_support.diagnostics import Diagnostics, Level, Refusals, Report
from stewart_node_support.errors import MessageError
from stewart_node_support.hot_messages import setpoint_reader
from stewart_node_support.legs import LegWriter
from stewart_node_support.parameters import declare
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import COMMAND_QOS


class FeedForwardNode(Node):
    """Subscribe ``setpoint``, publish ``joint_efforts``; nothing for what has no forces."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('feed_forward', **kwargs)
        parameters = declare(self, FeedForwardParameters)
        self.refusals = Refusals('setpoints')
        self.published: dict[str, CountedPublisher] = {}
        self._efforts = CountedPublisher(self, JointState, 'joint_efforts', COMMAND_QOS)
        self._reader, self._writer = setpoint_reader(), LegWriter()
        self._diagnostics = Diagnostics(self, parameters.platform)
        if not parameters.enabled:
            self._diagnostics.add('setpoints', lambda: Report(Level.OK, 'off by configuration'))
            return
        self._model = FeedForward(parameters.platform)
        self._diagnostics.add('setpoints', self.refusals.report)
        self.create_subscription(
            PlatformSetpoint, 'setpoint', self._on_setpoint, COMMAND_QOS, raw=True
        )

    def _on_setpoint(self, data: bytes) -> None:
        try:
            setpoint = self._reader.read(data)
            forces = self._model.forces(*setpoint.motion)
        except (StewartError, MessageError) as error:
            self.refusals.refuse(self, error)
            return
        self.refusals.accept()
        self._efforts.publish(self._writer.write(setpoint.stamp, effort=forces))
