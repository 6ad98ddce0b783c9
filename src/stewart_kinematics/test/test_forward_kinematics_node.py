# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, TwistStamped
from kinematic_rig import DELAY, NEUTRAL, neutral_plus, Rig, strokes_at, VIGO
from sensor_msgs.msg import JointState
from stewart_interfaces.msg import DriverState, Jog
from stewart_kinematics.motion import Motion
from stewart_kinematics.nodes.forward_kinematics import ForwardKinematics
from stewart_kinematics.solvers.joint_states import JOINT_NAMES, joint_positions
from stewart_kinematics.trajectories import Cycloidal
from stewart_node_support.conversions import pose_from_msg, vector_from_msg
from stewart_node_support.diagnostics import Level
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS
from stewart_node_support.stamps import to_nanoseconds
from stewart_node_support.testing import Harness, leg_state_msg

MILLISECOND = 1_000_000
RENAMED = ['--ros-args', '-r', '__node:=late']


def measured_at(messages: list[Any], stamp: int) -> Any:
    return next((m for m in messages if to_nanoseconds(m.header.stamp) == stamp), None)


def test_pose_is_the_one_whose_strokes_were_measured() -> None:
    rng = np.random.default_rng(7)
    with Rig() as rig:
        for _ in range(10):
            pose = neutral_plus(*rng.uniform(-0.1, 0.1, 3), rpy=rng.uniform(-0.25, 0.25, 3))
            rig.strokes = strokes_at(pose)
            rig.until(partial(measured_at, rig.poses, stamp := rig.measure()))
            message = measured_at(rig.poses, stamp)
            position, quaternion = pose_from_msg(message.pose)

            assert message.header.frame_id == 'base_link'
            np.testing.assert_allclose(position, pose.position, rtol=0, atol=1e-9)
            assert abs(quaternion @ pose.quaternion_xyzw) == pytest.approx(1.0, abs=1e-15)


def test_a_jog_of_the_platform_becomes_the_leg_rates_that_move_it_so() -> None:
    with Rig() as rig:
        heard = rig.listen(Jog, 'driver/jog', COMMAND_QOS)
        jogs = rig.talk(TwistStamped, 'platform/jog', COMMAND_QOS)
        rig.strokes = strokes_at(neutral_plus(x=0.05, rpy=(0.05, -0.1, 0.1)))
        stamp = rig.measure()
        rig.until(partial(measured_at, rig.poses, stamp))
        jog = TwistStamped()
        jog.header.stamp = rig.probe.get_clock().now().to_msg()
        jog.header.frame_id = 'base_link'
        jog.twist.linear.z = 0.02
        jogs.publish(jog)
        rig.until(lambda: heard)

        step = 1e-6
        higher, lower = (
            strokes_at(neutral_plus(x=0.05, z=sign * step, rpy=(0.05, -0.1, 0.1)))
            for sign in (1.0, -1.0)
        )
        expected = 0.02 * (higher - lower) / (2.0 * step)
        np.testing.assert_allclose(heard[-1].rates, expected, rtol=0, atol=1e-8)
        assert heard[-1].header.stamp == jog.header.stamp

        jog.header.frame_id = 'platform_link'
        jogs.publish(jog)
        rig.spin(0.2)
        assert len(heard) == 1


def test_joint_states_are_complete_and_carry_the_same_stamp() -> None:
    with Rig() as rig:
        heard = rig.listen(JointState, 'joint_states', SENSOR_QOS)
        pose = neutral_plus(x=0.03, rpy=(0.1, 0.0, -0.1))
        rig.strokes = strokes_at(pose)
        stamp = rig.measure()
        rig.until(lambda: heard and to_nanoseconds(heard[-1].header.stamp) >= stamp)
        expected = joint_positions(VIGO, pose.position, pose.quaternion_xyzw)

        assert list(heard[-1].name) == list(JOINT_NAMES)
        np.testing.assert_allclose(heard[-1].position, expected, rtol=0, atol=1e-9)


def test_joint_states_come_no_oftener_than_asked_for() -> None:
    shakes = np.random.default_rng(3).integers(-MILLISECOND, MILLISECOND, 80).tolist()
    stamps = [(1000 + 5 * i) * MILLISECOND + shake for i, shake in enumerate(shakes)]
    with Harness() as graph:
        poses = graph.listen(PoseStamped, 'platform/pose', SENSOR_QOS)
        heard = graph.listen(JointState, 'joint_states', SENSOR_QOS)
        graph.add(ForwardKinematics, joint_states_rate=50.0)
        states = graph.talk(JointState, 'actuator_states', SENSOR_QOS)
        for stamp in stamps:
            states.publish(leg_state_msg(stamp, strokes_at(NEUTRAL), np.zeros(6)))
            graph.until(partial(measured_at, poses, stamp))
        graph.until(lambda: len(heard) >= 20)
        found = [to_nanoseconds(message.header.stamp) for message in heard]

    assert set(found) <= set(stamps)
    np.testing.assert_allclose(np.diff(found) / MILLISECOND, 20.0, atol=2.0)


