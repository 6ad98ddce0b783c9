# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""`drain` calls all that the present instant has caused, in a fixed order, and never waits."""

from __future__ import annotations

from collections.abc import Iterator
import time
from typing import Any

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.usefixtures('context')]
rclpy = pytest.importorskip('rclpy')

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.task import Future
from rclpy.time import Time
from rclpy.waitable import NumberOfEntities, Waitable
from std_msgs.msg import String
from std_srvs.srv import Trigger
from stewart_node_support.executor import drain, LoneExecutor

NAMES = ('first', 'second', 'third', 'fourth')


@pytest.fixture
def nodes() -> Iterator[list[Node]]:
    simulated = [Parameter('use_sim_time', value=True)]
    made = [Node(name, parameter_overrides=simulated) for name in NAMES]
    yield made
    for node in made:
        node.destroy_node()


@pytest.fixture(params=[LoneExecutor, SingleThreadedExecutor])
def executor(
    request: pytest.FixtureRequest, nodes: list[Node]
) -> Iterator[SingleThreadedExecutor]:
    made = request.param()
    for node in nodes:
        made.add_node(node)
    yield made
    made.shutdown()


@pytest.fixture
def lone(nodes: list[Node]) -> Iterator[LoneExecutor]:
    made = LoneExecutor()
    for node in nodes:
        made.add_node(node)
    yield made
    made.shutdown()


def advance(nodes: list[Node], seconds: float) -> None:
    for node in nodes:
        node.get_clock().set_ros_time_override(Time(nanoseconds=round(seconds * 1e9)))


def publisher(node: Node, topic: str, heard_by: int = 1) -> Any:
    made = node.create_publisher(String, topic, 10)
    while made.get_subscription_count() < heard_by:
        time.sleep(0.01)
    return made


def test_a_chain_against_the_order_of_the_nodes_ends_within_the_instant(
    executor: SingleThreadedExecutor, nodes: list[Node]
) -> None:
    heard: list[str] = []
    nodes[0].create_subscription(String, 'c', lambda message: heard.append(message.data), 10)
    last = publisher(nodes[1], 'c')

    def pass_on_bytes(data: bytes) -> None:
        text = deserialize_message(data, String).data
        last.publish(serialize_message(String(data=f'{text} c')))

    nodes[1].create_subscription(String, 'b', pass_on_bytes, 10, raw=True)
    middle = publisher(nodes[2], 'b')

    def pass_on(message: String, info: Any) -> None:
        assert info['source_timestamp'] > 0
        middle.publish(String(data=f'{message.data} b'))

    nodes[2].create_subscription(String, 'a', pass_on, 10)
    first = publisher(nodes[3], 'a')
    nodes[3].create_timer(0.005, lambda: first.publish(String(data='a')))
    advance(nodes, 1.0)
    drain(executor)
    heard.clear()
    for step in range(1, 201):
        advance(nodes, 1.0 + 0.005 * step)
        drain(executor)
        assert heard == ['a b c'] * step


def test_nothing_is_called_while_time_stands_still(
    executor: SingleThreadedExecutor, nodes: list[Node]
) -> None:
    ticks: list[int] = []
    nodes[0].create_timer(1.0, lambda: ticks.append(len(ticks)))
    advance(nodes, 5.0)
    drain(executor)
    before = len(ticks)
    for _ in range(50):
        drain(executor)
    assert len(ticks) == before
    advance(nodes, 6.0)
    drain(executor)
    assert len(ticks) == before + 1


def test_timers_come_first_then_messages_by_node_and_subscription(
    lone: LoneExecutor, nodes: list[Node]
) -> None:
    calls: list[str] = []
    for node in reversed(nodes):
        for topic in ('y', 'x'):
            node.create_subscription(
                String,
                topic,
                lambda message, of=node, topic=topic: calls.append(
                    f'{of.get_name()} {topic}{message.data}'
                ),
                10,
            )
    x, y = publisher(nodes[2], 'x', 4), publisher(nodes[1], 'y', 4)
    for node in reversed(nodes):
        node.create_timer(0.1, lambda of=node: calls.append(of.get_name()))
    advance(nodes, 1.0)
    drain(lone)
    calls.clear()
    for number in (1, 2):
        x.publish(String(data=str(number)))
        y.publish(String(data=str(number)))
    advance(nodes, 1.1)
    drain(lone)

    assert calls == [
        *NAMES,
        *(f'{name} {topic}1' for name in NAMES for topic in 'yx'),
        *(f'{name} {topic}2' for name in NAMES for topic in 'yx'),
    ]


