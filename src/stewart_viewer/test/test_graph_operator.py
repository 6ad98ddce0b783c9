# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A move is stopped whenever that is asked for, from the moment in which it is sent."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import TwistStamped
from node_harness import Harness
import numpy as np
from probe_rig import ProbeRig
from rclpy.node import Node
from std_srvs.srv import Trigger
from stewart_interfaces.msg import Jog
from stewart_node_support.qos import COMMAND_QOS
from stewart_node_support.stamps import to_seconds
from stewart_viewer.nodes.operator import GraphOperator

pytestmark = pytest.mark.ros
HERE = (0.0, 0.0, 0.3), (0.0, 0.0, 0.0, 1.0)


def test_a_stop_that_comes_before_the_answer_stops_the_move() -> None:
    told: list[str] = []
    with Harness() as harness:
        rig = ProbeRig(harness)
        rig.lasting = True
        operator = GraphOperator(harness.probe, told.append)

        def joined() -> bool:
            if not rig.goals:
                told.clear()
                operator.move(*HERE, 0.1)
                operator.cancel()
                harness.spin(0.1)
            return bool(rig.goals)

        harness.until(joined)
        harness.until(lambda: told and told[-1].startswith('move_platform: came to rest'))
    assert not any('no move is running' in text for text in told)
    assert told[0] == 'move_platform: moving'


def test_a_move_that_is_refused_is_told_with_its_reason() -> None:
    told: list[str] = []
    with Harness() as harness:
        rig = ProbeRig(harness)
        rig.lasting = True
        says = harness.probe.create_publisher(DiagnosticArray, '/diagnostics', 10)
        operator = GraphOperator(harness.probe, told.append)

        def report(why: str) -> None:
            last = [KeyValue(key='last_refusal', value=why)]
            status = DiagnosticStatus(name='cycloidal_trajectory: motion', values=last)
            message = DiagnosticArray(status=[status])
            message.header.stamp = harness.probe.get_clock().now().to_msg()
            says.publish(message)

        harness.until(lambda: says.get_subscription_count() == 1)

        def refused() -> bool:
            operator.move(*HERE, 0.1)
            report('that of another move')
            harness.spin(0.1)
            return 'move_platform: **refused**' in told

        harness.until(refused)
        assert not any('another move' in text for text in told)
        harness.spin(0.1)
        report('leg 3 is too short')
        harness.until(lambda: told[-1] == 'move_platform: **refused**: leg 3 is too short')
        # Once.
        report('leg 3 is too short')
        told.clear()
        harness.spin(0.2)
        assert told == []


def test_what_nobody_answers_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('stewart_viewer.nodes.operator.ANSWER_LIMIT', 0.0)
    told: list[str] = []
    with Harness() as harness:
        # It offers the service, and nobody spins it.
        hanging = Node('driver')
        hanging.create_service(Trigger, 'driver/enable', lambda _, answer: answer)
        operator = GraphOperator(harness.probe, told.append)
        offered = harness.probe.create_client(Trigger, 'driver/enable')
        harness.until(offered.service_is_ready)
        operator.call('driver/enable')
        harness.until(lambda: told)
        harness.spin(0.5)
        hanging.destroy_node()
    assert told == ['**driver/enable**: no answer within 0 s; it may still come']


def test_the_sources_of_a_rig_are_found() -> None:
    with Harness() as harness:
        ProbeRig(harness)
        operator = GraphOperator(harness.probe, print)
        harness.until(lambda: operator.sources == ('ocean', 'excitation'))


def test_a_jog_carries_the_instant_of_the_hand() -> None:
    told: list[str] = []
    with Harness() as harness:
        legs = harness.listen(Jog, 'driver/jog', COMMAND_QOS)
        axes = harness.listen(TwistStamped, 'platform/jog', COMMAND_QOS)
        operator = GraphOperator(harness.probe, told.append)
        rates = np.array([5e-3, 0.0, 0.0, 0.0, 0.0, 0.02])

        def heard() -> bool:
            operator.jog(rates, 2)
            operator.jog(rates, None)
            harness.spin(0.1)
            return bool(legs and axes)

        harness.until(heard)
        assert list(legs[-1].rates) == [0.0, 0.0, 5e-3, 0.0, 0.0, 0.0]
        twist = axes[-1].twist
        assert (twist.linear.x, twist.angular.z) == (5e-3, 0.02)
        assert axes[-1].header.frame_id == 'base_link'
        assert to_seconds(legs[-1].header.stamp) > 0.0

        count = len(legs)
        operator.obstacle = 'another platform'
        operator.jog(rates, 2)
        harness.spin(0.2)
        assert len(legs) == count
        assert told[-1] == '**jog**: not sent: another platform'


@pytest.mark.parametrize(
    ('hold', 'taker'),
    [
        (lambda operator: operator.jog(np.zeros(6), 2), 'driver: commands'),
        (lambda operator: operator.steer(np.zeros(6)), 'teleop: steering'),
    ],
    ids=['jog', 'follow'],
)
def test_what_is_refused_is_told_while_it_is_held(
    hold: Callable[[GraphOperator], None], taker: str
) -> None:
    told: list[str] = []
    with Harness() as harness:
        says = harness.probe.create_publisher(DiagnosticArray, '/diagnostics', 10)
        operator = GraphOperator(harness.probe, told.append)
        said = DiagnosticArray(
            status=[
                DiagnosticStatus(name=name, level=DiagnosticStatus.WARN, message='not so fast')
                for name in ('driver: commands', 'teleop: steering', 'teleop: motion')
            ]
        )

        harness.until(lambda: says.get_subscription_count() == 1)
        says.publish(said)
        harness.spin(0.2)
        assert told == []

        def answered() -> bool:
            hold(operator)
            harness.spin(0.1)
            says.publish(said)
            return bool(told)

        harness.until(answered)
        assert set(told) == {f'**{taker}**: not so fast'}
