# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where a move begins, on a machine that delivers poses late and many at once; where it ends."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped
from node_harness import Harness
from rclpy.action import ActionServer
from stewart_bringup.errors import RequestRefused
from stewart_bringup.nodes.move_operator import MoveOperator
from stewart_bringup.nodes.sequence_operator import SequenceOperator
from stewart_interfaces.action import FollowWaypoints, MovePlatform
from stewart_kinematics.motion import Pose
from stewart_node_support.conversions import header_msg, pose_msg
from stewart_node_support.qos import SENSOR_QOS
from stewart_node_support.stamps import from_nanoseconds
from stewart_node_support.stop_signals import StopSignals

pytestmark = pytest.mark.ros
IDENTITY = (0.0, 0.0, 0.0, 1.0)


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


@pytest.mark.parametrize(
    ('cls', 'kind'), [(MoveOperator, MovePlatform), (SequenceOperator, FollowWaypoints)]
)
@pytest.mark.parametrize(('height', 'turn'), [(1.05, 0.0), (1.0, 0.1)])
def test_a_platform_that_was_not_brought_there_is_an_error(
    cls: Any, kind: Any, height: float, turn: float
) -> None:
    sent = Pose.from_rpy((0.0, 0.0, height), (turn, 0.0, 0.0))

    def reached(handle: Any) -> Any:
        handle.succeed()
        place = pose_msg(sent.position, sent.quaternion_xyzw)
        return kind.Result(code=kind.Result.REACHED, message='so it says', pose=place)

    with Harness() as harness:
        operator = harness.add(partial(cls, StopSignals()))
        poses = harness.talk(PoseStamped, 'platform/pose', SENSOR_QOS)

        def rest() -> None:
            now = harness.probe.get_clock().now().to_msg()
            resting = PoseStamped(header=header_msg(now), pose=pose_msg((0.0, 0.0, 1.0), IDENTITY))
            poses.publish(resting)

        harness.probe.create_timer(0.1, rest)
        server = ActionServer(harness.probe, kind, operator.action, reached)
        harness.until(lambda: operator._client.server_is_ready() and operator._measured)
        gone = harness.probe.executor.create_task(operator.go, kind.Goal(), lambda _: None)
        with pytest.raises(RequestRefused, match='the driver has not followed'):
            harness.until(gone.done)
        server.destroy()
