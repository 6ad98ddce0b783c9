# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Rotations are a group, exp and log are each other's inverse, and the peers agree."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics import spatial
from stewart_kinematics.errors import ShapeError, StewartError
from stewart_kinematics.motion import Pose
from transforms3d import euler
from transforms3d import quaternions as peer

TINY = 1e-14
COMPONENTS = st.floats(-1.0, 1.0, allow_subnormal=False)
QUATERNIONS = (
    st.tuples(COMPONENTS, COMPONENTS, COMPONENTS, COMPONENTS)
    .map(np.array)
    .filter(lambda q: np.linalg.norm(q) > 1e-3)
    .map(lambda q: q / np.linalg.norm(q))
)
DIRECTIONS = (
    st.tuples(COMPONENTS, COMPONENTS, COMPONENTS)
    .map(np.array)
    .filter(lambda a: np.linalg.norm(a) > 1e-3)
    .map(lambda a: a / np.linalg.norm(a))
)
ANGLES = st.one_of(
    st.floats(0.0, np.pi - 1e-6), st.floats(0.0, 1e-7), st.floats(np.pi - 1e-6, np.pi - 1e-9)
)


def same_rotation(first, second):
    """Return how far two quaternions are apart, the sign of either aside."""
    return min(np.abs(first - second).max(), np.abs(first + second).max())


@pytest.fixture
def rng():
    return np.random.default_rng(20260214)


@given(QUATERNIONS, QUATERNIONS)
def test_product_of_rotations_is_a_rotation(a, b):
    matrix = spatial.matrix_from_quaternion(spatial.compose_quaternions(a, b))
    assert np.abs(matrix @ matrix.T - np.eye(3)).max() < TINY
    assert np.linalg.det(matrix) == pytest.approx(1.0, abs=TINY)


@given(QUATERNIONS, QUATERNIONS, QUATERNIONS)
def test_composition_is_associative(a, b, c):
    compose = spatial.compose_quaternions
    assert np.abs(compose(compose(a, b), c) - compose(a, compose(b, c))).max() < TINY


@given(QUATERNIONS)
def test_identity_is_neutral_and_inverse_undoes(q):
    identity = np.array([0.0, 0.0, 0.0, 1.0])
    assert np.abs(spatial.compose_quaternions(q, identity) - q).max() < TINY
    undone = spatial.compose_quaternions(q, spatial.invert_quaternion(q))
    assert np.abs(undone - identity).max() < TINY


@given(QUATERNIONS, QUATERNIONS)
def test_quaternions_compose_as_matrices_do(a, b):
    product = spatial.matrix_from_quaternion(a) @ spatial.matrix_from_quaternion(b)
    composed = spatial.matrix_from_quaternion(spatial.compose_quaternions(a, b))
    assert np.abs(product - composed).max() < TINY


@given(QUATERNIONS, QUATERNIONS)
def test_transforms3d_agrees(a, b):
    wxyz = peer.qmult(np.roll(a, 1), np.roll(b, 1))
    assert np.abs(spatial.compose_quaternions(a, b) - np.roll(wxyz, -1)).max() < TINY
    matrix = peer.quat2mat(np.roll(a, 1))
    assert np.abs(spatial.matrix_from_quaternion(a) - matrix).max() < TINY
    # Its mat2quat takes an eigenvector of a 4 x 4 matrix: half the digits in the worst case.
    back = np.roll(peer.mat2quat(matrix), -1)
    assert same_rotation(spatial.quaternion_from_matrix(matrix), back) < 1e-7


@given(DIRECTIONS, ANGLES)
def test_log_inverts_exp_up_to_pi(axis, angle):
    vector = angle * axis
    # At pi the axis is known, its sign is not; 1e-9 below it the sign is still determined.
    assert np.abs(spatial.log_quaternion(spatial.exp_quaternion(vector)) - vector).max() < 1e-14
    matrix = spatial.matrix_from_quaternion(spatial.exp_quaternion(vector))
    from_matrix = spatial.log_quaternion(spatial.quaternion_from_matrix(matrix))
    assert np.abs(from_matrix - vector).max() < 1e-14


@given(DIRECTIONS)
def test_log_at_pi_is_one_of_the_two_vectors(axis):
    vector = spatial.log_quaternion(spatial.exp_quaternion(np.pi * axis))
    assert min(np.abs(vector - np.pi * axis).max(), np.abs(vector + np.pi * axis).max()) < 1e-14


