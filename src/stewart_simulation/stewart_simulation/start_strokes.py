# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the legs of a simulated platform stand at first, and what they may do."""

from __future__ import annotations

from stewart_driver.legs import Array, LegLimits
from stewart_kinematics.inverse import leg_lengths
from stewart_kinematics.platform import Platform


def leg_limits(platform: Platform) -> LegLimits:
    """Return what a platform type allows its legs."""
    stroke = platform.limits.stroke
    return LegLimits(
        stroke[:, 0],
        stroke[:, 1],
        float(platform.limits.rate),
        float(platform.limits.acceleration),
    )


def neutral_strokes(platform: Platform) -> Array:
    """Return the strokes at the neutral pose, shape (6,) [m]."""
    geometry = platform.geometry
    pose = geometry.neutral_pose
    strokes: Array = (
        leg_lengths(geometry, pose.position, pose.quaternion_xyzw) - geometry.retracted_length
    )
    return strokes
