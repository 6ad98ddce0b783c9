# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics: published strokes, finite differences, passive angles."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ShapeError
from stewart_kinematics.kernels import legs as kernels
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.solvers.inverse import inverse, leg_lengths, passive_angles


@pytest.fixture(params=['vigo', 'ex800', 'srs', 'ps6tl_1500'])
def geometry(request):
    return load_platform(request.param).geometry


@pytest.fixture
def vigo():
    return load_platform('vigo').geometry


@pytest.fixture
def rng():
    return np.random.default_rng(20260217)


def polynomial_motion(geometry, rng, count=40):
    """Return a function of time h about random poses, with exact derivatives at h = 0."""
    scale = geometry.length_scale
    p0 = geometry.neutral_pose.position + 0.2 * scale * rng.uniform(-1, 1, (count, 3))
    r0 = Rotation.from_rotvec(rng.uniform(-0.2, 0.2, (count, 3)))
    v, a = scale * rng.normal(size=(2, count, 3))
    w, alpha = rng.normal(size=(2, count, 3))

    def pose(h):
        # exp(w h + alpha h²/2) has angular velocity w and acceleration alpha at h = 0.
        turned = Rotation.from_rotvec(w * h + 0.5 * alpha * h**2) * r0
        return p0 + v * h + 0.5 * a * h**2, turned.as_quat()

    return pose, Motion.of_vectors(*pose(0.0), v, w, a, alpha)


def test_strokes_of_vigo_table_2(vigo, table_row):
    stroke = inverse(vigo, Motion.at_rest(table_row.pose(vigo))).stroke
    assert np.abs(stroke * 1e3 - table_row.strokes_mm).max() < table_row.tolerance_mm


def test_lengths_are_distances_between_joints(geometry, rng):
    pose, motion = polynomial_motion(geometry, rng)
    position, quaternion = pose(0.0)
    matrix = Rotation.from_quat(quaternion).as_matrix()
    joints = position[:, None] + np.einsum('nij,kj->nki', matrix, geometry.platform_joints)
    expected = np.linalg.norm(joints - geometry.base_joints, axis=-1)
    legs = inverse(geometry, motion)
    assert np.abs(legs.length - expected).max() < 5e-15 * expected.max()
    again = leg_lengths(geometry, position, quaternion)
    assert np.abs(again - legs.length).max() < 1e-15 * expected.max()
    assert np.array_equal(legs.stroke, legs.length - geometry.retracted_length)


def test_rates_and_accelerations_match_finite_differences(geometry, rng):
    pose, motion = polynomial_motion(geometry, rng)
    legs = inverse(geometry, motion)
    h = 1e-4
    after, before = (leg_lengths(geometry, *pose(step)) for step in (h, -h))
    scale = geometry.length_scale
    assert np.abs((after - before) / (2 * h) - legs.rate).max() < 1e-6 * scale
    second = (after - 2 * legs.length + before) / h**2
    assert np.abs(second - legs.acceleration).max() < 1e-5 * scale


def test_rest_has_no_rates(geometry):
    legs = inverse(geometry, Motion.at_rest(geometry.neutral_pose, (2, 3)))
    assert legs.length.shape == legs.rate.shape == legs.acceleration.shape == (2, 3, 6)
    assert not legs.rate.any()
    assert not legs.acceleration.any()


def test_any_norm_of_the_quaternion_will_do(vigo):
    pose = Pose.from_rpy([0.01, 0.02, 1.6], (0.1, -0.2, 0.05))
    plain = leg_lengths(vigo, pose.position, pose.quaternion_xyzw)
    scaled = leg_lengths(vigo, pose.position, -3.0 * pose.quaternion_xyzw)
    assert np.abs(plain - scaled).max() < 1e-15


