# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The URDF's tree closes its six loops, and xacro and Python see the same joints."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_description import platform_names, platform_path
from stewart_description.urdf import render_urdf
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.inverse import leg_positions
from stewart_kinematics.solvers.joint_states import JOINT_NAMES, joint_positions
import yaml

NAMES = platform_names()


def triple(element: ET.Element | None, attribute: str) -> Array:
    """Return three numbers of an element, zeros where it is absent."""
    text = '0 0 0' if element is None else element.attrib.get(attribute, '0 0 0')
    return np.array([float(item) for item in text.split()])


def transform(rotation: Array, position: Array) -> Array:
    """Return homogeneous matrices, one or n."""
    shape = np.broadcast_shapes(rotation.shape[:-2], position.shape[:-1])
    matrix = np.zeros((*shape, 4, 4))
    matrix[..., :3, :3], matrix[..., :3, 3], matrix[..., 3, 3] = rotation, position, 1.0
    return matrix


def link_frames(urdf: str, joints: dict[str, Array]) -> dict[str, Array]:
    """Return every link's frames in the root, by the URDF's own rules: origin, then axis.

    For one value of every joint, or n (n,).
    """
    robot = ET.fromstring(urdf)
    frames = {'base_link': np.eye(4)}
    pending = robot.findall('joint')
    while pending:
        ready = [joint for joint in pending if joint.find('parent').attrib['link'] in frames]
        assert ready, 'a joint hangs on no link'
        for joint in ready:
            origin, axis = joint.find('origin'), triple(joint.find('axis'), 'xyz')
            fixed = Rotation.from_euler('xyz', triple(origin, 'rpy')).as_matrix()
            moved = np.eye(4)
            value = np.asarray(joints.get(joint.attrib['name'], 0.0))[..., None]
            if joint.attrib['type'] == 'prismatic':
                moved = transform(np.eye(3), axis * value)
            elif joint.attrib['type'] == 'revolute':
                moved = transform(Rotation.from_rotvec(axis * value).as_matrix(), np.zeros(3))
            parent = frames[joint.find('parent').attrib['link']]
            child = joint.find('child').attrib['link']
            frames[child] = parent @ transform(fixed, triple(origin, 'xyz')) @ moved
        pending = [joint for joint in pending if joint not in ready]
    return frames


def random_poses(geometry: Geometry, count: int, seed: int) -> tuple[Array, Array]:
    """Return poses far about neutral, on rods those in reach; the tree knows no limits."""
    rng = np.random.default_rng(seed)
    if geometry.rods is not None:
        reach = 0.05 * geometry.rods.lengths[0]
        away = rng.uniform(-1.0, 1.0, (4 * count, 6)) * np.repeat([reach, 0.15], 3)
        position = geometry.neutral_pose.position + away[:, :3]
        quaternion = Rotation.from_rotvec(away[:, 3:]).as_quat()
        found = np.isfinite(leg_positions(geometry, position, quaternion)).all(axis=1)
        assert found.sum() >= count
        return position[found][:count], quaternion[found][:count]
    reach = 0.3 * geometry.retracted_length[0]
    position = geometry.neutral_pose.position + rng.uniform(-reach, reach, (count, 3))
    return position, Rotation.from_rotvec(rng.uniform(-0.8, 0.8, (count, 3))).as_quat()


@cache
def model(name: str) -> str:
    """Return the URDF of a stored platform."""
    return render_urdf(name)


def loop_error(urdf: str, platform: Platform, count: int, seed: int) -> float:
    """Return the greatest gap between a rod's end and its platform joint [m]."""
    worst, geometry = 0.0, platform.geometry
    position, quaternion = random_poses(geometry, count, seed)
    values = joint_positions(platform, position, quaternion)
    frames = link_frames(urdf, dict(zip(JOINT_NAMES, values.T, strict=True)))
    poses = transform(Rotation.from_quat(quaternion).as_matrix(), position)
    np.testing.assert_allclose(frames['platform_link'], poses, atol=1e-12)
    for leg in range(1, 7):
        joints = poses @ [*geometry.platform_joints[leg - 1], 1.0]
        # A rod's frame is at its upper end in a linear leg, else at its lower one.
        length = 0.0 if geometry.rods is None else geometry.rods.lengths[leg - 1]
        ends = frames[f'leg_{leg}_rod'] @ [0.0, 0.0, length, 1.0]
        worst = max(worst, float(np.linalg.norm((ends - joints)[:, :3], axis=1).max()))
    return worst


