# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The back end ``ros2_control`` on a ROS graph, from the cyclic process."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
import time

import numpy as np
import rclpy
from rclpy.context import Context
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from stewart_driver.control.clock_bridge import ClockBridge
from stewart_driver.legs import Array
from stewart_driver.ros2_control.backend import (
    Controller,
    ControllerBackend,
    JointReading,
    Ros2ControlOptions,
)
from stewart_node_support.inbox import Inbox
from stewart_node_support.log_folder import log_arguments
from stewart_node_support.qos import COMMAND_QOS, FOREIGN_QOS
from stewart_node_support.stamps import to_seconds

NODE = 'driver_ros2_control'
REFRESH = 1.0


class GraphController:
    """A controller on the graph, in a context of its own that needs no executor.

    Args:
        wall, steady: Return the time of stamps, and that of the cycle [s].
    """

    def __init__(
        self,
        options: Ros2ControlOptions,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._joints = options.joints
        self._own_context = Context()
        rclpy.init(
            args=[*log_arguments()],
            context=self._own_context,
            signal_handler_options=SignalHandlerOptions.NO,
        )
        self._node = rclpy.create_node(
            NODE,
            context=self._own_context,
            namespace=options.namespace or None,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._states = Inbox(self._node, JointState, options.joint_states, FOREIGN_QOS)
        self._commands = self._node.create_publisher(
            Float64MultiArray, f'{options.controller}/commands', COMMAND_QOS
        )
        self._bridge = ClockBridge(wall, steady)
        self._refresh_at = -np.inf

    def newest(self, now: float) -> JointReading | None:
        """Return the newest joint states that have strokes and rates of all six legs."""
        if now >= self._refresh_at:
            self._bridge.refresh()
            self._refresh_at = now + REFRESH
        found = None
        for data in self._states.take():
            message = deserialize_message(data, JointState)
            # Several broadcasters may share a topic; that of our own forward_kinematics, for who
            # shows the platform, has no rates.
            whole = len(message.position) == len(message.velocity) == len(message.name)
            if whole and set(self._joints) <= set(message.name):
                found = message
        return None if found is None else self._reading(found, now)

    def _reading(self, message: JointState, now: float) -> JointReading:
        places = [message.name.index(name) for name in self._joints]
        stamp = to_seconds(message.header.stamp)
        forces = None
        if len(message.effort) == len(message.name):
            forces = np.array(message.effort)[places]
        return JointReading(
            self._bridge.to_steady(stamp) if stamp else now,
            np.array(message.position)[places],
            np.array(message.velocity)[places],
            # A broadcaster says NaN where there is no such interface.
            forces if forces is not None and all(map(isfinite, forces)) else None,
        )

    def command(self, strokes: Array) -> None:
        """Send strokes, shape (6,) [m]."""
        self._commands.publish(Float64MultiArray(data=strokes.tolist()))

    def close(self) -> None:
        """Leave the graph."""
        self._node.destroy_node()
        self._own_context.try_shutdown()


class Ros2ControlBackend(ControllerBackend):
    """Six drives behind a controller on the graph."""

    def connect(self) -> Controller:
        """Join the graph."""
        return GraphController(self._options)
