# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics: published poses, random ones, and what must not pass."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ConvergenceError, ShapeError, StewartError
from stewart_kinematics.kernels import newton as forward_kernels
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.solvers.forward import (
    forward,
    forward_batch,
    forward_twist,
    ForwardSolver,
    ForwardStatus,
)
from stewart_kinematics.solvers.inverse import inverse, leg_lengths
from stewart_kinematics.solvers.jacobian import condition_number, jacobian

PLATFORMS = ('vigo', 'ex800', 'srs', 'ps6tl_1500')


@pytest.fixture(scope='module', params=PLATFORMS)
def geometry(request):
    return load_platform(request.param).geometry


@pytest.fixture(scope='module')
def vigo():
    return load_platform('vigo').geometry


@pytest.fixture
def rng():
    return np.random.default_rng(20260219)


def angle_between(first, second):
    """Return the angles of the rotations between two sets of quaternions."""
    return (Rotation.from_quat(first).inv() * Rotation.from_quat(second)).magnitude()


def about_neutral(geometry, rng, count, shift, turn_deg):
    """Return poses within +-shift and +-turn of roll, pitch and yaw."""
    position = geometry.neutral_pose.position + rng.uniform(-shift, shift, (count, 3))
    angles = rng.uniform(-turn_deg, turn_deg, (count, 3))
    return position, Rotation.from_euler('ZYX', angles, degrees=True).as_quat()


def anywhere(geometry, rng, count):
    """Return poses of any attitude within four leg lengths, none in the assured region."""
    reach = 2.0 * leg_lengths(geometry, *neutral(geometry)).mean()
    position = geometry.neutral_pose.position + rng.uniform(-reach, reach, (2 * count, 3))
    quaternion = Rotation.from_quat(rng.normal(size=(2 * count, 4))).as_quat()
    outside = ~ForwardSolver.of(geometry).region.contains(position, quaternion)
    return position[outside][:count], quaternion[outside][:count]


def neutral(geometry):
    """Return the neutral pose as two arrays."""
    return geometry.neutral_pose.position, geometry.neutral_pose.quaternion_xyzw


def determinant_sign(geometry, position, quaternion):
    """Return the sign of det J by numpy."""
    return np.sign(np.linalg.det(jacobian(geometry, position, quaternion)))


def test_vigo_table_2_comes_back_from_our_strokes(vigo, table_row, table_start):
    pose = table_row.pose(vigo)
    result = forward(
        vigo, leg_lengths(vigo, pose.position, pose.quaternion_xyzw), table_start.pose(vigo)
    )
    assert result.converged
    assert result.iterations <= 5
    assert np.abs(result.position - pose.position).max() < 1e-9
    assert angle_between(result.quaternion_xyzw, pose.quaternion_xyzw) < 1e-9


def test_vigo_table_2_comes_back_from_the_printed_strokes(vigo, exact_row, table_start):
    # Strokes are printed to 1e-8 m and off by up to 1.8e-8 m; 1 / sigma_min(J) is about 7.
    pose = exact_row.pose(vigo)
    result = forward(vigo, exact_row.lengths(vigo), table_start.pose(vigo))
    assert result.converged
    assert result.iterations <= 5
    assert np.abs(result.position - pose.position).max() < 1.5e-7
    assert angle_between(result.quaternion_xyzw, pose.quaternion_xyzw) < 3e-7


def test_printed_strokes_are_solved_exactly_even_where_the_pose_is_rounded(
    vigo, table_row, table_start
):
    lengths = table_row.lengths(vigo)
    result = forward(vigo, lengths, table_start.pose(vigo))
    assert result.converged
    again = leg_lengths(vigo, result.position, result.quaternion_xyzw)
    assert np.abs(again - lengths).max() < 1e-11


