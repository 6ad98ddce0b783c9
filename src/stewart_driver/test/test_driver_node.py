# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver node on a graph in simulated time: services, motion, stops and faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy')

from driver_graph import driver_graph, Graph, Operator, PATIENCE, PERIOD, SPEEDS, START
from loopback import LoopbackBackend, Trouble
from sensor_msgs.msg import JointState
from stewart_driver.legs import LEG_NAMES
from stewart_interfaces.msg import DriverState, TrackingError
from stewart_node_support.qos import STATE_QOS
from stewart_node_support.stamps import from_nanoseconds, to_seconds

pytestmark = pytest.mark.ros


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[Graph]:
    with driver_graph(monkeypatch) as make:
        yield make


def positions(operator: Operator) -> np.ndarray:
    return np.array([list(message.position) for message in operator.legs])


def test_the_legs_follow_the_commands(graph: Graph) -> None:
    _, operator = graph()
    operator.enable()
    operator.ramp(1.3)

    stamps = np.array([to_seconds(message.header.stamp) for message in operator.legs])
    # 200 Hz are asked for, every second cycle of 2 ms is next to it.
    np.testing.assert_allclose(np.diff(stamps), 0.004, atol=1e-6)
    travelled = (positions(operator)[-1] - START) / SPEEDS
    assert travelled == pytest.approx(np.full(6, travelled[0]), rel=1e-6)
    assert travelled[0] == pytest.approx(0.5 + 0.3 - PATIENCE['playout_delay'], abs=0.01)


def test_states_are_published_latched_with_reason_and_back_end(graph: Graph) -> None:
    _, operator = graph()
    operator.enable()

    assert operator.names[-1] == 'ENABLED'
    state = operator.states[-1]
    assert (state.backend, state.simulated, state.homed) == ('loopback', True, True)
    assert state.reason == 'all drives are on'
    assert 0.0 <= 1e-9 * operator.now - to_seconds(state.header.stamp) < 0.01
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
    # A step to the next setpoint or to rest would be a hundred times that.
    assert np.abs(rates).max() < 1.01 * np.abs(SPEEDS).max()


def test_a_new_path_is_taken_after_silence_only_from_the_held_strokes(graph: Graph) -> None:
    _, operator = graph()
    operator.enable()
    operator.ramp(1.0)
    assert operator.wait(lambda: operator.names[-2:] == ['STOPPING', 'ENABLED'])
    operator.spin(0.1)
    held = positions(operator)[-1]

    operator.command(operator.now, held + 0.01, np.zeros(6))
    operator.spin(0.2)
    assert positions(operator)[-1] == pytest.approx(held, abs=1e-12)
    operator.command(operator.now, held + 5e-4, np.zeros(6))
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


def test_the_wrong_state_is_refused_with_a_reason(graph: Graph) -> None:
    _, operator = graph()
    answer = operator.call('reset_fault')

    assert not answer.success
    assert answer.message == 'reset_fault is not possible while the driver is DISABLED (started)'
    # Whoever wants the drives off has what he wants.
    assert operator.call('disable').success


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
    assert operator.call('home').success


def test_legs_do_not_move_home_before_the_node_is_active(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LoopbackBackend, 'moves_home', True)
    driver, operator = graph(up=False)
    driver.trigger_configure()
    assert operator.call('home').message == 'the driver node is not active'
    driver.trigger_activate()
    assert operator.call('home').success


def test_a_drive_fault_names_leg_and_code_until_it_is_reset(graph: Graph) -> None:
    _, operator = graph(loopback__trouble=Trouble.DRIVE_FAULT.value, loopback__trouble_after=1.0)
    operator.enable()
    assert operator.wait(lambda: operator.names[-1] == 'FAULT')
    assert 'leg 3 reports fault 0x7305' in operator.states[-1].reason

    assert not operator.call('enable').success
    assert operator.states[-1].holding
    assert operator.call('reset_fault').success
    # What is well has held meanwhile, and goes on.
    assert operator.wait(lambda: operator.names[-1] == 'ENABLED')


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
    begin = operator.now
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


def test_diagnostics_say_aloud_that_nothing_real_moves(graph: Graph) -> None:
    driver, operator = graph()
    operator.spin(0.3)

    assert driver._report('backend').message.startswith('SIMULATED, no metal moves')
    cycle = driver._report('cycle')
    assert float(cycle.values['wake-up late p50 [us]']) >= 1.0
    assert cycle.values['cycles'] > 50