def test_passive_angles_point_along_the_legs(geometry, rng):
    pose, _ = polynomial_motion(geometry, rng)
    position, quaternion = pose(0.0)
    angles = passive_angles(geometry, position, quaternion)
    axis = Rotation.from_euler('XY', angles.reshape(-1, 2)).apply([0.0, 0.0, 1.0])
    matrix = Rotation.from_quat(quaternion).as_matrix()
    legs = position[:, None] + np.einsum('nij,kj->nki', matrix, geometry.platform_joints)
    legs = legs - geometry.base_joints
    legs /= np.linalg.norm(legs, axis=-1, keepdims=True)
    assert np.abs(axis.reshape(legs.shape) - legs).max() < 1e-15
    assert np.abs(angles[..., 1] - np.arcsin(legs[..., 0])).max() < 1e-14


def test_what_is_no_number_stays_none(vigo):
    lengths = leg_lengths(vigo, [np.nan, 0.0, 1.5], [0.0, 0.0, 0.0, 1.0])
    assert np.isnan(lengths).all()
    assert np.isnan(leg_lengths(vigo, [0.0, 0.0, 1.5], np.zeros(4))).all()


def test_leading_axes_broadcast_and_wrong_ones_are_refused(vigo):
    positions = np.tile(vigo.neutral_pose.position, (4, 5, 1))
    assert leg_lengths(vigo, positions, [0.0, 0.0, 0.0, 1.0]).shape == (4, 5, 6)
    assert leg_lengths(vigo, np.zeros((0, 3)), np.zeros((0, 4))).shape == (0, 6)
    with pytest.raises(ShapeError, match='position'):
        leg_lengths(vigo, np.zeros(4), np.zeros(4))
    with pytest.raises(ShapeError, match='quaternion_xyzw'):
        leg_lengths(vigo, np.zeros((2, 3)), np.zeros((3, 4)))


def test_results_cannot_be_written(vigo):
    legs = inverse(vigo, Motion.at_rest(vigo.neutral_pose))
    with pytest.raises(ValueError, match='read-only'):
        legs.length[0] = 1.0


def test_sliced_and_single_precision_input_is_accepted(vigo, rng):
    wide = rng.uniform(-0.1, 0.1, (8, 6)) + np.array([0.0, 0.0, 1.6, 0.0, 0.0, 0.0])
    strided = leg_lengths(vigo, wide[::2, :3], [0.0, 0.0, 0.0, 1.0])
    copied = leg_lengths(vigo, wide[::2, :3].copy(), [0.0, 0.0, 0.0, 1.0])
    assert np.array_equal(strided, copied)
    single = leg_lengths(vigo, wide[:, :3].astype(np.float32), [0, 0, 0, 1])
    assert single.dtype == np.float64


def test_the_example_of_the_readme_runs() -> None:
    readme = Path(__file__).parents[1] / 'README.md'
    example = readme.read_text('utf-8').partition('```python\n')[2].partition('```')[0]

    exec(compile(example, str(readme), 'exec'), {})


def test_passive_angles_of_joints_whose_axes_point_anywhere(vigo, rng):
    """With the fixed axis as x of a frame turned about z, then y; one axis is vertical."""
    turns = np.column_stack([rng.uniform(-3.0, 3.0, 6), rng.uniform(-1.4, 1.4, 6)])
    turns[5] = 0.0, np.pi / 2.0
    frames = Rotation.from_euler('ZY', turns)
    axes = frames.apply([1.0, 0.0, 0.0])
    axes[5] = 0.0, 0.0, -1.0
    position = (vigo.neutral_pose.position + np.array([0.02, -0.03, 0.04]))[None]
    attitude = Rotation.from_rotvec([[0.1, -0.2, 0.15]])
    angles = np.empty((1, 6, 2))
    kernels.passive_angles(
        vigo.base_joints, vigo.platform_joints, axes, position, attitude.as_quat(), angles
    )
    tips = position[0] + vigo.platform_joints @ attitude[0].as_matrix().T
    legs = tips - vigo.base_joints
    x, y, z = frames.inv().apply(legs / np.linalg.norm(legs, axis=1, keepdims=True)).T
    assert np.allclose(angles[0, :, 0], np.arctan2(-y, z), atol=1e-12)
    assert np.allclose(angles[0, :, 1], np.arcsin(x), atol=1e-12)
