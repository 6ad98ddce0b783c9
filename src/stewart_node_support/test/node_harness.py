# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes in the process of a test: real messages, one executor, simulated time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
import time
from types import TracebackType
from typing import Any

from numpy.typing import ArrayLike
from rclpy.action import ActionClient
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_check_compatible, QoSCompatibility, QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from stewart_interfaces.msg import PlatformSetpoint
from stewart_node_support.executor import make_executor
from stewart_node_support.hot_messages import MotionArrays, setpoint_reader, SetpointWriter
from stewart_node_support.legs import leg_reader, LegState, LegWriter
from stewart_node_support.lifecycle import take_down
from stewart_node_support.lock_step import LockStep
from stewart_node_support.qos import COMMAND_QOS
from stewart_node_support.running import middleware
from stewart_tables.short_collections import short_collections

# Always the same: given another timeout, the executor begins its round anew, with the coroutines
# that wait, and never gets to timers and messages.
SLICE = 0.01
# Discovery takes milliseconds, and on a busy machine seconds [s].
DISCOVERY_LIMIT = 60.0
# In simulated time a machine cannot be slow; real time only ends what hangs [s].
LIMIT, REAL_LIMIT = 10.0, 60.0
# A reader learns where the numbers lie from its first message.
SETPOINTS, LEGS = setpoint_reader(), leg_reader()


class Heard(Sequence[Any]):
    """Messages that came as bytes; an object is made of those alone that somebody looks at.

    Attributes:
        data: The bytes of each.
    """

    def __init__(self, message_type: Any, data: Iterable[bytes] = ()) -> None:
        self._type, self.data = message_type, list(data)
        self._made: dict[int, Any] = {}

    def append(self, data: bytes) -> None:
        """Add the bytes of a message."""
        self.data.append(data)

    def clear(self) -> None:
        """Forget all."""
        self.data.clear()
        self._made.clear()

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return Heard(self._type, self.data[at])
        data = self.data[at]
        at %= len(self.data)
        if at not in self._made:
            self._made[at] = deserialize_message(data, self._type)
        return self._made[at]

    def __len__(self) -> int:
        return len(self.data)

    def __eq__(self, other: object) -> bool:
        return list(self) == other

    __hash__ = None

    def __repr__(self) -> str:
        return repr(list(self))


