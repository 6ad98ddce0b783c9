# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""`LoneExecutor` does what rclpy's executor does, and waits once where that waits twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
import threading
import time
from typing import Any

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.usefixtures('context')]
rclpy = pytest.importorskip('rclpy')

from rclpy.callback_groups import CallbackGroup, ReentrantCallbackGroup
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Trigger
from stewart_node_support.entities import KINDS, NOW
from stewart_node_support.executor import LoneExecutor
from stewart_node_support.lock_step import LockStep


@pytest.fixture
def nodes() -> Iterator[list[Node]]:
    made = [Node('first'), Node('second')]
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


def spin_until(
    executor: SingleThreadedExecutor, condition: Callable[[], Any], patience: float = 60.0
) -> None:
    """Spin until it holds; somebody else's timer ends a wait that would last for ever."""
    end = time.monotonic() + patience
    waker = threading.Timer(patience, executor.wake)
    waker.start()
    try:
        while not condition():
            assert time.monotonic() < end
            executor.spin_once()
    finally:
        waker.cancel()


def beside(monkeypatch: pytest.MonkeyPatch, *acts: Callable[[], object]) -> list[Any]:
    """Let another thread do something in each wait: not before, when rclpy could not bear it.

    Returns:
        What has not been done yet.
    """
    left = list(acts)

    class Accompanied(_rclpy.WaitSet):
        def wait(self, timeout: int) -> None:
            if timeout == NOW or not left:
                super().wait(timeout)
                return
            thread = threading.Thread(target=left.pop(0))
            thread.start()
            super().wait(timeout)
            thread.join()

    monkeypatch.setattr(_rclpy, 'WaitSet', Accompanied)
    return left


def link(nodes: list[Node], hear: Callable[[String], None], topic: str = 'words') -> Any:
    publisher = nodes[0].create_publisher(String, topic, 10)
    nodes[1].create_subscription(String, topic, hear, 10)
    while not publisher.get_subscription_count():
        time.sleep(0.01)
    return publisher


def test_timers_and_messages_are_called_in_their_order(
    executor: SingleThreadedExecutor, nodes: list[Node]
) -> None:
    heard: list[str] = []
    publisher = link(nodes, lambda message: heard.append(message.data))
    ticks: list[int] = []

    def tick() -> None:
        ticks.append(len(ticks))
        publisher.publish(String(data=str(len(ticks))))

    timer = nodes[0].create_timer(0.01, tick)
    spin_until(executor, lambda: len(heard) >= 20)
    timer.cancel()
    count = len(ticks)
    until = time.monotonic() + 0.1
    waker = nodes[1].create_timer(0.02, lambda: None)
    spin_until(executor, lambda: time.monotonic() > until)
    waker.cancel()

    assert heard[:20] == [str(number) for number in range(1, 21)]
    assert len(ticks) == count


