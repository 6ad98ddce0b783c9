# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The joints are where the papers put them, and singular arrangements are refused."""

from __future__ import annotations

from dataclasses import replace
import math

import numpy as np
import pytest
from stewart_kinematics.errors import GeometryError, ShapeError
from stewart_kinematics.model.geometry import Geometry, ring_points
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array, Pose


def home_lengths(geometry: Geometry, pose: Pose) -> Array:
    """Return the six joint-to-joint lengths by the closed loop, written out here."""
    legs = pose.position + geometry.platform_joints @ pose.rotation.T - geometry.base_joints
    return np.linalg.norm(legs, axis=1)


def condition(geometry: Geometry, scale: float) -> float:
    """Return the condition number at the neutral pose, moments divided by `scale`."""
    pose = geometry.neutral_pose
    arms = geometry.platform_joints @ pose.rotation.T
    legs = pose.position + arms - geometry.base_joints
    units = legs / np.linalg.norm(legs, axis=1, keepdims=True)
    return float(np.linalg.cond(np.hstack([units, np.cross(arms, units) / scale])))


def test_vigo_stroke_at_the_zero_pose_is_that_of_table_1() -> None:
    """Machines 2022, 10, 711, Table 1: 9.9994 mm on every leg at (0, 0, 0)."""
    geometry = load_platform('vigo').geometry
    strokes = home_lengths(geometry, geometry.zero_pose) - geometry.retracted_length

    np.testing.assert_allclose(strokes, 9.9994e-3, atol=5e-8)


def test_vigo_first_row_of_table_2() -> None:
    """Row 1 proves ring order, heights and pairing: six different strokes, printed to 1e-5 mm."""
    geometry = load_platform('vigo').geometry
    pose = Pose(
        geometry.zero_pose.position + np.array([0.0535, 0.1004, 0.2]), [0.0, 0.0, 0.0, 1.0]
    )
    printed = np.array([190.58543, 191.74641, 232.17754, 202.60028, 204.23010, 232.64683]) * 1e-3

    strokes = home_lengths(geometry, pose) - geometry.retracted_length
    np.testing.assert_allclose(strokes, printed, atol=2e-8)


def test_ex800_home_legs_and_condition() -> None:
    """Home legs are all 0.3254 m; cond J is 2.24 with moments divided by r_p, 8.1 in plain SI."""
    geometry = load_platform('ex800').geometry

    np.testing.assert_allclose(home_lengths(geometry, geometry.neutral_pose), 0.3254, atol=5e-5)
    assert geometry.length_scale == pytest.approx(0.195, rel=1e-12)
    assert condition(geometry, geometry.length_scale) == pytest.approx(2.24, abs=5e-3)
    assert condition(geometry, 1.0) == pytest.approx(8.1, abs=0.05)


def test_srs_home_leg_length() -> None:
    """Miletovic et al. 2017: neutral length 2.705 m at |z| = 2.38877 m, spacings d_a and d_b."""
    geometry = load_platform('srs').geometry
    base, platform = geometry.base_joints, geometry.platform_joints

    np.testing.assert_allclose(home_lengths(geometry, geometry.neutral_pose), 2.705, atol=2e-6)
    assert np.linalg.norm(base[1] - base[0]) == pytest.approx(0.6, rel=1e-12)
    assert np.linalg.norm(platform[2] - platform[1]) == pytest.approx(0.2, rel=1e-12)


def test_ps6tl_joints_are_the_printed_ones() -> None:
    """Nichifor and Stroe, section 4, four decimals; P_6 has its lost minus sign back."""
    geometry = load_platform('ps6tl_1500').geometry
    base = [
        [1.0335, 1.0156, 0.0],
        [0.3628, 1.4028, 0.0],
        [-1.3963, 0.3872, 0.0],
        [-1.3963, -0.3872, 0.0],
        [0.3628, -1.4028, 0.0],
        [1.0335, -1.0156, 0.0],
    ]
    platform = [
        [0.9257, 0.1632, 1.6],
        [-0.3215, 0.8833, 1.6],
        [-0.6042, 0.7201, 1.6],
        [-0.6042, -0.7201, 1.6],
        [-0.3215, -0.8833, 1.6],
        [0.9257, -0.1632, 1.6],
    ]

    np.testing.assert_allclose(geometry.base_joints, base, atol=6e-5)
    home = geometry.zero_pose.position + geometry.platform_joints
    np.testing.assert_allclose(home, platform, atol=6e-5)


