# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The feed-forward node: forces under the setpoint's stamp, silence for what has none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState
from stewart_dynamics.errors import MissingMasses
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_dynamics.nodes.feed_forward import FeedForwardNode
from stewart_interfaces.msg import PlatformSetpoint
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion
from stewart_node_support.stamps import to_nanoseconds
from stewart_node_support.testing import Harness, legs_from_msg, setpoint_msg

EX800 = Platform.from_yaml('ex800')
MODEL = InertialModel.from_platform(EX800)
REST = Motion.at_rest(EX800.geometry.neutral_pose)


def test_forces_come_under_the_setpoints_stamp() -> None:
    with Harness() as harness:
        harness.add(FeedForwardNode, platform='ex800')
        efforts = harness.listen(JointState, 'joint_efforts')
        setpoints = harness.talk(PlatformSetpoint, 'setpoint')
        harness.until(lambda: setpoints.get_subscription_count() == 1)
        setpoints.publish(setpoint_msg(123_456_789, 'test', REST))
        harness.until(lambda: efforts)

        legs = legs_from_msg(efforts[0])
        assert to_nanoseconds(efforts[0].header.stamp) == 123_456_789
        assert legs.position is None
        assert legs.effort == pytest.approx(actuator_forces(MODEL, REST), abs=1e-12)


def test_a_setpoint_without_forces_yields_silence_and_a_count() -> None:
    with Harness() as harness:
        node = harness.add(FeedForwardNode, platform='ex800')
        setpoints = harness.talk(PlatformSetpoint, 'setpoint')
        harness.until(lambda: setpoints.get_subscription_count() == 1)
        broken = replace(REST, position=np.full(3, np.nan))
        setpoints.publish(setpoint_msg(1, 'test', broken))
        harness.until(lambda: node.refusals.refused == 1)

        assert node.published['joint_efforts'].count == 0
        assert 'finite' in node.refusals.reason


def test_a_platform_without_masses_is_refused_at_the_start() -> None:
    with Harness() as harness, pytest.raises(MissingMasses, match='srs'):
        harness.add(FeedForwardNode, platform='srs')
