# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Hexapods from other simulators' models: our own come back, other people's are understood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from xml.etree import ElementTree as ET

import foreign_models as foreign
from foreign_models import check_joints, imported
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_description.urdf import render_urdf
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.exchange.mjcf import mjcf
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import MassProperties, Platform, RigidBody
from stewart_kinematics.model.ring_dimensions import assumed_limits
from stewart_kinematics.motion import Motion, Pose

pytest.importorskip('mujoco', reason='MJCF is read by MuJoCo, PyPI: mujoco')


def numbers(platform: Platform) -> dict[str, np.ndarray]:
    """Every number of a platform, poses as matrices, bodies apart."""
    geometry, masses = platform.geometry, platform.masses
    found = {item.name: getattr(platform.limits, item.name) for item in fields(platform.limits)}
    for name in ('base_joints', 'platform_joints', 'retracted_length'):
        found[name] = getattr(geometry, name)
    poses = {'zero': geometry.zero_pose, 'neutral': geometry.neutral_pose, 'imu': platform.imu}
    for name, pose in poses.items():
        if pose is not None:
            found[f'{name} position'], found[f'{name} rotation'] = pose.position, pose.rotation
    found['gravity'], found['axes'] = platform.gravity, platform.base_joint_axes
    if masses is not None:
        found['gravity of the masses'] = masses.gravity
        for name in ('platform', 'cylinder', 'rod', 'payload'):
            body = getattr(masses, name)
            if body is not None:
                for item in fields(body):
                    found[f'{name} {item.name}'] = getattr(body, item.name)
    return {name: np.asarray(value, dtype=float) for name, value in found.items()}


def assert_same(ours: Platform, theirs: Platform) -> None:
    before, after = numbers(ours), numbers(theirs)
    assert before.keys() == after.keys()
    for name, value in before.items():
        assert after[name] == pytest.approx(value, abs=1e-9, rel=1e-9), name


@pytest.mark.parametrize('name', ['ex800', 'ps6tl_1500', 'srs', 'vigo'])
def test_a_stored_platform_comes_back_from_mjcf_number_by_number(
    name: str, tmp_path: Path
) -> None:
    platform = Platform.from_yaml(name)
    back, notes = imported(tmp_path, mjcf(platform))

    assert_same(platform, back)
    assert (back.name, back.title) == (platform.name, platform.title)
    assert notes == [
        'base_link is world, platform_link is platform_link',
        *([] if platform.masses else ['masses: the model has none']),
    ]
    assert not any(text.startswith('assumption') for text in back.sources.values())


def _lump(seed: int, mass: float) -> RigidBody:
    points = np.random.default_rng(seed).normal(scale=0.1, size=(5, 3))
    inertia = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points - points.mean(axis=0))
    return RigidBody(mass, points.mean(axis=0), inertia)


def test_a_platform_without_symmetry_comes_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    vigo = Platform.from_yaml('vigo')
    axes = np.add(rng.normal(size=(6, 3)), [2.0, 0.0, 0.0])
    gravity = np.array([1.0, -2.0, -9.0])
    turned = Pose.from_rpy([0.05, -0.03, 1.65], (0.05, -0.08, 0.1))
    geometry = replace(
        vigo.geometry,
        base_joints=vigo.geometry.base_joints + 0.01 * rng.normal(size=(6, 3)),
        platform_joints=vigo.geometry.platform_joints + 0.01 * rng.normal(size=(6, 3)),
        neutral_pose=turned,
    )
    platform = replace(
        vigo,
        geometry=geometry,
        masses=MassProperties(gravity, *(_lump(k, 1.0 + k) for k in range(4))),
        gravity=gravity,
        imu=Pose.from_rpy([0.1, 0.2, -0.1], (3.0, 0.2, -1.0)),
        base_joint_axes=axes / np.linalg.norm(axes, axis=1, keepdims=True),
    )

    assert_same(platform, imported(tmp_path, mjcf(platform))[0])


