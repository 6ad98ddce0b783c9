# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The Jacobian and its derivative against finite differences and the inverse kinematics."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Motion
from stewart_kinematics.solvers.inverse import inverse, leg_lengths
from stewart_kinematics.solvers.jacobian import condition_number, jacobian, jacobian_derivative


@pytest.fixture(params=['vigo', 'ex800', 'srs', 'ps6tl_1500'])
def geometry(request):
    return load_platform(request.param).geometry


@pytest.fixture
def motion(geometry):
    rng = np.random.default_rng(20260218)
    scale = geometry.length_scale
    position = geometry.neutral_pose.position + 0.2 * scale * rng.uniform(-1, 1, (30, 3))
    attitude = Rotation.from_rotvec(rng.uniform(-0.3, 0.3, (30, 3))).as_quat()
    v, a = scale * rng.normal(size=(2, 30, 3))
    w, alpha = rng.normal(size=(2, 30, 3))
    return Motion.of_vectors(position, attitude, v, w, a, alpha)


def moved(motion, h):
    """Return the poses after a time h at constant twist."""
    turned = Rotation.from_rotvec(motion.angular_velocity * h)
    turned = turned * Rotation.from_quat(motion.quaternion_xyzw)
    return motion.position + motion.linear_velocity * h, turned.as_quat()


def test_jacobian_is_the_derivative_of_the_lengths(geometry, motion):
    h = 1e-6
    matrix = jacobian(geometry, motion.position, motion.quaternion_xyzw)
    for column in range(6):
        unit = np.zeros((30, 6))
        unit[:, column] = 1.0
        along = Motion(motion.position, motion.quaternion_xyzw, unit)
        after, before = (leg_lengths(geometry, *moved(along, step)) for step in (h, -h))
        assert np.abs((after - before) / (2 * h) - matrix[..., column]).max() < 2e-9


def test_jacobian_derivative_is_the_derivative_of_the_jacobian(geometry, motion):
    h = 1e-6
    after, before = (jacobian(geometry, *moved(motion, step)) for step in (h, -h))
    derivative = jacobian_derivative(geometry, motion)
    assert np.abs((after - before) / (2 * h) - derivative).max() < 1e-7


def test_leg_motion_is_jacobian_times_twist(geometry, motion):
    legs = inverse(geometry, motion)
    matrix = jacobian(geometry, motion.position, motion.quaternion_xyzw)
    derivative = jacobian_derivative(geometry, motion)
    rate = (matrix @ motion.twist[..., None])[..., 0]
    second = matrix @ motion.acceleration[..., None] + derivative @ motion.twist[..., None]
    assert np.abs(rate - legs.rate).max() < 1e-14
    assert np.abs(second[..., 0] - legs.acceleration).max() < 1e-13


def test_condition_number_divides_moments_by_the_length_scale(geometry):
    pose = geometry.neutral_pose
    matrix = jacobian(geometry, pose.position, pose.quaternion_xyzw)
    matrix[:, 3:] /= geometry.length_scale
    found = condition_number(geometry, pose.position, pose.quaternion_xyzw)
    assert found.shape == ()
    assert found == pytest.approx(np.linalg.cond(matrix), rel=1e-12)


def test_ex800_is_well_conditioned_at_home():
    # papers/README.md, EX800, trap 1: 2.24 with moments divided by r_p.
    geometry = load_platform('ex800').geometry
    pose = geometry.neutral_pose
    found = condition_number(geometry, pose.position, pose.quaternion_xyzw)
    assert found == pytest.approx(2.24, abs=0.005)


def test_condition_number_is_infinite_at_a_singularity_and_nan_for_nan(geometry):
    # Turned by a right angle about z, a platform of this kind is singular (Fichter).
    pose = geometry.neutral_pose
    quaternions = np.stack(
        [Rotation.from_euler('z', turn, degrees=True).as_quat() for turn in (89.9, 90.0, 90.1)]
    )
    found = condition_number(geometry, pose.position, quaternions)
    assert found[1] > 1e12
    assert found[0] < 1e6
    assert np.isnan(condition_number(geometry, [np.nan, 0.0, 1.0], quaternions[1]))
