# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the steps of encoders hide of a pose."""

from __future__ import annotations

import numpy as np
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.solvers.forward import forward_batch_from_positions
from stewart_kinematics.solvers.inverse import leg_positions
from stewart_kinematics.trajectories.cycloidal import relative_displacement


def hidden_by_steps(platform: Platform, step: float) -> tuple[float, float]:
    """Return how far from the neutral pose all six encoders may read it at worst [m], [rad].

    Args:
        step: Of an encoder [m], of cranks [rad]; it is off by half of it.
    """
    geometry, neutral = platform.geometry, platform.geometry.neutral_pose
    legs = leg_positions(geometry, neutral.position, neutral.quaternion_xyzw)
    found = forward_batch_from_positions(geometry, legs + 0.5 * step * np.eye(len(legs)))
    poses = map(Pose, found.position, found.quaternion_xyzw)
    apart = [relative_displacement(neutral, pose) for pose in poses]
    way, turn = (float(np.linalg.norm(part, axis=1).sum()) for part in zip(*apart, strict=True))
    return way, turn
