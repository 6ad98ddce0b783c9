# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A driver node on loopback drives, and an operator who has its services and topics.

Time is simulated, in lock-step, and the control loop runs inside the node; real time is for the
tests of a driver that has its loop in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
import time
from typing import Any

from loopback import LoopbackBackend
import numpy as np
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from stewart_driver import backend as backend_module
from stewart_driver.control import cycle_client
from stewart_driver.legs import LEG_NAMES
from stewart_driver.nodes.driver import Driver
from stewart_interfaces.msg import DriverState, TrackingError
from stewart_node_support.executor import make_executor
from stewart_node_support.lifecycle import bring_up, take_down
from stewart_node_support.lock_step import LockStep
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.stamps import from_nanoseconds

START = np.full(6, 0.3)
SPEEDS = np.array([0.10, -0.05, 0.02, 0.08, -0.10, 0.01])
PERIOD = 0.005
# Of a busy machine [s].
DISCOVERY_LIMIT = 60.0
# Real time may pass while others are busy: nothing here is about 60 ms of silence.
PATIENCE = {
    'playout_delay': 0.1,
    'extrapolation_time': 0.2,
    'command_timeout': 0.5,
    'start_timeout': 90.0,
}
STATES = {
    getattr(DriverState, name): name
    for name in ('DISABLED', 'ENABLING', 'ENABLED', 'STOPPING', 'FAULT')
}


class Installed:
    """Stands for the entry point of an installed back end."""

    @staticmethod
    def load() -> type:
        """Return the loopback back end."""
        return LoopbackBackend


class Operator(Node):
    """What an operator and a trajectory have at the driver."""

    def __init__(self, executor: SingleThreadedExecutor, time: LockStep | None) -> None:
        """Listen to everything."""
        super().__init__('operator')
        self._spinner, self._time = executor, time
        self.states: list[DriverState] = []
        self.legs: list[JointState] = []
        self.create_subscription(DriverState, 'driver/state', self.states.append, STATE_QOS)
        self.create_subscription(JointState, 'actuator_states', self.legs.append, SENSOR_QOS)
        self.commands = self.create_publisher(JointState, 'joint_commands', COMMAND_QOS)
        self.efforts = self.create_publisher(JointState, 'joint_efforts', COMMAND_QOS)
        self.tracking = self.create_publisher(
            TrackingError, 'platform/tracking_error', COMMAND_QOS
        )
        self._triggers = {
            name: self.create_client(Trigger, f'driver/{name}')
            for name in ('enable', 'disable', 'home', 'reset_fault', 'quick_stop')
        }

    @property
    def now(self) -> int:
        """Time of the stamps [ns]."""
        return int(self.get_clock().now().nanoseconds)

    @property
    def names(self) -> list[str]:
        """Names of the states seen so far."""
        return [STATES[state.state] for state in self.states]

    def heard(self) -> bool:
        """Tell whether the driver listens to everything that is published here."""
        publishers = (self.commands, self.efforts, self.tracking)
        return all(publisher.get_subscription_count() for publisher in publishers)

    def spin(self, duration: float) -> None:
        """Let the graph run."""
        self.wait(lambda: False, duration)

    def wait(self, condition: Callable[[], bool], timeout: float | None = None) -> bool:
        """Let the graph run until something is so; real time only ends what hangs."""
        if self._time is not None:
            return self._time.run(self._spinner, condition, 5.0 if timeout is None else timeout)
        limit = time.monotonic() + (60.0 if timeout is None else timeout)
        while not condition():
            remaining = limit - time.monotonic()
            if remaining <= 0.0:
                return False
            self._spinner.spin_once(timeout_sec=min(remaining, 0.05))
        return True

    def discover(self, condition: Callable[[], bool]) -> None:
        """Wait for the middleware, which follows no simulated time."""
        limit = time.monotonic() + DISCOVERY_LIMIT
        while not condition():
            assert time.monotonic() < limit
            self._spinner.spin_once(timeout_sec=0.01)

    def ask(self, name: str) -> Future:
        """Call a service of the driver, and do not wait for its answer."""
        self.discover(self._triggers[name].service_is_ready)
        return self._triggers[name].call_async(Trigger.Request())

    def call(self, name: str) -> Trigger.Response:
        """Call a service of the driver."""
        future = self.ask(name)
        assert self.wait(future.done)
        return future.result()

    def enable(self) -> None:
        """Enable, with the answer and the state that belong to it."""
        assert self.call('enable').success
        assert self.wait(lambda: self.names[-1:] == ['ENABLED'])

    def command(self, nanoseconds: int, strokes: np.ndarray, rates: np.ndarray) -> None:
        """Publish one leg command."""
        message = JointState(
            name=list(LEG_NAMES), position=strokes.tolist(), velocity=rates.tolist()
        )
        message.header.stamp = from_nanoseconds(nanoseconds)
        self.commands.publish(message)

    def ramp(self, duration: float, begin: float = 0.0) -> None:
        """Speed the legs up for a second and on, at 200 Hz of the node's clock."""
        start = self.now - round(begin * 1e9)
        count = 0
        while (now := (self.now - start) * 1e-9) < begin + duration:
            rise = min(now, 1.0)
            strokes = START + SPEEDS * (0.5 * rise**2 + max(now - 1.0, 0.0))
            self.command(start + round(now * 1e9), strokes, SPEEDS * rise)
            count += 1
            self.spin(max(begin + count * PERIOD - (self.now - start) * 1e-9, 0.0))


Graph = Callable[..., tuple[Driver, Operator]]


@contextmanager
def driver_graph(monkeypatch: pytest.MonkeyPatch, *, real: bool = False) -> Iterator[Graph]:
    """Make a driver with a loopback back end and an operator, in one executor."""
    monkeypatch.setenv('ROS_PYTHON_CHECK_FIELDS', '1')
    # How soon a process answers on a busy machine is nobody's promise.
    monkeypatch.setattr(cycle_client, 'REPLY_TIMEOUT', 60.0)
    monkeypatch.setattr(backend_module, 'installed_backends', lambda: {'loopback': Installed})
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    executor = make_executor()
    nodes: list[Any] = []
    lock_step = None if real else LockStep()

    def make(*, up: bool = True, **overrides: Any) -> tuple[Driver, Operator]:
        values = {'backend': 'loopback', **PATIENCE, **overrides}
        parameters = [Parameter(name.replace('__', '.'), value=v) for name, v in values.items()]
        operator = Operator(executor, lock_step)
        driver = Driver(parameter_overrides=parameters)
        nodes.extend([driver, operator])
        executor.add_node(driver)
        executor.add_node(operator)
        if lock_step is not None:
            lock_step.add(driver)
            lock_step.add(operator)
        operator.discover(operator.heard)
        if up:
            bring_up(driver)
            assert operator.wait(lambda: operator.names == ['DISABLED'])
        return driver, operator

    yield make
    executor.shutdown()
    for node in nodes:
        with suppress(Exception):
            take_down(node)
    rclpy.try_shutdown()
