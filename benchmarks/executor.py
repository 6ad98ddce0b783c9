# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Time an executor among as many nodes as a rig has in one process.

The peer is rclpy's own SingleThreadedExecutor with nodes of the same kind. A sample of `spin` or
`drain` is one message that twelve nodes receive as bytes; middleware and callbacks cost both the
same. A quiet drain finds nothing to do.
"""

from __future__ import annotations

import sys

from harness import machine, measure, report, Task
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import Float64
from std_srvs.srv import Trigger
from stewart_node_support.executor import drain, LoneExecutor

NODES = 12


class Rig:
    """Nodes with two timers and a service each, which all hear the first one's messages."""

    def __init__(self, executor: SingleThreadedExecutor, name: str) -> None:
        self._executor, self._heard = executor, 0
        lean = [Parameter('start_type_description_service', value=False)]
        for number in range(NODES):
            node = Node(
                f'{name}_{number}',
                start_parameter_services=False,
                enable_rosout=False,
                parameter_overrides=lean,
            )
            node.create_subscription(Float64, name, self._hear, 10, raw=True)
            node.create_service(Trigger, f'{name}_{number}/ask', lambda _, response: response)
            for _ in range(2):
                node.create_timer(1e3, lambda: None)
            if number == 0:
                self._publisher = node.create_publisher(Float64, name, 10)
            executor.add_node(node)
        while self._publisher.get_subscription_count() < NODES:
            executor.spin_once(timeout_sec=0.01)

    def _hear(self, _: bytes) -> None:
        self._heard += 1

    def pass_on(self) -> None:
        """Publish once, and spin until everybody has heard it."""
        self._heard = 0
        self._publisher.publish(Float64())
        while self._heard < NODES:
            self._executor.spin_once()

    def drain(self) -> None:
        """Call all that is ready, which is nothing."""
        drain(self._executor)

    def drain_message(self) -> None:
        """Publish once, and call all that this causes."""
        self._heard = 0
        self._publisher.publish(Float64())
        drain(self._executor)
        if self._heard != NODES:
            raise RuntimeError(f'{self._heard} of {NODES} nodes received the message')


def main() -> int:
    """Compare the two executors."""
    rclpy.init()
    usual = Rig(SingleThreadedExecutor(), 'usual')
    lone = Rig(LoneExecutor(), 'lone')
    timings = measure(
        [
            Task(f'{way}, {name}', getattr(rig, call))
            for way, call in (
                ('spin', 'pass_on'),
                ('drain', 'drain_message'),
                ('quiet drain', 'drain'),
            )
            for name, rig in (('SingleThreadedExecutor of rclpy', usual), ('LoneExecutor', lone))
        ]
    )
    failed = report('executor', timings, machine(['rclpy']), sample='message to twelve nodes')
    rclpy.shutdown()
    return failed


if __name__ == '__main__':
    sys.exit(main())
