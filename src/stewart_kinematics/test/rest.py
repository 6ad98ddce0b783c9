# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory that stands still, to test what takes any trajectory."""

from dataclasses import dataclass

import numpy as np
from stewart_kinematics.motion import Motion, Pose


@dataclass(frozen=True)
class Rest:
    pose: Pose
    duration: float = np.inf

    def sample(self, time):
        return Motion.at_rest(self.pose, np.shape(time))
