# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The assured region has one pose for every six lengths, and room for the work."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import GeometryError
from stewart_kinematics.model.geometry import Geometry, ring_points
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.solvers.forward import ForwardSolver
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.solvers.jacobian import jacobian
from stewart_kinematics.solvers.uniqueness import (
    dual_quaternion,
    length_forms,
    relative_joints,
    uniqueness_region,
)

SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ('srs', 'ps6tl_1500')]
PLATFORMS = ('vigo', 'ex800', *SLOW)


@pytest.fixture(scope='module', params=PLATFORMS)
def geometry(request):
    return load_platform(request.param).geometry


@pytest.fixture
def rng():
    return np.random.default_rng(20260220)


def about(geometry, rng, count, shift=0.12, turn_deg=15.0):
    """Return poses within +-shift length scales and +-turn of roll, pitch and yaw."""
    centre = geometry.neutral_pose
    moved = geometry.length_scale * rng.uniform(-shift, shift, (count, 3))
    turned = Rotation.from_euler('ZYX', rng.uniform(-turn_deg, turn_deg, (count, 3)), degrees=True)
    attitude = turned * Rotation.from_quat(centre.quaternion_xyzw)
    return centre.position + moved, attitude.as_quat()


def ring_geometry(rng):
    """Return a random valid platform with its joints on two rings."""
    while True:
        base = ring_points(1.0, np.radians(rng.uniform(5.0, 115.0)), 0.0, 0.0)
        platform = ring_points(
            rng.uniform(0.4, 1.1),
            np.radians(rng.uniform(5.0, 115.0)),
            rng.uniform(-0.1, 0.1),
            np.radians(rng.choice([0.0, 60.0]) + rng.uniform(-5.0, 5.0)),
        )
        height = rng.uniform(0.5, 2.0)
        try:
            return geometry_of(base, np.roll(platform, rng.integers(-1, 2), axis=0), height)
        except GeometryError:
            continue


def cloud_geometry(rng):
    """Return a random valid platform with its joints anywhere in two flat boxes."""
    flat = np.array([1.0, 1.0, 0.3])
    while True:
        base, platform = flat * rng.uniform(-1.0, 1.0, (2, 6, 3))
        try:
            return geometry_of(base, rng.uniform(0.4, 1.0) * platform, rng.uniform(0.8, 2.5))
        except GeometryError:
            continue


def geometry_of(base, platform, height):
    """Return a platform that is level at a height."""
    pose = Pose.from_rpy([0.0, 0.0, height], (0.0, 0.0, 0.0))
    return Geometry('random', base, platform, np.full(6, 0.1), pose, pose)


