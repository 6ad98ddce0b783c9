# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver node on a real graph: lifecycle, services, motion, stops and faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
import os
import signal
import time
from typing import Any

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from stewart_driver import backend as backend_module
from stewart_driver.errors import DriverError
from stewart_driver.legs import LEG_NAMES
from stewart_driver.loopback import LoopbackBackend, Trouble
from stewart_driver.nodes.drive_session import DriveSession
from stewart_driver.nodes.driver import Driver
from stewart_interfaces.msg import DriverState, TrackingError
from stewart_node_support.lifecycle import bring_up, state_of, take_down
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.stamps import from_nanoseconds, to_seconds

pytestmark = [pytest.mark.ros, pytest.mark.alone]

START = np.full(6, 0.3)
SPEEDS = np.array([0.10, -0.05, 0.02, 0.08, -0.10, 0.01])
PERIOD = 0.005
# This machine may be busy with other things: nothing here is about 60 ms of silence.
PATIENCE = {'playout_delay': 0.1, 'extrapolation_time': 0.2, 'command_timeout': 0.5}
STATES = {
    getattr(DriverState, name): name
    for name in ('DISABLED', 'ENABLING', 'ENABLED', 'STOPPING', 'FAULT')
}


class Installed:
    """Stands for the entry point of an installed back end."""

    @staticmethod
    def load() -> type:
        """Return the loopback back end."""
        return LoopbackBackend


class Operator(Node):
    """What an operator and a trajectory have at the driver."""

    def __init__(self, executor: SingleThreadedExecutor) -> None:
        """Listen to everything."""
        super().__init__('operator')
        self._spinner = executor
        self.states: list[DriverState] = []
        self.legs: list[JointState] = []
        self.create_subscription(DriverState, 'driver/state', self.states.append, STATE_QOS)
        self.create_subscription(JointState, 'actuator_states', self.legs.append, SENSOR_QOS)
        self.commands = self.create_publisher(JointState, 'joint_commands', COMMAND_QOS)
        self.efforts = self.create_publisher(JointState, 'joint_efforts', COMMAND_QOS)
        self.tracking = self.create_publisher(
            TrackingError, 'platform/tracking_error', COMMAND_QOS
        )
        self._triggers = {
            name: self.create_client(Trigger, f'driver/{name}')
            for name in ('enable', 'disable', 'home', 'reset_fault', 'quick_stop')
        }
        self._begin = 0.0

    @property
    def names(self) -> list[str]:
        """Names of the states seen so far."""
        return [STATES[state.state] for state in self.states]

    def heard(self) -> bool:
        """Tell whether the driver listens to everything that is published here."""
        publishers = (self.commands, self.efforts, self.tracking)
        return all(publisher.get_subscription_count() for publisher in publishers)

    def spin(self, duration: float) -> None:
        """Let the graph run."""
        self.wait(lambda: False, duration)

    def wait(self, condition: Callable[[], bool], timeout: float = 5.0) -> bool:
        """Let the graph run until something is so."""
        limit = time.monotonic() + timeout
        while not condition():
            remaining = limit - time.monotonic()
            if remaining <= 0.0:
                return False
            self._spinner.spin_once(timeout_sec=min(remaining, 0.05))
        return True

    def call(self, name: str) -> Trigger.Response:
        """Call a service of the driver."""
        assert self._triggers[name].wait_for_service(5.0)
        future = self._triggers[name].call_async(Trigger.Request())
        assert self.wait(future.done)
        return future.result()

    def enable(self) -> None:
        """Enable, with the answer and the state that belong to it."""
        assert self.call('enable').success
        assert self.wait(lambda: self.names[-1:] == ['ENABLED'])

    def command(self, nanoseconds: int, strokes: np.ndarray, rates: np.ndarray) -> None:
        """Publish one leg command."""
        message = JointState(
            name=list(LEG_NAMES), position=strokes.tolist(), velocity=rates.tolist()
        )
        message.header.stamp = from_nanoseconds(nanoseconds)
        self.commands.publish(message)

    def ramp(self, duration: float, begin: float = 0.0) -> None:
        """Speed the legs up for a second and on, at 200 Hz on the wall clock."""
        start = time.time_ns() - round(begin * 1e9)
        count = 0
        while (now := (time.time_ns() - start) * 1e-9) < begin + duration:
            rise = min(now, 1.0)
            strokes = START + SPEEDS * (0.5 * rise**2 + max(now - 1.0, 0.0))
            self.command(start + round(now * 1e9), strokes, SPEEDS * rise)
            count += 1
            self.spin(max(begin + count * PERIOD - (time.time_ns() - start) * 1e-9, 0.0))


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[Driver, Operator]]]:
    """Make a driver with a loopback back end and an operator, in one executor."""
    monkeypatch.setenv('ROS_PYTHON_CHECK_FIELDS', '1')
    monkeypatch.setattr(backend_module, 'installed_backends', lambda: {'loopback': Installed})
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    executor = SingleThreadedExecutor()
    nodes: list[Any] = []

    def make(*, up: bool = True, **overrides: Any) -> tuple[Driver, Operator]:
        values = {'backend': 'loopback', **PATIENCE, **overrides}
        parameters = [Parameter(name.replace('__', '.'), value=v) for name, v in values.items()]
        operator = Operator(executor)
        driver = Driver(parameter_overrides=parameters)
        nodes.extend([driver, operator])
        executor.add_node(driver)
        executor.add_node(operator)
        if up:
            bring_up(driver)
            assert operator.wait(lambda: operator.names == ['DISABLED'])
            assert operator.wait(operator.heard)
        return driver, operator

    yield make
    executor.shutdown()
    for node in nodes:
        with suppress(Exception):
            take_down(node)
    rclpy.try_shutdown()


