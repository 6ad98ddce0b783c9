# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A person at the driver: jog with a dead man's key, override, speed scaling, park position."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy')

from driver_graph import driver_graph, Graph, Operator, SPEEDS, START
from std_srvs.srv import SetBool
from stewart_interfaces.msg import Jog
from stewart_interfaces.srv import SetSpeedScaling
from stewart_node_support.qos import COMMAND_QOS
from stewart_node_support.stamps import from_nanoseconds, to_seconds

pytestmark = pytest.mark.ros

# Of loopback: 0.6 m/s and 6 m/s².
RATE = 0.05


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[Graph]:
    with driver_graph(monkeypatch) as make:
        yield make


class Pad:
    """The keys of a jog pad, and the services beside it."""

    def __init__(self, operator: Operator) -> None:
        """Find the driver."""
        self.operator = operator
        self.keys = operator.create_publisher(Jog, 'driver/jog', COMMAND_QOS)
        operator.discover(lambda: self.keys.get_subscription_count() > 0)

    def press(self, rates: Any, age: float = 0.0) -> None:
        """Ask once."""
        message = Jog(rates=list(rates))
        message.header.stamp = from_nanoseconds(self.operator.now - round(age * 1e9))
        self.keys.publish(message)

    def hold(self, rates: Any, duration: float, age: float = 0.0) -> None:
        """Ask every 20 ms."""
        for _ in range(round(duration / 0.02)):
            self.press(rates, age)
            self.operator.spin(0.02)

    def call(self, kind: Any, name: str, **fields: Any) -> Any:
        """Call a service of the driver."""
        client = self.operator.create_client(kind, f'driver/{name}')
        self.operator.discover(client.service_is_ready)
        future = client.call_async(kind.Request(**fields))
        assert self.operator.wait(future.done)
        return future.result()


def strokes(operator: Operator) -> np.ndarray:
    return np.array([list(message.position) for message in operator.legs])


def third(rate: float) -> np.ndarray:
    return np.array([0.0, 0.0, rate, 0.0, 0.0, 0.0])


@pytest.mark.parametrize('age', [0.0, 0.06])
def test_one_leg_moves_while_the_key_is_held_and_stops_when_it_is_let_go(
    graph: Graph, age: float
) -> None:
    """However long requests are on their way, 100 ms after the stamp of the last one are over."""
    _, operator = graph()
    operator.enable()
    pad = Pad(operator)
    pad.hold(third(RATE), 1.0, age)
    let_go = 1e-9 * operator.now - age
    operator.spin(0.4)

    travelled = strokes(operator)[-1] - START
    assert travelled[[0, 1, 3, 4, 5]] == pytest.approx(0.0, abs=1e-9)
    assert 0.9 * RATE < travelled[2] < 1.2 * RATE
    stamps = np.array([to_seconds(message.header.stamp) for message in operator.legs])
    moving = np.abs(np.diff(strokes(operator)[:, 2])) > 1e-7
    # 100 ms of the dead man's key, then the stop of 50 mm/s, and a cycle or two.
    assert stamps[1:][moving].max() < let_go + 0.1 + 0.06
    assert operator.names[-1] == 'ENABLED'


@pytest.mark.parametrize(
    ('rate', 'age', 'said'),
    [(RATE, 0.3, 'a jog request is 0.3'), (0.07, 0.0, 'allowed are 0.06 m/s')],
)
def test_a_request_that_was_long_on_its_way_or_asks_for_more_than_a_tenth_moves_nothing(
    graph: Graph, rate: float, age: float, said: str
) -> None:
    driver, operator = graph()
    operator.enable()
    Pad(operator).hold(third(rate), 0.5, age)

    assert strokes(operator)[-1] == pytest.approx(START, abs=1e-12)
    assert driver._session is not None
    assert said in driver._session.reports['commands']().message


def test_nothing_is_jogged_while_the_drives_are_off(graph: Graph) -> None:
    _, operator = graph()
    Pad(operator).hold(third(RATE), 0.5)
    assert strokes(operator)[-1] == pytest.approx(START, abs=1e-12)


def test_a_key_that_is_held_while_the_drives_come_on_moves_nothing_until_it_is_let_go(
    graph: Graph,
) -> None:
    driver, operator = graph()
    pad = Pad(operator)
    pressing = operator.create_timer(0.02, lambda: pad.press(third(RATE)))
    operator.spin(0.2)
    operator.enable()
    operator.spin(0.5)
    assert strokes(operator)[-1] == pytest.approx(START, abs=1e-12)
    assert driver._session is not None
    assert 'let it go first' in driver._session.reports['commands']().message

    operator.destroy_timer(pressing)
    operator.spin(0.2)
    pad.hold(third(RATE), 0.3)
    assert strokes(operator)[-1][2] - START[2] > 0.1 * RATE


