# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The back end ros2_control against a position controller on a real graph, cycle by cycle.

The time of stamps and cycles is the test's; only messages take real time, and are waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
import os
import pickle
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle import ControlLoop
from stewart_driver.control.cycle_client import CycleClient
from stewart_driver.control.shared_block import SharedBlock
from stewart_driver.control.state_machine import Request, State
from stewart_driver.errors import ConfigurationError, HomingError, TransportError
from stewart_driver.legs import Array
from stewart_driver.nodes.driver import Driver
from stewart_driver.nodes.ros2_control import GraphController, Ros2ControlBackend
from stewart_driver.path.motion import LegMotion
from stewart_driver.ros2_control import backend as backend_module
from stewart_driver.ros2_control.backend import Controller, JointReading, Ros2ControlOptions
from stewart_node_support.qos import COMMAND_QOS
from stewart_node_support.stamps import from_seconds

pytestmark = pytest.mark.ros

CYCLE = 0.005
T0 = 100.0
START = np.full(6, 0.08)
SPEEDS = np.array([0.02, -0.01, 0.005, 0.015, -0.02, 0.01])
# Of a machine that is busy [s].
LIMIT = 60.0
# In another order than the legs', with a stranger among them.
NAMES = ['leg_3', 'gripper', 'leg_1', 'leg_2', 'leg_6', 'leg_5', 'leg_4']
ORDER = [2, None, 0, 1, 5, 4, 3]
RIGS = count()


class FakeController:
    """A forward_command_controller with a joint_state_broadcaster on perfect drives."""

    def __init__(self) -> None:
        self.context = Context()
        rclpy.init(args=[], context=self.context)
        # Nobody hears what is left of the test before.
        self.namespace = f'rig_{next(RIGS)}'
        self.node = rclpy.create_node(
            'fake_controller', context=self.context, namespace=self.namespace
        )
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._states = self.node.create_publisher(
            JointState, 'joint_states', qos_profile_sensor_data
        )
        self.node.create_subscription(
            Float64MultiArray, 'legs/commands', self._on_command, COMMAND_QOS
        )
        self.strokes, self.rates = START.copy(), np.zeros(6)
        self.commands: list[Array] = []
        self.talks, self.age, self.shows = True, 0.0, False

    def _on_command(self, message: Float64MultiArray) -> None:
        wanted = np.array(message.data)
        self.rates = (wanted - self.strokes) / CYCLE
        self.strokes = wanted
        self.commands.append(wanted)

    def heard_by(self) -> int:
        return int(self._states.get_subscription_count())

    def publish(self, now: float) -> None:
        values = {'position': self.strokes, 'velocity': self.rates}
        message = JointState(name=NAMES)
        message.header.stamp = from_seconds(now - self.age)
        for field, legs in values.items():
            setattr(message, field, [0.5 if k is None else float(legs[k]) for k in ORDER])
        self._states.publish(message)
        if self.shows:
            # As forward_kinematics, which has every joint of the URDF, for who shows it.
            message.position, message.velocity = [0.5] * len(NAMES), []
            self._states.publish(message)

    def until(self, reached: Callable[[], Any]) -> Any:
        """Spin until something is there, and return it."""
        limit = time.monotonic() + LIMIT
        while (found := reached()) is None:
            assert time.monotonic() < limit
            self.spin_once()
        return found

    def spin_once(self) -> None:
        self._executor.spin_once(timeout_sec=0.005)

    def end(self) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()


class LockStep(GraphController):
    """The controller's end of the graph; every message arrives before time goes on."""

    fake: FakeController

    def newest(self, now: float) -> JointReading | None:
        if not self.fake.talks:
            return super().newest(now)
        self.fake.until(lambda: self._matched() or None)
        self.fake.publish(now)
        return self.fake.until(lambda: GraphController.newest(self, now))

    def _matched(self) -> bool:
        # Each end finds the other for itself, and what was sent before is lost.
        subscription = self._states._box._subscription
        return bool(self.fake.heard_by() and subscription.get_publisher_count())

    def command(self, strokes: Array) -> None:
        self.fake.until(lambda: self._commands.get_subscription_count() or None)
        told = len(self.fake.commands)
        super().command(strokes)
        self.fake.until(lambda: True if len(self.fake.commands) > told else None)


