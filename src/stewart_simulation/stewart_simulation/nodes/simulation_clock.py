# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Own simulated time: publish it on /clock, at a factor of real time, and pause it on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import time
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.qos import qos_profile_system_default
from rosgraph_msgs.msg import Clock as ClockMessage
from std_srvs.srv import SetBool, Trigger
from stewart_node_support.executor import drain
from stewart_node_support.lock_step import LockStep, START_NS
from stewart_node_support.parameters import declare
from stewart_node_support.stamps import from_nanoseconds, NANOSECONDS
from stewart_node_support.stop_signals import StopSignals
from stewart_tables.settings import param

AS_FAST_AS_POSSIBLE = 0.0
# While time stands still, services are looked after this often [s].
IDLE = 0.01
# Lateness beyond this is not made up for: nobody wants time in bursts [s].
LONGEST_BACKLOG = 0.01


@dataclass(frozen=True)
class SimulationClockParameters:
    """Parameters of the simulation_clock node."""

    speed: float = param(
        1.0,
        'simulated seconds per second; 0: as fast as nodes in one process can, else 1',
        min=0.0,
        max=1000.0,
    )
    step: float = param(
        0.005, 'simulated time between two messages on /clock [s]', min=0.0005, max=0.1
    )


class SimulationClock(Node):
    """Publish ``/clock``; serve ``simulation/pause`` and ``simulation/step``.

    By itself it paces nodes in other processes (``use_sim_time``) by the machine's steady clock.
    Given to a `SimulatedPace` it obeys that instead, which steps all nodes of its process in
    lock-step.

    Attributes:
        paused: Whether time stands still.
        owed_ns: How far it shall go on all the same [ns].
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('simulation_clock', **kwargs)
        self.settings = declare(self, SimulationClockParameters)
        self.paused, self.owed_ns = False, 0
        self._now_ns = START_NS
        self._step_ns = round(self.settings.step * NANOSECONDS)
        # Not counted, so not recorded: a bag has its time in every message. Nodes own a `_clock`.
        self._times = self.create_publisher(ClockMessage, '/clock', qos_profile_system_default)
        self.create_service(SetBool, 'simulation/pause', self._pause)
        self.create_service(Trigger, 'simulation/step', self._go_on)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        period = self.settings.step / (self.settings.speed or 1.0)
        self._pacing = self.create_timer(period, self._tick, clock=steady)

    def obey(self) -> None:
        """Tell the time of the node's own clock from now on, which somebody else moves."""
        self.destroy_timer(self._pacing)
        self.create_timer(
            self.settings.step, lambda: self.tell(self.get_clock().now().nanoseconds)
        )

    def tell(self, now_ns: int) -> None:
        """Publish the time [ns], if anybody hears it."""
        if self._times.get_subscription_count():
            self._times.publish(ClockMessage(clock=from_nanoseconds(now_ns)))

    def _tick(self) -> None:
        if self.paused and self.owed_ns < self._step_ns:
            return
        self.owed_ns = max(self.owed_ns - self._step_ns, 0)
        self._now_ns += self._step_ns
        self.tell(self._now_ns)

    def _pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self.paused, self.owed_ns = request.data, 0
        response.success = True
        response.message = 'time stands still' if self.paused else 'time goes on'
        return response

    def _go_on(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self.paused
        if self.paused:
            self.owed_ns += self._step_ns
            response.message = f'time goes on by {self.settings.step:g} s'
        else:
            response.message = 'time goes on anyway: call simulation/pause first'
        return response


class SimulatedPace:
    """Let time pass for the nodes of one process; a pace for `running.spin`.

    Args:
        clock: One of the nodes; it says how fast, and when to pause.
        stop: A request to stop ends a pause: in standing time nobody could bring anything to rest.
    """

    def __init__(self, clock: SimulationClock, stop: StopSignals | None = None) -> None:
        self._clock_node, self._stop = clock, stop
        self._lock_step: LockStep | None = None
        self._turned = 0.0

    def begin(self, nodes: Sequence[Node]) -> None:
        """Take over the clocks of the nodes."""
        self._lock_step = LockStep(nodes)
        self._clock_node.obey()
        self._turned = time.monotonic()

    def turn(self, executor: Executor) -> None:
        """Go on to the next instant at which something is due, no faster than asked for."""
        assert self._lock_step is not None
        clock, before = self._clock_node, self._lock_step.now_ns
        if self._stop is not None and self._stop.requested:
            clock.paused = False
        if clock.paused and not clock.owed_ns:
            drain(executor)
            time.sleep(IDLE)
            self._turned = time.monotonic()
            return
        limit = before + clock.owed_ns if clock.paused else None
        self._lock_step.step(executor, limit)
        passed = self._lock_step.now_ns - before
        clock.owed_ns = max(clock.owed_ns - passed, 0)
        if clock.settings.speed != AS_FAST_AS_POSSIBLE:
            self._wait(passed / NANOSECONDS / clock.settings.speed)

    def _wait(self, duration: float) -> None:
        """Wait until real time has passed, too [s]."""
        self._turned += duration
        ahead = self._turned - time.monotonic()
        if ahead > 0.0:
            time.sleep(ahead)
        elif ahead < -LONGEST_BACKLOG:
            self._turned = time.monotonic() - LONGEST_BACKLOG
