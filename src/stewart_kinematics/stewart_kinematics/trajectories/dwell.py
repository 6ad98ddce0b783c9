# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Standing still for a while."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.trajectories.trajectory import clamp, lasting


@dataclass(frozen=True, eq=False)
class Dwell:
    """A rest at one pose.

    Attributes:
        pose: Where to rest.
        duration: How long [s]; infinite by default.

    Raises:
        TrajectoryError: If the duration is not positive.
    """

    pose: Pose
    duration: float = np.inf

    def __post_init__(self) -> None:
        """Check the duration."""
        object.__setattr__(self, 'duration', lasting(self.duration))

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s]; see `Trajectory`."""
        return Motion.at_rest(self.pose, clamp(time, self.duration).shape)
