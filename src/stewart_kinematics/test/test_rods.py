# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Rods on cranks and carriages, against finite differences and closed forms of another kind."""

from __future__ import annotations

from functools import lru_cache
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from stewart_description import platform_path
from stewart_kinematics.errors import (
    ConfigurationError,
    ConvergenceError,
    GeometryError,
    LegFamilyError,
    MotionRefused,
    StewartError,
)
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.solvers.assembly_modes import assembly_modes
from stewart_kinematics.solvers.forward import (
    forward_batch_from_positions,
    forward_from_positions,
    forward_twist,
    ForwardStatus,
)
from stewart_kinematics.solvers.inverse import inverse, leg_positions
from stewart_kinematics.solvers.jacobian import condition_number, jacobian, jacobian_derivative
from stewart_kinematics.solvers.rods import RodSolver
from stewart_kinematics.solvers.uniqueness import dual_quaternion, HOME
import yaml

NAMES = ('sg90_rotary', 'hexaglide_3d_mec')


@lru_cache
def load(name: str) -> Platform:
    return load_platform(name)


def content(name: str) -> dict[str, Any]:
    found = yaml.safe_load(platform_path(name).read_text())
    assert isinstance(found, dict)
    return found


def changed(folder: Path, name: str, **legs: Any) -> Path:
    """Write a copy of a platform with other values below ``legs``; None takes a key away."""
    copy = content(name)
    copy['legs'] |= legs
    copy['legs'] = {key: value for key, value in copy['legs'].items() if value is not None}
    path = folder / 'changed.yaml'
    path.write_text(yaml.safe_dump(copy))
    return path


def poses_in_reach(
    platform: Platform, count: int, seed: int, part: float = 1.0
) -> tuple[Array, Array]:
    """Return random poses that the guard accepts, spread over a part of what is in reach."""
    rng, guard = np.random.default_rng(seed), MotionGuard(platform)
    pose, rods = platform.geometry.neutral_pose, platform.geometry.rods
    assert rods is not None
    size = part * np.repeat([0.1 * rods.lengths.mean(), math.radians(15.0)], 3)
    positions, quaternions = np.empty((0, 3)), np.empty((0, 4))
    while len(positions) < count:
        away = size * rng.uniform(-1.0, 1.0, (2 * count, 6))
        place = pose.position + away[:, :3]
        turn = Rotation.from_rotvec(away[:, 3:]).as_quat()
        allowed = guard.allowed(Motion(place, turn))
        positions = np.concatenate([positions, place[allowed]])
        quaternions = np.concatenate([quaternions, turn[allowed]])
    return positions[:count], quaternions[:count]


def moving(platform: Platform, count: int, seed: int) -> Motion:
    rng = np.random.default_rng(seed)
    place, turn = poses_in_reach(platform, count, seed, part=0.5)
    scale = platform.geometry.length_scale
    v, a = (scale * rng.normal(size=(count, 3)) for _ in range(2))
    w, alpha = (rng.normal(size=(count, 3)) for _ in range(2))
    return Motion.of_vectors(place, turn, v, w, a, alpha)


def moved_on(motion: Motion, step: float) -> tuple[Array, Array]:
    """Return the poses that a motion has a step later, or earlier, with constant acceleration."""
    place = motion.position + step * motion.linear_velocity
    place = place + 0.5 * step**2 * motion.linear_acceleration
    turn = step * motion.angular_velocity + 0.5 * step**2 * motion.angular_acceleration
    turned = Rotation.from_rotvec(turn) * Rotation.from_quat(motion.quaternion_xyzw)
    return place, turned.as_quat()


@pytest.mark.parametrize('name', NAMES)
def test_rods_keep_their_length(name: str) -> None:
    platform = load(name)
    rods = platform.geometry.rods
    assert rods is not None
    place, turn = poses_in_reach(platform, 1000, 1)
    begin = rods.begin(leg_positions(platform.geometry, place, turn))
    arms = Rotation.from_quat(turn).as_matrix() @ platform.geometry.platform_joints.T
    end = place[:, None] + arms.swapaxes(1, 2)

    assert np.abs(np.linalg.norm(end - begin, axis=2) - rods.lengths).max() < 1e-13