def test_a_coroutine_of_a_node_may_await_a_service_of_another(
    executor: SingleThreadedExecutor, nodes: list[Node]
) -> None:
    def serve(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.message = 'served'
        return response

    nodes[0].create_service(Trigger, 'inner', serve)
    client = nodes[1].create_client(Trigger, 'inner', callback_group=ReentrantCallbackGroup())

    async def relay(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        answer = await client.call_async(Trigger.Request())
        response.message = f'relayed: {answer.message}'
        return response

    nodes[1].create_service(Trigger, 'outer', relay)
    asking = nodes[0].create_client(Trigger, 'outer')
    while not (asking.service_is_ready() and client.service_is_ready()):
        time.sleep(0.01)
    future = asking.call_async(Trigger.Request())
    spin_until(executor, future.done)

    assert future.result().message == 'relayed: served'


def test_what_ends_while_rclpy_looks_is_told_to_those_who_asked(
    executor: SingleThreadedExecutor, nodes: list[Node]
) -> None:
    """The server of an action tells the result of a goal that a message has ended in this way."""
    gate, result = Future(), Future(executor=executor)
    told: list[int] = []
    result.add_done_callback(lambda ended: told.append(ended.result()))

    async def goal() -> None:
        await gate
        result.set_result(1)

    publisher = link(nodes, lambda _: gate.set_result(None))
    task = executor.create_task(goal)
    executor.spin_once(0.1)
    assert not task.done()
    # Both are there at the next wait: the message is called directly, the task by rclpy.
    publisher.publish(String())
    executor.create_task(lambda: None)
    time.sleep(0.1)
    spin_until(executor, lambda: told)
    assert told == [1]


def test_what_a_callback_creates_and_destroys_counts_at_once(
    executor: SingleThreadedExecutor, nodes: list[Node]
) -> None:
    calls: list[str] = []
    timers: list[Any] = []

    def first() -> None:
        calls.append('first')
        nodes[0].destroy_timer(timers[0])
        timers.append(nodes[1].create_timer(0.01, lambda: calls.append('second')))

    timers.append(nodes[0].create_timer(0.01, first))
    spin_until(executor, lambda: calls.count('second') >= 3)

    assert calls.count('first') == 1


def test_nodes_come_and_go_while_it_spins(
    executor: SingleThreadedExecutor, nodes: list[Node]
) -> None:
    calls: list[str] = []
    nodes[0].create_timer(0.01, lambda: calls.append('old'))
    spin_until(executor, lambda: 'old' in calls)
    guest = Node('guest')
    guest.create_timer(0.01, lambda: calls.append('guest'))
    executor.add_node(guest)
    spin_until(executor, lambda: 'guest' in calls)
    executor.remove_node(guest)
    guest.destroy_node()
    calls.clear()
    spin_until(executor, lambda: calls.count('old') >= 3)

    assert 'guest' not in calls


def test_other_threads_wake_it_with_guards_tasks_and_destruction(
    executor: SingleThreadedExecutor, nodes: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    guard = nodes[0].create_guard_condition(lambda: calls.append('guard'))
    doomed = nodes[1].create_subscription(String, 'doomed', lambda _: None, 10)
    beside(
        monkeypatch,
        guard.trigger,
        lambda: nodes[1].destroy_subscription(doomed),
        lambda: executor.create_task(lambda: calls.append('task')),
    )
    spin_until(executor, lambda: 'task' in calls)

    assert calls == ['guard', 'task']
    assert not list(nodes[1].subscriptions)


@pytest.mark.parametrize('does', ['fails', 'changes the lists'])
def test_guards_that_were_triggered_together_are_all_called_whatever_the_first_one_does(
    executor: SingleThreadedExecutor, nodes: list[Node], does: str
) -> None:
    calls: list[int] = []

    def first() -> None:
        calls.append(1)
        if does == 'fails':
            raise RuntimeError('on purpose')
        nodes[0].create_guard_condition(lambda: None)

    guards = [nodes[0].create_guard_condition(first)]
    guards += [nodes[1].create_guard_condition(lambda at=at: calls.append(at)) for at in (2, 3)]
    for guard in guards:
        guard.trigger()
    with pytest.raises(RuntimeError, match='on purpose') if does == 'fails' else nullcontext():
        spin_until(executor, lambda: len(calls) == 3)
    spin_until(executor, lambda: len(calls) == 3)

    assert sorted(calls) == [1, 2, 3]


def test_a_service_is_heard_although_something_is_always_ready(
    executor: SingleThreadedExecutor, nodes: list[Node]
) -> None:
    served: list[str] = []
    turns: list[int] = []
    nodes[0].create_service(Trigger, 'ask', lambda _, answer: served.append('once') or answer)
    client = nodes[1].create_client(Trigger, 'ask')

    def again() -> None:
        turns.append(1)
        guard.trigger()

    guard = nodes[1].create_guard_condition(again)
    guard.trigger()
    # Whatever is created is looked for at once.
    spin_until(executor, lambda: client.service_is_ready() and len(turns) > 20)
    client.call_async(Trigger.Request())
    spin_until(executor, lambda: served)

    assert served == ['once']


def test_events_of_a_subscription_are_heard(
    executor: SingleThreadedExecutor, nodes: list[Node]
) -> None:
    events: list[Any] = []
    nodes[0].create_publisher(
        String, 'words', QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    )
    nodes[1].create_subscription(
        String,
        'words',
        lambda _: None,
        QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE),
        event_callbacks=SubscriptionEventCallbacks(incompatible_qos=events.append),
    )
    spin_until(executor, lambda: events)

    assert events[0].total_count == 1


def test_an_error_of_a_callback_is_raised_and_the_next_one_is_called(
    executor: SingleThreadedExecutor, nodes: list[Node]
) -> None:
    calls: list[int] = []

    def tick() -> None:
        calls.append(len(calls))
        if len(calls) == 1:
            raise RuntimeError('the first time')

    nodes[0].create_timer(0.01, tick)
    with pytest.raises(RuntimeError, match='the first time'):
        spin_until(executor, lambda: False)
    spin_until(executor, lambda: len(calls) >= 3)


def test_a_callback_group_may_have_rules_of_its_own(
    executor: SingleThreadedExecutor, nodes: list[Node]
) -> None:
    class Gate(CallbackGroup):
        open = False

        def can_execute(self, entity: Any) -> bool:
            return self.open

        def beginning_execution(self, entity: Any) -> bool:
            return self.open

        def ending_execution(self, entity: Any) -> None:
            pass

    gate, calls = Gate(), []
    nodes[0].create_timer(0.01, lambda: calls.append('kept'), callback_group=gate)
    nodes[0].create_timer(0.01, lambda: calls.append('free'))
    spin_until(executor, lambda: calls.count('free') >= 5)
    assert 'kept' not in calls
    gate.open = True
    spin_until(executor, lambda: calls.count('kept') >= 5)


def test_another_thread_may_destroy_what_is_waited_for(
    executor: SingleThreadedExecutor, nodes: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    timers = [nodes[0].create_timer(3600.0, lambda: None) for _ in range(20)]
    ticks: list[float] = []
    nodes[1].create_timer(0.01, lambda: ticks.append(time.monotonic()))
    handles = [timer.handle for timer in timers]
    left = beside(monkeypatch, *(partial(nodes[0].destroy_timer, timer) for timer in timers))
    spin_until(executor, lambda: not left)
    ticks.clear()
    spin_until(executor, lambda: len(ticks) >= 3)
    for handle in handles:
        with pytest.raises(_rclpy.InvalidHandle), handle:
            pass


def test_the_end_of_the_context_ends_the_wait(
    executor: SingleThreadedExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside(monkeypatch, rclpy.try_shutdown)
    with pytest.raises(ExternalShutdownException):
        spin_until(executor, lambda: False)


def test_the_end_of_the_context_is_told_while_entities_are_listed(
    nodes: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Late(_rclpy.WaitSet):
        def __init__(self, *arguments: Any) -> None:
            rclpy.try_shutdown()
            super().__init__(*arguments)

    executor = LoneExecutor()
    executor.add_node(nodes[0])
    monkeypatch.setattr(_rclpy, 'WaitSet', Late)
    with pytest.raises(ExternalShutdownException):
        executor.spin_once()
    executor.shutdown()


def test_it_waits_half_as_often_as_rclpy(
    nodes: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time goes on when a wait has found nothing: no timer is due before it is waited for."""
    time_of_nodes, waits = LockStep(nodes), 0

    class Counted(_rclpy.WaitSet):
        def wait(self, timeout: int) -> None:
            nonlocal waits
            super().wait(NOW)
            if timeout != NOW and any(map(self.get_ready_entities, KINDS)):
                waits += 1
            elif timeout != NOW:
                time_of_nodes._set(time_of_nodes.now_ns + 10_000_000)

    ticks: list[int] = []
    nodes[0].create_timer(0.01, lambda: ticks.append(len(ticks)))
    monkeypatch.setattr(_rclpy, 'WaitSet', Counted)
    found = []
    for kind in (LoneExecutor, SingleThreadedExecutor):
        executor = kind()
        for node in nodes:
            executor.add_node(node)
        spin_until(executor, lambda: len(ticks) >= 20)
        found.append(waits)
        waits = 0
        ticks.clear()
        executor.shutdown()

    lone, usual = found
    # A round more where nodes were added.
    assert 20 <= lone <= 25
    assert usual >= 38
