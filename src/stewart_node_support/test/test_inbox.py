# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from node_harness import Harness
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from std_msgs.msg import Int32
from stewart_node_support.inbox import Inbox
from stewart_node_support.qos import COMMAND_QOS, COMMANDED_QOS, newest


def value(data: bytes | None) -> int | None:
    return None if data is None else int(deserialize_message(data, Int32).data)


def test_messages_wait_in_order_and_the_oldest_are_dropped() -> None:
    with Harness() as graph:
        inbox = Inbox(graph.probe, Int32, 'count', COMMAND_QOS)
        assert inbox.newest() is None
        publisher = graph.talk(Int32, 'count')
        taken: list[int | None] = []
        for number in range(3):
            publisher.publish(Int32(data=number))
        graph.until(lambda: taken.extend(map(value, inbox.take())) or len(taken) == 3)
        assert taken == [0, 1, 2]
        assert list(inbox.take()) == []
        for number in range(30):
            publisher.publish(Int32(data=number))
        graph.spin(0.2)
        assert list(map(value, inbox.take())) == list(range(20, 30))


def test_newest_stays_until_another_comes_and_is_there_for_who_comes_late() -> None:
    with Harness() as graph:
        publisher = graph.probe.create_publisher(Int32, 'count', COMMANDED_QOS)
        for number in range(5):
            publisher.publish(Int32(data=number))
        inbox = Inbox(graph.probe, Int32, 'count', newest(COMMANDED_QOS))
        graph.until(lambda: value(inbox.newest()) == 4)
        assert value(inbox.newest()) == 4
        publisher.publish(Int32(data=7))
        graph.until(lambda: value(inbox.newest()) == 7)


def test_executor_is_not_woken() -> None:
    with Harness() as graph:
        node = Node('listener', start_parameter_services=False, enable_rosout=False)
        inbox = Inbox(node, Int32, 'count', COMMAND_QOS)
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        publisher = graph.talk(Int32, 'count')
        calls: list[int] = []
        timer = node.create_timer(0.2, lambda: calls.append(1))
        publisher.publish(Int32(data=1))
        graph.spin(0.1)
        # The one thing that is ready is the timer, so one round of the executor calls it.
        executor.spin_once(timeout_sec=5.0)
        assert calls == [1]
        assert [value(data) for data in inbox.take()] == [1]
        node.destroy_timer(timer)
        executor.shutdown()
        node.destroy_node()