class Harness:
    """Spin nodes under test together with a probe node that talks to them.

    Time is simulated: it passes in lock-step while the test waits, as fast as the nodes are done.
    So a wait is exact, costs only the work that is done in it, and fails on no busy machine.

    Args:
        real: Let time pass by itself, for nodes that work with processes, devices or threads.

    Attributes:
        probe: Publishes, listens and calls on behalf of the test.
    """

    def __init__(self, *, real: bool = False) -> None:
        self._stack = ExitStack()
        self._stack.enter_context(middleware())
        self.probe: Any = Node('probe', start_parameter_services=False, enable_rosout=False)
        self._nodes: list[Node] = []
        self._settled = 0
        self._executor = make_executor()
        self._executor.add_node(self.probe)
        self._lock_step = None if real else LockStep([self.probe])
        self._stack.callback(self._take_down)
        if real:
            self._stack.enter_context(short_collections())

    def __enter__(self) -> Harness:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _take_down(self) -> None:
        for node in reversed([self.probe, *self._nodes]):
            take_down(node)
        self._executor.shutdown()

    def add(self, cls: Callable[..., Node], **parameters: Any) -> Any:
        """Make a node and spin it from now on.

        Args:
            cls: Class of the node; takes ``parameter_overrides``.
            **parameters: Its parameters.

        Returns:
            The node.
        """
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        node = cls(parameter_overrides=overrides)
        self._nodes.append(node)
        if self._lock_step is not None:
            self._lock_step.add(node)
        self._executor.add_node(node)
        return node

    def settle(self) -> None:
        """Wait until publishers and subscriptions have found each other, and for what was latched.

        The middleware does both in real time, of which simulated time knows nothing.

        Raises:
            TimeoutError: If it has not after a minute of real time.
        """
        publishers, heard = self._ends()
        for publisher in publishers:
            wanted = sum(_is_linked(publisher, subscription) for subscription in heard)
            self.discover(partial(_has_found, publisher, wanted))
            publisher.wait_for_all_acked(Duration(seconds=DISCOVERY_LIMIT))
        self._settled = len(publishers) + len(heard)

    def _ends(self) -> tuple[list[Any], list[Any]]:
        """Return all publishers and subscriptions."""
        nodes = [self.probe, *self._nodes]
        return (
            [publisher for node in nodes for publisher in node.publishers],
            [subscription for node in nodes for subscription in node.subscriptions],
        )

    def _settle_what_is_new(self) -> None:
        if self._lock_step is not None and sum(map(len, self._ends())) != self._settled:
            self.settle()

    def listen(self, message_type: Any, topic: str, qos: QoSProfile = COMMAND_QOS) -> Heard:
        """Return a list that grows with every message on `topic`."""
        heard = Heard(message_type)
        self.probe.create_subscription(message_type, topic, heard.append, qos, raw=True)
        return heard

    def talk(self, message_type: Any, topic: str, qos: QoSProfile = COMMAND_QOS) -> Any:
        """Return a publisher on `topic`, matched with at least one subscription."""
        publisher = self.probe.create_publisher(message_type, topic, qos)
        self.discover(lambda: publisher.get_subscription_count() > 0)
        return publisher

    def discover(self, condition: Callable[[], Any]) -> None:
        """Wait for the middleware to find somebody; simulated time stands still meanwhile.

        Args:
            condition: Whether it has.

        Raises:
            TimeoutError: If it has not after a minute of real time.
        """
        end = time.monotonic() + DISCOVERY_LIMIT
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f'nobody was found within {DISCOVERY_LIMIT} s')
            self._executor.spin_once(timeout_sec=SLICE)

    def until(self, condition: Callable[[], Any], timeout: float | None = None) -> None:
        """Spin until something is true.

        Args:
            condition: Asked whenever something was called back.
            timeout: When to give up [s]; None for `LIMIT`, or `REAL_LIMIT` where time is real.

        Raises:
            TimeoutError: If it has not become true.
        """
        self._settle_what_is_new()
        if timeout is None:
            timeout = REAL_LIMIT if self._lock_step is None else LIMIT
        end = self._now() + timeout
        while not condition():
            if self._now() > end:
                raise TimeoutError(f'nothing came true within {timeout} s')
            self._turn()

    def spin(self, seconds: float) -> None:
        """Let a time pass [s]."""
        self._settle_what_is_new()
        if self._lock_step is not None:
            self._lock_step.run(self._executor, lambda: False, seconds)
            return
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._turn()

    def stall(self, seconds: float) -> None:
        """Let a time pass in which nobody is called, as on a machine that is busy [s]."""
        assert self._lock_step is not None
        self._lock_step._set(self._lock_step.now_ns + round(seconds * 1e9))

    def result(self, future: Any, timeout: float | None = None) -> Any:
        """Spin until `future` is done and return its result."""
        self.until(future.done, timeout)
        return future.result()

    def call(self, service_type: Any, name: str, request: Any = None) -> Any:
        """Call a service and return its response."""
        client = self.probe.create_client(service_type, name)
        self.discover(client.service_is_ready)
        return self.result(client.call_async(request or service_type.Request()))

    def send_goal(
        self, action_type: Any, name: str, goal: Any, feedback: list[Any] | None = None
    ) -> Any:
        """Send an action goal and return its handle, accepted or not."""
        client = ActionClient(self.probe, action_type, name)
        self.discover(client.server_is_ready)
        said: list[Any] = [] if feedback is None else feedback
        return self.result(
            client.send_goal_async(goal, lambda message: said.append(message.feedback))
        )

    def _now(self) -> float:
        return time.monotonic() if self._lock_step is None else self._lock_step.now_ns / 1e9

    def _turn(self) -> None:
        if self._lock_step is None:
            self._executor.spin_once(timeout_sec=SLICE)
        else:
            self._lock_step.step(self._executor)

    def levels(self, heard: Sequence[Any], name: str) -> list[int]:
        """Return the levels that DiagnosticArrays in `heard` give for the status `name`."""
        statuses = [status for message in heard for status in message.status]
        return [status.level[0] for status in statuses if status.name == name]


def _is_linked(publisher: Any, subscription: Any) -> bool:
    """Tell whether messages of a publisher are for a subscription."""
    if publisher.topic_name != subscription.topic_name:
        return False
    answer, _ = qos_check_compatible(publisher.qos_profile, subscription.qos_profile)
    return bool(answer != QoSCompatibility.ERROR)


def _has_found(publisher: Any, wanted: int) -> bool:
    return bool(publisher.get_subscription_count() >= wanted)


def setpoint_msg(stamp: int, source: str, motion: Any) -> PlatformSetpoint:
    """Return one sample of a motion as a message; arguments as for `SetpointWriter`."""
    data = SetpointWriter(source).write(stamp, motion)
    return deserialize_message(data, PlatformSetpoint)


def motion_from_msg(message: PlatformSetpoint) -> MotionArrays:
    """Return the motion sample that a setpoint carries; errors as from `setpoint_reader`."""
    return SETPOINTS.read(serialize_message(message)).motion


def leg_state_msg(
    stamp: int,
    position: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    effort: ArrayLike | None = None,
) -> JointState:
    """Return six legs as a message; arguments as for `LegWriter.write`."""
    data = LegWriter().write(stamp, position, velocity, effort)
    return deserialize_message(data, JointState)


def legs_from_msg(message: JointState) -> LegState:
    """Return the six legs of a JointState; errors as from `leg_reader`."""
    return LEGS.read(serialize_message(message))
