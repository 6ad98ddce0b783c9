# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from stewart_kinematics.control.tracking import PoseTracking
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.solvers.inverse import leg_lengths

GEOMETRY = Platform.from_yaml('vigo').geometry
NEUTRAL = GEOMETRY.neutral_pose
DELAY = 0.05


def error_of(commanded: Pose, achieved: Pose, strokes: Array) -> tuple[Array, Array, Array]:
    """Compare a pose commanded at rest, at 1 s, with one that was achieved later."""
    tracking = PoseTracking(GEOMETRY)
    tracking.begin_anew(DELAY)
    tracking.commanded(1.0, *Motion.at_rest(commanded).parts())
    pose = np.concatenate([achieved.position, achieved.quaternion_xyzw])
    assert tracking.error(1.0 + 0.9 * DELAY, pose, strokes) is None
    error = tracking.error(1.0 + 1.1 * DELAY, pose, strokes)
    assert error is not None
    return error


def test_error_is_commanded_minus_achieved_in_base_axes() -> None:
    # Yawed by 90 degrees, so that base and platform axes differ.
    achieved = Pose.from_rpy(NEUTRAL.position, [0.0, 0.0, np.pi / 2])
    commanded = Pose.from_rpy(NEUTRAL.position + np.array([0.01, 0.0, -0.02]), [0.0, 0.0, 1.6])
    lengths = leg_lengths(GEOMETRY, achieved.position, achieved.quaternion_xyzw)
    position, rotation, strokes = error_of(
        commanded, achieved, lengths - GEOMETRY.retracted_length
    )
    wanted = leg_lengths(GEOMETRY, commanded.position, commanded.quaternion_xyzw)

    np.testing.assert_allclose(position, [0.01, 0.0, -0.02], atol=1e-12)
    np.testing.assert_allclose(rotation, [0.0, 0.0, 1.6 - np.pi / 2], atol=1e-12)
    np.testing.assert_allclose(strokes, wanted - lengths, atol=1e-12)


def test_rotation_turns_the_achieved_into_the_commanded_attitude_about_base_axes() -> None:
    # A roll of the platform yawed by 90 degrees is a rotation about the base's y axis.
    achieved = Pose.from_rpy(NEUTRAL.position, [0.0, 0.0, np.pi / 2])
    commanded = Pose.from_rpy(NEUTRAL.position, [0.1, 0.0, np.pi / 2])
    _, rotation, _ = error_of(commanded, achieved, np.zeros(6))

    np.testing.assert_allclose(rotation, [0.0, 0.1, 0.0], atol=1e-12)