Graph = Callable[..., tuple[Driver, Operator]]

# The standard's lifecycle, by hand; what fails is in other tests.
LIFECYCLE = {
    ('unconfigured', 'configure'): 'inactive',
    ('inactive', 'activate'): 'active',
    ('active', 'deactivate'): 'inactive',
    ('inactive', 'cleanup'): 'unconfigured',
    ('unconfigured', 'shutdown'): 'finalized',
    ('inactive', 'shutdown'): 'finalized',
    ('active', 'shutdown'): 'finalized',
}
STEPS = {step for _, step in LIFECYCLE}
WAYS = (
    ('shutdown',),
    ('configure', 'activate', 'deactivate', 'activate', 'shutdown'),
    ('configure', 'cleanup', 'configure', 'shutdown'),
)


def positions(operator: Operator) -> np.ndarray:
    return np.array([list(message.position) for message in operator.legs])


def test_the_legs_follow_the_commands(graph: Graph) -> None:
    _, operator = graph()
    operator.enable()
    operator.ramp(1.3)

    stamps = np.array([to_seconds(message.header.stamp) for message in operator.legs])
    assert np.diff(stamps).min() > 0.0
    # 200 Hz are asked for, every second cycle of 2 ms is next to it; late cycles leave gaps.
    assert np.median(np.diff(stamps)) == pytest.approx(0.004, abs=2e-6)
    travelled = (positions(operator)[-1] - START) / SPEEDS
    assert travelled == pytest.approx(np.full(6, travelled[0]), rel=1e-6)
    assert travelled[0] == pytest.approx(0.5 + 0.3 - PATIENCE['playout_delay'], abs=0.05)


def test_states_are_published_latched_with_reason_and_back_end(graph: Graph) -> None:
    _, operator = graph()
    operator.enable()

    assert operator.names[-1] == 'ENABLED'
    state = operator.states[-1]
    assert (state.backend, state.simulated, state.homed) == ('loopback', True, True)
    assert state.reason == 'all drives are on'
    assert abs(to_seconds(state.header.stamp) - time.time()) < 5.0
    late: list[DriverState] = []
    operator.create_subscription(DriverState, 'driver/state', late.append, STATE_QOS)
    assert operator.wait(lambda: bool(late))
    assert late[-1].state == DriverState.ENABLED


def test_silence_stops_all_legs_together_without_a_step(graph: Graph) -> None:
    _, operator = graph()
    operator.enable()
    operator.ramp(1.2)
    assert operator.wait(lambda: operator.names[-2:] == ['STOPPING', 'ENABLED'])
    operator.spin(0.1)

    strokes = positions(operator)
    travelled = (strokes[-1] - START) / SPEEDS
    assert travelled == pytest.approx(np.full(6, travelled[0]), rel=1e-9)
    assert 'no command' in operator.states[-1].reason
    stamps = np.array([to_seconds(message.header.stamp) for message in operator.legs])
    rates = np.diff(strokes, axis=0) / np.diff(stamps)[:, None]
    # A late cycle takes up to three steps at once, which loopback drives do in no time, and
    # catches up by a tenth; a step to the next setpoint or to rest would be a hundred times that.
    assert np.abs(rates).max() < 3.4 * np.abs(SPEEDS).max()


