# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A driver node on loopback drives, and an operator who has its services and topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
import time
from typing import Any

import numpy as np
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from stewart_driver import backend as backend_module
from stewart_driver.legs import LEG_NAMES
from stewart_driver.loopback import LoopbackBackend
from stewart_driver.nodes.driver import Driver
from stewart_interfaces.msg import DriverState, TrackingError
from stewart_node_support.lifecycle import bring_up, take_down
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.stamps import from_nanoseconds

START = np.full(6, 0.3)
SPEEDS = np.array([0.10, -0.05, 0.02, 0.08, -0.10, 0.01])
PERIOD = 0.005
# This machine may be busy with other things: nothing here is about 60 ms of silence.
PATIENCE = {'playout_delay': 0.1, 'extrapolation_time': 0.2, 'command_timeout': 0.5}
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

    def __init__(self, executor: SingleThreadedExecutor) -> None:
        """Listen to everything."""
        super().__init__('operator')
        self._spinner = executor
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
        self._begin = 0.0

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

    def wait(self, condition: Callable[[], bool], timeout: float = 5.0) -> bool:
        """Let the graph run until something is so."""
        limit = time.monotonic() + timeout
        while not condition():
            remaining = limit - time.monotonic()
            if remaining <= 0.0:
                return False
            self._spinner.spin_once(timeout_sec=min(remaining, 0.05))
        return True

    def call(self, name: str) -> Trigger.Response:
        """Call a service of the driver."""
        assert self._triggers[name].wait_for_service(5.0)
        future = self._triggers[name].call_async(Trigger.Request())
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
        """Speed the legs up for a second and on, at 200 Hz on the wall clock."""
        start = time.time_ns() - round(begin * 1e9)
        count = 0
        while (now := (time.time_ns() - start) * 1e-9) < begin + duration:
            rise = min(now, 1.0)
            strokes = START + SPEEDS * (0.5 * rise**2 + max(now - 1.0, 0.0))
            self.command(start + round(now * 1e9), strokes, SPEEDS * rise)
            count += 1
            self.spin(max(begin + count * PERIOD - (time.time_ns() - start) * 1e-9, 0.0))


Graph = Callable[..., tuple[Driver, Operator]]


@contextmanager
def driver_graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[Graph]:
    """Make a driver with a loopback back end and an operator, in one executor."""
    monkeypatch.setenv('ROS_PYTHON_CHECK_FIELDS', '1')
    monkeypatch.setattr(backend_module, 'installed_backends', lambda: {'loopback': Installed})
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    executor = SingleThreadedExecutor()
    nodes: list[Any] = []

    def make(*, up: bool = True, **overrides: Any) -> tuple[Driver, Operator]:
        values = {'backend': 'loopback', **PATIENCE, **overrides}
        parameters = [Parameter(name.replace('__', '.'), value=v) for name, v in values.items()]
        operator = Operator(executor)
        driver = Driver(parameter_overrides=parameters)
        nodes.extend([driver, operator])
        executor.add_node(driver)
        executor.add_node(operator)
        if up:
            bring_up(driver)
            assert operator.wait(lambda: operator.names == ['DISABLED'])
            assert operator.wait(operator.heard)
        return driver, operator

    yield make
    executor.shutdown()
    for node in nodes:
        with suppress(Exception):
            take_down(node)
    rclpy.try_shutdown()
