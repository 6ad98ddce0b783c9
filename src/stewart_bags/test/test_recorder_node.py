# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The recorder writes what is published, all of it, with what it takes to play it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import errno
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy')

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import (
    DurabilityPolicy,
    qos_profile_sensor_data,
    QoSProfile,
    ReliabilityPolicy,
)
from rosbags.interfaces import QosDurability, QosReliability
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Bool, String
from stewart_bags.errors import BagExists
from stewart_bags.nodes.recorder import Recorder
from stewart_bags.reading import Bag
from stewart_bags.salvage import Salvage
from stewart_bags.series import read_joints
from stewart_bags.writing import BagWriter
from stewart_interfaces.msg import DriverState
from stewart_node_support.courier import Box
from stewart_node_support.diagnostics import Level
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import COMMAND_QOS, STATE_QOS

pytestmark = pytest.mark.ros

LEGS = [f'leg_{number}' for number in range(1, 7)]

LIMITED = """
import resource
import sys
from stewart_node_support.executable import main
resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))
sys.argv[0] = 'recorder'
main()
"""


class Graph:
    """A node that publishes, an executor, and recorders made on the way."""

    def __init__(self) -> None:
        self.node = Node('source')
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.recorders: list[Recorder] = []

    def record(self, output: Path, **values: Any) -> Recorder:
        values = {'output': str(output), **values}
        overrides = [Parameter(name, value=value) for name, value in values.items()]
        recorder = Recorder(parameter_overrides=overrides)
        self.executor.add_node(recorder)
        self.recorders.append(recorder)
        return recorder

    def spin_until(self, condition: Callable[[], bool], timeout: float = 90.0) -> None:
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, 'nothing happened in time'
            self.executor.spin_once(timeout_sec=0.02)

    def close(self) -> None:
        for recorder in self.recorders:
            recorder.destroy_node()
        self.node.destroy_node()
        self.executor.shutdown()


@pytest.fixture
def graph(context: None) -> Iterator[Graph]:
    made = Graph()
    yield made
    made.close()


def joint_state(node: Node, number: int) -> JointState:
    message = JointState(name=LEGS, position=[float(number)] * 6)
    message.header.stamp = node.get_clock().now().to_msg()
    return message


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_counts_equal_those_of_the_publishers(graph: Graph, tmp_path: Path, storage: str) -> None:
    legs = CountedPublisher(graph.node, JointState, 'actuator_states', COMMAND_QOS)
    imu = CountedPublisher(graph.node, Imu, 'imu/data', COMMAND_QOS)
    recorder = graph.record(tmp_path / 'bag', storage=storage)
    graph.spin_until(lambda: legs.subscribers == 1 and imu.subscribers == 1)

    published: list[int] = []

    def tick() -> None:
        if legs.count < 400:
            legs.publish(joint_state(graph.node, legs.count))
            published.append(time.time_ns())
            imu.publish(Imu())

    graph.node.create_timer(0.002, tick)
    graph.spin_until(
        lambda: recorder.counts.get('/actuator_states') == recorder.counts.get('/imu/data') == 400
    )
    recorder.destroy_node()
    graph.recorders.clear()
    assert recorder.lost == 0
    with Bag(tmp_path / 'bag') as bag:
        series = read_joints(bag, 'actuator_states')
        assert bag.topics['/imu/data'].count == imu.count == 400
    assert series.position[:, 0].tolist() == [float(number) for number in range(400)]
    # Received after it was stamped, and, in one process, before it was published to the end.
    millisecond = 1_000_000
    assert (series.stamp_ns - millisecond < series.bag_time_ns).all()
    assert (series.bag_time_ns < np.array(published) + millisecond).all()