class Bench:
    """A control loop on the back end, with the test in the place of the node."""

    def __init__(self, fake: FakeController, monkeypatch: pytest.MonkeyPatch, **options: Any):
        self.fake, self.now = fake, T0
        self.options = Ros2ControlOptions(
            **{'controller': 'legs', 'namespace': fake.namespace, 'absolute': True, **options}
        )
        monkeypatch.setattr(LockStep, 'fake', fake, raising=False)
        monkeypatch.setattr(Ros2ControlBackend, 'connect', self._connect)
        # As it comes into the cyclic process.
        self.backend = pickle.loads(pickle.dumps(Ros2ControlBackend(self.options)))
        descriptor = SharedBlock.allocate()
        self.node, block = SharedBlock(descriptor), SharedBlock(descriptor)
        os.close(descriptor)
        self.backend.open(self.now)
        self.loop = ControlLoop(self.backend, CycleConfiguration(self.backend.limits), block)
        self.events: list[dict[str, Any]] = []
        self.run(1)

    def _connect(self, *_: Any) -> Controller:
        return LockStep(self.options, wall=lambda: self.now, steady=lambda: self.now)

    def run(self, cycles: int, feed: Callable[[], object] = lambda: None) -> None:
        for _ in range(cycles):
            feed()
            self.loop.step(self.now)
            self.events += self.node.events.pop_all()
            self.now += CYCLE

    def ask(self, request: Request) -> tuple[bool, str]:
        self.node.requests.push(code=request, value=0.0)
        self.run(1)
        (reply,) = self.node.replies.pop_all()
        return reply['accepted'], reply['message']

    def wave(self) -> None:
        """Send where legs shall be that speed up for half a second."""
        time = self.now - self.begin
        rise = min(2.0 * time, 1.0)
        strokes = START + SPEEDS * (time**2 if time < 0.5 else time - 0.25)
        self.node.setpoints.push(stamp=self.now, strokes=strokes, rates=SPEEDS * rise)

    def move(self) -> None:
        assert self.ask(Request.ENABLE)[0]
        self.run(2)
        assert self.loop.state is State.ENABLED
        self.begin = self.now
        self.run(160, self.wave)


@pytest.fixture
def fake() -> Iterator[FakeController]:
    found = FakeController()
    yield found
    found.end()