def test_a_new_path_is_taken_after_silence_only_from_the_held_strokes(graph: Graph) -> None:
    _, operator = graph()
    operator.enable()
    operator.ramp(1.0)
    assert operator.wait(lambda: operator.names[-2:] == ['STOPPING', 'ENABLED'])
    operator.spin(0.1)
    held = positions(operator)[-1]

    operator.command(time.time_ns(), held + 0.01, np.zeros(6))
    operator.spin(0.2)
    assert positions(operator)[-1] == pytest.approx(held, abs=1e-12)
    operator.command(time.time_ns(), held + 5e-4, np.zeros(6))
    operator.spin(0.5)
    assert positions(operator)[-1] == pytest.approx(held + 5e-4, abs=1e-9)


def test_nothing_moves_after_a_quick_stop_although_commands_continue(graph: Graph) -> None:
    _, operator = graph()
    operator.enable()
    operator.ramp(1.0)
    answer = operator.call('quick_stop')
    assert answer.success
    operator.ramp(0.2, begin=1.0)
    stopped = positions(operator)[-1]
    operator.ramp(0.5, begin=1.2)

    assert operator.names[-2:] == ['STOPPING', 'DISABLED']
    assert np.array_equal(positions(operator)[-1], stopped)
    assert not operator.call('quick_stop').message.startswith('the cyclic process')


@pytest.mark.parametrize('name', ['disable', 'reset_fault'])
def test_the_wrong_state_is_refused_with_a_reason(graph: Graph, name: str) -> None:
    _, operator = graph()
    answer = operator.call(name)

    assert not answer.success
    assert answer.message == f'{name} is not possible while the driver is DISABLED (started)'


def test_homing_and_enabling_follow_their_rules(graph: Graph) -> None:
    _, operator = graph()
    assert operator.call('home').success
    operator.enable()
    assert 'ENABLED' in operator.call('enable').message
    assert 'disable first' in operator.call('home').message
    assert operator.call('disable').success
    assert operator.wait(lambda: operator.names[-1] == 'DISABLED')


def test_services_are_refused_before_the_node_is_up(graph: Graph) -> None:
    driver, operator = graph(up=False)
    assert operator.call('enable').message == 'the driver node is not configured'
    driver.trigger_configure()
    assert operator.call('enable').message == 'the driver node is not active'
    assert operator.legs == []


def test_a_drive_fault_names_leg_and_code_until_it_is_reset(graph: Graph) -> None:
    _, operator = graph(loopback__trouble=Trouble.DRIVE_FAULT.value, loopback__trouble_after=1.0)
    operator.enable()
    assert operator.wait(lambda: operator.names[-1] == 'FAULT')
    assert 'leg 3 reports fault 0x7305' in operator.states[-1].reason

    assert not operator.call('enable').success
    assert operator.call('reset_fault').success
    assert operator.wait(lambda: operator.names[-1] == 'DISABLED')


def test_a_tracking_error_over_its_limit_stops(graph: Graph) -> None:
    _, operator = graph()
    operator.enable()
    operator.ramp(0.6)
    message = TrackingError()
    message.position.y = 0.05
    operator.tracking.publish(message)

    assert operator.wait(lambda: operator.names[-1] == 'FAULT')
    assert '50.00 mm from its setpoint' in operator.states[-1].reason


@pytest.mark.parametrize(
    'change',
    [
        {'name': list(LEG_NAMES[:5])},
        {'name': ['leg_0', *LEG_NAMES[1:]]},
        {'position': [0.3] * 5},
        {'position': [float('nan')] * 6},
        {'velocity': []},
        {'velocity': [float('inf')] * 6},
    ],
)
def test_malformed_commands_are_refused_and_counted(graph: Graph, change: dict[str, Any]) -> None:
    driver, operator = graph()
    operator.enable()
    fields = {'name': list(LEG_NAMES), 'position': [0.3] * 6, 'velocity': [0.0] * 6}
    message = JointState(**{**fields, **change})
    message.header.stamp = driver.get_clock().now().to_msg()
    operator.commands.publish(message)
    operator.spin(0.2)

    report = driver._report('commands')
    assert report.values['malformed messages'] == 1
    assert report.values['accepted'] == 0
    assert operator.names[-1] == 'ENABLED'