def test_latched_message_from_before_is_recorded_with_its_qos(
    graph: Graph, tmp_path: Path
) -> None:
    state = CountedPublisher(graph.node, DriverState, 'driver/state', STATE_QOS)
    state.publish(DriverState(state=DriverState.ENABLED, reason='before the recording'))
    recorder = graph.record(tmp_path / 'bag')
    graph.spin_until(lambda: recorder.counts.get('/driver/state') == 1)
    recorder.destroy_node()
    graph.recorders.clear()
    with Bag(tmp_path / 'bag') as bag:
        (item,) = bag.messages(['driver/state'])
        (qos,) = bag.topics['/driver/state'].qos
    assert item.message.reason == 'before the recording'
    assert qos.durability is QosDurability.TRANSIENT_LOCAL
    assert qos.reliability is QosReliability.RELIABLE


def test_best_effort_publisher_is_heard_also_if_it_comes_late(
    graph: Graph, tmp_path: Path
) -> None:
    reliable = CountedPublisher(graph.node, Imu, 'imu/data', COMMAND_QOS)
    recorder = graph.record(tmp_path / 'bag')
    graph.spin_until(lambda: reliable.subscribers == 1)
    late = CountedPublisher(graph.node, Imu, 'imu/data', qos_profile_sensor_data)
    graph.spin_until(lambda: late.subscribers == 1)
    late.publish(Imu())
    reliable.publish(Imu())
    graph.spin_until(lambda: recorder.counts['/imu/data'] == 2)


def test_latched_publisher_beside_a_volatile_one_is_heard(graph: Graph, tmp_path: Path) -> None:
    latched = CountedPublisher(graph.node, DriverState, 'driver/state', STATE_QOS)
    volatile = CountedPublisher(graph.node, DriverState, 'driver/state', QoSProfile(depth=5))
    recorder = graph.record(tmp_path / 'bag')
    graph.spin_until(lambda: latched.subscribers == 1 and volatile.subscribers == 1)
    latched.publish(DriverState())
    volatile.publish(DriverState())
    graph.spin_until(lambda: recorder.counts['/driver/state'] == 2)


def test_a_publisher_that_comes_back_with_other_offers_is_heard(
    graph: Graph, tmp_path: Path
) -> None:
    latched = QoSProfile(
        depth=1,
        reliability=ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
    )
    first = graph.node.create_publisher(Imu, 'imu/data', latched)
    recorder = graph.record(tmp_path / 'bag')
    graph.spin_until(lambda: first.get_subscription_count() == 1)
    graph.node.destroy_publisher(first)
    second = CountedPublisher(graph.node, Imu, 'imu/data', COMMAND_QOS)
    graph.spin_until(lambda: second.subscribers == 1)
    second.publish(Imu())
    graph.spin_until(lambda: recorder.counts['/imu/data'] == 1)