def test_legs_follow_from_where_they_are_until_they_are_released(
    fake: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(fake, monkeypatch)
    bench.run(3)
    assert fake.commands == []
    assert bench.events[-1]['live'] == 0b111111
    bench.move()

    assert np.array_equal(fake.commands[0], START)
    assert bench.loop.state is State.ENABLED
    steps = np.diff(fake.commands, axis=0)
    assert np.abs(steps).max() <= 1.05 * np.abs(SPEEDS).max() * CYCLE
    assert steps[-1] == pytest.approx(SPEEDS * CYCLE, abs=1e-6)
    samples = list(bench.node.samples.pop_all())
    assert samples[-1]['strokes'] == pytest.approx(fake.commands[-2], abs=1e-12)
    assert samples[-1]['stamp'] == pytest.approx(bench.now - CYCLE, abs=1e-6)

    assert bench.ask(Request.DISABLE) == (True, 'coming to rest, then off')
    bench.run(120)
    assert bench.loop.state is State.DISABLED
    told = len(fake.commands)
    bench.run(5)
    assert len(fake.commands) == told
    assert np.abs(fake.commands[-1] - fake.commands[-2]).max() < 1e-9
    # What cannot be switched off stays live, and says so.
    assert bench.events[-1]['live'] == 0b111111
    assert 'holds its last command' in bench.backend.why_live
    bench.backend.close()


def test_joint_states_that_stay_away_bring_the_legs_to_rest_and_are_a_fault(
    fake: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(fake, monkeypatch)
    bench.move()
    fake.talks = False
    bench.run(3, bench.wave)
    assert bench.loop.state is State.ENABLED
    bench.run(1, bench.wave)
    assert bench.loop.state is State.STOPPING
    assert bench.events[-1]['reason'] == (
        'joint_states has been silent for 0.020 s, allowed are 0.015 s'
    )
    fastest = np.abs(SPEEDS).max() * CYCLE
    bench.run(150)
    assert bench.loop.state is State.FAULT
    steps = np.abs(np.diff(fake.commands[-100:], axis=0)).max(axis=1)
    assert steps.max() <= 1.05 * fastest
    assert steps[-1] == 0.0

    accepted, why = bench.ask(Request.RESET_FAULT)
    assert not accepted
    assert 'silent' in why
    fake.talks = True
    bench.run(1)
    held = fake.commands[-1]
    assert bench.ask(Request.RESET_FAULT)[0]
    bench.run(3)
    assert bench.loop.state is State.ENABLED
    assert np.array_equal(fake.commands[-1], held)
    bench.backend.close()


def test_old_joint_states_are_none(fake: FakeController, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(fake, monkeypatch)
    fake.age = 0.1
    bench.run(5)
    assert bench.loop.state is State.FAULT
    assert bench.events[-1]['reason'].startswith('joint_states is stamped 0.100 s before it comes')
    bench.backend.close()


def test_nothing_is_enabled_before_positions_are_said_to_be_strokes(
    fake: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(fake, monkeypatch, absolute=False)
    accepted, why = bench.ask(Request.ENABLE)
    assert not accepted
    assert 'not known to be absolute' in why
    with pytest.raises(HomingError, match='absolute'):
        bench.backend.home()
    bench.backend.close()
    assert fake.commands == []


def test_a_leg_outside_its_stroke_is_not_home(
    fake: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(fake, monkeypatch)
    assert 'inside their strokes' in bench.backend.home()
    fake.strokes[3] = 0.17
    bench.run(1)
    with pytest.raises(HomingError, match=r'leg 4 stands 0\.0100 m outside'):
        bench.backend.home()
    bench.backend.close()


def test_the_cyclic_process_joins_the_graph_by_itself(fake: FakeController) -> None:
    # Three long periods of silence are a busy machine's, too.
    options = Ros2ControlOptions(
        controller='legs', namespace=fake.namespace, absolute=True, cycle_time=0.5,
        start_timeout=LIMIT,
    )  # fmt: skip
    fake.node.create_timer(0.02, lambda: fake.publish(time.time()))
    backend = Ros2ControlBackend(options)
    spinning = threading.Event()

    def spin() -> None:
        while not spinning.is_set():
            fake.spin_once()

    thread = threading.Thread(target=spin)
    thread.start()
    client = None
    try:
        client = CycleClient(backend, CycleConfiguration(backend.limits), timeout=90.0)
        accepted, sentence = client.request(Request.ENABLE, timeout=LIMIT)
        assert accepted, sentence
        limit = time.monotonic() + LIMIT
        while not fake.commands and time.monotonic() < limit:
            time.sleep(0.01)
        assert np.array_equal(fake.commands[0], START)
        client.end(LIMIT)
        states = [change.state for change in client.state_changes()]
        assert states[-1] is State.DISABLED
        assert State.ENABLED in states
    finally:
        spinning.set()
        thread.join()
        if client is not None:
            client.kill()


def test_joint_states_without_rates_are_for_somebody_else(
    fake: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.shows = True
    bench = Bench(fake, monkeypatch)
    bench.move()
    assert bench.loop.state is State.ENABLED
    bench.backend.close()


def test_discovery_may_take_longer_than_joint_states_may_stay_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SimpleNamespace(now=T0, monotonic=lambda: clock.now)
    clock.sleep = lambda _: setattr(clock, 'now', clock.now + 2.0)
    first = JointReading(T0 + 2.0, START, np.zeros(6), None)
    readings = iter([None, first, None])
    slow: Any = SimpleNamespace(newest=lambda _: next(readings))
    monkeypatch.setattr(backend_module, 'time', clock)
    monkeypatch.setattr(Ros2ControlBackend, 'connect', lambda _: slow)
    backend = Ros2ControlBackend(Ros2ControlOptions(absolute=True))

    backend.open(T0)

    still = LegMotion(T0, START, np.zeros(6), np.zeros(6))
    assert backend.exchange(still, clock.now).fault is None


def test_a_graph_without_joint_states_is_waited_for_and_named() -> None:
    backend = Ros2ControlBackend(Ros2ControlOptions(namespace='nobody', start_timeout=0.05))
    with pytest.raises(
        TransportError,
        match=r'no joint states with .* of leg_1, .* on /nobody/joint_states within 0.05 s',
    ):
        backend.open(T0)


@pytest.mark.parametrize(
    ('asked', 'found'),
    [('', '/a/joint_states'), ('/', '/joint_states'), ('b/c', '/b/c/joint_states')],
)
def test_the_topics_are_in_the_namespace_of_the_driver_unless_another_is_given(
    asked: str, found: str
) -> None:
    values = {'backend': 'ros2_control', 'ros2_control.namespace': asked}
    overrides = [rclpy.Parameter(name, value=value) for name, value in values.items()]
    context = Context()
    rclpy.init(args=[], context=context)
    driver = Driver(context=context, namespace='/a', parameter_overrides=overrides)
    try:
        backend = Ros2ControlBackend(driver._options)
    finally:
        driver.destroy_node()
        context.try_shutdown()

    assert backend.details['joint states'] == found
    assert backend.details['controller'] == found.replace(
        'joint_states', 'leg_position_controller'
    )


@pytest.mark.parametrize(
    ('change', 'key'),
    [
        ({'joints': ('a', 'b')}, 'joints'),
        ({'controller': ''}, 'controller'),
        ({'cycle_time': 0.0}, 'cycle_time'),
        ({'stroke_upper': 0.0}, 'stroke_upper'),
    ],
)
def test_options_that_cannot_be_used_are_named(change: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigurationError, match=key):
        Ros2ControlBackend(Ros2ControlOptions(**change))
