# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Jerk, margins, reserves and rods of the guard, each against a closed form."""

from __future__ import annotations

from dataclasses import replace
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import MotionRefused
from stewart_kinematics.limits.design import warnings
from stewart_kinematics.limits.guard import JERK_SLACK, MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.inverse import inverse, leg_positions
from stewart_kinematics.solvers.jacobian import jacobian

TIME = np.array([0.0, 0.01, 0.03, 0.04])


def relaxed(platform: Platform, **changes: object) -> Platform:
    """Return the platform with some limits replaced."""
    return replace(platform, limits=replace(platform.limits, **changes))


def poses(platform: Platform, shifts: Array, angles_deg: Array) -> Motion:
    """Return rest at poses (n,) away from neutral, turned by roll, pitch and yaw."""
    turns = Rotation.from_euler('xyz', angles_deg, degrees=True)
    rest = Motion.at_rest(platform.geometry.neutral_pose, (len(shifts),))
    return rest.replaced(position=rest.position + shifts, quaternion_xyzw=turns.as_quat())


def rolled(platform: Platform, *angles_deg: float) -> Motion:
    """Return rest at the neutral position with these angles of roll."""
    turns = np.multiply.outer(angles_deg, [1.0, 0.0, 0.0])
    return poses(platform, np.zeros_like(turns), turns)


def jerked(platform: Platform, column: int, jerk: float) -> Motion:
    """Return samples at TIME whose third has such a linear or angular jerk [m/s³], [rad/s³]."""
    key = ('linear_acceleration', 'angular_acceleration')[column]
    accelerations = np.zeros((4, 3))
    accelerations[2:, 1] = -jerk * (TIME[2] - TIME[1])
    rest = Motion.at_rest(platform.geometry.neutral_pose, (4,))
    return rest.replaced(**{key: accelerations})


@pytest.mark.parametrize(
    ('column', 'name', 'unit'), [(0, 'linear jerk', 'm/s³'), (1, 'angular jerk', 'rad/s³')]
)
def test_a_jerk_is_allowed_up_to_its_limit_and_refused_beyond(
    column: int, name: str, unit: str, vigo: Platform
) -> None:
    guard = MotionGuard(vigo, scale=0.5)
    assert guard.scale == 0.5
    limit = 0.5 * float(vigo.limits.jerks[column])
    guard.check_jerk(jerked(vigo, column, limit * (1.0 + 0.5 * JERK_SLACK)), TIME)
    for jerk in (limit * (1.0 + 2.0 * JERK_SLACK), 3.0 * limit):
        with pytest.raises(MotionRefused) as caught:
            guard.check_jerk(jerked(vigo, column, jerk), TIME)
        violation = caught.value.violation
        assert (violation.quantity, violation.unit, violation.index) == (name, unit, 2)
        assert (violation.lower, violation.upper) == (-math.inf, limit)
        assert violation.value == pytest.approx(jerk)
    with pytest.raises(MotionRefused):
        guard.check_jerk(jerked(vigo, column, math.nan), TIME)


def test_a_jerk_margin_is_what_is_left_of_the_limit(vigo: Platform) -> None:
    limit = float(vigo.limits.jerks[1])
    margins = MotionGuard(vigo).jerk_margins(jerked(vigo, 1, 0.75 * limit), TIME)
    assert margins['linear jerk'].tolist() == [1.0, 1.0, 1.0]
    assert margins['angular jerk'] == pytest.approx([1.0, 0.25, 1.0])


def test_margins_of_a_leg_are_those_of_its_stroke_rates_and_joints_alone(vigo: Platform) -> None:
    rng, geometry, limits = np.random.default_rng(4), vigo.geometry, vigo.limits
    motion = poses(vigo, rng.uniform(-0.08, 0.08, (60, 3)), rng.uniform(-8.0, 8.0, (60, 3)))
    motion = motion.replaced(
        linear_velocity=rng.uniform(-0.2, 0.2, (60, 3)),
        angular_velocity=rng.uniform(-0.3, 0.3, (60, 3)),
        linear_acceleration=rng.uniform(-2.0, 2.0, (60, 3)),
    )
    legs, rest = inverse(geometry, motion), geometry.neutral_pose
    turns = Rotation.from_quat(motion.quaternion_xyzw).as_matrix()
    axes = rest.position + geometry.platform_joints @ rest.rotation.T - geometry.base_joints
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    along = motion.position[:, None] - geometry.base_joints
    along = along + np.einsum('nij,kj->nki', turns, geometry.platform_joints)
    along /= np.linalg.norm(along, axis=2, keepdims=True)
    carried = np.einsum('nij,kj->nki', turns, axes @ rest.rotation)
    lower, upper = limits.stroke.T
    expected = [
        np.minimum(legs.stroke - lower, upper - legs.stroke) / (0.5 * (upper - lower)),
        1.0 - np.abs(legs.rate) / limits.rate,
        1.0 - np.abs(legs.acceleration) / limits.acceleration,
        1.0 - np.arccos(np.clip((along * axes).sum(axis=2), -1.0, 1.0)) / limits.base_joint_angle,
        1.0
        - np.arccos(np.clip((along * carried).sum(axis=2), -1.0, 1.0))
        / limits.platform_joint_angle,
    ]
    # Each of them is the least somewhere, so that none can be left out.
    assert len(set(np.argmin(expected, axis=0).ravel())) >= 4
    found = MotionGuard(vigo).leg_margins(motion)
    np.testing.assert_allclose(found, np.min(expected, axis=0), atol=1e-7)
    single = MotionGuard(vigo).leg_margins(motion[7])
    np.testing.assert_allclose(single, found[7], rtol=1e-12)