def test_half_the_speed_takes_twice_the_time_and_is_told(graph: Graph) -> None:
    _, operator = graph()
    pad = Pad(operator)
    answer = pad.call(SetSpeedScaling, 'speed_scaling', speed_scaling=0.5)
    assert answer.success, answer.message
    operator.enable()
    operator.spin(0.05)
    assert operator.states[-1].speed_scaling == 0.5
    operator.ramp(2.0)

    travelled = (strokes(operator)[-1] - START) / SPEEDS
    # The same path: all legs as far on it. In 2 s of the plan: 1.5 of what SPEEDS is in a second.
    assert travelled == pytest.approx(np.full(6, travelled[0]), rel=1e-6)
    assert 0.3 < travelled[0] < 0.6


@pytest.mark.parametrize('share', [0.0, 0.001, 1.5, float('nan')])
def test_no_other_speed_is_taken(graph: Graph, share: float) -> None:
    _, operator = graph()
    answer = Pad(operator).call(SetSpeedScaling, 'speed_scaling', speed_scaling=share)
    assert not answer.success
    assert answer.message.startswith('speed_scaling: expected a number from 0.01 to 1, got')


def test_override_is_for_legs_that_are_outside(graph: Graph) -> None:
    _, operator = graph()
    answer = Pad(operator).call(SetBool, 'override', data=True)
    assert not answer.success
    assert 'outside' in answer.message


def test_a_leg_outside_its_stroke_is_brought_back(graph: Graph) -> None:
    _, operator = graph(up=False, **{'stroke_margin': 0.005})
    pad = Pad(operator)
    from loopback import LoopbackBackend

    begin = LoopbackBackend.open

    def outside(self: LoopbackBackend, now: float) -> None:
        begin(self, now)
        self._strokes = START + third(0.32)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LoopbackBackend, 'open', outside)
        from stewart_node_support.lifecycle import bring_up

        bring_up(_)
    # Legs without voltage may lie on their mechanical ends: that is no fault.
    operator.spin(0.2)
    assert operator.names[-1] == 'DISABLED'
    answer = operator.call('enable')
    assert not answer.success
    assert 'switch the override on' in answer.message
    answer = pad.call(SetBool, 'override', data=True)
    assert answer.success, answer.message
    operator.spin(0.05)
    assert operator.states[-1].override
    operator.enable()
    pad.hold(third(0.05), 0.5)
    assert strokes(operator)[-1] == pytest.approx(START + third(0.32), abs=1e-4)
    pad.hold(third(-0.05), 0.8)
    operator.spin(0.3)
    assert strokes(operator)[-1][2] < 0.6
    assert operator.names[-1] == 'ENABLED'
    assert not operator.states[-1].override


def test_disabling_brings_the_legs_to_the_park_position_first(graph: Graph) -> None:
    park = START + np.array([-0.03, 0.02, 0.0, 0.01, -0.01, 0.04])
    _, operator = graph(park_strokes=park.tolist())
    operator.enable()
    operator.ramp(0.7)

    answer = operator.call('disable')
    assert answer.success
    assert answer.message.startswith('going to the park position, then off')
    operator.spin(0.05)
    # All sources hear why they are not followed any more.
    assert operator.names[-1] == 'ENABLED'
    assert operator.states[-1].reason == 'going to the park position, then off'
    began = len(operator.legs)
    assert operator.wait(lambda: operator.names[-1] == 'DISABLED', timeout=20.0)
    operator.spin(0.05)
    found = strokes(operator)
    assert found[-1] == pytest.approx(park, abs=1e-3)
    # After the stop of the path no leg is faster than a tenth of its limit.
    parked = np.abs(np.diff(found[began:], axis=0)).max(axis=1) / 0.004
    assert parked[len(parked) // 2 :].max() < 0.0601


def test_a_second_disable_switches_off_where_the_legs_are(graph: Graph) -> None:
    _, operator = graph(park_strokes=(START + 0.2).tolist())
    operator.enable()
    operator.call('disable')
    operator.spin(0.5)
    assert operator.call('disable').message.startswith('coming to rest, then off')
    assert operator.wait(lambda: operator.names[-1] == 'DISABLED', timeout=1.0)
    assert strokes(operator)[-1].max() < 0.4


def test_a_quick_stop_does_not_park(graph: Graph) -> None:
    _, operator = graph(park_strokes=(START + 0.2).tolist())
    operator.enable()
    operator.call('disable')
    operator.spin(0.5)
    operator.call('quick_stop')
    assert operator.wait(lambda: operator.names[-1] == 'DISABLED', timeout=1.0)
    rest = strokes(operator)[-1]
    operator.spin(0.5)
    assert strokes(operator)[-1] == pytest.approx(rest, abs=1e-9)