def test_a_recorder_outlives_who_comes_to_rest(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = graph.node.create_publisher(DriverState, 'driver/state', STATE_QOS)
    recorder = graph.record(tmp_path / 'bag', outlive='driver/state')
    graph.spin_until(lambda: driver.get_subscription_count() == 1)
    assert not recorder.may_end
    now = time.monotonic()
    monkeypatch.setattr('stewart_bags.nodes.recorder.time.monotonic', lambda: now + 15.0)
    assert recorder.may_end, 'a driver that does not end keeps no recorder'
    monkeypatch.undo()
    graph.node.destroy_publisher(driver)
    graph.spin_until(lambda: recorder.may_end)
    assert graph.record(tmp_path / 'other').may_end


def test_chosen_topics_are_recorded_and_no_others(graph: Graph, tmp_path: Path) -> None:
    CountedPublisher(graph.node, Imu, 'imu/data', COMMAND_QOS)
    CountedPublisher(graph.node, JointState, 'actuator_states', COMMAND_QOS)
    recorder = graph.record(tmp_path / 'bag', topics=['imu/data', 'never/published'])
    graph.spin_until(lambda: recorder.topics == {'/imu/data'})
    report = recorder._report()
    assert report.message == 'nobody publishes /never/published'


def test_a_topic_has_the_type_that_is_published(graph: Graph, tmp_path: Path) -> None:
    elsewhere = rclpy.Context()
    rclpy.init(context=elsewhere)
    mistaken = Node('mistaken', context=elsewhere)
    mistaken.create_subscription(Bool, 'note', print, COMMAND_QOS)
    note = CountedPublisher(graph.node, String, 'note', COMMAND_QOS)
    graph.spin_until(lambda: len(dict(graph.node.get_topic_names_and_types())['/note']) == 2)
    recorder = graph.record(tmp_path / 'bag')
    graph.spin_until(lambda: note.subscribers == 1)
    note.publish(String(data='here'))
    graph.spin_until(lambda: recorder.counts['/note'] == 1)
    mistaken.destroy_node()
    rclpy.shutdown(context=elsewhere)


def test_of_two_types_one_is_recorded_and_the_other_told(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = rclpy.Context()
    rclpy.init(context=elsewhere)
    other = Node('other', context=elsewhere)
    note = CountedPublisher(graph.node, String, 'note', COMMAND_QOS)
    recorder = graph.record(tmp_path / 'bag')
    said: list[str] = []
    monkeypatch.setattr(recorder, 'get_logger', lambda: SimpleNamespace(warning=said.append))
    graph.spin_until(lambda: note.subscribers == 1)
    other.create_publisher(Bool, 'note', COMMAND_QOS)
    graph.spin_until(lambda: bool(said))
    note.publish(String(data='here'))
    graph.spin_until(lambda: recorder.counts['/note'] == 1)
    assert said == [
        '/note is recorded as std_msgs/msg/String, not what others publish there: '
        'std_msgs/msg/Bool'
    ]
    other.destroy_node()
    rclpy.shutdown(context=elsewhere)


def test_inner_topics_of_actions_are_left_out_unless_asked_for(
    graph: Graph, tmp_path: Path
) -> None:
    hidden = CountedPublisher(graph.node, Imu, 'move/_action/feedback', COMMAND_QOS)
    shown = CountedPublisher(graph.node, Imu, 'imu/data', COMMAND_QOS)
    recorder = graph.record(tmp_path / 'all')
    graph.spin_until(lambda: shown.subscribers == 1)
    assert hidden.topic not in recorder.topics
    asked = graph.record(tmp_path / 'asked', topics=['move/_action/feedback'])
    graph.spin_until(lambda: asked.topics == {hidden.topic})


def test_diagnostics_carry_counts_and_turn_red_when_the_disk_fails(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imu = CountedPublisher(graph.node, Imu, 'imu/data', COMMAND_QOS)
    recorder = graph.record(tmp_path / 'bag', topics=['imu/data'], exit_on_failure=False)
    graph.spin_until(lambda: imu.subscribers == 1)
    imu.publish(Imu())
    graph.spin_until(lambda: recorder.counts['/imu/data'] == 1)
    assert recorder._report().level.name == 'OK'
    assert recorder._report().values['taken'] == 1

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, 'fsync', full)
    imu.publish(Imu())
    graph.spin_until(lambda: recorder._report().level.name == 'ERROR')
    assert 'No space left on device' in recorder._report().message


def test_the_executable_ends_by_itself_when_the_disk_takes_no_more(
    graph: Graph, tmp_path: Path
) -> None:
    imu = CountedPublisher(graph.node, Imu, 'imu/data', COMMAND_QOS)
    words = ['--ros-args', '-p', f'output:={tmp_path / "bag"}', '-p', 'topics:=[imu/data]']
    with subprocess.Popen(
        [sys.executable, '-c', LIMITED, *words],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        graph.spin_until(lambda: imu.subscribers == 1)

        def ended() -> bool:
            imu.publish(Imu())
            return process.poll() is not None

        graph.spin_until(ended)
        _, errors = process.communicate()
    assert process.returncode == 1, errors
    assert 'Traceback' not in errors
    assert 'cannot write on after' in errors.splitlines()[-1]
    assert 'File too large' in errors.splitlines()[-1]


def test_a_clock_that_is_set_back_is_told(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead, take = [2_000_000_000], Box.take

    def dated(box: Box) -> tuple[bytes, int] | None:
        taken = take(box)
        return taken and (taken[0], taken[1] + ahead[0])

    monkeypatch.setattr(Box, 'take', dated)
    note = graph.node.create_publisher(String, 'note', STATE_QOS)
    recorder = graph.record(tmp_path / 'bag')
    for count, level in ((1, Level.OK), (2, Level.WARN)):
        note.publish(String(data='said'))
        graph.spin_until(lambda count=count: recorder.counts.get('/note') == count)
        assert recorder._report().level == level
        ahead[0] = 0
    assert 'set back by' in recorder._report().message


def test_what_came_before_the_clock_was_set_back_is_written_before(
    graph: Graph,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    ahead, take = iter([2, 2, 0, 0]), Box.take

    def dated(box: Box) -> tuple[bytes, int] | None:
        taken = take(box)
        return taken and (taken[0], taken[1] + next(ahead) * 1_000_000_000)

    monkeypatch.setattr(Box, 'take', dated)
    offer = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    note = graph.node.create_publisher(String, 'note', offer)
    recorder = graph.record(tmp_path / 'bag', topics=['note'])
    for names in ('0', '12', '3'):
        for name in names:
            note.publish(String(data=name))
        # Until all of them are there, to be fetched at once.
        time.sleep(0.1)
        graph.spin_until(lambda last=int(name): recorder.counts.get('/note') == last + 1)
    recorder.destroy_node()
    graph.recorders.clear()
    with Salvage(tmp_path / 'bag') as found:
        assert [item.data[8:9] for item in found.messages()] == [b'0', b'1', b'2', b'3']
    assert capfd.readouterr().err.count('set back by') == 1


def test_what_waits_for_the_disk_is_told(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, write = threading.Event(), BagWriter.write_raw

    def slow(writer: BagWriter, *arguments: Any) -> None:
        disk.wait(60.0)
        write(writer, *arguments)

    monkeypatch.setattr(BagWriter, 'write_raw', slow)
    note = graph.node.create_publisher(String, 'note', STATE_QOS)
    recorder = graph.record(tmp_path / 'bag', topics=['note'])
    note.publish(String(data='a note'))
    graph.spin_until(lambda: recorder._report().values['waiting_bytes'] >= len('a note'))
    disk.set()
    graph.spin_until(lambda: recorder._report().values['waiting_bytes'] == 0)


def test_output_that_exists_is_refused(graph: Graph, tmp_path: Path) -> None:
    with pytest.raises(BagExists):
        graph.record(tmp_path)


@pytest.mark.parametrize(
    ('storage', 'number'),
    [
        ('mcap', signal.SIGINT),
        pytest.param('sqlite3', signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param('mcap', signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param('sqlite3', signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_signal_closes_the_bag_of_the_executable(
    graph: Graph, tmp_path: Path, number: signal.Signals, storage: str
) -> None:
    imu = CountedPublisher(graph.node, Imu, 'imu/data', COMMAND_QOS)
    command = [sys.executable, '-m', 'stewart_bags.nodes.recorder', '--ros-args']
    values = [f'output:={tmp_path / "bag"}', f'storage:={storage}']
    with subprocess.Popen(
        [*command, *(word for value in values for word in ('-p', value))],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        graph.spin_until(lambda: imu.subscribers == 1)
        for _ in range(10):
            imu.publish(Imu())
        deadline = time.monotonic() + 90.0
        found: list[Any] = []
        while len(found) < 10 and time.monotonic() < deadline:
            with Salvage(tmp_path / 'bag') as salvage:
                found = [item for item in salvage.messages() if item.topic == '/imu/data']
            time.sleep(0.1)
        process.send_signal(number)
        _, errors = process.communicate(timeout=90.0)
    assert process.returncode == 0, errors
    with Bag(tmp_path / 'bag') as bag:
        assert bag.topics['/imu/data'].count == 10
