# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated time in lock-step: time goes on when all that the present instant caused is done.

The ROS time of every node's clock is overridden and moved from one due timer to the next; in
between, the executor calls back until nothing is ready. Delivery inside one process is
synchronous, so the same inputs give the same messages with the same stamps, however busy the
machine is. PX4's lock-step simulation is the model. Alternatives: docs/decisions/0024.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rclpy.clock import ROSClock
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.time import Time
from stewart_node_support.clock_watch import restart_timers
from stewart_node_support.executor import drain, LoneExecutor
from stewart_node_support.stamps import NANOSECONDS

# Zero would mean "no time" in a stamp.
START_NS = 10 * NANOSECONDS
# Without a timer time passes in such steps, so that whoever waits for it is not stuck [ns].
LONGEST_STEP_NS = NANOSECONDS // 10


class LockStep:
    """The ROS time of some nodes, moved on by hand; it begins with `START_NS`.

    Attributes:
        now_ns: Present instant [ns].
    """

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        self.now_ns = START_NS
        self._nodes: list[Node] = []
        self._clocks: list[ROSClock] = []
        self._listed: Any = None
        self._asked: list[Callable[[], int | None]] = []
        for node in nodes:
            self.add(node)

    def add(self, node: Node) -> None:
        """Take over the clock of one more node."""
        clock: ROSClock = node.get_clock()
        # A timer that is overdue in real time, as after a slow start, would believe in simulated
        # time that it was called in the future, and take the next step for a jump back.
        restart_timers(node.timers)
        clock.set_ros_time_override(Time(nanoseconds=self.now_ns))
        with clock.handle:
            clock.handle.set_ros_time_override_is_enabled(True)
        # They would keep the phase that they have in real time.
        restart_timers(node.timers)
        self._nodes.append(node)
        self._clocks.append(clock)
        self._listed = None

    def remove(self, node: Node) -> None:
        """Forget a node that is about to be destroyed."""
        self._clocks.remove(node.get_clock())
        self._nodes.remove(node)
        self._listed = None

    def step(self, executor: Executor, limit_ns: int | None = None) -> None:
        """Go on to the next instant at which a timer is due, and let all happen that it causes.

        Args:
            limit_ns: Go no further than this instant [ns].
        """
        due = self._next_due(executor)
        self._set(due if limit_ns is None else min(due, limit_ns))
        drain(executor)

    def run(self, executor: Executor, until: Callable[[], bool], duration: float = 60.0) -> bool:
        """Step until a condition, asked before every step, holds; return whether it does.

        Args:
            duration: Longest simulated time that this may take [s].
        """
        limit = self.now_ns + round(duration * NANOSECONDS)
        while not until():
            if self.now_ns >= limit:
                return False
            self.step(executor, limit)
        return True

    def _next_due(self, executor: Executor) -> int:
        """Return the instant of the next timer call [ns]; at least a nanosecond from now."""
        # A timer that is cancelled waits for None.
        waits = [wait for ask in self._timer_waits(executor) if (wait := ask()) is not None]
        return self.now_ns + max(min(waits, default=LONGEST_STEP_NS), 1)

    def _timer_waits(self, executor: Executor) -> Iterable[Callable[[], int | None]]:
        """Return what tells how long each timer waits [ns]."""
        if not isinstance(executor, LoneExecutor):
            return [timer.time_until_next_call for node in self._nodes for timer in node.timers]
        found = executor.waits_of_timers()
        if found is not self._listed:
            self._listed = found
            self._asked = [ask for node in self._nodes for ask in found.get(node, ())]
        return self._asked

    def _set(self, now_ns: int) -> None:
        self.now_ns = now_ns
        time = Time(nanoseconds=now_ns)
        for clock in self._clocks:
            clock.set_ros_time_override(time)
