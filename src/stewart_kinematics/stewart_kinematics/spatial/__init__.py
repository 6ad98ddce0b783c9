# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Rotations and poses, vectorised over leading axes."""

from stewart_kinematics.spatial.poses import (
    apart,
    compose_poses,
    invert_pose,
    REST_ANGLE,
    REST_DISTANCE,
    rpy_deg,
)
from stewart_kinematics.spatial.rotations import (
    compose_quaternions,
    continuous_quaternions,
    exp_quaternion,
    invert_quaternion,
    log_quaternion,
    matrix_from_quaternion,
    quaternion_from_matrix,
    rpy_from_quaternion,
    skew,
)

__all__ = [
    'REST_ANGLE',
    'REST_DISTANCE',
    'apart',
    'compose_poses',
    'compose_quaternions',
    'continuous_quaternions',
    'exp_quaternion',
    'invert_pose',
    'invert_quaternion',
    'log_quaternion',
    'matrix_from_quaternion',
    'quaternion_from_matrix',
    'rpy_deg',
    'rpy_from_quaternion',
    'skew',
]