@pytest.mark.parametrize('name', ['vigo', 'ex800', 'sg90_rotary', 'hexaglide_3d_mec'])
def test_the_margin_of_the_determinant_is_its_share_of_the_one_at_neutral(name: str) -> None:
    platform = load_platform(name)
    angles = np.outer([-10.0, -4.0, 0.0, 3.0, 8.0], [0.0, 0.0, 1.0])
    motion = poses(platform, np.zeros_like(angles), angles)
    found = MotionGuard(platform).margins(motion)['determinant']
    # The neutral pose is the third; along a leg or a rod its row is a unit vector.
    rows = jacobian(platform.geometry, motion.position, motion.quaternion_xyzw)
    rows /= np.linalg.norm(rows[..., :3], axis=-1, keepdims=True)
    sizes = np.linalg.det(rows)
    assert found == pytest.approx(sizes / sizes[2], abs=2e-9)


def test_what_goes_deeper_into_its_reserve_is_named_and_nothing_else(vigo: Platform) -> None:
    narrow = relaxed(vigo, roll=np.radians([-5.0, 5.0]))
    guard = MotionGuard(narrow)
    for angles, named in (
        ((0.0, 3.99), ''),
        ((0.0, 4.01), 'roll'),
        ((0.0, -4.01), 'roll'),
        ((4.5, 4.5, 4.49), ''),
        ((4.5, 4.6), 'roll'),
        ((4.5, 0.0, -3.99), ''),
        ((4.5, -4.01), 'roll'),
        ((0.0, math.nan), 'quaternion norm'),
        ((math.nan, 0.0), 'quaternion norm'),
    ):
        assert guard.nearer(rolled(narrow, *angles), 0.2) == named, angles


def test_a_leg_that_goes_into_its_reserve_is_named_with_its_number(vigo: Platform) -> None:
    strokes = np.array(vigo.limits.stroke)
    middle = inverse(vigo.geometry, rolled(vigo, 0.0)).stroke[0, 3]
    strokes[3] = middle - 0.01, middle + 0.01
    guard = MotionGuard(relaxed(vigo, stroke=strokes))
    heave = np.outer([0.0, 0.02], [0.0, 0.0, 1.0])
    assert guard.nearer(poses(vigo, heave, np.zeros((2, 3))), 0.1) == 'stroke of leg 4'


def test_legs_with_rods_are_those_of_the_inverse_kinematics() -> None:
    platform = load_platform('sg90_rotary')
    rng = np.random.default_rng(8)
    motion = poses(platform, rng.uniform(-2e-3, 2e-3, (20, 3)), rng.uniform(-2.0, 2.0, (20, 3)))
    motion = motion.replaced(linear_velocity=rng.uniform(-0.01, 0.01, (20, 3)))
    mine, theirs = MotionGuard(platform).check(motion), inverse(platform.geometry, motion)
    for key in ('length', 'stroke', 'rate', 'acceleration'):
        np.testing.assert_allclose(getattr(mine, key), getattr(theirs, key), atol=1e-11)


def test_the_rod_that_does_not_reach_is_named() -> None:
    platform = load_platform('sg90_rotary')
    guard, named = MotionGuard(platform), set()
    for angle in np.radians(np.arange(0.0, 360.0, 30.0)):
        away = 0.02 * np.array([[math.cos(angle), math.sin(angle), 0.0]])
        for share in np.linspace(0.5, 5.0, 46):
            motion = poses(platform, share * away, np.zeros((1, 3)))
            pose = motion.position[0], motion.quaternion_xyzw[0]
            short = np.isnan(leg_positions(platform.geometry, *pose))
            if short.any():
                with pytest.raises(MotionRefused) as caught:
                    guard.check(motion[0])
                violation = caught.value.violation
                assert violation.quantity == 'reach'
                assert violation.leg == int(np.flatnonzero(short)[0]) + 1
                named.add(violation.leg)
                break
    assert len(named) >= 3


def test_legs_whose_distance_is_not_guarded_have_no_margin_there() -> None:
    """A least distance of 0 m had been a reserve of 5 mm, and a warning of 1 % of nothing."""
    platform = relaxed(load_platform('sg90_rotary'), leg_distance=0.0)
    guard = MotionGuard(platform)
    shifts = np.concatenate([np.zeros((1, 3)), 5e-4 * np.eye(3), -5e-4 * np.eye(3)])
    motion = poses(platform, shifts, np.zeros((7, 3)))

    assert 'leg distance' not in guard.margins(motion)
    assert 'leg distance' in MotionGuard(load_platform('sg90_rotary')).margins(motion)
    assert guard.nearer(motion, 0.1) == ''
    assert not any('leg distance' in doubt for doubt in warnings(platform))


def test_rods_that_do_not_reach_are_named_as_such() -> None:
    platform = load_platform('sg90_rotary')
    heave = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.1]])

    motion = poses(platform, heave, np.zeros((2, 3)))

    assert MotionGuard(platform).nearer(motion, 0.0) == 'reach of leg 1'