def test_a_service_that_awaits_another_is_answered_within_the_instant(
    executor: SingleThreadedExecutor, nodes: list[Node]
) -> None:
    def serve(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.message = 'served'
        return response

    nodes[0].create_service(Trigger, 'inner', serve)
    inner = nodes[1].create_client(Trigger, 'inner', callback_group=ReentrantCallbackGroup())

    async def relay(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.message = f'{(await inner.call_async(Trigger.Request())).message} twice'
        return response

    nodes[1].create_service(Trigger, 'outer', relay)
    outer = nodes[3].create_client(Trigger, 'outer')
    while not (outer.service_is_ready() and inner.service_is_ready()):
        time.sleep(0.01)
    for _ in range(20):
        future = outer.call_async(Trigger.Request())
        drain(executor)
        assert future.done()
        assert future.result().message == 'served twice'


def test_what_a_resumed_task_publishes_is_heard_within_the_instant(
    executor: SingleThreadedExecutor, nodes: list[Node]
) -> None:
    heard: list[str] = []
    nodes[0].create_subscription(String, 'words', lambda message: heard.append(message.data), 10)
    words = publisher(nodes[1], 'words')
    futures = [Future(), Future()]

    async def speak() -> str:
        for future in futures:
            words.publish(String(data=await future))
        return 'done'

    task = executor.create_task(speak)
    drain(executor)
    assert heard == []
    timer = nodes[2].create_timer(0.1, lambda: futures[len(heard)].set_result(str(len(heard))))
    for step in (1, 2):
        advance(nodes, 0.1 * step)
        drain(executor)
        assert heard == ['0', '1'][:step]
    timer.cancel()
    assert task.done()
    assert task.result() == 'done'


def test_what_is_created_within_the_instant_belongs_to_it(
    executor: SingleThreadedExecutor, nodes: list[Node]
) -> None:
    calls: list[str] = []
    guards: list[Any] = []

    def create() -> None:
        timer.cancel()
        guards.append(nodes[3].create_guard_condition(lambda: calls.append('guard')))
        guards[0].trigger()
        executor.create_task(lambda: calls.append('task'))

    timer = nodes[0].create_timer(0.1, create)
    advance(nodes, 1.0)
    drain(executor)
    assert sorted(calls) == ['guard', 'task']


def test_an_error_loses_neither_tasks_nor_guards(
    executor: SingleThreadedExecutor, nodes: list[Node]
) -> None:
    calls: list[str] = []
    guard = nodes[3].create_guard_condition(lambda: calls.append('guard'))

    def fail() -> None:
        timer.cancel()
        raise RuntimeError('on purpose')

    timer = nodes[0].create_timer(0.1, fail)
    drain(executor)
    advance(nodes, 1.0)
    guard.trigger()
    executor.create_task(lambda: calls.append('task'))
    with pytest.raises(RuntimeError, match='on purpose'):
        drain(executor)
    drain(executor)
    assert sorted(calls) == ['guard', 'task']


def test_the_end_of_the_context_is_told(executor: SingleThreadedExecutor) -> None:
    drain(executor)
    rclpy.shutdown()
    with pytest.raises(ExternalShutdownException):
        drain(executor)


def test_a_callback_may_shut_the_executor_down(lone: LoneExecutor, nodes: list[Node]) -> None:
    calls: list[str] = []
    nodes[0].create_timer(0.1, lone.shutdown)
    nodes[1].create_timer(0.1, lambda: calls.append('late'))
    advance(nodes, 1.0)
    drain(lone)
    drain(lone)
    lone.spin_once()
    assert calls == []


def test_a_waitable_whose_guard_conditions_would_be_lost_is_refused(
    lone: LoneExecutor, nodes: list[Node]
) -> None:
    class Guarded(Waitable):
        def __init__(self) -> None:
            super().__init__(ReentrantCallbackGroup())

        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            pass

        def get_num_entities(self) -> NumberOfEntities:
            return NumberOfEntities(num_gcs=1)

    nodes[0].add_waitable(Guarded())
    with pytest.raises(NotImplementedError, match=r'Guarded .*SingleThreadedExecutor'):
        drain(lone)
