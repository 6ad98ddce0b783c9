# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""No message that a recorder has missed hides behind those that latched topics tell again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
import time
from typing import Any

import pytest

pytest.importorskip('rclpy')

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message
from std_msgs.msg import Float64
from stewart_bags.nodes.recorder import Recorder
from stewart_bags.recording import Recording
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import COMMAND_QOS, EVERY_STATE_QOS, STATE_QOS

pytestmark = pytest.mark.ros

PROFILES = {'plain': COMMAND_QOS, 'state': STATE_QOS, 'states': EVERY_STATE_QOS}


class Rig:
    """A node that publishes on a plain and two latched topics, and recorders one by one."""

    def __init__(self, folder: Path) -> None:
        from recorder_tally import RecorderTally

        self.tally, self._folder = RecorderTally(), folder
        self.node, self.executor = Node('source'), SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.publishers = {
            name: CountedPublisher(self.node, Float64, name, qos) for name, qos in PROFILES.items()
        }
        self._number = 0.0

    def lacking(self, segment: int, *, uncounted: int = 0, **counts: int) -> dict[str, int]:
        """Record so many messages by topic in another bag; return what is missing there.

        Beside them comes what others have published.
        """
        output = self._folder / f'bag_{segment}'
        values = {'output': str(output), 'topics': [f'/{name}' for name in PROFILES]}
        recorder = Recorder(parameter_overrides=[Parameter(k, value=v) for k, v in values.items()])
        self.executor.add_node(recorder)
        self._until(lambda: all(item.subscribers == 1 for item in self.publishers.values()))
        for name, count in counts.items():
            for _ in range(count):
                self._number += 1.0
                self.publishers[name].publish(Float64(data=self._number))
                self.executor.spin_once(timeout_sec=0.0)
        self._until(lambda: recorder._taken >= uncounted + sum(counts.values()))
        self.executor.remove_node(recorder)
        recorder.destroy_node()
        self._until(lambda: not any(item.subscribers for item in self.publishers.values()))
        from recorder_tally import Contents

        contents = Contents.of(output, self.tally.told([self.node]))
        return self.tally.judge([self.node], contents)

    def _until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 90.0
        while not condition():
            assert time.monotonic() < deadline, 'nothing happened in time'
            self.executor.spin_once(timeout_sec=0.02)


@pytest.fixture
def rig(context: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / 'benchmarks'))
    made = Rig(tmp_path)
    yield made
    made.node.destroy_node()
    made.executor.shutdown()


def test_what_latched_topics_tell_again_is_neither_lost_nor_in_excess(rig: Rig) -> None:
    assert rig.lacking(1, plain=9, state=3, states=14) == {}
    assert rig.tally.sent == {'/plain': 9, '/state': 3, '/states': 14}
    assert rig.lacking(2, plain=5, states=2) == {}
    assert rig.tally.sent == {'/plain': 5, '/state': 0, '/states': 2}
    assert rig.lacking(3, state=1) == {}


@pytest.mark.parametrize('name', PROFILES)
def test_one_message_that_is_not_recorded_is_found(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert rig.lacking(1, plain=8, state=8, states=8) == {}
    put, last = Recording.put, rig._number + 8 * list(PROFILES).index(name) + 8

    def put_but_one(self: Recording, topic: str, time_ns: int, data: bytes, **options: Any) -> Any:
        if deserialize_message(data, Float64).data != last:
            put(self, topic, time_ns, data, **options)

    monkeypatch.setattr(Recording, 'put', put_but_one)
    # Each latched topic tells a message again, which would make up for the one that is missing.
    assert rig.lacking(2, plain=8, state=8, states=8) == {f'/{name}': 1}


def test_a_message_that_nobody_counted_is_in_excess(rig: Rig) -> None:
    publisher = rig.node.create_publisher(Float64, 'states', EVERY_STATE_QOS)
    publisher.publish(Float64(data=-1.0))
    assert rig.lacking(1, uncounted=1, states=2) == {'/states': -1}
