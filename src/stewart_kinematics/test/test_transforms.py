# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Rigid transforms are a group, and exp and log are each other's inverse."""

import numpy as np
import pytest
from scipy.linalg import expm
from stewart_kinematics import spatial
from stewart_kinematics.errors import ShapeError
from stewart_kinematics.motion import Pose


@pytest.fixture
def rng():
    return np.random.default_rng(20260215)


@pytest.fixture
def transforms(rng):
    return spatial.exp_transform(rng.normal(size=(50, 6)))


def test_products_are_rigid(transforms):
    product = transforms[:25] @ transforms[25:]
    rotation = product[:, :3, :3]
    assert np.abs(rotation @ rotation.swapaxes(1, 2) - np.eye(3)).max() < 1e-14
    assert np.array_equal(product[:, 3], np.tile([0.0, 0.0, 0.0, 1.0], (25, 1)))


def test_inverse_undoes_on_both_sides(transforms):
    inverse = spatial.invert_transform(transforms)
    assert np.abs(transforms @ inverse - np.eye(4)).max() < 1e-14
    assert np.abs(inverse @ transforms - np.eye(4)).max() < 1e-14


@pytest.mark.parametrize('angle', [0.0, 1e-10, 1e-4, 0.5, 3.0, np.pi - 1e-8])
def test_log_inverts_exp(rng, angle):
    axis = rng.normal(size=3)
    twist = np.concatenate([rng.normal(size=3), angle * axis / np.linalg.norm(axis)])
    assert np.abs(spatial.log_transform(spatial.exp_transform(twist)) - twist).max() < 5e-14


def test_exp_is_the_matrix_exponential(rng):
    for scale in (1e-6, 0.05, 1.0, 3.0):
        twist = scale * rng.normal(size=6)
        hat = np.zeros((4, 4))
        hat[:3, :3], hat[:3, 3] = spatial.skew(twist[3:]), twist[:3]
        assert np.abs(spatial.exp_transform(twist) - expm(hat)).max() < 1e-12


def test_adjoint_carries_twists(transforms, rng):
    twist = 0.5 * rng.normal(size=(50, 6))
    moved = transforms @ spatial.exp_transform(twist) @ spatial.invert_transform(transforms)
    carried = (spatial.adjoint(transforms) @ twist[..., None])[..., 0]
    assert np.abs(moved - spatial.exp_transform(carried)).max() < 1e-13


def test_pose_and_transform_are_the_same(transforms):
    again = spatial.transform_from_pose(*spatial.pose_from_transform(transforms))
    assert np.abs(again - transforms).max() < 1e-14


def test_points_follow_the_transform(transforms, rng):
    points = rng.normal(size=(50, 6, 3))
    homogeneous = np.concatenate([points, np.ones((50, 6, 1))], axis=-1)
    expected = np.einsum('nij,nkj->nki', transforms, homogeneous)[..., :3]
    assert np.abs(spatial.transform_points(transforms, points) - expected).max() < 1e-14


def test_poses_compose_as_matrices_do():
    outer = Pose.from_rpy([1.0, -2.0, 0.5], (0.3, -0.2, 2.0))
    inner = Pose.from_rpy([0.1, 0.2, 0.3], (-1.0, 0.4, 0.1))
    product = spatial.compose_poses(outer, inner)
    expected = spatial.transform_from_pose(
        outer.position, outer.quaternion_xyzw
    ) @ spatial.transform_from_pose(inner.position, inner.quaternion_xyzw)
    assert np.abs(product.rotation - expected[:3, :3]).max() < 1e-14
    assert np.abs(product.position - expected[:3, 3]).max() < 1e-14
    home = spatial.compose_poses(spatial.invert_pose(product), product)
    assert np.abs(home.position).max() < 1e-14
    assert np.abs(home.rotation - np.eye(3)).max() < 1e-14


def test_wrong_shapes_are_refused():
    with pytest.raises(ShapeError, match='transform'):
        spatial.invert_transform(np.eye(3))
    with pytest.raises(ShapeError, match='twist'):
        spatial.exp_transform(np.zeros(5))