@pytest.mark.parametrize('name', ['ex800', 'ps6tl_1500', 'srs', 'vigo'])
def test_neutral_pose_is_in_the_middle_of_the_stroke(name: str) -> None:
    """All strokes are equal there and within 5 % of the stroke from its middle."""
    platform = load_platform(name).geometry
    upper = {'ex800': 0.16, 'ps6tl_1500': 1.5, 'srs': 1.25, 'vigo': 0.6}[name]
    strokes = home_lengths(platform, platform.neutral_pose) - platform.retracted_length

    assert np.ptp(strokes) < 1e-12
    np.testing.assert_allclose(strokes, upper / 2.0, atol=0.05 * upper)


def test_ring_follows_the_odd_even_rule() -> None:
    """Odd joints lie at i 60° minus half the pair angle, even ones a pair angle further."""
    points = ring_points(2.0, math.radians(20.0), 0.5, math.radians(5.0))
    angles = np.degrees(np.arctan2(points[:, 1], points[:, 0])) % 360.0

    np.testing.assert_allclose(angles, [55.0, 75.0, 175.0, 195.0, 295.0, 315.0], atol=1e-12)
    np.testing.assert_allclose(np.hypot(points[:, 0], points[:, 1]), 2.0, rtol=1e-15)
    np.testing.assert_array_equal(points[:, 2], 0.5)


def test_architecturally_singular_geometry_is_refused() -> None:
    """Equal pair angles joined straight: singular at every pose, not only at the neutral one."""
    geometry = load_platform('ex800').geometry
    with pytest.raises(GeometryError, match=r'singular wherever .* length scale 0\.195 m'):
        replace(
            geometry,
            base_joints=ring_points(0.27, math.radians(24.0), 0.0, 0.0),
            platform_joints=ring_points(0.195, math.radians(24.0), 0.0, math.radians(60.0)),
        )


def test_point_platform_is_refused() -> None:
    """All platform joints in one point cannot hold an attitude."""
    with pytest.raises(GeometryError, match='singular wherever'):
        replace(load_platform('vigo').geometry, platform_joints=np.zeros((6, 3)))


def test_sound_platform_near_a_singularity_is_accepted() -> None:
    """A neutral pose close to the quarter turn where a platform is singular is no reason."""
    geometry = load_platform('ex800').geometry
    position = geometry.neutral_pose.position
    turned = replace(
        geometry, neutral_pose=Pose.from_rpy(position, (0.0, 0.0, math.radians(84.0)))
    )

    assert condition(turned, turned.length_scale) > 10.0


def test_every_scale_of_a_platform_is_accepted() -> None:
    """The condition number has no unit: a platform a thousand times smaller is as good."""
    geometry = load_platform('ex800').geometry
    small = replace(
        geometry,
        base_joints=geometry.base_joints * 1e-3,
        platform_joints=geometry.platform_joints * 1e-3,
        neutral_pose=Pose(geometry.neutral_pose.position * 1e-3, [0.0, 0.0, 0.0, 1.0]),
    )

    assert small.length_scale == pytest.approx(1.95e-4, rel=1e-12)


def test_arrays_are_read_only_and_shapes_are_checked() -> None:
    """Nobody moves a joint by accident."""
    geometry = load_platform('vigo').geometry

    with pytest.raises(ValueError, match='read-only'):
        geometry.base_joints[0, 0] = 1.0
    with pytest.raises(ShapeError, match='base_joints'):
        replace(geometry, base_joints=np.zeros((5, 3)))
    with pytest.raises(GeometryError, match='platform_joints must be finite'):
        replace(geometry, platform_joints=np.full((6, 3), np.nan))
    with pytest.raises(GeometryError, match='retracted lengths must be above 0'):
        replace(geometry, retracted_length=np.zeros(6))


def test_leg_without_length_at_the_neutral_pose_is_named() -> None:
    """Two joints in one place give no direction."""
    geometry = load_platform('vigo').geometry
    pose = geometry.neutral_pose
    joints = geometry.base_joints.copy()
    joints[2] = pose.position + geometry.platform_joints[2]

    with pytest.raises(GeometryError, match='leg 3 has no length'):
        replace(geometry, base_joints=joints)
