# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Say once a second on /diagnostics how a node is doing (REP-107), and what it refused."""

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


def in_namespace(namespace: str, name: str) -> str:
    """Return a status name ``<node>: <task>`` as a node of a namespace reports it.

    All nodes of a domain share one topic: the namespace tells the rigs apart. In the root it is
    the name itself.
    """
    return f'{namespace}/{name}'.lstrip('/')


class Diagnostics:
    """Ask the tasks of a node once a period [s] and publish what they say.

    Args:
        hardware_id: What the reports are about: a platform, a drive, a sensor.
    """

    def __init__(self, node: Node, hardware_id: str, period: float = 1.0) -> None:
        self._node = node
        self._hardware_id = hardware_id
        self._tasks: dict[str, Callable[[], Report]] = {}
        self._publisher = CountedPublisher(node, DiagnosticArray, TOPIC, QoSProfile(depth=10))
        self._timer = node.create_timer(period, self.publish)

    def add(self, task: str, check: Callable[[], Report]) -> None:
        """Add a task; its status is called ``<namespace>/<node>: <task>``."""
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
            name=in_namespace(self._node.get_namespace(), f'{self._node.get_name()}: {task}'),
            hardware_id=self._hardware_id,
            message=report.message,
            values=[KeyValue(key=key, value=str(value)) for key, value in report.values.items()],
        )


class Refusals:
    """Tally of accepted and refused messages, named in the plural.

    Attributes:
        accepted, refused: Since the start.
        reason: Why the last one was refused; empty before the first.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._reported = (0, 0)
        self.accepted = 0
        self.refused = 0
        self.reason = ''

    def accept(self) -> None:
        """Count one that was accepted."""
        self.accepted += 1

    def refuse(self, node: Any, error: Exception) -> None:
        """Count one that was refused, and log why, at most once a second."""
        self.refused += 1
        self.reason = str(error)
        node.get_logger().error(self.reason, throttle_duration_sec=1.0)

    def report(self) -> Report:
        """Return ERROR if anything was refused since the last report."""
        accepted, refused = self.accepted - self._reported[0], self.refused - self._reported[1]
        self._reported = (self.accepted, self.refused)
        values = {
            'accepted': self.accepted,
            'refused': self.refused,
            'last_refusal': self.reason or 'none',
        }
        if refused:
            return Report(Level.ERROR, f'{refused} {self._what} refused: {self.reason}', values)
        return Report(Level.OK, f'{accepted} {self._what} since the last report', values)