@pytest.mark.parametrize('name', NAMES)
def test_loops_close_at_random_poses(name: str) -> None:
    """1e-12 m at 50 poses: the rods end at the platform joints."""
    assert loop_error(model(name), load_platform(name), 50, 11) <= 1e-12


@pytest.mark.parametrize('seed', [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_loops_close_for_explicit_points_in_any_place(seed: int, tmp_path: Path) -> None:
    """Irregular joints, a turned neutral pose and another pairing."""
    rng = np.random.default_rng(seed)
    content = yaml.safe_load(platform_path('ex800').read_text())
    geometry = load_platform('ex800').geometry
    plate = np.empty((6, 3))
    plate[np.array(content['pairing']) - 1] = geometry.platform_joints
    for key, points in (('base_joints', geometry.base_joints), ('platform_joints', plate)):
        content[key] = {'points_m': (points + rng.uniform(-0.02, 0.02, (6, 3))).tolist()}
    content['neutral_pose']['rpy_deg'] = [5.0, -4.0, 10.0]
    file = tmp_path / 'points.yaml'
    file.write_text(yaml.safe_dump(content))

    assert loop_error(render_urdf(file), load_platform(file), 20, seed) <= 1e-12


LENGTHS = ('retracted_length_m', 'rod_length_m', 'crank_radius_m')


@pytest.mark.parametrize('name', NAMES)
def test_loops_close_for_lengths_of_each_leg(name: str, tmp_path: Path) -> None:
    """As calibration writes them."""
    content = yaml.safe_load(platform_path(name).read_text())
    for key in {*LENGTHS} & {*content['legs']}:
        length = content['legs'][key]
        content['legs'][key] = [length * (1.0 + 1e-3 * leg) for leg in range(6)]
    file = tmp_path / 'calibrated.yaml'
    file.write_text(yaml.safe_dump(content))

    assert loop_error(render_urdf(file), load_platform(file), 20, 8) <= 1e-12


def test_a_rail_is_a_direction_of_any_length(tmp_path: Path) -> None:
    content = yaml.safe_load(platform_path('hexaglide_3d_mec').read_text())
    content['legs']['rail_direction'] = [
        [factor * part for part in content['legs']['rail_direction']] for factor in range(1, 7)
    ]
    file = tmp_path / 'rails.yaml'
    file.write_text(yaml.safe_dump(content))

    assert loop_error(render_urdf(file), load_platform(file), 20, 9) <= 1e-12


AXES = [[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -2.0, 0.0], [1.0, 1.0, 0.0], [0.6, 0.0, 0.8]]


@pytest.mark.parametrize('axes', [[0.0, 1.0, 0.0], [*AXES, [0.1, -0.4, -0.2]]])
def test_cylinder_turns_about_the_fixed_axis_of_its_base_joint(axes: Any, tmp_path: Path) -> None:
    """The cylinder has the leg frame of docs/conventions.md: y is z cross the fixed axis."""
    content = yaml.safe_load(platform_path('ex800').read_text())
    content['legs']['base_joint_axis_direction'] = axes
    file = tmp_path / 'turned.yaml'
    file.write_text(yaml.safe_dump(content))
    platform, urdf = load_platform(file), render_urdf(file)

    assert loop_error(urdf, platform, 20, 5) <= 1e-12
    values = joint_positions(platform, *random_poses(platform.geometry, 20, 6))
    frames = link_frames(urdf, dict(zip(JOINT_NAMES, values.T, strict=True)))
    for leg, axis in enumerate(platform.base_joint_axes, 1):
        rotations = frames[f'leg_{leg}_cylinder'][:, :3, :3]
        second = np.cross(rotations[:, :, 2], axis)
        second /= np.linalg.norm(second, axis=1, keepdims=True)
        np.testing.assert_allclose(rotations[:, :, 1], second, rtol=0.0, atol=1e-12)


def test_another_base_opens_the_loops(tmp_path: Path) -> None:
    """The measure can fail: a model whose base is 50 mm wider misses by 50 mm."""
    content = yaml.safe_load(platform_path('ex800').read_text())
    content['base_joints']['ring']['radius_m'] += 0.05
    file = tmp_path / 'wider.yaml'
    file.write_text(yaml.safe_dump(content))

    error = loop_error(render_urdf(file), load_platform('ex800'), 1, 0)
    assert error == pytest.approx(0.05, rel=1e-9)


@pytest.mark.parametrize('name', NAMES)
def test_xacro_and_python_see_the_same_joints(name: str) -> None:
    """Base joint by base joint, and platform joint by platform joint through the posts."""
    geometry = load_platform(name).geometry
    robot = ET.fromstring(model(name))
    for leg in range(1, 7):
        if geometry.rods is None:
            first, points = f'leg_{leg}_base_u', geometry.base_joints
        else:
            first, points = f'leg_{leg}', geometry.rods.origins
        origin = robot.find(f"./joint[@name='{first}']/origin")
        np.testing.assert_allclose(triple(origin, 'xyz'), points[leg - 1], atol=1e-15)
    drawn = [
        triple(visual.find('origin'), 'xyz')
        for visual in robot.findall("./link[@name='platform_link']/visual")
        if visual.find('geometry/sphere') is not None
    ]
    for joint in geometry.platform_joints:
        assert min(np.linalg.norm(np.array(drawn) - joint, axis=1)) < 1e-14


def test_a_ring_that_is_turned_to_the_other_side_turns_on_without_a_jump() -> None:
    platform = load_platform('vigo')
    limits = replace(platform.limits, yaw=tuple(np.radians([150.0, 210.0])))
    turned = replace(platform, limits=limits)
    yaws = np.radians([160.0, 179.9, 180.1, 200.0])
    turns = Rotation.from_euler('z', yaws[:, None]).as_quat()
    places = np.tile(platform.geometry.neutral_pose.position, (4, 1))
    values = joint_positions(turned, places, turns)
    np.testing.assert_allclose(values[:, JOINT_NAMES.index('platform_yaw')], yaws, atol=1e-12)


@pytest.mark.parametrize('name', NAMES)
def test_allowed_poses_respect_every_limit_of_the_urdf(name: str) -> None:
    """What the guard lets pass, a tool that knows only the URDF lets pass too."""
    platform = load_platform(name)
    geometry = platform.geometry
    position, quaternion = random_poses(geometry, 4000, 12)
    allowed = MotionGuard(platform).allowed(Motion(position, quaternion))
    assert allowed.sum() > 10

    values = joint_positions(platform, position[allowed], quaternion[allowed])
    robot = ET.fromstring(model(name))
    for joint, column in zip(JOINT_NAMES, values.T, strict=True):
        limit = robot.find(f"./joint[@name='{joint}']/limit")
        assert limit is not None
        assert float(limit.attrib['lower']) - 1e-9 <= column.min(), joint
        assert column.max() <= float(limit.attrib['upper']) + 1e-9, joint


@pytest.mark.parametrize('name', NAMES)
def test_every_moving_joint_has_a_position(name: str) -> None:
    """Names and order of the vector against the model itself."""
    robot = ET.fromstring(model(name))
    moving = {j.attrib['name'] for j in robot.findall('joint') if j.attrib['type'] != 'fixed'}

    assert moving == set(JOINT_NAMES)
    assert len(JOINT_NAMES) == len(moving) == 24


def test_leading_axes_are_kept() -> None:
    """One pose, a sequence, a grid."""
    platform = load_platform('vigo')
    position, quaternion = random_poses(platform.geometry, 6, 13)
    flat = joint_positions(platform, position, quaternion)
    grid = joint_positions(platform, position.reshape(2, 3, 3), quaternion.reshape(2, 3, 4))

    assert flat.shape == (6, 24)
    np.testing.assert_array_equal(grid, flat.reshape(2, 3, 24))
    np.testing.assert_allclose(
        joint_positions(platform, position[0], quaternion[0]), flat[0], atol=1e-15
    )
