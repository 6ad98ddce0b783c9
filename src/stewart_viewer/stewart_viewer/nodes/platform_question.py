# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Ask a running rig which platform it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python

# The node whose poses are shown: what it takes the platform for is what they are of.
ASKED = 'forward_kinematics'
LOOK, LIMIT = 0.2, 5.0
"""Time from one look for the node to the next, and longest wait for its answer [s]."""
TOLD_EVERY = 10.0


class PlatformQuestion:
    """Read the parameter ``platform`` of ``forward_kinematics``, as soon as that node is there.

    Args:
        answered: Told the platform, once: its name, or the path of its YAML file.
        asked: Name of the node that knows it; from `node`'s namespace on, unless it has a slash.
    """

    def __init__(self, node: Node, answered: Callable[[str], object], asked: str = ASKED) -> None:
        self._node, self._answered, self._name = node, answered, asked
        self._client: Any = node.create_client(GetParameters, f'{asked}/get_parameters')
        self._pending: Any = None
        self._asked = 0
        self._timer = node.create_timer(LOOK, self._look)

    def _look(self) -> None:
        now = self._node.get_clock().now().nanoseconds
        if self._pending is not None and now - self._asked < LIMIT * 1e9:
            return
        if not self._client.service_is_ready():
            self._node.get_logger().info(
                f'waiting for a rig: no {self._name} here yet; `stewart run` starts one, '
                'or name the platform to begin without',
                throttle_duration_sec=TOLD_EVERY,
            )
            return
        self._asked = now
        self._pending = self._client.call_async(GetParameters.Request(names=['platform']))
        self._pending.add_done_callback(self._take)

    def _take(self, future: Any) -> None:
        if future is not self._pending:
            return
        self._pending = None
        values = [parameter_value_to_python(value) for value in future.result().values]
        if values and isinstance(values[0], str):
            self._timer.cancel()
            self._answered(values[0])
