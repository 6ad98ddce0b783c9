# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes in the process of a test: real messages, one executor, waiting for facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
import time
from types import TracebackType
from typing import Any

import rclpy
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from stewart_node_support.lifecycle import take_down
from stewart_node_support.qos import COMMAND_QOS
from stewart_node_support.running import short_collections

# Always the same: given another timeout, the executor begins its round anew, with the coroutines
# that wait, and never gets to timers and messages.
SLICE = 0.01


class Harness:
    """
    Spin nodes under test together with a probe node that talks to them.

    Attributes
    ----------
    probe : Node
        Publishes, listens and calls on behalf of the test.

    """

    def __init__(self) -> None:
        """Open a context and the probe."""
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        self.probe: Any = Node('probe')
        self._nodes: list[Node] = []
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.probe)
        self._stack = ExitStack()
        self._stack.enter_context(short_collections())

    def __enter__(self) -> Harness:
        """Return self."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take every node down and close the context."""
        self._stack.close()
        for node in reversed([self.probe, *self._nodes]):
            take_down(node)
        self._executor.shutdown()
        rclpy.try_shutdown()

    def add(self, cls: Callable[..., Node], **parameters: Any) -> Any:
        """
        Make a node and spin it from now on.

        Parameters
        ----------
        cls : callable
            Class of the node; takes ``parameter_overrides``.
        **parameters : object
            Its parameters.

        Returns
        -------
        Node
            The node.

        """
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        node = cls(parameter_overrides=overrides)
        self._nodes.append(node)
        self._executor.add_node(node)
        return node

    def listen(self, message_type: Any, topic: str, qos: QoSProfile = COMMAND_QOS) -> list[Any]:
        """Return a list that grows with every message on `topic`."""
        heard: list[Any] = []
        self.probe.create_subscription(message_type, topic, heard.append, qos)
        return heard

    def talk(self, message_type: Any, topic: str, qos: QoSProfile = COMMAND_QOS) -> Any:
        """Return a publisher on `topic`, matched with at least one subscription."""
        publisher = self.probe.create_publisher(message_type, topic, qos)
        self.until(lambda: publisher.get_subscription_count() > 0)
        return publisher

    def until(self, condition: Callable[[], Any], timeout: float = 10.0) -> None:
        """
        Spin until something is true.

        Parameters
        ----------
        condition : callable
            Asked after every callback.
        timeout : float
            When to give up [s].

        Raises
        ------
        TimeoutError
            If it has not become true.

        """
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f'nothing came true within {timeout} s')
            self._executor.spin_once(timeout_sec=SLICE)

    def spin(self, seconds: float) -> None:
        """Spin for a time [s]."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=SLICE)

    def result(self, future: Any, timeout: float = 10.0) -> Any:
        """Spin until `future` is done and return its result."""
        self.until(future.done, timeout)
        return future.result()

    def call(self, service_type: Any, name: str, request: Any = None) -> Any:
        """Call a service and return its response."""
        client = self.probe.create_client(service_type, name)
        self.until(client.service_is_ready)
        return self.result(client.call_async(request or service_type.Request()))

    def send_goal(
        self, action_type: Any, name: str, goal: Any, feedback: list[Any] | None = None
    ) -> Any:
        """Send an action goal and return its handle, accepted or not."""
        client = ActionClient(self.probe, action_type, name)
        self.until(client.server_is_ready)
        said: list[Any] = [] if feedback is None else feedback
        return self.result(
            client.send_goal_async(goal, lambda message: said.append(message.feedback))
        )

    def levels(self, heard: Sequence[Any], name: str) -> list[int]:
        """Return the levels that DiagnosticArrays in `heard` give for the status `name`."""
        statuses = [status for message in heard for status in message.status]
        return [status.level[0] for status in statuses if status.name == name]
