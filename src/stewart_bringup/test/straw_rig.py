# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig of straw, in simulated time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.executors import Executor
from rclpy.node import Node
from std_srvs.srv import Trigger
from stewart_interfaces.msg import DriverState
from stewart_node_support.lock_step import LockStep
from stewart_node_support.qos import SENSOR_QOS, STATE_QOS


class Stepped:
    """Simulated time, in lock-step: a pace."""

    def begin(self, nodes: Sequence[Node]) -> None:
        self._time = LockStep(nodes)

    def turn(self, executor: Executor) -> None:
        self._time.step(executor)


class Straw(Node):
    """Answer every service with yes, publish poses, and misbehave when told to."""

    def __init__(self) -> None:
        super().__init__('straw')
        self.asked: list[str] = []
        self.when: dict[str, float] = {}
        self.refuses, self.refusals, self.reason = '', 1, 'no wave today'
        self.after_start: list[tuple[int, str]] = []
        self.live_for = self.enabling_for = 0.0
        self._coming: Any = None
        self._states = self.create_publisher(DriverState, 'driver/state', STATE_QOS)
        self._poses = self.create_publisher(PoseStamped, 'platform/pose', SENSOR_QOS)
        self.create_timer(0.005, lambda: self._poses.publish(PoseStamped()))
        for name in (
            *('driver/enable', 'ocean/start', 'ocean/stop', 'driver/disable'),
            *('driver/reset_fault', 'driver/quick_stop'),
        ):
            self.create_service(Trigger, name, self._answer_to(name))
        self.tell(DriverState.DISABLED, 'started')

    @property
    def now(self) -> float:
        return 1e-9 * float(self.get_clock().now().nanoseconds)

    def tell(self, state: int, reason: str, *, live: bool = False) -> None:
        self._states.publish(DriverState(state=state, reason=reason, live=[live] * 6))

    def come_on(self, enabling_for: float) -> None:
        """Be ENABLED, after a time in which that can be taken back [s]."""
        if enabling_for <= 0.0:
            self.tell(DriverState.ENABLED, 'on')
            return

        def over() -> None:
            self._coming.cancel()
            self.tell(DriverState.ENABLED, 'on', live=True)

        # Of a driver in another process the state comes after the answer.
        def begin() -> None:
            beginning.cancel()
            self.tell(DriverState.ENABLING, 'coming on', live=True)
            self._coming = self.create_timer(enabling_for, over)

        beginning = self.create_timer(0.05, begin)

    def let_go(self, live_for: float) -> None:
        """Be DISABLED, and without voltage only after a time [s]."""
        if self._coming is not None:
            self._coming.cancel()
        self.tell(DriverState.DISABLED, 'off', live=live_for > 0.0)
        if live_for > 0.0:
            self.create_timer(live_for, lambda: self.tell(DriverState.DISABLED, 'off'))

    def _answer_to(self, name: str) -> Any:
        def answer(_: Any, response: Trigger.Response) -> Trigger.Response:
            self.asked.append(name)
            self.when[name] = self.now
            refused = name == self.refuses and self.asked.count(name) <= self.refusals
            response.success = not refused
            response.message = self.reason if refused else ''
            if name == 'driver/enable':
                self.come_on(self.enabling_for)
            if name in {'driver/disable', 'driver/quick_stop'}:
                self.let_go(self.live_for)
            if name == 'ocean/start':
                for state, reason in self.after_start:
                    self.tell(state, reason)
            return response

        return answer