@pytest.mark.parametrize('name', ['ex800', 'ps6tl_1500', 'srs', 'vigo'])
def test_our_urdf_gives_joints_strokes_and_inertias(name: str, tmp_path: Path) -> None:
    platform = Platform.from_yaml(name)
    back, notes = imported(tmp_path, render_urdf(name))
    before, after = numbers(platform), numbers(back)

    known = {k for k in before if k.split()[0] in ('platform', 'cylinder', 'rod', 'payload')}
    known |= {'base_joints', 'platform_joints', 'retracted_length', 'stroke', 'rate', 'axes'}
    known |= {'neutral rotation'}
    if name == 'ps6tl_1500':
        known -= {key for key in known if key.split()[0] in ('cylinder', 'rod')}
    for key in known & after.keys():
        assert after[key] == pytest.approx(before[key], abs=1e-9, rel=1e-9), key
    height = platform.geometry.neutral_pose.position[2]
    assert back.geometry.neutral_pose.position[2] == pytest.approx(height, rel=0.08)
    assert any('neutral_pose: assumed, half way out' in note for note in notes)
    # Its joints are drawn about our own neutral pose, and here about the one assumed.
    assert 0.7 < back.limits.base_joint_angle / platform.limits.base_joint_angle < 1.0
    assert back.sources['limits.roll_deg'].startswith('assumption')


def test_geoms_classes_and_connected_bodies_are_understood(tmp_path: Path) -> None:
    platform, notes = imported(tmp_path, foreign.closed_by_bodies())

    check_joints(platform)
    assert platform.gravity == pytest.approx([0.0, 0.0, -9.81])
    # Slides are 0 at the drawn lengths, which are one.
    assert platform.geometry.retracted_length == pytest.approx(foreign.LENGTHS)
    assert platform.limits.stroke[0] == pytest.approx([-0.15, 0.15])
    assert np.degrees(platform.limits.base_joint_angle) == pytest.approx(35.0)
    masses = platform.masses
    assert masses is not None
    assert (masses.cylinder.mass, masses.rod.mass) == pytest.approx((1.5, 0.5))
    assert masses.cylinder.centre_of_mass == pytest.approx([0.0, 0.0, 0.2], abs=1e-12)
    assert masses.rod.centre_of_mass == pytest.approx([0.0, 0.0, -0.2], abs=1e-12)
    assert np.diag(masses.rod.inertia) == pytest.approx([0.4 * 0.5 * 0.05**2] * 3)
    # The camera is fixed to the platform: one body of the two.
    assert masses.platform.mass == pytest.approx(8.25)
    assert masses.platform.centre_of_mass == pytest.approx([0.025 / 8.25, 0.0, 0.0125 / 8.25])
    assert 'damping of joints, up to 0.1, has no place' in notes
    assert 'legs.rate_mps' in platform.sources
    assert platform.sources['legs.rate_mps'].startswith('assumption')


def test_a_platform_hung_on_one_leg_and_legs_hung_on_it_are_understood(tmp_path: Path) -> None:
    platform, notes = imported(tmp_path, foreign.hung_on_one_leg())
    masses = platform.masses
    assert masses is not None

    # The platform's frame is the drawn body's, which sits at the first of its joints.
    shifted = platform.geometry.platform_joints + foreign.TOP[0]
    assert platform.geometry.base_joints == pytest.approx(foreign.BASE, abs=1e-12)
    assert shifted == pytest.approx(foreign.TOP, abs=1e-12)
    # A slide of -0.1 to 0.2 that shortens is a stroke of -0.2 to 0.1.
    assert platform.limits.stroke[0] == pytest.approx([-0.2, 0.1])
    assert (masses.cylinder.mass, masses.rod.mass) == pytest.approx((1.1, 0.7))
    assert masses.cylinder.centre_of_mass == pytest.approx([0.0, 0.0, 0.15], abs=1e-12)
    assert masses.rod.centre_of_mass == pytest.approx([0.0, 0.0, -0.1], abs=1e-12)
    assert masses.platform.mass == pytest.approx(6.0)
    assert any('base_joint_axis_direction: assumed x' in note for note in notes)


