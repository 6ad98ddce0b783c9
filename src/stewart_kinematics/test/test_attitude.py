# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of attitudes that move, against the conversions of what stands still."""

from __future__ import annotations

from euler_rates import angular_motion
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.kernels.attitudes import scaled_turn
from stewart_kinematics.trajectories.attitude import (
    from_euler,
    from_quaternion_path,
    quaternion_derivatives,
)


def scaled(attitude, centre, factor):
    """Run the kernel that multiplies the deviation of an attitude from a centre."""
    count = len(attitude[0])
    sixes = (np.hstack([np.zeros((count, 3)), values]) for values in attitude[1:])
    quaternion, twist, acceleration = np.empty((count, 4)), *np.empty((2, count, 6))
    factors = np.stack(factor, axis=-1)
    scaled_turn(attitude[0], *sixes, centre, factors, quaternion, twist, acceleration)
    return quaternion, twist[:, 3:], acceleration[:, 3:]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(17)


@pytest.mark.parametrize('sequence', ['ZYX', 'ZXY', 'ZXZ', 'YXZ', 'XYX'])
def test_euler_path_equals_the_rate_matrices(sequence: str, rng: np.random.Generator) -> None:
    q, dq, ddq = rng.uniform(-1.5, 1.5, (3, 4, 5, 3))
    right = Rotation.random(random_state=3).as_quat()
    quaternion, velocity, acceleration = from_euler(sequence, q, dq, ddq, right)
    assert quaternion.shape == (4, 5, 4)
    expected = Rotation.from_euler(sequence, q.reshape(-1, 3)) * Rotation.from_quat(right)
    error = Rotation.from_quat(quaternion.reshape(-1, 4)) * expected.inv()
    np.testing.assert_allclose(error.magnitude(), 0.0, atol=1e-14)
    found = angular_motion(sequence, q, dq, ddq)
    np.testing.assert_allclose(velocity, found[0], atol=1e-13)
    np.testing.assert_allclose(acceleration, found[1], atol=1e-13)


@pytest.mark.parametrize('sequence', ['ZZX', 'ABC', 'ZY', 'zyx', 'ZYXZ'])
def test_sequence_that_is_none_is_refused(sequence: str) -> None:
    with pytest.raises(TrajectoryError, match=f'got {sequence!r}'):
        from_euler(sequence, np.zeros(3), np.zeros(3), np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))


def test_quaternion_path_forgets_the_norm(rng: np.random.Generator) -> None:
    quaternion = Rotation.random(7, random_state=1).as_quat()
    velocity, acceleration = rng.normal(size=(2, 7, 3))
    first, second = quaternion_derivatives(quaternion, velocity, acceleration)
    m, dm, ddm = 0.5, 0.7, -1.3
    path = (
        m * quaternion,
        m * first + dm * quaternion,
        m * second + 2.0 * dm * first + ddm * quaternion,
    )
    for found, expected in zip(
        from_quaternion_path(*path), (quaternion, velocity, acceleration), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-13)


def test_factor_of_one_changes_nothing_and_of_zero_leaves_the_centre(
    rng: np.random.Generator,
) -> None:
    centre = Rotation.random(random_state=2)
    turn = Rotation.from_rotvec(rng.normal(size=(9, 3)))
    attitude = ((turn * centre).as_quat(), *rng.normal(size=(2, 9, 3)))
    one, zero = np.ones(9), np.zeros(9)
    same = scaled(attitude, centre.as_quat(), (one, zero, zero))
    gone = scaled(attitude, centre.as_quat(), (zero, zero, zero))
    error = Rotation.from_quat(same[0]) * Rotation.from_quat(attitude[0]).inv()
    np.testing.assert_allclose(error.magnitude(), 0.0, atol=1e-14)
    np.testing.assert_allclose(same[1], attitude[1], atol=1e-13)
    np.testing.assert_allclose(same[2], attitude[2], atol=1e-13)
    error = Rotation.from_quat(gone[0]) * centre.inv()
    np.testing.assert_allclose(error.magnitude(), 0.0, atol=1e-14)
    np.testing.assert_allclose(gone[1], 0.0, atol=1e-14)


def test_factor_keeps_the_axis_of_the_deviation(rng: np.random.Generator) -> None:
    vector = rng.normal(size=(6, 3)) * 0.3
    attitude = (Rotation.from_rotvec(vector).as_quat(), np.zeros((6, 3)), np.zeros((6, 3)))
    half = np.full(6, 0.5)
    found = scaled(attitude, np.array([0.0, 0.0, 0.0, 1.0]), (half, 0 * half, 0 * half))
    angle = np.linalg.norm(vector, axis=1, keepdims=True)
    expected = vector / angle * 2.0 * np.arctan(0.5 * np.tan(0.5 * angle))
    np.testing.assert_allclose(Rotation.from_quat(found[0]).as_rotvec(), expected, atol=1e-14)
