# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Poses as a group, and as people say them."""

from __future__ import annotations

import numpy as np
from stewart_kinematics.motion import Pose
from stewart_kinematics.spatial.rotations import (
    compose_quaternions,
    invert_quaternion,
    rpy_from_quaternion,
)


def compose_poses(outer: Pose, inner: Pose) -> Pose:
    """Return the pose of frame C in A from B in A (`outer`) and C in B (`inner`)."""
    return Pose(
        outer.position + outer.rotation @ inner.position,
        compose_quaternions(outer.quaternion_xyzw, inner.quaternion_xyzw),
    )


def invert_pose(pose: Pose) -> Pose:
    """Return the pose of the fixed frame in the moving one."""
    return Pose(-pose.rotation.T @ pose.position, invert_quaternion(pose.quaternion_xyzw))


def rpy_deg(pose: Pose) -> list[float]:
    """Return roll, pitch and yaw of a pose [deg]; adding 0 turns -0 into 0."""
    angles = np.degrees(rpy_from_quaternion(pose.quaternion_xyzw)) + 0.0
    return angles.tolist()