def test_urdf_closed_for_gazebo_is_understood(tmp_path: Path) -> None:
    platform, notes = imported(tmp_path, foreign.gazebo_urdf())
    masses = platform.masses
    assert masses is not None

    check_joints(platform)
    assert platform.limits.rate == pytest.approx(0.3)
    assert platform.limits.base_joint_angle == pytest.approx(0.5)
    assert platform.limits.stroke[0] == pytest.approx([-0.1, 0.2])
    axes = [foreign.along(i).as_matrix()[:, 1] for i in range(6)]
    assert platform.base_joint_axes == pytest.approx(np.array(axes), abs=1e-12)
    # x of the leg is the joint's fixed axis, the tube's y; the inertia is given turned by 90 deg.
    assert np.diag(masses.cylinder.inertia) == pytest.approx([0.03, 0.02, 0.01])
    assert masses.platform.mass == 9.0
    assert 'masses.gravity_mps2: assumed, standard gravity along -z' in notes


def _with_a_strut() -> str:
    strut = """<body><joint type="ball"/><geom size=".01" mass=".1"/><body name="piston">
      <joint name="spare" type="slide" axis="0 0 1"/><geom size=".01" mass=".1"/></body></body>"""
    middle = f'<connect body1="piston" body2="top" anchor="0 0 {foreign.HEIGHT}"/></equality>'
    text = foreign.closed_by_bodies().replace('</worldbody>', f'{strut}</worldbody>')
    return text.replace('</equality>', middle)


def _changed(old: str, new: str) -> Callable[[], str]:
    return lambda: foreign.closed_by_bodies().replace(old, new)


@pytest.mark.parametrize(
    ('model', 'sentence'),
    [
        (lambda: 'no xml', 'expected XML'),
        (lambda: '<collada/>', "expected mujoco .MJCF., sdf or robot .URDF., got 'collada'"),
        (lambda: '<mujoco><worldbody/></mujoco>', 'six chains of joints: expected two'),
        (lambda: '<mujoco><wordlbody/></mujoco>', 'a model that MuJoCo takes'),
        (_changed('<connect body1="upper3"', '<weld body1="upper3"'),
         'act3: joints at the platform: expected a ball joint or two hinges'),
        (_changed('<joint axis="0 1 0" range="-35 35"/>', ''),
         r'act0: joints at the base: expected a ball joint or two hinges'),
        (_changed('type="slide" axis="0 0 1"', 'axis="0 0 1"'),
         'six between .* linear legs only; for cranks .* copy .* sg90_rotary .* got 0'),
        (lambda: render_urdf('hexaglide_3d_mec'), 'or two hinges .* linear legs only; .* rails'),
        (_with_a_strut, r'six between .* such as a passive strut, got \[.*, .spare.\]'),
        (_changed('type="slide" axis="0 0 1"', 'type="slide" axis="1 0 1"'),
         r"act0: distance \[m\]: expected its slide on the line"),
        (lambda: foreign.gazebo_urdf().replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>'),
         r'axis of \w+: expected a direction, got \[0.0, 0.0, 0.0\]'),
        (lambda: foreign.gazebo_urdf('universal').replace(
            '</child></joint>', '</child><axis><xyz>0 0 0</xyz></axis></joint>'),
         'axis of top0: expected a direction'),
        (lambda: foreign.gazebo_urdf('screw'), "type of closure top0: expected one of ball"),
        (lambda: foreign.gazebo_urdf().replace('<mass value="9"/>', '<mass value="x"/>'),
         "mass value: expected 1 finite number, got 'x'"),
        (lambda: foreign.gazebo_urdf().replace('<child link="tube4"/>', '<child link="tube3"/>'),
         'links without a parent: expected one root'),
        (lambda: foreign.gazebo_urdf().replace('<parent link="tube4"/>', '<parent link="tub"/>'),
         "link: expected one of .*, got 'tub'"),
        (lambda: foreign.gazebo_urdf().replace('<parent>plate', '<parent>top'), "got 'top'"),
    ],
)  # fmt: skip
def test_what_is_no_hexapod_is_refused_in_one_sentence(
    model: Callable[[], str], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=sentence) as caught:
        imported(tmp_path, model())
    assert '\n' not in str(caught.value)


