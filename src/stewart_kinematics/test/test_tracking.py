# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from stewart_kinematics.control.tracking import tracking_error
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.solvers.inverse import leg_lengths

GEOMETRY = Platform.from_yaml('vigo').geometry
NEUTRAL = GEOMETRY.neutral_pose


def test_error_is_commanded_minus_achieved_in_base_axes() -> None:
    # Yawed by 90 degrees, so that base and platform axes differ.
    achieved = Pose.from_rpy(NEUTRAL.position, [0.0, 0.0, np.pi / 2])
    commanded = Pose.from_rpy(NEUTRAL.position + np.array([0.01, 0.0, -0.02]), [0.0, 0.0, 1.6])
    lengths = leg_lengths(GEOMETRY, achieved.position, achieved.quaternion_xyzw)
    strokes = lengths - GEOMETRY.retracted_length
    error = tracking_error(
        GEOMETRY,
        (commanded.position, commanded.quaternion_xyzw),
        (achieved.position, achieved.quaternion_xyzw),
        strokes,
    )
    wanted = leg_lengths(GEOMETRY, commanded.position, commanded.quaternion_xyzw)

    np.testing.assert_allclose(error.position, [0.01, 0.0, -0.02], atol=1e-12)
    np.testing.assert_allclose(error.rotation, [0.0, 0.0, 1.6 - np.pi / 2], atol=1e-12)
    np.testing.assert_allclose(error.strokes, wanted - lengths, atol=1e-12)


def test_rotation_turns_the_achieved_into_the_commanded_attitude_about_base_axes() -> None:
    # A roll of the platform yawed by 90 degrees is a rotation about the base's y axis.
    achieved = Pose.from_rpy(NEUTRAL.position, [0.0, 0.0, np.pi / 2])
    commanded = Pose.from_rpy(NEUTRAL.position, [0.1, 0.0, np.pi / 2])
    error = tracking_error(
        GEOMETRY,
        (commanded.position, commanded.quaternion_xyzw),
        (achieved.position, achieved.quaternion_xyzw),
        np.zeros(6),
    )

    np.testing.assert_allclose(error.rotation, [0.0, 0.1, 0.0], atol=1e-12)
