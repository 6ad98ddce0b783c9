# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where a simulated platform stands at first, and what its legs may do."""

from __future__ import annotations

from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import Array, LegLimits
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.solvers.forward import forward_from_positions
from stewart_kinematics.solvers.inverse import leg_positions


def leg_limits(platform: Platform) -> LegLimits:
    """Return what a platform type allows its legs."""
    stroke = platform.limits.stroke
    return LegLimits(
        stroke[:, 0],
        stroke[:, 1],
        float(platform.limits.rate),
        float(platform.limits.acceleration),
    )


def start_pose(platform: Platform, start: str) -> Pose:
    """Return the pose at which a simulated platform begins.

    Args:
        start: ``neutral``, or ``retracted`` for all legs at the lower end of their stroke.

    Raises:
        ConfigurationError: If no pose can be trusted with the legs retracted.
    """
    geometry = platform.geometry
    if start == 'neutral':
        return geometry.neutral_pose
    found = forward_from_positions(geometry, platform.limits.stroke[:, 0])
    if not found.converged:
        raise ConfigurationError('start', start, f'neutral, for {platform.name}: {found.reason}')
    return found.pose


def strokes_at(platform: Platform, pose: Pose) -> Array:
    """Return the positions of the legs' joints at a pose, shape (6,) [m], [rad]."""
    return leg_positions(platform.geometry, pose.position, pose.quaternion_xyzw)