def test_cranks_agree_with_a_search_in_the_published_formulas() -> None:
    """The project finds its angles by bisection, leg by leg, in its own numbering."""
    platform = load('sg90_rotary')
    place, turn = poses_in_reach(platform, 20, 2)
    angles = leg_positions(platform.geometry, place, turn)
    theirs = np.array([3, 2, 1, 0, 5, 4])
    bearing = np.radians([90.0, -90.0, -30.0, 150.0, -150.0, 30.0])[theirs]
    apart, close = math.radians((60.0 - 67.0) / 2.0), math.radians(12.0)
    thirty = math.radians(30.0)
    base = 67.5 * np.array(
        [
            [-math.cos(thirty - apart), -math.sin(thirty - apart)],
            [-math.cos(thirty - apart), math.sin(thirty - apart)],
            [math.sin(apart), math.cos(apart)],
            [math.cos(thirty + apart), math.sin(thirty + apart)],
            [math.cos(thirty + apart), -math.sin(thirty + apart)],
            [math.sin(apart), -math.cos(apart)],
        ]
    )
    top = 45.5 * np.array(
        [
            [-math.sin(thirty + close / 2), -math.cos(thirty + close / 2)],
            [-math.sin(thirty + close / 2), math.cos(thirty + close / 2)],
            [-math.sin(thirty - close / 2), math.cos(thirty - close / 2)],
            [math.cos(close / 2), math.sin(close / 2)],
            [math.cos(close / 2), -math.sin(close / 2)],
            [-math.sin(thirty - close / 2), -math.cos(thirty - close / 2)],
        ]
    )
    for n, (position, rotation) in enumerate(
        zip(1e3 * place, Rotation.from_quat(turn), strict=True)
    ):
        ends = position + rotation.apply(np.column_stack([top, np.zeros(6)]))[theirs]
        for leg in range(6):

            def excess(angle: float, leg: int = leg, ends: NDArray[np.float64] = ends) -> float:
                arm = 15.0 * math.cos(angle)
                begin = [
                    arm * math.cos(bearing[leg]) + base[theirs[leg], 0],
                    arm * math.sin(bearing[leg]) + base[theirs[leg], 1],
                    15.0 * math.sin(angle),
                ]
                return 120.0 - float(np.linalg.norm(ends[leg] - begin))

            found = brentq(excess, -math.radians(80.0), math.radians(80.0), xtol=1e-14)
            assert angles[n, leg] == pytest.approx(found, abs=1e-12)


def test_carriages_agree_with_a_vertical_rod_triangle() -> None:
    """A carriage stands above its platform joint by the third side of a right triangle."""
    platform = load('hexaglide_3d_mec')
    place, turn = poses_in_reach(platform, 50, 3)
    values = leg_positions(platform.geometry, place, turn)
    rods = platform.geometry.rods
    assert rods is not None
    for n in range(50):
        ends = place[n] + Rotation.from_quat(turn[n]).apply(
            np.array(platform.geometry.platform_joints)
        )
        across = np.linalg.norm((ends - rods.origins)[:, :2], axis=1)
        assert values[n] == pytest.approx(ends[:, 2] + np.sqrt(1.0 - across**2), abs=1e-13)


@pytest.mark.parametrize('name', NAMES)
def test_rates_and_accelerations_are_finite_differences(name: str) -> None:
    platform = load(name)
    motion, step = moving(platform, 200, 4), 2e-5
    legs = inverse(platform.geometry, motion)
    before, now, after = (
        leg_positions(platform.geometry, *moved_on(motion, k * step)) for k in (-1, 0, 1)
    )
    rate, second = (after - before) / (2 * step), (after - 2 * now + before) / step**2

    assert legs.stroke == pytest.approx(now, abs=1e-14)
    assert np.abs(legs.rate - rate).max() < 1e-6 * np.abs(rate).max()
    assert np.abs(legs.acceleration - second).max() < 1e-5 * np.abs(second).max()