@pytest.mark.parametrize('count', [15_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(('name', 'shift'), [('vigo', 0.1), ('ex800', 0.04)])
def test_poses_about_neutral_come_back(name, shift, count, rng):
    geometry = load_platform(name).geometry
    position, quaternion = about_neutral(geometry, rng, count, shift, 15.0)
    result = forward_batch(geometry, leg_lengths(geometry, position, quaternion), follow=False)
    assert result.converged.all()
    assert result.iterations.max() <= 7
    assert np.abs(result.position - position).max() < 1e-10
    # |q . q'| = cos(angle / 2) is blind below 1e-8; the chord is not.
    aligned = np.sign(np.sum(result.quaternion_xyzw * quaternion, axis=1, keepdims=True))
    assert np.abs(aligned * result.quaternion_xyzw - quaternion).max() < 1e-10


@pytest.mark.parametrize('count', [10_000, pytest.param(300_000, marks=pytest.mark.slow)])
def test_poses_of_the_assured_region_come_back(geometry, count, rng):
    position, quaternion = about_neutral(geometry, rng, count, 0.8 * geometry.length_scale, 40.0)
    inside = ForwardSolver.of(geometry).region.contains(position, quaternion)
    assert inside.mean() > 0.5
    position, quaternion = position[inside], quaternion[inside]
    result = forward_batch(geometry, leg_lengths(geometry, position, quaternion), follow=False)
    assert result.converged.all()
    assert result.iterations.max() <= 15
    assert np.abs(result.position - position).max() < 1e-9


@pytest.mark.parametrize(
    ('count', 'from_the_pose_itself'),
    [(8000, False), (2000, True), pytest.param(100_000, False, marks=pytest.mark.slow)],
)
def test_pose_far_outside_is_flagged_or_shares_its_lengths_with_one_of_the_region(
    geometry, rng, count, from_the_pose_itself
):
    # Half of the poses lie behind a singularity. Lengths that two poses share cannot tell which
    # of them it is: then the pose of the region is the answer, and never another one.
    home_sign = determinant_sign(geometry, *neutral(geometry))
    position, quaternion = anywhere(geometry, rng, count)
    behind = determinant_sign(geometry, position, quaternion) == -home_sign
    assert 0.45 < behind.mean() < 0.55
    lengths = leg_lengths(geometry, position, quaternion)
    if from_the_pose_itself:
        poses = [Pose(p, q) for p, q in zip(position, quaternion, strict=True)]
        found = [forward(geometry, row, start) for row, start in zip(lengths, poses, strict=True)]
        passed = np.array([one.converged for one in found])
        p = np.array([one.position for one in found])[passed]
        q = np.array([one.quaternion_xyzw for one in found])[passed]
    else:
        result = forward_batch(geometry, lengths, follow=False)
        passed = result.converged
        p, q = result.position[passed], result.quaternion_xyzw[passed]
    # Every one of the others is flagged, so no wrong mode is left that would pass silently.
    same = np.abs(leg_lengths(geometry, p, q) - lengths[passed]).max(axis=1) < 1e-9
    inside = ForwardSolver.of(geometry).region.contains(p, q)
    assert np.count_nonzero(~(same & inside)) == 0
    assert np.all(determinant_sign(geometry, p, q) == home_sign)
    assert passed.mean() < 0.06
    # What lengths cannot tell an accelerometer at rest can: they stand askew to each other.
    up = [
        Rotation.from_quat(each).inv().apply([0.0, 0.0, 1.0]) for each in (quaternion[passed], q)
    ]
    assert np.degrees(np.arccos(np.sum(up[0] * up[1], axis=1))).min() > 0.5


@pytest.mark.parametrize('name', ['ex800', 'ps6tl_1500', 'srs'])
def test_mirror_image_below_the_base_is_not_returned(name, rng):
    # Joints in one plane each: mirrored at the base plane the platform has the same lengths.
    geometry = load_platform(name).geometry
    position, quaternion = about_neutral(geometry, rng, 50, 0.05 * geometry.length_scale, 10.0)
    mirror = np.array([1.0, 1.0, -1.0])
    mirrored = position * mirror
    turned = quaternion * np.array([-1.0, -1.0, 1.0, 1.0])
    lengths = leg_lengths(geometry, position, quaternion)
    assert np.abs(leg_lengths(geometry, mirrored, turned) - lengths).max() < 1e-14 * 10
    for index in range(50):
        result = forward(geometry, lengths[index], Pose(mirrored[index], turned[index]))
        assert result.converged
        assert np.abs(result.position - position[index]).max() < 1e-9


def test_status_says_what_went_wrong(vigo):
    turned = Rotation.from_euler('ZYX', [0.0, 65.0, 0.0], degrees=True).as_quat()
    assert not ForwardSolver.of(vigo).region.contains(vigo.neutral_pose.position, turned)
    lengths = leg_lengths(vigo, vigo.neutral_pose.position, turned)
    outside = forward(vigo, lengths)
    assert outside.status is ForwardStatus.OUTSIDE_REGION
    assert not outside.converged
    assert outside.residual < 1e-11
    assert 'not be the only one' in outside.reason

    impossible = forward(vigo, [0.3, 3.0, 0.3, 3.0, 0.3, 3.0])
    assert impossible.status is ForwardStatus.NOT_CONVERGED
    assert impossible.residual > 0.1
    assert 'no pose has these lengths' in impossible.reason


def test_pose_behind_a_singularity_is_named_wrong_assembly(vigo, rng):
    position, quaternion = anywhere(vigo, rng, 20_000)
    lengths = leg_lengths(vigo, position, quaternion)
    result = forward_batch(vigo, lengths, follow=False)
    wrong = result.status == ForwardStatus.WRONG_ASSEMBLY
    assert wrong.sum() > 10
    home = determinant_sign(vigo, *neutral(vigo))
    outside = result.status == ForwardStatus.OUTSIDE_REGION
    sign = determinant_sign(vigo, result.position, result.quaternion_xyzw)
    assert np.all(sign[wrong] == -home)
    assert np.all(sign[outside] == home)
    both = wrong | outside
    found = leg_lengths(vigo, result.position[both], result.quaternion_xyzw[both])
    assert np.abs(found - lengths[both]).max() < 1e-11


def test_singular_start_is_left_for_the_neutral_pose(vigo):
    # Turned by a right angle the platform is singular: no step leads away from there.
    singular = Pose(
        vigo.neutral_pose.position, Rotation.from_euler('z', 90, degrees=True).as_quat()
    )
    lengths = leg_lengths(vigo, *neutral(vigo))
    result = forward(vigo, lengths, singular)
    assert result.converged
    assert np.abs(result.position - vigo.neutral_pose.position).max() < 1e-10


def test_singular_status_where_no_step_is_worth_taking(vigo):
    # A neutral pose at the singularity cannot be had from a file; so the kernel is asked
    # directly, with lengths a step away from there.
    turn = Rotation.from_euler('z', 90, degrees=True).as_quat()
    lengths = leg_lengths(vigo, vigo.neutral_pose.position, turn) * 1.01
    solver = ForwardSolver.of(vigo)
    constants = solver.constants.copy()
    constants[:3], constants[3:7] = vigo.neutral_pose.position, turn
    poses, figures, status = np.empty((1, 7)), np.empty((1, 3)), np.zeros(1, np.int64)
    forward_kernels.forward(
        vigo.base_joints,
        vigo.platform_joints,
        constants,
        solver.cone,
        lengths.reshape(1, 6),
        constants[:7],
        False,
        poses,
        figures,
        status,
    )
    assert status[0] == ForwardStatus.SINGULAR
    assert figures[0, 0] == 0


def test_batch_follows_a_motion_in_two_steps(geometry):
    time = np.linspace(0.0, 2.0, 2001)[:, None]
    wave = np.sin(2 * np.pi * np.array([0.5, 0.7, 0.9, 0.6, 0.8, 0.4]) * time)
    position = geometry.neutral_pose.position + 0.2 * geometry.length_scale * wave[:, :3]
    quaternion = Rotation.from_rotvec(0.2 * wave[:, 3:]).as_quat()
    lengths = leg_lengths(geometry, position, quaternion)
    followed = forward_batch(geometry, lengths)
    assert followed.converged.all()
    assert followed.iterations[1:].max() <= 2
    assert np.abs(followed.position - position).max() < 1e-11
    alone = forward_batch(geometry, lengths, follow=False)
    assert alone.iterations.sum() > followed.iterations.sum()
    assert np.abs(alone.position - followed.position).max() < 1e-11


def test_batch_recovers_after_lengths_that_have_no_pose(vigo):
    home = leg_lengths(vigo, *neutral(vigo))
    result = forward_batch(vigo, [home, [0.3, 3.0, 0.3, 3.0, 0.3, 3.0], home])
    assert result.converged.tolist() == [True, False, True]
    assert np.abs(result.position[2] - vigo.neutral_pose.position).max() < 1e-12


def test_result_of_a_batch_equals_results_of_single_samples(geometry, rng):
    position, quaternion = about_neutral(geometry, rng, 20, 0.1 * geometry.length_scale, 10.0)
    lengths = leg_lengths(geometry, position, quaternion)
    batch = forward_batch(geometry, lengths, follow=False)
    for index in range(20):
        one = forward(geometry, lengths[index])
        assert np.array_equal(one.position, batch.position[index])
        assert np.array_equal(one.quaternion_xyzw, batch.quaternion_xyzw[index])
        assert one.iterations == batch.iterations[index]
        assert one.residual == batch.residual[index]
        assert one.condition_number == pytest.approx(batch.condition_number[index], rel=1e-12)


def test_condition_number_and_pose_belong_to_the_solution(vigo):
    pose = Pose.from_rpy([0.05, -0.02, 1.7], (0.1, -0.05, 0.2))
    result = forward(vigo, leg_lengths(vigo, pose.position, pose.quaternion_xyzw))
    expected = condition_number(vigo, pose.position, pose.quaternion_xyzw)
    assert result.condition_number == pytest.approx(float(expected), rel=1e-9)
    assert np.abs(result.pose.rotation - pose.rotation).max() < 1e-10
    assert result.reason == 'converged'


def test_twist_inverts_the_leg_rates(geometry, rng):
    position, quaternion = about_neutral(geometry, rng, 10, 0.1 * geometry.length_scale, 10.0)
    v, w = rng.normal(size=(2, 10, 3))
    motion = Motion(position, quaternion, np.hstack([v, w]))
    legs = inverse(geometry, motion)
    for index in range(10):
        result = forward(geometry, legs.length[index])
        twist = forward_twist(geometry, result, legs.rate[index])
        assert np.abs(twist - motion.twist[index]).max() < 1e-9
        again = forward_twist(geometry, result.pose, legs.rate[index])
        assert np.abs(twist - again).max() < 1e-13


def test_twist_is_refused_without_a_pose_and_at_a_singularity(vigo):
    lost = forward(vigo, [0.3, 3.0, 0.3, 3.0, 0.3, 3.0])
    with pytest.raises(ConvergenceError, match='no twist without a pose'):
        forward_twist(vigo, lost, np.zeros(6))
    turned = Rotation.from_euler('z', 90, degrees=True).as_quat()
    with pytest.raises(ConvergenceError, match='no twist at a singular pose'):
        forward_twist(vigo, Pose(vigo.neutral_pose.position, turned), np.ones(6))
    with pytest.raises(ShapeError, match='rates'):
        forward_twist(vigo, vigo.neutral_pose, np.zeros(5))


@pytest.mark.parametrize('value', [np.nan, np.inf, -1.5, 0.0])
def test_what_is_no_length_is_refused_by_leg(vigo, value):
    lengths = leg_lengths(vigo, *neutral(vigo))
    lengths[3] = value
    with pytest.raises(StewartError, match='leg 4 must be a finite number above 0 m'):
        forward(vigo, lengths)
    batch = np.tile(leg_lengths(vigo, *neutral(vigo)), (5, 1))
    batch[2, 0] = value
    with pytest.raises(StewartError, match='at sample 2: leg 1 must be'):
        forward_batch(vigo, batch)


def test_wrong_shapes_are_refused(vigo):
    with pytest.raises(ShapeError, match=r'lengths: expected shape \(6,\), got \(5,\)'):
        forward(vigo, np.ones(5))
    with pytest.raises(ShapeError, match=r'expected shape \(n, 6\)'):
        forward_batch(vigo, np.ones(6))
    assert forward_batch(vigo, np.ones((0, 6))).position.shape == (0, 3)


def test_results_cannot_be_written(vigo):
    lengths = leg_lengths(vigo, *neutral(vigo))
    with pytest.raises(ValueError, match='read-only'):
        forward(vigo, lengths).position[0] = 1.0
    batch = forward_batch(vigo, lengths.reshape(1, 6))
    for array in (batch.position, batch.status, batch.iterations, batch.residual):
        assert not array.flags.writeable
