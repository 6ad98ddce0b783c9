# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Standing still at a pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.trajectories.trajectory import check_duration, clamp


@dataclass(frozen=True, eq=False)
class Rest:
    """A rest at a pose for a duration [s]: exactly, however short it is.

    Raises:
        TrajectoryError: If the duration cannot be used.
    """

    pose: Pose
    duration: float = np.inf
    shortest_period: ClassVar[float] = np.inf

    def __post_init__(self) -> None:
        object.__setattr__(self, 'duration', check_duration(self.duration))

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s]; see `Trajectory`."""
        return Motion.at_rest(self.pose, clamp(time, self.duration).shape)
