# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Play a motion from a file: a multi-sine, or samples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stewart_kinematics.motion import Pose
from stewart_kinematics.motion_csv import read_motion
from stewart_kinematics.motion_guard import MotionGuard
from stewart_kinematics.nodes.excursion_node import ExcursionNode, ExcursionParameters
from stewart_kinematics.trajectories import multi_sine, Trajectory
from stewart_node_support.parameters import param
from stewart_node_support.running import run


@dataclass(frozen=True)
class ExcitationTrajectoryParameters(ExcursionParameters):
    """Parameters of the excitation node."""

    motion: str = param(
        'ex800_wave',
        'motion by name, or path of its file: .yaml a multi-sine, .csv samples',
        read_only=False,
    )


class ExcitationTrajectory(ExcursionNode):
    """
    Serve ``excitation/start`` and ``excitation/stop``.

    A multi-sine goes about the neutral pose. Samples are absolute poses and go about their first
    one: their deviation from it is what fades in and out.

    """

    def __init__(self, **kwargs: Any) -> None:
        """Open the interfaces."""
        super().__init__(
            'excitation_trajectory', 'excitation', ExcitationTrajectoryParameters, **kwargs
        )

    def make_motion(self, guard: MotionGuard) -> tuple[Trajectory, Pose]:
        """Read the file."""
        motion = self.parameters.motion
        if Path(motion).suffix == '.csv':
            samples = read_motion(Path(motion))
            return samples, samples.sample(0.0).pose
        centre = guard.platform.geometry.neutral_pose
        return multi_sine.from_yaml(motion, centre), centre


def main() -> None:
    """Run the node until it is asked to stop."""
    run(ExcitationTrajectory)


if __name__ == '__main__':
    main()