def assembly_modes(geometry, lengths, rng, starts=600):
    """Return all poses with these lengths that Newton's method in numpy finds from anywhere."""
    centre, reach = geometry.neutral_pose, 1.5 * float(np.mean(lengths))
    position = centre.position + rng.uniform(-reach, reach, (starts, 3))
    position[: starts // 3] = centre.position
    attitude = Rotation.random(starts, rng)
    for _ in range(40):
        quaternion = attitude.as_quat()
        error = lengths - leg_lengths(geometry, position, quaternion)
        rows = jacobian(geometry, position, quaternion)
        step = np.linalg.solve(rows + 1e-14 * np.eye(6), error[..., None])[..., 0]
        size = np.linalg.norm(step / ([geometry.length_scale] * 3 + [1.0] * 3), axis=1)
        step /= np.maximum(1.0, 2.0 * size)[:, None]
        position, attitude = position + step[:, :3], Rotation.from_rotvec(step[:, 3:]) * attitude
    quaternion = attitude.as_quat()
    error = np.abs(lengths - leg_lengths(geometry, position, quaternion)).max(axis=1)
    solved = error < 1e-9 * geometry.length_scale
    return position[solved], quaternion[solved]


def relative_determinant(geometry, position, quaternion):
    """Return det J over that of the neutral pose."""
    neutral = geometry.neutral_pose
    home = np.linalg.det(jacobian(geometry, neutral.position, neutral.quaternion_xyzw))
    return np.linalg.det(jacobian(geometry, position, quaternion)) / home


def require_one_mode_in_the_region(geometry, position, quaternion, rng):
    """Check lengths of poses against all modes found; return the number of modes per pose."""
    region = ForwardSolver.of(geometry).region
    counts = []
    for p, q in zip(position, quaternion, strict=True):
        found = assembly_modes(geometry, leg_lengths(geometry, p, q), rng)
        inside = region.contains(*found)
        assert inside.any()
        assert np.abs(found[0][inside] - p).max() < 1e-6
        counts.append(len(np.unique(np.round(found[0], 5), axis=0)))
    return counts


@pytest.mark.parametrize('make', [ring_geometry, cloud_geometry])
def test_squared_lengths_are_quadratic_in_the_dual_quaternion(make, rng):
    # x . N x with the difference quotient that the proof rests on, from lengths alone.
    geometry = make(rng)
    position, quaternion = about(geometry, rng, 2, 2.0, 90.0)
    x, y = dual_quaternion(geometry.neutral_pose, geometry.length_scale, position, quaternion)
    squares = (leg_lengths(geometry, position, quaternion) / geometry.length_scale) ** 2
    forms = length_forms(*relative_joints(geometry))
    np.testing.assert_allclose(forms[:6] @ x @ x, squares[0], rtol=1e-12)
    np.testing.assert_allclose(forms[6:] @ x @ x, [1.0, 0.0], atol=1e-14)
    middle = forms @ (0.5 * (x + y))
    np.testing.assert_allclose(2.0 * middle[:6] @ (x - y), squares[0] - squares[1], atol=1e-12)


def test_no_other_assembly_mode_is_in_the_region(geometry, rng):
    region = ForwardSolver.of(geometry).region
    position, quaternion = about(geometry, rng, 40, 0.8, 40.0)
    inside = region.contains(position, quaternion)
    counts = require_one_mode_in_the_region(
        geometry, position[inside][:6], quaternion[inside][:6], rng
    )
    assert min(counts) > 1, 'the search must find other modes, too'


@pytest.mark.parametrize(
    'make', [ring_geometry, pytest.param(cloud_geometry, marks=pytest.mark.slow)]
)
def test_random_platforms_have_regions_with_one_mode(make, rng):
    refused, regular, modes = 0, 0, []
    for _ in range(12):
        geometry = make(rng)
        position, quaternion = about(geometry, rng, 400)
        ahead = relative_determinant(geometry, position, quaternion) > 0.0
        inside = ForwardSolver.of(geometry).region.contains(position, quaternion)
        # A region never reaches across a singularity.
        assert not np.any(inside & ~ahead)
        refused += np.count_nonzero(~inside & ahead)
        regular += np.count_nonzero(ahead)
        some = np.flatnonzero(inside)[:1]
        modes += require_one_mode_in_the_region(geometry, position[some], quaternion[some], rng)
    assert refused <= 0.01 * regular
    assert max(modes) > 2


def test_no_pose_of_the_region_is_singular(geometry, rng):
    position, quaternion = about(geometry, rng, 40_000, 1.5, 80.0)
    inside = ForwardSolver.of(geometry).region.contains(position, quaternion)
    assert 0.02 < inside.mean() < 0.98
    assert relative_determinant(geometry, position[inside], quaternion[inside]).min() > 0.0


@pytest.mark.parametrize('make', [ring_geometry, cloud_geometry])
def test_certain_ellipsoid_is_in_the_region(make, rng):
    region = uniqueness_region(make(rng))
    # Vector part of the quaternion and translation of random poses on the boundary.
    v, t = np.split(np.sqrt(region.certain) * unit_vectors(rng, 20_000, 6), 2, axis=1)
    e = np.column_stack([v, np.ones(len(v))])
    # e . g = 0 leaves three of the four coordinates of g; |e| = 1 scales both.
    g = np.column_stack([t, -np.sum(v * t, axis=1)])
    g *= (np.linalg.norm(t, axis=1) / np.linalg.norm(g, axis=1))[:, None]
    norm = np.linalg.norm(e, axis=1, keepdims=True)
    eigenvalues = np.linalg.eigvalsh(np.tensordot(np.hstack([e, g]) / norm, region.cone, 1))
    assert eigenvalues.min() > 0.0


def unit_vectors(rng, count, size):
    """Return random directions, shape (count, size)."""
    vectors = rng.normal(size=(count, size))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_scipy_finds_no_second_pose_in_the_region(geometry, rng):
    # Independent of Newton's method: trust-region least squares from all over the region.
    region = ForwardSolver.of(geometry).region
    truths, starts = about(geometry, rng, 3, 0.3, 20.0), about(geometry, rng, 25, 1.0, 60.0)
    scale = np.array([geometry.length_scale] * 3 + [1.0] * 3)
    neutral = Rotation.from_quat(geometry.neutral_pose.quaternion_xyzw)

    def pose(y):
        return scale[:3] * y[:3], (Rotation.from_rotvec(y[3:]) * neutral).as_quat()

    found = 0
    for p, q in zip(*truths, strict=True):
        target = leg_lengths(geometry, p, q)
        for position, quaternion in zip(*starts, strict=True):
            turn = (Rotation.from_quat(quaternion) * neutral.inv()).as_rotvec()
            solution = least_squares(
                lambda y, target=target: leg_lengths(geometry, *pose(y)) - target,
                np.concatenate([position, turn]) / scale,
                xtol=1e-14,
                ftol=1e-14,
                gtol=1e-14,
            )
            if np.abs(solution.fun).max() < 1e-9 and region.contains(*pose(solution.x)):
                found += 1
                assert np.abs(pose(solution.x)[0] - p).max() < 1e-6
    assert found > 15


@pytest.mark.parametrize(
    ('name', 'shift', 'turn_deg'), [('vigo', 0.3, 25), ('ex800', 0.08, 20), ('srs', 0.8, 20)]
)
def test_region_has_room_for_the_work(name, shift, turn_deg):
    geometry = load_platform(name).geometry
    region = ForwardSolver.of(geometry).region
    signs = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1).T
    position = region.centre.position + shift * signs[:, :1] * np.array([[0.0, 0.0, 1.0]])
    attitude = Rotation.from_euler('ZYX', turn_deg * signs[:, 1:], degrees=True).as_quat()
    assert region.contains(position, attitude).all()


