# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the circle."""

from __future__ import annotations

import numpy as np
import pytest
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Pose
from stewart_kinematics.trajectories import Circle

HOME = Pose.from_rpy([0.0, 0.0, 0.275], [0.0, 0.0, 0.3])


def test_circle_is_equation_17_of_the_ex800_paper() -> None:
    time = np.linspace(0.0, 5.0, 50)
    motion = Circle(HOME, 0.05, 1.2566).sample(time)
    expected = np.stack(
        [0.05 * np.cos(1.2566 * time), 0.05 * np.sin(1.2566 * time), np.full(50, 0.275)], axis=-1
    )
    np.testing.assert_allclose(motion.position, expected, atol=1e-15)
    np.testing.assert_array_equal(motion.quaternion_xyzw[17], HOME.quaternion_xyzw)


def test_speed_and_centripetal_acceleration_are_constant() -> None:
    motion = Circle(HOME, 0.05, -2.0, 0.7).sample(np.linspace(0.0, 5.0, 50))
    np.testing.assert_allclose(np.linalg.norm(motion.linear_velocity, axis=1), 0.1)
    outward = motion.position - HOME.position
    np.testing.assert_allclose(motion.linear_acceleration, -4.0 * outward, atol=1e-15)


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ((-0.05, 1.0), 'radius must be greater than 0 and at most 1e.100 m, got -0.05'),
        ((0.05, 0.0), 'angular_frequency must be greater than 0'),
        ((0.05, np.nan), 'angular_frequency must be -1e.100 to 1e.100 '),
        ((0.05, 1.0, np.nan), 'phase must be -1e.100 to 1e.100 '),
        ((0.05, 1.0, 0.0, 0.0), 'duration must be greater than 0 s, got 0'),
    ],
)
def test_unusable_circles_are_refused(values: tuple[float, ...], message: str) -> None:
    with pytest.raises(TrajectoryError, match=message):
        Circle(HOME, *values)
