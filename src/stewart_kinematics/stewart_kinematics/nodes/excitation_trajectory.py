# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Play a motion from a file: a multi-sine, or samples."""

from __future__ import annotations

from typing import Any

from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Pose
from stewart_kinematics.nodes.excursion_node import ExcursionNode
from stewart_kinematics.nodes.parameters import ExcitationTrajectoryParameters
from stewart_kinematics.trajectories import Trajectory


class ExcitationTrajectory(ExcursionNode):
    """Serve ``excitation/start`` and ``excitation/stop``.

    A multi-sine goes about the neutral pose. Samples are absolute poses and go about their first
    one: their deviation from it is what fades in and out.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            'excitation_trajectory', 'excitation', ExcitationTrajectoryParameters, **kwargs
        )

    def make_motion(self, guard: MotionGuard) -> tuple[Trajectory, Pose]:
        """Read the file."""
        return self.parameters.samples(guard)
