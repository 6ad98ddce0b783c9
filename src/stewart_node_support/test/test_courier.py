# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes are handed over within an executor, and nobody can tell by what comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import threading
import time
from typing import Any

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.task import Future
from std_msgs.msg import Int32
from std_srvs.srv import Trigger
from stewart_node_support.entities import WaitList
from stewart_node_support.executor import drain, LoneExecutor
from stewart_node_support.inbox import Inbox
from stewart_node_support.lock_step import LockStep
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import COMMAND_QOS, COMMANDED_QOS, STATE_QOS


def packed(number: int) -> bytes:
    return bytes(serialize_message(Int32(data=number)))


def numbers(data: list[bytes]) -> list[int]:
    return [int(deserialize_message(item, Int32).data) for item in data]


class Stage:
    """Two nodes in an executor, a third one outside, and what went through the middleware."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sender, self.hearer, self.outside = (
            Node(name, start_parameter_services=False, enable_rosout=False)
            for name in ('sender', 'hearer', 'outside')
        )
        self.executor = LoneExecutor()
        for node in (self.sender, self.hearer):
            self.executor.add_node(node)
        self.sent: list[bytes] = []
        send = CountedPublisher.send

        def noted(publisher: CountedPublisher, message: bytes) -> None:
            self.sent.append(message)
            send(publisher, message)

        monkeypatch.setattr(CountedPublisher, 'send', noted)

    def hear(self, node: Node, qos: Any = COMMAND_QOS) -> list[bytes]:
        heard: list[bytes] = []
        node.create_subscription(Int32, 'count', heard.append, qos, raw=True)
        return heard

    def told_late(self, publisher: CountedPublisher) -> list[int]:
        """Return what the third node is told when it subscribes now."""
        before = publisher.subscribers
        late = Inbox(self.outside, Int32, 'count', publisher.qos)
        came: list[bytes] = []

        def all_came() -> bool:
            came.extend(late.take())
            return len(came) >= publisher.retained

        self.until(all_came)
        self.outside.destroy_subscription(list(self.outside.subscriptions)[-1])
        self.until(lambda: publisher.subscribers == before)
        return numbers(came)

    def until(self, condition: Callable[[], Any]) -> None:
        end = time.monotonic() + 90.0
        while not condition():
            assert time.monotonic() < end
            self.executor.spin_once(timeout_sec=0.01)


@pytest.fixture
def stage(context: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    made = Stage(monkeypatch)
    yield made
    for node in (made.sender, made.hearer, made.outside):
        node.destroy_node()
    made.executor.shutdown()


def publish(publisher: CountedPublisher, first: int, last: int) -> None:
    for number in range(first, last):
        publisher.publish(packed(number))


def test_the_middleware_is_left_out_until_somebody_outside_listens(stage: Stage) -> None:
    publisher = CountedPublisher(stage.sender, Int32, 'count', COMMAND_QOS)
    inbox, heard = Inbox(stage.hearer, Int32, 'count', COMMAND_QOS), stage.hear(stage.hearer)
    stage.until(lambda: publisher.subscribers == 2)
    drain(stage.executor)
    publish(publisher, 0, 3)
    drain(stage.executor)
    assert numbers(heard) == numbers(list(inbox.take())) == [0, 1, 2]
    assert stage.sent == []

    publish(publisher, 3, 5)
    outside = stage.hear(stage.outside)
    stage.until(lambda: publisher.subscribers == 3)
    publish(publisher, 5, 8)
    assert numbers(stage.sent) == [5, 6, 7]
    drain(stage.executor)
    courier, listener = CountedPublisher.courier, LoneExecutor()
    listener.add_node(stage.outside)
    drain(listener)
    listener.shutdown()
    CountedPublisher.courier = courier
    assert numbers(outside) == [5, 6, 7]
    assert numbers(heard) == list(range(8))
    assert numbers(list(inbox.take())) == [3, 4, 5, 6, 7]
    assert publisher.count == 8


def test_only_what_is_told_to_who_comes_late_is_sent_to_nobody(stage: Stage) -> None:
    volatile = CountedPublisher(stage.sender, Int32, 'forgotten', COMMAND_QOS)
    retaining = CountedPublisher(stage.sender, Int32, 'count', STATE_QOS)
    publish(volatile, 0, 3)
    assert stage.sent == []
    publish(retaining, 3, 4)
    assert numbers(stage.sent) == stage.told_late(retaining) == [3]
    assert (volatile.count, retaining.count) == (3, 1)


def test_an_outsider_hears_beside_one_inside_that_asks_for_more_than_is_offered(
    stage: Stage,
) -> None:
    offered = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
    publisher = CountedPublisher(stage.sender, Int32, 'count', offered)
    heard, odd = stage.hear(stage.hearer, offered), stage.hear(stage.hearer)
    stage.hear(stage.outside, offered)
    stage.until(lambda: publisher.subscribers == 2)
    publish(publisher, 0, 3)
    drain(stage.executor)
    assert numbers(stage.sent) == numbers(heard) == [0, 1, 2]
    assert odd == []


def test_messages_before_and_behind_the_middleware_keep_their_order(stage: Stage) -> None:
    publisher = CountedPublisher(stage.sender, Int32, 'count', COMMAND_QOS)
    inbox, heard = Inbox(stage.hearer, Int32, 'count', COMMAND_QOS), stage.hear(stage.hearer)
    stage.until(lambda: publisher.subscribers == 2)
    drain(stage.executor)
    # Another thread's messages, and those before entities are listed anew, take the long way.
    thread = threading.Thread(target=publish, args=(publisher, 0, 2))
    thread.start()
    thread.join()
    publish(publisher, 2, 4)
    stage.hearer.create_timer(1.0, lambda: None)
    publish(publisher, 4, 6)
    drain(stage.executor)
    publish(publisher, 6, 8)
    drain(stage.executor)
    assert numbers(stage.sent) == [0, 1, 4, 5]
    assert numbers(heard) == numbers(list(inbox.take())) == list(range(8))


def test_who_comes_late_learns_what_is_retained_and_nothing_older(stage: Stage) -> None:
    publisher = CountedPublisher(stage.sender, Int32, 'count', COMMANDED_QOS)
    heard = stage.hear(stage.hearer, COMMANDED_QOS)
    stage.until(lambda: publisher.subscribers == 1)
    drain(stage.executor)
    for last in (60, 120):
        for first in (last - 60, last - 30):
            publish(publisher, first, first + 30)
            drain(stage.executor)
        assert stage.told_late(publisher) == list(range(last - 50, last))
    assert numbers(heard) == list(range(120))


def test_a_subscription_that_has_gone_loses_nobody_anything(stage: Stage) -> None:
    publisher = CountedPublisher(stage.sender, Int32, 'count', COMMAND_QOS)
    heard, leaving = stage.hear(stage.hearer), stage.hear(stage.hearer)
    stage.until(lambda: publisher.subscribers == 2)
    drain(stage.executor)
    publish(publisher, 0, 2)
    drain(stage.executor)
    stage.hearer.destroy_subscription(list(stage.hearer.subscriptions)[-1])
    publish(publisher, 2, 4)
    drain(stage.executor)
    publish(publisher, 4, 6)
    drain(stage.executor)
    assert numbers(heard) == list(range(6))
    assert numbers(leaving) == [0, 1]


def test_messages_for_an_occupied_callback_group_wait(stage: Stage) -> None:
    publisher = CountedPublisher(stage.sender, Int32, 'count', COMMAND_QOS)
    heard = stage.hear(stage.hearer)
    stage.until(lambda: publisher.subscribers == 1)
    begun, over = [], Future()

    async def occupy() -> None:
        begun.append(timer.cancel())
        await over

    timer = stage.hearer.create_timer(0.001, occupy)
    stage.until(lambda: begun)
    publish(publisher, 0, 2)
    drain(stage.executor)
    assert heard == []
    over.set_result(None)
    drain(stage.executor)
    assert numbers(heard) == [0, 1]
    assert stage.sent == []


def test_an_instant_without_clients_ends_without_a_wait(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[int] = []
    ready_now = WaitList.ready_now

    def noted(waiting: WaitList, **kwargs: Any) -> Any:
        waits.append(1)
        return ready_now(waiting, **kwargs)

    monkeypatch.setattr(WaitList, 'ready_now', noted)
    monkeypatch.setattr('stewart_node_support.executor.monotonic_ns', lambda: 0)
    publisher = CountedPublisher(stage.sender, Int32, 'count', COMMAND_QOS)
    heard = stage.hear(stage.hearer)
    stage.until(lambda: publisher.subscribers == 1)
    counting = iter(range(1000))
    stage.sender.create_timer(0.01, lambda: publisher.publish(packed(next(counting))))
    lock_step = LockStep([stage.sender, stage.hearer])
    lock_step.step(stage.executor)
    waits.clear()
    lock_step.run(stage.executor, lambda: False, 1.0)
    assert numbers(heard) == list(range(101))
    assert waits == []

    # What a service does for a client of this process belongs to the instant of the request.
    stage.hearer.create_service(Trigger, 'ask', lambda _, response: response)
    client = stage.sender.create_client(Trigger, 'ask')
    stage.until(client.service_is_ready)
    future = client.call_async(Trigger.Request())
    lock_step.step(stage.executor)
    assert future.done()
    assert waits


def test_a_publisher_that_is_not_counted_is_heard_within_the_instant(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('stewart_node_support.executor.monotonic_ns', lambda: 0)
    heard = stage.hear(stage.hearer)
    plain = stage.sender.create_publisher(Int32, 'count', COMMAND_QOS)
    stage.until(plain.get_subscription_count)
    counting = iter(range(1000))
    stage.sender.create_timer(0.01, lambda: plain.publish(packed(next(counting))))
    lock_step = LockStep([stage.sender, stage.hearer])
    for step in range(1, 20):
        lock_step.step(stage.executor)
        assert len(heard) == step
