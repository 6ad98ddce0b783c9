# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Goals of a platform that is elsewhere than it was sent, or whose pose cannot be read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped
from kinematic_rig import NEUTRAL, neutral_plus, Rig
from stewart_interfaces.action import MovePlatform
from stewart_interfaces.msg import DriverState, Jog
from stewart_kinematics.motion import Pose
from stewart_kinematics.nodes.cycloidal_trajectory import CycloidalTrajectory
from stewart_node_support.conversions import header_msg, PARKING, pose_msg
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS

TURNED = neutral_plus(rpy=(0.0, 0.0, np.radians(20.0)))
Result = MovePlatform.Result


def send(rig: Rig, target: Pose) -> Any:
    """Send a goal."""
    goal = MovePlatform.Goal(target=pose_msg(target.position, target.quaternion_xyzw))
    return rig.send_goal(MovePlatform, 'move_platform', goal)


def require_a_way_on(rig: Rig) -> None:
    """Enable anew, with drives that follow: a goal is reached."""
    rig.drive(DriverState.DISABLED)
    rig.drive(DriverState.ENABLED)
    rig.follow = True
    result = rig.result(send(rig, neutral_plus(z=0.01)).get_result_async()).result
    assert result.code == Result.REACHED


def test_nothing_starts_where_the_platform_was_turned_to_and_is_not() -> None:
    """A goal after a refused rotation began where the platform was not, for ever."""
    with Rig() as rig:
        node = rig.active(CycloidalTrajectory)
        rig.drive(DriverState.ENABLED)
        rig.follow = False
        result = rig.result(send(rig, TURNED).get_result_async()).result
        assert (result.code, '20.0° from the target' in result.message) == (Result.ABORTED, True)
        assert not send(rig, NEUTRAL).accepted
        assert '20.0° from where it was sent' in node.refusal
        require_a_way_on(rig)


def test_a_short_move_that_nothing_follows_is_aborted_and_blocks_the_next() -> None:
    with Rig() as rig:
        node = rig.active(CycloidalTrajectory)
        rig.drive(DriverState.ENABLED)
        rig.follow = False
        result = rig.result(send(rig, neutral_plus(z=0.01)).get_result_async()).result
        assert result.code == Result.ABORTED
        assert 'rests 10 mm and 0.0° from the target' in result.message
        assert not send(rig, NEUTRAL).accepted
        assert 'the platform is 10 mm and 0.0° from where it was sent' in node.refusal
        require_a_way_on(rig)


def test_a_goal_at_a_lower_speed_that_nothing_follows_ends() -> None:
    with Rig() as rig:
        rig.active(CycloidalTrajectory)
        rig.drive(DriverState.ENABLED, speed_scaling=0.5)
        rig.follow = False
        ended = send(rig, neutral_plus(z=0.05)).get_result_async()
        # The driver plays 20 s of path within 40 s.
        rig.until(ended.done, 50.0)
        assert ended.result().result.code == Result.ABORTED


def test_nothing_starts_while_somebody_jogs() -> None:
    with Rig() as rig:
        node = rig.active(CycloidalTrajectory)
        rig.drive(DriverState.ENABLED)
        jogs = rig.probe.create_publisher(Jog, 'driver/jog', COMMAND_QOS)
        rig.until(lambda: jogs.get_subscription_count() > 0)
        jogs.publish(Jog(header=header_msg(rig.probe.get_clock().now().to_msg(), '')))
        rig.spin(0.2)
        assert not send(rig, NEUTRAL).accepted
        assert node.refusal == 'the platform is being jogged'
        rig.spin(0.5)
        assert send(rig, NEUTRAL).accepted


def test_nothing_moves_or_starts_on_the_way_to_the_park_position() -> None:
    with Rig() as rig:
        node = rig.active(CycloidalTrajectory)
        rig.drive(DriverState.ENABLED)
        ended = send(rig, neutral_plus(z=0.05)).get_result_async()
        rig.spin(0.1)
        rig.drive(DriverState.ENABLED, PARKING)
        result = rig.result(ended).result
        assert (result.code, result.message) == (Result.ABORTED, f'the driver is {PARKING}')
        assert not send(rig, NEUTRAL).accepted
        assert node.refusal == f'the driver is {PARKING}'


def test_a_node_that_is_shut_down_falls_silent() -> None:
    with Rig() as rig:
        node = rig.active(CycloidalTrajectory)
        rig.drive(DriverState.ENABLED)
        ended = send(rig, neutral_plus(z=0.05)).get_result_async()
        rig.spin(0.1)
        node.trigger_shutdown()
        count = node.published['setpoint'].count
        rig.spin(0.3)
        assert node.published['setpoint'].count == count > 0
        assert rig.result(ended).result.message == 'the node was shut down'


def test_a_goal_that_was_accepted_before_a_deactivation_blocks_no_other() -> None:
    """All later ones had been refused, for "another goal is running"."""
    with Rig() as rig:
        node = rig.active(CycloidalTrajectory)
        rig.drive(DriverState.ENABLED)
        usual, asked = node.require_start, []

        def last_of_all() -> Any:
            found = usual()
            asked.append(found)
            if len(asked) == 2:
                node.trigger_deactivate()
            return found

        node.require_start = last_of_all
        handle = send(rig, neutral_plus(z=0.05))
        assert handle.accepted
        result = rig.result(handle.get_result_async()).result
        assert result.message == 'the node was deactivated before the move began'
        node.trigger_activate()
        result = rig.result(send(rig, neutral_plus(z=0.05)).get_result_async()).result
        assert result.code == Result.REACHED


def test_a_goal_that_arrives_ends_where_the_pose_cannot_be_read() -> None:
    """The node had ended with the error of a message of another program."""
    with Rig() as rig:
        node = rig.active(CycloidalTrajectory)
        rig.drive(DriverState.ENABLED)
        rig.follow = False
        poses = rig.probe.create_publisher(PoseStamped, 'platform/pose', SENSOR_QOS)
        handle = send(rig, TURNED)
        rig.until(lambda: node.playback is None)
        rig.forward.destroy_node()
        rig.until(lambda: poses.get_subscription_count() > 0)
        ended = handle.get_result_async()
        for _ in range(20):
            message = PoseStamped(header=header_msg(rig.probe.get_clock().now().to_msg(), ''))
            message.pose.orientation.w = 0.0
            poses.publish(message)
            rig.spin(0.05)
            if ended.done():
                break

        assert ended.done()
        assert ended.result().result.code == Result.ABORTED
        assert 'norm 1' in ended.result().result.message