def test_feed_forward_is_joined_with_its_command(graph: Graph) -> None:
    driver, operator = graph()
    operator.enable()
    begin = time.time_ns()
    for index in range(20):
        effort = JointState(name=list(LEG_NAMES), effort=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        effort.header.stamp = from_nanoseconds(begin + index * 5_000_000)
        operator.efforts.publish(effort)
        operator.command(begin + index * 5_000_000, START, np.zeros(6))
        operator.spin(PERIOD)
    operator.spin(0.1)

    assert driver._report('commands').values['with feed-forward force'] >= 10


def test_effort_stays_empty_where_no_force_is_measured(graph: Graph) -> None:
    _, operator = graph()
    assert operator.wait(lambda: len(operator.legs) > 3)

    assert all(list(message.effort) == [] for message in operator.legs)
    assert all(list(message.name) == list(LEG_NAMES) for message in operator.legs)


def test_deactivating_while_moving_stops_first_and_ends_disabled(graph: Graph) -> None:
    driver, operator = graph()
    operator.enable()
    operator.ramp(1.0)
    driver.trigger_deactivate()
    operator.spin(0.1)

    assert state_of(driver) == 'inactive'
    # What was published while the transition held the executor has depth 1: the last one stays.
    assert operator.names[-1] == 'DISABLED'
    assert operator.states[-1].reason == 'disabling asked for'
    seen = len(operator.legs)
    operator.spin(0.1)
    assert len(operator.legs) == seen


def test_the_node_can_be_cleaned_up_and_configured_again(graph: Graph) -> None:
    driver, operator = graph()
    for _ in range(2):
        operator.enable()
        driver.trigger_deactivate()
        driver.trigger_cleanup()
        assert children() == set()
        bring_up(driver)


def test_every_transition_of_the_lifecycle_is_made_and_no_other(graph: Graph) -> None:
    made = set()
    for way in WAYS:
        driver, _ = graph(up=False)
        for step in way:
            before = state_of(driver)
            offered = {item[1] for item in driver._state_machine.available_transitions}
            assert offered == {name for state, name in LIFECYCLE if state == before}
            for other in STEPS - offered:
                with pytest.raises(RuntimeError, match='not registered'):
                    getattr(driver, f'trigger_{other}')()
                assert state_of(driver) == before
            getattr(driver, f'trigger_{step}')()
            assert state_of(driver) == LIFECYCLE[before, step]
            made.add((before, step))
        assert state_of(driver) == 'finalized'
        assert children() == set()
    assert made == set(LIFECYCLE)


def test_an_unexpected_error_in_a_transition_ends_the_process(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, operator = graph()
    operator.enable()

    def explode(_: Any) -> Iterator[Any]:
        raise RuntimeError('a defect')

    monkeypatch.setattr(DriveSession, 'come_to_rest', explode)
    driver.trigger_deactivate()

    assert state_of(driver) in {'unconfigured', 'finalized'}
    assert children() == set()


def test_a_killed_cyclic_process_is_a_fault(graph: Graph) -> None:
    driver, operator = graph()
    operator.enable()
    (child,) = children()
    os.kill(int(child), signal.SIGKILL)

    assert operator.wait(lambda: operator.names[-1] == 'FAULT', 1.0)
    assert operator.states[-1].reason == 'the cyclic process was killed by signal 9'
    assert 'killed' in operator.call('reset_fault').message
    driver.trigger_deactivate()
    driver.trigger_cleanup()
    bring_up(driver)
    operator.enable()


def test_a_back_end_that_does_not_open_keeps_the_node_unconfigured(graph: Graph) -> None:
    driver, _ = graph(up=False, loopback__trouble=Trouble.NOT_OPENED.value)
    driver.trigger_configure()

    assert state_of(driver) == 'unconfigured'
    assert 'no drives answer on loopback' in driver.refusal
    assert children() == set()


def test_an_unknown_back_end_is_never_replaced(graph: Graph) -> None:
    with pytest.raises(
        DriverError, match="no driver back end 'ethercta'; installed are: loopback"
    ):
        graph(backend='ethercta')


@pytest.mark.parametrize(
    ('overrides', 'words'),
    [
        ({'rate_limit': 0.7}, 'rate_limit'),
        ({'publish_rate': 1000.0}, 'publish_rate'),
        ({'quick_stop_strength': 0.3}, 'quick_stop_strength'),
        ({'use_sim_time': True}, 'use_sim_time'),
    ],
)
def test_settings_that_cannot_be_used_refuse_to_configure(
    graph: Graph, overrides: dict[str, Any], words: str
) -> None:
    driver, _ = graph(up=False, **overrides)
    driver.trigger_configure()

    assert state_of(driver) == 'unconfigured'
    assert words in driver.refusal


def test_diagnostics_say_aloud_that_nothing_real_moves(graph: Graph) -> None:
    driver, operator = graph()
    operator.spin(0.3)

    assert driver._report('backend').message.startswith('SIMULATED, no metal moves')
    cycle = driver._report('cycle')
    assert float(cycle.values['wake-up late p50 [us]']) >= 1.0
    assert cycle.values['cycles'] > 50


def children() -> set[str]:
    with open(f'/proc/self/task/{os.getpid()}/children') as listing:
        return set(listing.read().split())
