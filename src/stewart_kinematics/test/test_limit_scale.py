# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectory nodes under a ``limit_scale``: inverse kinematics admits whatever they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from action_msgs.msg import GoalStatus
from kinematic_rig import NEUTRAL, neutral_plus, require_at_rest, Rig
from std_srvs.srv import Trigger
from stewart_interfaces.action import MovePlatform
from stewart_interfaces.msg import DriverState
from stewart_kinematics.control.steering import Steering
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.nodes.cycloidal_trajectory import CycloidalTrajectory
from stewart_kinematics.nodes.ocean_trajectory import OceanTrajectory
from stewart_node_support.conversions import pose_msg

SCALE = 0.1


def rig_at(**keywords: Any) -> Rig:
    """Return a rig of which a tenth of the limits is allowed."""
    return Rig(limit_scale=SCALE, **keywords)


@pytest.mark.parametrize('speed', [pytest.param(0.1, marks=pytest.mark.slow), 0.5])
def test_a_move_that_is_cancelled_stops_within_the_scaled_limits(speed: float) -> None:
    target = neutral_plus(z=0.1)
    with rig_at() as rig:
        rig.drive(DriverState.ENABLED)
        rig.active(CycloidalTrajectory, limit_scale=SCALE, rate=100.0)
        goal = MovePlatform.Goal(
            target=pose_msg(target.position, target.quaternion_xyzw), speed_scale=speed
        )
        handle = rig.send_goal(MovePlatform, 'move_platform', goal)
        rig.until(
            lambda: (
                rig.setpoints and rig.setpoints[-1].pose.position.z > NEUTRAL.position[2] + 0.05
            )
        )
        rig.result(handle.cancel_goal_async())
        answer = rig.result(handle.get_result_async())

        assert answer.status == GoalStatus.STATUS_CANCELED, answer.result.message
        assert rig.inverse.refusals.refused == 0
        require_at_rest(rig.setpoints[-1])


def test_a_wave_that_is_stopped_on_its_approach_comes_home() -> None:
    with rig_at(pose=neutral_plus(z=0.05)) as rig:
        rig.drive(DriverState.ENABLED)
        node = rig.active(OceanTrajectory, limit_scale=SCALE, rate=100.0)
        assert rig.call(Trigger, 'ocean/start').success
        rig.until(
            lambda: (
                rig.setpoints and rig.setpoints[-1].pose.position.z < NEUTRAL.position[2] + 0.03
            )
        )
        assert rig.call(Trigger, 'ocean/stop').message.startswith('stopping for')
        rig.until(lambda: node.playback is None, 15.0)

        assert rig.inverse.refusals.refused == 0
        np.testing.assert_allclose(
            rig.setpoints[-1].pose.position.z, NEUTRAL.position[2], atol=1e-9
        )


def test_a_wave_that_is_too_fast_for_the_scaled_limits_names_them() -> None:
    with rig_at() as rig:
        rig.drive(DriverState.ENABLED)
        rig.active(OceanTrajectory, limit_scale=SCALE, scaling='none')

        assert f'at limit_scale {SCALE:g}' in rig.call(Trigger, 'ocean/start').message


def test_steering_uses_the_smaller_of_two_scales() -> None:
    """A tenth of the speed under a tenth of the limits is a tenth."""
    platform, twist = load_platform('vigo'), np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    guard, start = MotionGuard(platform, scale=SCALE), platform.geometry.neutral_pose
    steering = Steering(guard, start, period=0.01, scale=SCALE)
    for step in range(300):
        steering.command(twist, 0.01 * step)
        speed = steering.advance(0.01 * step).linear_velocity[2]

    assert speed == pytest.approx(SCALE * platform.limits.linear_velocity, rel=0.05)
