# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Play an ocean wave on the platform."""

from __future__ import annotations

from typing import Any

from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Pose
from stewart_kinematics.nodes.excursion_node import ExcursionNode
from stewart_kinematics.nodes.parameters import OceanTrajectoryParameters
from stewart_kinematics.trajectories import Trajectory


class OceanTrajectory(ExcursionNode):
    """Serve ``ocean/start`` and ``ocean/stop``; what is played is made when configured."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('ocean_trajectory', 'ocean', OceanTrajectoryParameters, **kwargs)

    def make_motion(self, guard: MotionGuard) -> tuple[Trajectory, Pose]:
        """Make the sea and fit it to the platform."""
        wave, centre, factor = self.parameters.motion(guard)
        if self.parameters.scaling != 'none':
            self.get_logger().info(
                f'{self.parameters.scaling} scaling by {factor:.4g}: the sea uses at most '
                f'{self.parameters.fraction:.0%} of any guard margin at its centre'
            )
        return wave, centre
