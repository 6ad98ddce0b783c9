# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Poses as a group, and as people say them."""

from __future__ import annotations

import numpy as np
from stewart_kinematics.motion import Pose
from stewart_kinematics.spatial.rotations import (
    compose_quaternions,
    invert_quaternion,
    log_quaternion,
    rpy_from_quaternion,
)

REST_DISTANCE, REST_ANGLE = 1e-4, 1e-3
"""At rest is what has not moved farther than this [m], [rad]."""


def compose_poses(outer: Pose, inner: Pose) -> Pose:
    """Return the pose of frame C in A from B in A (`outer`) and C in B (`inner`)."""
    return Pose(
        outer.position + outer.rotation @ inner.position,
        compose_quaternions(outer.quaternion_xyzw, inner.quaternion_xyzw),
    )


def invert_pose(pose: Pose) -> Pose:
    """Return the pose of the fixed frame in the moving one."""
    return Pose(-pose.rotation.T @ pose.position, invert_quaternion(pose.quaternion_xyzw))


def apart(first: Pose, second: Pose) -> tuple[float, float]:
    """Return how far two poses are from each other [m], [rad]."""
    turn = compose_quaternions(invert_quaternion(first.quaternion_xyzw), second.quaternion_xyzw)
    way = second.position - first.position
    return float(np.linalg.norm(way)), float(np.linalg.norm(log_quaternion(turn)))


def rpy_deg(pose: Pose) -> list[float]:
    """Return roll, pitch and yaw of a pose [deg]; adding 0 turns -0 into 0."""
    angles = np.degrees(rpy_from_quaternion(pose.quaternion_xyzw)) + 0.0
    return angles.tolist()
