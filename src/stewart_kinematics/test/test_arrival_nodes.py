# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Goals of a platform that is elsewhere than it was sent, or whose pose cannot be read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from kinematic_rig import NEUTRAL, neutral_plus, Rig
from stewart_interfaces.action import MovePlatform
from stewart_interfaces.msg import DriverState
from stewart_kinematics.motion import Pose
from stewart_kinematics.nodes.cycloidal_trajectory import CycloidalTrajectory
from stewart_node_support.conversions import pose_msg

TURNED = neutral_plus(rpy=(0.0, 0.0, np.radians(20.0)))
Result = MovePlatform.Result


def send(rig: Rig, target: Pose) -> Any:
    """Send a goal."""
    goal = MovePlatform.Goal(target=pose_msg(target.position, target.quaternion_xyzw))
    return rig.send_goal(MovePlatform, 'move_platform', goal)


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
        rig.drive(DriverState.DISABLED)
        rig.drive(DriverState.ENABLED)
        result = rig.result(send(rig, neutral_plus(z=0.01)).get_result_async()).result
        assert result.code == Result.REACHED
