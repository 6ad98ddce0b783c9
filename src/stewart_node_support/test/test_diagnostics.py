# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray
from node_harness import Harness
from rclpy.node import Node
from std_msgs.msg import Float64
from stewart_node_support.diagnostics import Diagnostics, Level, Report
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import COMMAND_QOS, STATE_QOS


class Pump(Node):
    def __init__(self, **kwargs: object) -> None:
        super().__init__('pump', namespace='left', **kwargs)
        self.level = Level.OK
        self.flow = CountedPublisher(self, Float64, 'flow', COMMAND_QOS)
        self.diagnostics = Diagnostics(self, 'vigo', period=0.05)
        self.diagnostics.add('flow', lambda: Report(self.level, 'it flows', {'rate_lps': 2.5}))


def test_status_names_namespace_node_task_hardware_and_values() -> None:
    with Harness() as harness:
        heard = harness.listen(DiagnosticArray, '/diagnostics')
        pump = harness.add(Pump)
        harness.until(lambda: heard)
        pump.level = Level.ERROR
        harness.until(lambda: Level.ERROR in harness.levels(heard, 'left/pump: flow'))

        status = heard[0].status[0]
        assert harness.levels(heard, 'left/pump: flow')[0] == Level.OK
        assert status.hardware_id == 'vigo'
        assert status.message == 'it flows'
        assert (status.values[0].key, status.values[0].value) == ('rate_lps', '2.5')
        assert heard[0].header.stamp.sec > 0


def test_counter_equals_what_a_subscriber_received() -> None:
    with Harness() as harness:
        heard = harness.listen(Float64, '/left/flow')
        pump = harness.add(Pump)
        harness.until(lambda: pump.flow.subscribers == 1)
        for _ in range(5):
            pump.flow.publish(Float64(data=1.0))
        harness.until(lambda: len(heard) == 5)

        assert pump.published['flow'] is pump.flow
        assert pump.flow.topic == '/left/flow'
        assert pump.flow.count == 5
        assert set(pump.published) == {'flow', '/diagnostics'}


def test_latched_state_reaches_who_comes_late() -> None:
    with Harness() as harness:
        pump = harness.add(Pump)
        CountedPublisher(pump, Float64, 'state', STATE_QOS).publish(Float64(data=4.0))
        heard = harness.listen(Float64, '/left/state', STATE_QOS)
        harness.until(lambda: heard)

        assert heard[0].data == 4.0