def test_region_is_the_same_every_time_and_kept(geometry):
    first = ForwardSolver.of(geometry).region
    assert ForwardSolver.of(geometry).region is first
    again = uniqueness_region(replace(geometry))
    assert again is not first
    assert np.array_equal(again.cone, first.cone)


def test_region_follows_a_turned_neutral_pose(rng):
    # Base and neutral pose turned together: the same machine, seen from elsewhere.
    plain = load_platform('ex800').geometry
    turn = Rotation.from_rotvec([0.3, -0.2, 1.9])
    neutral = plain.neutral_pose
    pose = Pose(turn.apply(neutral.position.copy()), turn.as_quat())
    turned = replace(plain, base_joints=turn.apply(plain.base_joints.copy()), neutral_pose=pose)
    region, first = uniqueness_region(turned), uniqueness_region(plain)
    assert region.certain == pytest.approx(first.certain, rel=1e-2)
    position, quaternion = about(plain, rng, 1000, 1.2, 70.0)
    same = region.contains(turn.apply(position), (turn * Rotation.from_quat(quaternion)).as_quat())
    # All but poses on the very boundary, which rounding moves.
    assert np.mean(same == first.contains(position, quaternion)) > 0.99
    assert 0.1 < same.mean() < 0.9


def test_neutral_pose_next_to_a_singularity_is_refused():
    # Turned by a right angle it is singular.
    plain = load_platform('vigo').geometry
    twisted = Rotation.from_euler('z', 89.2, degrees=True).as_quat()
    pose = Pose(plain.neutral_pose.position, twisted)
    with pytest.raises(GeometryError, match='vigo: forward kinematics is ambiguous'):
        uniqueness_region(replace(plain, neutral_pose=pose))
