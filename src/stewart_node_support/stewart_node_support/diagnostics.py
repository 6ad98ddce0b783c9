# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Say once a second on /diagnostics how a node is doing (REP-107)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from rclpy.qos import QoSProfile
from stewart_node_support.publishers import CountedPublisher

TOPIC = '/diagnostics'


class Level(IntEnum):
    """How bad it is."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


@dataclass(frozen=True)
class Report:
    """What one task says: one sentence, and the numbers behind it with the unit in the name."""

    level: Level
    message: str
    values: Mapping[str, Any] = field(default_factory=dict)


class Diagnostics:
    """Ask the tasks of a node once a period [s] and publish what they say.

    Args:
        node: Node that reports.
        hardware_id: What the reports are about: a platform, a drive, a sensor.
        period: Time between two reports [s].
    """

    def __init__(self, node: Node, hardware_id: str, period: float = 1.0) -> None:
        self._node = node
        self._hardware_id = hardware_id
        self._tasks: dict[str, Callable[[], Report]] = {}
        self._publisher = CountedPublisher(node, DiagnosticArray, TOPIC, QoSProfile(depth=10))
        self._timer = node.create_timer(period, self.publish)

    def add(self, task: str, check: Callable[[], Report]) -> None:
        """Add a task; its status is called ``<node>: <task>``."""
        self._tasks[task] = check

    def publish(self) -> None:
        """Ask every task and publish at once, between the periods too."""
        message = DiagnosticArray()
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.status = [self._status(task, check()) for task, check in self._tasks.items()]
        self._publisher.publish(message)

    def _status(self, task: str, report: Report) -> DiagnosticStatus:
        return DiagnosticStatus(
            level=bytes([report.level]),
            name=f'{self._node.get_name()}: {task}',
            hardware_id=self._hardware_id,
            message=report.message,
            values=[KeyValue(key=key, value=str(value)) for key, value in report.values.items()],
        )