def test_five_legs_are_not_six(tmp_path: Path) -> None:
    text = foreign.closed_by_bodies().replace('<connect body1="upper3" body2="top"', '<!-- ', 1)
    text = text.replace('<connect body1="upper4"', ' --><connect body1="upper4"', 1)
    with pytest.raises(ConfigurationError, match='six chains of joints: expected two'):
        imported(tmp_path, text)


def test_hinges_count_from_where_the_leg_is_neutral(tmp_path: Path) -> None:
    text = foreign.closed_by_bodies().replace('range="-35 35"', 'range="-5 65"', 1)
    platform, notes = imported(tmp_path, text)

    assert np.degrees(platform.limits.base_joint_angle) == pytest.approx(5.0)
    told = 'joint 1 goes -5 to 65 deg from where the leg is neutral'
    assert f'legs.base_joint_angle_deg: what all have on either side is taken; {told}' in notes

    # The platform is drawn too low, and the legs lean as they do where it is neutral.
    text = foreign.gazebo_urdf().replace('lower="-0.1" upper="0.2"', 'lower="0.05" upper="0.25"')
    platform, notes = imported(tmp_path, text)
    pose, geometry = platform.geometry.neutral_pose, platform.geometry
    along = pose.position + geometry.platform_joints - geometry.base_joints
    lean = np.arccos(
        np.sum(along * foreign.DRAWN, axis=1) / (np.linalg.norm(along, axis=1) * foreign.LENGTHS)
    )
    assert any('half way out' in note for note in notes)
    assert 0.5 - lean.max() - 1e-9 <= platform.limits.base_joint_angle < 0.5


def test_a_hinge_drawn_beyond_its_range_says_nothing(tmp_path: Path) -> None:
    text = foreign.closed_by_bodies().replace('range="-35 35"', 'range="5 65"', 1)
    platform, notes = imported(tmp_path, text)

    assert platform.sources['legs.base_joint_angle_deg'].startswith('assumption')
    assert any('base_joint_angle_deg: assumed; joint 1 goes 5 to 65 deg' in n for n in notes)


@pytest.mark.parametrize('rpy', [(0.0, 0.0, 1.5707963267948966), (3.141592653589793, 0.0, 0.0)])
def test_a_hexapod_that_stands_turned_may_rest(
    tmp_path: Path, rpy: tuple[float, float, float]
) -> None:
    place = f'<child link="frame"/><origin xyz="1 2 3" rpy="{foreign.text(rpy)}"/></joint>'
    text = foreign.gazebo_urdf().replace('<child link="frame"/></joint>', place)
    text = text.replace('"floating"><parent link="world"/>', '"floating"><parent link="frame"/>')
    platform, _ = imported(tmp_path, text)

    check_joints(platform)
    MotionGuard(platform)
    down = Rotation.from_euler('xyz', rpy).inv().apply([0.0, 0.0, -9.80665])
    assert platform.gravity == pytest.approx(down, abs=1e-9)


def test_assumed_angles_lie_about_the_neutral_pose() -> None:
    neutral = Pose.from_rpy([0.0, 0.0, 1.0], (0.0, -0.1, 1.5))
    limits = assumed_limits(0.2, 2.0, 1.0, 10.0, neutral)
    assert limits['yaw_deg'] == pytest.approx([45.9, 125.9])
    assert limits['pitch_deg'] == pytest.approx([-35.7, 24.3])
    assert limits['roll_deg'] == [-30.0, 30.0]