@pytest.mark.parametrize(
    ('strokes', 'reason'),
    [
        ([0.0, 0.6, 0.0, 0.6, 0.0, 0.6], 'strokes [0.  0.6 0.  0.6 0.  0.6] m'),
        ([0.3] * 5 + [float('nan')], 'position of leg 6 must be finite'),
    ],
)
def test_strokes_without_a_pose_give_nothing_but_an_error(
    strokes: list[float], reason: str
) -> None:
    with Rig() as rig:
        diagnostics = rig.listen(DiagnosticArray, '/diagnostics')
        name = 'forward_kinematics: solution'
        stamp = rig.measure(strokes)
        rig.until(lambda: rig.forward.refusals.refused)
        rig.forward.diagnostics.publish()
        rig.until(lambda: Level.ERROR in rig.levels(diagnostics, name))

        assert reason in rig.forward.refusals.reason
        assert stamp not in {to_nanoseconds(message.header.stamp) for message in rig.poses}
        # The next good measurement is solved again.
        rig.poses.clear()
        rig.until(lambda: rig.poses)
        np.testing.assert_allclose(
            pose_from_msg(rig.poses[-1].pose)[0], NEUTRAL.position, rtol=0, atol=1e-9
        )


def test_tracking_error_compares_with_what_the_driver_plays_at_the_stamp() -> None:
    move = Cycloidal(NEUTRAL, neutral_plus(x=0.02, z=0.05, rpy=(0.0, 0.05, 0.0)), 1.0)
    with Rig() as rig:
        rig.drive(DriverState.ENABLED)
        rig.follow = False
        begin = rig.probe.get_clock().now().nanoseconds
        for i in range(100):
            rig.say('test', move.sample(i * 0.005), begin + 5 * i * MILLISECOND)
        rig.until(lambda: len(rig.commands) == 100)
        stamp = rig.measure(stamp=begin + 312 * MILLISECOND)
        rig.until(partial(measured_at, rig.errors, stamp))
        error = measured_at(rig.errors, stamp)
        # The drives stayed at neutral, so the error is the whole way travelled until then.
        expected = move.sample((stamp - begin) * 1e-9 - DELAY)
        strokes = strokes_at(expected.pose) - strokes_at(NEUTRAL)

        np.testing.assert_allclose(
            vector_from_msg(error.position), expected.position - NEUTRAL.position, atol=1e-6
        )
        np.testing.assert_allclose(
            vector_from_msg(error.rotation),
            [0.0, 2.0 * np.arcsin(expected.quaternion_xyzw[1]), 0.0],
            atol=1e-6,
        )
        np.testing.assert_allclose(error.strokes, strokes, atol=1e-6)


def test_tracking_error_ignores_what_was_executed_before_the_driver_changed() -> None:
    with Rig() as rig:
        rig.drive(DriverState.ENABLED)
        rig.say('mine', Motion.at_rest(NEUTRAL))
        rig.until(lambda: rig.errors)
        rig.drive(DriverState.DISABLED)
        rig.drive(DriverState.ENABLED)
        # Latched, the old command reaches a node that comes now.
        rig.add(partial(ForwardKinematics, namespace='', cli_args=RENAMED))
        rig.errors.clear()
        rig.spin(0.5)
        assert not rig.errors
        rig.say('mine', Motion.at_rest(NEUTRAL))
        rig.until(lambda: len(rig.errors) >= 4)


def test_tracking_error_ignores_what_was_not_executed_and_pauses_without_a_command() -> None:
    with Rig() as rig:
        rig.spin(0.1)
        assert not rig.errors
        rig.drive(DriverState.ENABLED)
        rig.say('mine', Motion.at_rest(NEUTRAL))
        rig.say('other', Motion.at_rest(neutral_plus(z=0.05)))
        rig.until(lambda: len(rig.errors) >= 5)

        assert np.abs(vector_from_msg(rig.errors[-1].position)).max() < 1e-9
        rig.drive(DriverState.DISABLED)
        rig.errors.clear()
        rig.spin(0.2)
        assert not rig.errors