@given(QUATERNIONS)
def test_quaternion_from_matrix_has_a_positive_scalar(q):
    back = spatial.quaternion_from_matrix(spatial.matrix_from_quaternion(q))
    assert back[3] >= 0.0
    assert same_rotation(back, q) < 1e-14


def test_skew_is_the_cross_product(rng):
    a, b = rng.normal(size=(2, 7, 3))
    assert np.allclose((spatial.skew(a) @ b[..., None])[..., 0], np.cross(a, b), atol=TINY)


def test_leading_axes_are_kept(rng):
    vectors = rng.normal(size=(2, 3, 3))
    quaternions = spatial.exp_quaternion(vectors)
    assert quaternions.shape == (2, 3, 4)
    matrices = spatial.matrix_from_quaternion(quaternions)
    assert matrices.shape == (2, 3, 3, 3)
    assert np.allclose(matrices[1, 2], Rotation.from_rotvec(vectors[1, 2]).as_matrix(), atol=TINY)
    assert spatial.quaternion_from_matrix(matrices).shape == (2, 3, 4)
    assert spatial.log_quaternion(np.zeros((0, 4))).shape == (0, 3)
    assert spatial.matrix_from_quaternion(np.zeros((2, 0, 4))).shape == (2, 0, 3, 3)


def test_wrong_shapes_and_null_quaternions_are_refused():
    with pytest.raises(ShapeError, match=r'quaternion_xyzw: expected shape \(..., 4\)'):
        spatial.matrix_from_quaternion(np.zeros(3))
    with pytest.raises(ShapeError, match='matrix'):
        spatial.quaternion_from_matrix(np.zeros((3, 4)))
    with pytest.raises(ShapeError, match='vector'):
        spatial.skew(1.0)
    with pytest.raises(StewartError, match='norm above 0'):
        spatial.log_quaternion(np.zeros((2, 4)))


def test_roll_pitch_and_yaw_agree_with_transforms3d():
    rng = np.random.default_rng(20260216)
    for roll, pitch, yaw in rng.uniform((-3.0, -1.5, -3.0), (3.0, 1.5, 3.0), (20, 3)):
        wxyz = peer.mat2quat(euler.euler2mat(yaw, pitch, roll, axes='rzyx'))
        angles = spatial.rpy_from_quaternion(np.roll(wxyz, -1))
        assert np.abs(angles - [roll, pitch, yaw]).max() < 1e-7


@given(QUATERNIONS)
def test_roll_pitch_and_yaw_turn_as_the_quaternion_does(q):
    angles = spatial.rpy_from_quaternion(q)
    assert (np.abs(angles) <= np.pi * np.array([1.0, 0.5, 1.0]) + TINY).all()
    assert same_rotation(Rotation.from_euler('xyz', angles).as_quat(), q) < TINY


@given(st.floats(-3.0, 3.0), st.sampled_from([-np.pi / 2, np.pi / 2]))
def test_all_of_a_turn_about_one_axis_is_yaw(yaw, pitch):
    q = Rotation.from_euler('xyz', [0.0, pitch, yaw]).as_quat()
    for same in (q, -q):
        assert spatial.rpy_from_quaternion(same) == pytest.approx([0.0, pitch, yaw], abs=TINY)


def test_singular_attitude_has_angles_too():
    upright = [0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5)]
    assert spatial.rpy_from_quaternion(upright) == pytest.approx([0.0, np.pi / 2, 0.0])
    assert spatial.rpy_from_quaternion(np.tile(upright, (2, 3, 1))).shape == (2, 3, 3)


def test_poses_compose_and_invert_as_matrices_do():
    outer = Pose.from_rpy([1.0, -2.0, 0.5], (0.3, -0.2, 2.0))
    inner = Pose.from_rpy([0.1, 0.2, 0.3], (-1.0, 0.4, 0.1))
    product = spatial.compose_poses(outer, inner)
    assert np.abs(product.rotation - outer.rotation @ inner.rotation).max() < TINY
    moved = outer.position + outer.rotation @ inner.position
    assert np.abs(product.position - moved).max() < TINY
    home = spatial.compose_poses(spatial.invert_pose(product), product)
    assert np.abs(home.position).max() < TINY
    assert np.abs(home.rotation - np.eye(3)).max() < TINY
    assert spatial.rpy_deg(outer) == pytest.approx(np.degrees([0.3, -0.2, 2.0]))