def test_couplings_of_legs_are_told(tmp_path: Path) -> None:
    joint = '<joint joint1="act0" joint2="act3"/></equality>'
    _, notes = imported(tmp_path, foreign.closed_by_bodies().replace('</equality>', joint))
    assert 'act0 and act3: their equality has no place' in notes

    mimic = '<child link="piston2"/><mimic joint="p1"/>'
    text = foreign.gazebo_urdf().replace('<child link="piston2"/>', mimic)
    _, notes = imported(tmp_path, text)
    assert 'p2: it mimics p1, which has no place' in notes

    mimic = '<child link="cross2"/><mimic joint="u1"/>'
    text = foreign.gazebo_urdf().replace('<child link="cross2"/>', mimic)
    _, notes = imported(tmp_path, text)
    assert 'u2: it mimics u1, which has no place' in notes


def test_a_base_that_is_drawn_tilted_loses_nothing(tmp_path: Path) -> None:
    turn = Rotation.from_euler('xyz', [10.0, 5.0, 0.0], degrees=True)
    robot = ET.fromstring(render_urdf('vigo'))
    for joint in robot.findall('joint'):
        parent, origin = joint.find('parent'), joint.find('origin')
        if parent is None or parent.get('link') != 'base_link':
            continue
        origin = ET.SubElement(joint, 'origin') if origin is None else origin
        place, own = (np.array(origin.get(key, '0 0 0').split(), float) for key in ('xyz', 'rpy'))
        turned = (turn * Rotation.from_euler('xyz', own)).as_euler('xyz')
        origin.set('xyz', foreign.text(turn.apply(place)))
        origin.set('rpy', foreign.text(turned))
    upright, _ = imported(tmp_path, render_urdf('vigo'))
    tilted, _ = imported(tmp_path, ET.tostring(robot, encoding='unicode'))

    assert tilted.limits.stroke == pytest.approx(upright.limits.stroke, abs=1e-9)
    assert tilted.limits.base_joint_angle == pytest.approx(upright.limits.base_joint_angle)
    before, after = (item.geometry.neutral_pose for item in (upright, tilted))
    assert after.position == pytest.approx(turn.apply(np.array(before.position)), abs=1e-9)
    axes = np.vstack([np.eye(3), -np.eye(3), np.random.default_rng(3).normal(size=(6, 3))])
    far = [_reach(tilted, direction) for direction in turn.apply(axes)]
    assert far == pytest.approx([_reach(upright, direction) for direction in axes], abs=1e-6)


def _reach(platform: Platform, direction: np.ndarray) -> float:
    """How far the platform may go from neutral, in lengths of a direction."""
    guard, pose = MotionGuard(platform), platform.geometry.neutral_pose
    near, far = 0.0, 1.0
    assert guard.allowed(Motion.at_rest(pose))
    while far - near > 1e-8:
        middle = 0.5 * (near + far)
        moved = Pose(pose.position + middle * direction, pose.quaternion_xyzw)
        near, far = (middle, far) if guard.allowed(Motion.at_rest(moved)) else (near, middle)
    return near


def test_legs_that_differ_share_what_all_can_do(tmp_path: Path) -> None:
    text = (
        foreign.closed_by_bodies()
        .replace(
            '<joint class="slide" name="act2"/>',
            '<joint class="slide" name="act2" range="-0.1 0.2"/>',
        )
        .replace('size="0.02" mass="1.5"', 'size="0.02" mass="2.1"', 1)
    )
    platform, notes = imported(tmp_path, text)

    length = foreign.LENGTHS[0]
    assert platform.geometry.retracted_length == pytest.approx(length - 0.1)
    assert platform.limits.stroke[0] == pytest.approx([0.0, 0.25])
    assert platform.masses is not None
    assert platform.masses.cylinder.mass == pytest.approx(1.6)
    assert any('their lengths differ, what all have is taken' in note for note in notes)
    assert any('masses.cylinder: the legs differ in mass by 0.6' in note for note in notes)