@pytest.mark.parametrize('name', NAMES)
def test_jacobian_and_its_derivative_give_rates_and_accelerations(name: str) -> None:
    platform = load(name)
    motion = moving(platform, 200, 5)
    legs, geometry = inverse(platform.geometry, motion), platform.geometry
    matrix = jacobian(geometry, motion.position, motion.quaternion_xyzw)
    change = jacobian_derivative(geometry, motion)
    rate = np.einsum('nij,nj->ni', matrix, motion.twist)
    second = np.einsum('nij,nj->ni', matrix, motion.acceleration)
    second += np.einsum('nij,nj->ni', change, motion.twist)

    assert rate == pytest.approx(legs.rate, rel=1e-10, abs=1e-12)
    assert second == pytest.approx(legs.acceleration, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize('name', NAMES)
def test_round_trips_come_back(name: str) -> None:
    """All that the guard accepts nearby is assured; farther out it may be said not to be."""
    platform = load(name)
    place, turn = poses_in_reach(platform, 4000, 6)
    found = forward_batch_from_positions(
        platform.geometry, leg_positions(platform.geometry, place, turn)
    )
    sure = np.asarray(found.converged)
    angle = (
        Rotation.from_quat(found.quaternion_xyzw[sure]).inv() * Rotation.from_quat(turn[sure])
    ).magnitude()

    assert sure.mean() > 0.95
    assert np.abs(found.position[sure] - place[sure]).max() < 1e-10
    assert angle.max() < 1e-9
    assert set(np.asarray(found.status)[~sure].tolist()) <= {ForwardStatus.OUTSIDE_REGION}
    assert np.all(found.condition_number[sure] < platform.limits.condition_number)


@pytest.mark.parametrize('name', NAMES)
def test_twist_of_rates(name: str) -> None:
    platform = load(name)
    motion = moving(platform, 20, 7)
    legs = inverse(platform.geometry, motion)
    for n in range(20):
        result = forward_from_positions(platform.geometry, legs.stroke[n])
        twist = forward_twist(platform.geometry, result, legs.rate[n])
        assert twist == pytest.approx(motion.twist[n], rel=1e-7, abs=1e-9)


@pytest.mark.parametrize(
    'name', [pytest.param('sg90_rotary', marks=pytest.mark.slow), 'hexaglide_3d_mec']
)
def test_no_other_assembly_mode_is_in_the_box(name: str) -> None:
    """All poses with fixed beginnings of the rods, by continuation, which knows of no box."""
    platform = load(name)
    geometry, rods = platform.geometry, platform.geometry.rods
    assert rods is not None
    neutral, others = geometry.neutral_pose, [0, 1, 2, 4, 5, 6, 7]
    place, turn = poses_in_reach(platform, 3, 9)
    values = leg_positions(geometry, place, turn)
    for n in range(3):
        assert forward_from_positions(geometry, values[n]).converged
        begin = rods.begin(values[n])
        frozen = Geometry(
            'frozen', begin, geometry.platform_joints, np.full(6, 0.01), neutral, neutral
        )
        modes = assembly_modes(frozen, rods.lengths)
        centre = neutral.position + np.mean(begin - rods.begin_at(neutral), axis=0)
        x = dual_quaternion(
            Pose(centre, neutral.quaternion_xyzw),
            geometry.length_scale,
            modes.position,
            modes.quaternion_xyzw,
        )
        inside = np.all(
            np.abs(x[:, others]) <= RodSolver.of(geometry).half_widths * x[:, [HOME]], axis=1
        )

        assert len(modes.position) > 1
        assert modes.lost == 0
        assert inside.sum() == 1
        np.testing.assert_allclose(modes.position[inside][0], place[n], rtol=0.0, atol=1e-9)


def test_no_start_leads_to_another_pose() -> None:
    """A start far off, upside down, or none: the one pose, or a status that says no."""
    platform, rng = load('sg90_rotary'), np.random.default_rng(8)
    place, turn = poses_in_reach(platform, 50, 8, part=0.5)
    values = leg_positions(platform.geometry, place, turn)
    for n in range(50):
        wild = Motion.at_rest(platform.geometry.neutral_pose).pose
        wild = type(wild).from_rpy(rng.normal(size=3), rng.uniform(-3.0, 3.0, 3).tolist())
        found = forward_from_positions(platform.geometry, values[n], wild)
        assert found.converged
        assert found.position == pytest.approx(place[n], abs=1e-10)


def test_positions_without_a_pose_say_so() -> None:
    geometry = load('hexaglide_3d_mec').geometry
    apart = np.array([0.0, 0.0, 0.0, 3.0, 3.0, 3.0])

    assert forward_from_positions(geometry, apart).status != ForwardStatus.CONVERGED
    with pytest.raises(StewartError, match='carriage position: leg 2 must be finite, got nan'):
        forward_from_positions(geometry, [0.0, math.nan, 0.0, 0.0, 0.0, 0.0])
    with pytest.raises(ConvergenceError):
        forward_twist(geometry, forward_from_positions(geometry, apart), np.zeros(6))


def test_guard_names_what_is_wrong_with_a_crank() -> None:
    platform = load('sg90_rotary')
    guard, neutral = MotionGuard(platform), platform.geometry.neutral_pose

    def refusal(height: float) -> str:
        pose = type(neutral)(np.array([0.0, 0.0, height]), neutral.quaternion_xyzw)
        with pytest.raises(MotionRefused) as caught:
            guard.check(Motion.at_rest(pose))
        return str(caught.value)

    assert refusal(0.5).startswith('reach of leg 1 is ')
    assert 'angle of leg 1 is 8' in refusal(0.1313)
    fast = Motion.at_rest(neutral)
    fast = fast.replaced(linear_velocity=np.array([0.0, 0.0, 0.079]))
    with pytest.raises(MotionRefused, match=r'leg rate of leg 1 is 5\.'):
        guard.check(fast)


@pytest.mark.parametrize('name', NAMES)
def test_pressure_angle_is_90_degrees_where_the_joint_does_not_move_the_rod(name: str) -> None:
    """Towards a dead centre the rate for a given speed grows as one over the cosine."""
    platform = load(name)
    guard, pose = MotionGuard(platform), platform.geometry.neutral_pose
    margins = guard.margins(Motion.at_rest(pose))
    angle = platform.limits.pressure_angle * (1.0 - float(margins['pressure angle']))
    matrix = jacobian(platform.geometry, pose.position, pose.quaternion_xyzw)
    rods = platform.geometry.rods
    assert rods is not None
    slopes = rods.slopes(leg_positions(platform.geometry, pose.position, pose.quaternion_xyzw))
    gears = 1.0 / np.linalg.norm(matrix[:, :3], axis=1) / np.linalg.norm(slopes, axis=1)

    assert math.acos(gears.min()) == pytest.approx(angle, abs=1e-7)


@pytest.mark.parametrize('name', NAMES)
def test_what_is_written_for_linear_legs_refuses(name: str) -> None:
    geometry = load(name).geometry
    for key in ('base_joints', 'retracted_length'):
        with pytest.raises(LegFamilyError, match=f'^{name} has .* legs, rods of constant length'):
            getattr(geometry, key)
    assert name in repr(geometry)
    assert (
        condition_number(
            geometry, geometry.neutral_pose.position, geometry.neutral_pose.quaternion_xyzw
        )
        > 1.0
    )


@pytest.mark.parametrize(
    ('legs', 'key'),
    [
        ({'kind': 'hydraulic'}, 'legs.kind'),
        ({'branch': 'left'}, 'legs.branch'),
        ({'branch': ['push'] * 5}, 'legs.branch'),
        ({'crank_radius_m': 0.0}, 'legs.crank_radius_m'),
        ({'crank_zero_direction': [0.0, 0.0, 0.0]}, 'legs.crank_zero_direction'),
        ({'crank_zero_direction': [0.0, 1.0, 0.5]}, 'legs.crank_zero_direction'),
        ({'pressure_angle_deg': 95.0}, 'legs.pressure_angle_deg'),
        ({'angle_deg': [-180.0, 180.0]}, 'legs.angle_deg'),
        ({'angle_deg': [-90.0, 265.0]}, 'legs.angle_deg'),
        ({'rod_length_m': None}, 'legs.rod_length_m'),
        ({'stroke_m': [0.0, 1.0]}, 'legs.stroke_m'),
        ({'rail_direction': [0.0, 0.0, 1.0]}, 'legs.rail_direction'),
    ],
)
def test_wrong_keys_are_named(tmp_path: Path, legs: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_platform(changed(tmp_path, 'sg90_rotary', **legs))
    assert caught.value.key == key


def test_no_crank_turns_round_between_two_samples(tmp_path: Path) -> None:
    legs = content('sg90_rotary')['legs']
    axes = np.broadcast_to(legs['crank_axis_direction'], (6, 3)).copy()
    zero = np.broadcast_to(legs['crank_zero_direction'], (6, 3)).copy()
    back = Rotation.from_rotvec(math.radians(-165.0) * axes).apply(zero).tolist()
    file = changed(tmp_path, 'sg90_rotary', crank_zero_direction=back, angle_deg=[-175.0, 175.0])
    platform, rise = load_platform(file), np.linspace(0.0, 0.008, 50)[:, None]
    pose = platform.geometry.neutral_pose
    turn = np.broadcast_to(pose.quaternion_xyzw, (50, 4))
    path = Motion(pose.position + rise * [0.0, 0.0, 1.0], turn)

    angles = inverse(platform.geometry, path).stroke
    assert np.abs(np.diff(angles, axis=0)).max() > math.pi
    with pytest.raises(MotionRefused, match='angle'):
        MotionGuard(platform).check(path)


def test_rods_that_do_not_reach_make_no_platform(tmp_path: Path) -> None:
    with pytest.raises(GeometryError, match=r'rod 1 of 0\.05 m does not reach'):
        load_platform(changed(tmp_path, 'sg90_rotary', rod_length_m=0.05))


def test_rods_that_are_sure_in_a_narrower_box_only_have_forward_kinematics(tmp_path: Path) -> None:
    copy = content('sg90_rotary')
    copy['base_joints']['ring'] |= {'radius_m': 0.0839, 'pair_angle_deg': 74.8}
    copy['platform_joints']['ring'] |= {'radius_m': 0.0461, 'pair_angle_deg': 77.7}
    copy['legs'] |= {'crank_radius_m': 0.0206, 'rod_length_m': 0.1672}
    copy['limits']['condition_number'] = 100.0
    for key in ('zero_pose', 'neutral_pose'):
        copy[key]['position_m'] = [0.0, 0.0, 0.1643]
    file = tmp_path / 'narrow.yaml'
    file.write_text(yaml.safe_dump(copy))
    platform = load_platform(file)

    half = RodSolver.of(platform.geometry).half_widths
    assert half[0] == pytest.approx(math.tan(math.radians(10.0)))
    for pose in zip(*poses_in_reach(platform, 20, 5, part=0.3), strict=True):
        angles = leg_positions(platform.geometry, *pose)
        found = forward_from_positions(platform.geometry, angles)
        assert found.status is ForwardStatus.CONVERGED
        assert found.pose.position == pytest.approx(pose[0], abs=1e-8)


def test_the_other_branch_has_the_cranks_on_the_other_side(tmp_path: Path) -> None:
    ours = load('sg90_rotary').geometry
    other = load_platform(
        changed(tmp_path, 'sg90_rotary', branch='pull', angle_deg=[100.0, 260.0])
    ).geometry
    pose = ours.neutral_pose
    angles = leg_positions(other, pose.position, pose.quaternion_xyzw)

    assert np.all(np.abs(angles - math.pi) < math.radians(80.0))
    assert np.all(jacobian(other, pose.position, pose.quaternion_xyzw)[:, 2] < 0.0)
    assert np.all(jacobian(ours, pose.position, pose.quaternion_xyzw)[:, 2] > 0.0)
