# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where a move begins, on a machine that delivers poses late and many at once."""

from __future__ import annotations

from functools import partial

import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped
from node_harness import Harness
from stewart_bringup.nodes.move_operator import MoveOperator
from stewart_node_support.qos import SENSOR_QOS
from stewart_node_support.stamps import from_nanoseconds
from stewart_node_support.stop_signals import StopSignals

pytestmark = pytest.mark.ros


def test_rest_is_judged_by_the_stamps_of_the_poses() -> None:
    with Harness() as harness:
        operator = harness.add(partial(MoveOperator, StopSignals()))
        poses = harness.talk(PoseStamped, 'platform/pose', SENSOR_QOS)
        here = harness.probe.executor.create_task(operator.reference, 'here')

        # The first two were measured one after the other, before the platform moved.
        for milliseconds, height in ((0, 1.0), (10, 1.0), (900, 1.1), (1300, 1.1)):
            assert not here.done()
            message = PoseStamped()
            message.header.stamp = from_nanoseconds(milliseconds * 1_000_000)
            message.pose.position.z = height
            poses.publish(message)
            harness.spin(0.4)

        assert here.result().position[2] == 1.1
