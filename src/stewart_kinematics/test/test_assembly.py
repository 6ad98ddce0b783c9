# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The assured region has one pose for every six lengths, and room for the work."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation
from stewart_kinematics.assembly import assured_region
from stewart_kinematics.errors import GeometryError
from stewart_kinematics.forward import forward_batch
from stewart_kinematics.geometry import Geometry
from stewart_kinematics.inverse import leg_lengths
from stewart_kinematics.jacobian import jacobian
from stewart_kinematics.motion import Pose

PLATFORMS = ('vigo', 'ex800', 'srs', 'ps6tl_1500')


@pytest.fixture(scope='module', params=PLATFORMS)
def geometry(request):
    return Geometry.from_yaml(request.param)


@pytest.fixture
def rng():
    return np.random.default_rng(20260220)


def points(rng, count, *, on_the_boundary):
    """Return points of the unit ball in six dimensions."""
    y = rng.normal(size=(count, 6))
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    return y if on_the_boundary else y * rng.random((count, 1)) ** (1 / 6)


def poses(region, y):
    """Return the poses of points of the unit ball."""
    attitude = Rotation.from_rotvec(region.rotation * y[:, 3:])
    centre = Rotation.from_quat(region.centre.quaternion_xyzw)
    position = region.centre.position + region.translation * y[:, :3]
    return position, (attitude * centre).as_quat()


def test_radius_is_one_on_the_boundary(geometry, rng):
    region = assured_region(geometry)
    y = points(rng, 1000, on_the_boundary=True)
    assert np.abs(region.radius(*poses(region, 0.7 * y)) - 0.7).max() < 1e-12
    assert np.abs(region.radius(*poses(region, y)) - 1.0).max() < 1e-12


@pytest.mark.parametrize('on_the_boundary', [False, True])
def test_no_two_poses_of_the_region_have_the_same_lengths(geometry, rng, on_the_boundary):
    # (y - z) . J(0)^-1 (f(y) - f(z)) > 0 for half a million pairs, from lengths alone.
    region = assured_region(geometry)
    neutral = geometry.neutral_pose
    home = jacobian(geometry, neutral.position, neutral.quaternion_xyzw)
    home[:, :3] *= region.translation
    home[:, 3:] *= region.rotation
    y, z = (points(rng, 500_000, on_the_boundary=on_the_boundary) for _ in range(2))
    between = leg_lengths(geometry, *poses(region, y)) - leg_lengths(geometry, *poses(region, z))
    moved = np.linalg.solve(home, between.T).T
    product = np.sum((y - z) * moved, axis=1)
    assert np.all(product > 0.02 * np.sum((y - z) ** 2, axis=1))


def test_no_pose_of_the_region_is_singular(geometry, rng):
    region = assured_region(geometry)
    neutral = geometry.neutral_pose
    home = np.linalg.det(jacobian(geometry, neutral.position, neutral.quaternion_xyzw))
    y = points(rng, 100_000, on_the_boundary=True)
    assert (np.linalg.det(jacobian(geometry, *poses(region, y))) / home).min() > 0.001


def test_scipy_finds_no_second_pose_in_the_region(geometry, rng):
    # Independent of our iteration: trust-region least squares from all over the region, from
    # outside of it, and from the mirrored side, for lengths of poses of the region.
    region = assured_region(geometry)
    found = 0
    for truth in points(rng, 6, on_the_boundary=False):
        target = leg_lengths(geometry, *poses(region, truth[None]))[0]

        def error(y, target=target):
            return leg_lengths(geometry, *poses(region, y[None]))[0] - target

        for start in 1.5 * points(rng, 25, on_the_boundary=False):
            solution = least_squares(error, start, xtol=1e-14, ftol=1e-14, gtol=1e-14)
            if np.abs(solution.fun).max() > 1e-9 or np.linalg.norm(solution.x) > 1.0:
                continue
            found += 1
            assert np.abs(solution.x - truth).max() < 1e-6
    assert found > 30


@pytest.mark.parametrize(
    ('name', 'shift', 'turn_deg'), [('vigo', 0.3, 25), ('ex800', 0.08, 20), ('srs', 0.8, 20)]
)
def test_region_has_room_for_the_work(name, shift, turn_deg):
    geometry = Geometry.from_yaml(name)
    region = assured_region(geometry)
    signs = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1).T
    position = region.centre.position + shift * signs[:, :1] * np.array([[0.0, 0.0, 1.0]])
    attitude = Rotation.from_euler('ZYX', turn_deg * signs[:, 1:], degrees=True).as_quat()
    assert region.radius(position, attitude).max() < 1.0


def test_region_is_the_same_every_time_and_kept(geometry):
    first = assured_region(geometry)
    assert assured_region(geometry) is first
    again = assured_region(replace(geometry))
    assert again is not first
    assert (again.translation, again.rotation) == (first.translation, first.rotation)


def test_region_follows_a_turned_neutral_pose(rng):
    # Base and neutral pose turned together: the same machine, seen from elsewhere.
    plain = Geometry.from_yaml('ex800')
    turn = Rotation.from_rotvec([0.3, -0.2, 1.9])
    neutral = plain.neutral_pose
    pose = Pose(turn.apply(neutral.position.copy()), turn.as_quat())
    turned = replace(plain, base_joints=turn.apply(plain.base_joints.copy()), neutral_pose=pose)
    region = assured_region(turned)
    assert region.translation == pytest.approx(assured_region(plain).translation, rel=0.1)
    lengths = leg_lengths(turned, *poses(region, points(rng, 1000, on_the_boundary=False)))
    assert forward_batch(turned, lengths, follow=False).converged.all()


def test_neutral_pose_next_to_a_singularity_is_refused():
    plain = Geometry.from_yaml('vigo')
    twisted = Rotation.from_euler('z', 85, degrees=True).as_quat()
    pose = Pose(plain.neutral_pose.position, twisted)
    with pytest.raises(GeometryError, match='vigo: forward kinematics is ambiguous'):
        assured_region(replace(plain, neutral_pose=pose))
