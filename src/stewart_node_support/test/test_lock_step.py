# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Time in lock-step: timers are due exactly on time, in an order that never changes."""

from __future__ import annotations

from collections.abc import Iterator
from time import sleep as pause
from typing import Any

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Int32
from stewart_node_support.executor import make_executor
from stewart_node_support.lock_step import LockStep, LONGEST_STEP_NS, START_NS
from stewart_node_support.qos import COMMAND_QOS

MS = 1_000_000


class Stage:
    """Nodes in one executor, and what their timers were called at."""

    def __init__(self, executor: SingleThreadedExecutor) -> None:
        self.executor = executor
        self.nodes = [Node(name, start_parameter_services=False) for name in ('first', 'second')]
        for node in self.nodes:
            executor.add_node(node)
        self.calls: list[tuple[str, int]] = []

    def tick(self, name: str, period: float, node: int = 0) -> Any:
        """Create a timer that notes its name and the time since the start [ms]."""
        owner = self.nodes[node]
        clock = owner.get_clock()

        def note() -> None:
            passed = clock.now().nanoseconds - START_NS
            assert passed % MS == 0
            self.calls.append((name, passed // MS))

        return owner.create_timer(period, note)

    def run(self, time: LockStep, duration: float) -> None:
        assert not time.run(self.executor, lambda: False, duration)


@pytest.fixture(params=[make_executor, SingleThreadedExecutor], ids=['ours', 'rclpy'])
def stage(context: None, request: pytest.FixtureRequest) -> Iterator[Stage]:
    made = Stage(request.param())
    yield made
    for node in made.nodes:
        node.destroy_node()
    made.executor.shutdown()


def test_timers_are_called_at_their_very_instant(stage: Stage) -> None:
    stage.tick('slow', 0.007)
    time = LockStep(stage.nodes)
    stage.tick('fast', 0.003)
    stage.run(time, 0.03)

    by_hand = [('fast', at) for at in range(3, 31, 3)] + [('slow', at) for at in range(7, 31, 7)]
    assert sorted(stage.calls) == sorted(by_hand)
    assert [at for _, at in stage.calls] == sorted(at for _, at in by_hand)
    assert time.now_ns == START_NS + 30 * MS


@pytest.mark.parametrize('stage', [make_executor], ids=['ours'], indirect=True)
def test_timers_of_one_instant_are_called_in_the_order_of_nodes_and_timers(stage: Stage) -> None:
    stage.tick('c', 0.002, node=1)
    stage.tick('a', 0.004, node=0)
    stage.tick('b', 0.002, node=0)
    time = LockStep(reversed(stage.nodes))
    stage.run(time, 0.4)

    instants: dict[int, str] = {}
    for name, at in stage.calls:
        instants[at] = instants.get(at, '') + name
    assert instants == {at: 'bc' if at % 4 else 'abc' for at in range(2, 401, 2)}


def test_timer_created_on_the_way_begins_at_the_instant_of_its_birth(stage: Stage) -> None:
    node = stage.nodes[0]

    def once() -> None:
        timer.cancel()
        stage.tick('child', 0.003)

    timer = node.create_timer(0.005, once)
    stage.run(LockStep(stage.nodes), 0.012)

    assert stage.calls == [('child', 8), ('child', 11)]


@pytest.mark.parametrize('cancelled', [False, True])
def test_timer_that_was_overdue_in_real_time_is_due_after_one_period(
    stage: Stage, *, cancelled: bool
) -> None:
    late = stage.tick('late', 0.004)
    if cancelled:
        late.cancel()
    stage.tick('early', 0.003, node=1)
    pause(0.02)
    time = LockStep(stage.nodes)
    late.reset()
    stage.run(time, 0.008)

    assert stage.calls == [('early', 3), ('late', 4), ('early', 6), ('late', 8)]


def test_cancelled_timer_holds_up_nothing_and_begins_anew_when_reset(stage: Stage) -> None:
    timer = stage.tick('timer', 0.004)
    timer.cancel()
    time = LockStep(stage.nodes)
    time.step(stage.executor)
    # Without any timer time goes on all the same.
    assert time.now_ns == START_NS + LONGEST_STEP_NS
    assert stage.calls == []
    timer.reset()
    stage.run(time, 0.008)
    begin = LONGEST_STEP_NS // MS
    assert stage.calls == [('timer', begin + 4), ('timer', begin + 8)]


def test_run_ends_at_its_limit_or_as_soon_as_the_condition_holds(stage: Stage) -> None:
    stage.tick('timer', 0.004)
    time = LockStep(stage.nodes)

    assert time.run(stage.executor, lambda: len(stage.calls) == 3)
    assert time.now_ns == START_NS + 12 * MS
    # The limit is between two timers.
    assert not time.run(stage.executor, lambda: len(stage.calls) == 4, 0.003)
    assert time.now_ns == START_NS + 15 * MS
    assert time.run(stage.executor, lambda: len(stage.calls) == 4, 0.003)
    assert time.now_ns == START_NS + 16 * MS


def test_time_goes_on_only_when_a_chain_of_messages_has_run_out(stage: Stage) -> None:
    first, second = stage.nodes
    clock = second.get_clock()
    heard: list[tuple[int, int]] = []
    back = second.create_publisher(Int32, 'back', COMMAND_QOS)
    there = first.create_publisher(Int32, 'there', COMMAND_QOS)

    def forward(message: Int32) -> None:
        heard.append((message.data, clock.now().nanoseconds - START_NS))
        if message.data % 5:
            back.publish(Int32(data=message.data + 1))

    second.create_subscription(Int32, 'there', forward, COMMAND_QOS)
    first.create_subscription(Int32, 'back', there.publish, COMMAND_QOS)
    numbers = iter(range(1, 100, 5))
    first.create_timer(0.001, lambda: there.publish(Int32(data=next(numbers))))
    time = LockStep(stage.nodes)
    while not (there.get_subscription_count() and back.get_subscription_count()):
        stage.executor.spin_once(timeout_sec=0.01)
    stage.run(time, 0.02)

    assert heard == [(number, MS * ((number - 1) // 5 + 1)) for number in range(1, 101)]


def test_a_node_that_leaves_takes_its_timers_along(stage: Stage) -> None:
    stage.tick('stays', 0.004)
    stage.tick('leaves', 0.003, node=1)
    time = LockStep(stage.nodes)
    stage.run(time, 0.003)
    gone = stage.nodes.pop()
    time.remove(gone)
    stage.executor.remove_node(gone)
    gone.destroy_node()
    stage.run(time, 0.005)

    assert stage.calls == [('leaves', 3), ('stays', 4), ('stays', 8)]
