# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Hexapods from other simulators' models: our own come back, other people's are understood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import foreign_models as foreign
import numpy as np
import pytest
from stewart_description.urdf import render_urdf
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.exchange.importing import import_platform
from stewart_kinematics.exchange.mjcf import mjcf
from stewart_kinematics.model.platform import MassProperties, Platform, RigidBody
from stewart_kinematics.model.schema import Section
from stewart_kinematics.motion import Pose

pytest.importorskip('mujoco', reason='MJCF is read by MuJoCo, PyPI: mujoco')


def imported(folder: Path, text: str) -> tuple[Platform, list[str]]:
    file = folder / 'model.xml'
    file.write_text(text)
    content, notes = import_platform(file)
    return Platform.from_section(Section(content, '')), notes


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
    assert notes == ([] if platform.masses else ['masses: the model has none'])
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
    known |= {'base_joint_angle', 'neutral rotation'}
    if name == 'ps6tl_1500':
        known -= {key for key in known if key.split()[0] in ('cylinder', 'rod')}
    for key in known & after.keys():
        assert after[key] == pytest.approx(before[key], abs=1e-9, rel=1e-9), key
    height = platform.geometry.neutral_pose.position[2]
    assert back.geometry.neutral_pose.position[2] == pytest.approx(height, rel=0.08)
    assert any('neutral_pose: assumed, half way out' in note for note in notes)
    assert back.sources['limits.roll_deg'].startswith('assumption')


def check_joints(platform: Platform, order: list[int] | None = None) -> None:
    rows = order or [0, 1, 2, 3, 4, 5]
    assert platform.geometry.base_joints == pytest.approx(foreign.BASE[rows], abs=1e-12)
    assert platform.geometry.platform_joints == pytest.approx(foreign.TOP[rows], abs=1e-12)
    assert platform.geometry.neutral_pose.position == pytest.approx([0.0, 0.0, foreign.HEIGHT])


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


def _changed(old: str, new: str) -> Callable[[], str]:
    return lambda: foreign.closed_by_bodies().replace(old, new)


@pytest.mark.parametrize(
    ('model', 'sentence'),
    [
        (lambda: 'no xml', 'expected XML'),
        (lambda: '<sdf/>', "expected mujoco .MJCF. or robot .URDF., got 'sdf'"),
        (lambda: '<mujoco><worldbody/></mujoco>', 'six chains of joints: expected two'),
        (lambda: '<mujoco><wordlbody/></mujoco>', 'a model that MuJoCo takes'),
        (_changed('<connect body1="upper3"', '<weld body1="upper3"'),
         'act3: joints at the platform: expected a ball joint or two hinges'),
        (_changed('<joint axis="0 1 0" range="-35 35"/>', ''),
         r'act0: joints at the base: expected a ball joint or two hinges'),
        (_changed('type="slide" axis="0 0 1"', 'axis="0 0 1"'),
         'chains with one slide: expected six .* got 0'),
        (_changed('type="slide" axis="0 0 1"', 'type="slide" axis="1 0 1"'),
         r"act0: distance \[m\]: expected its slide on the line"),
        (lambda: foreign.gazebo_urdf().replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>'),
         r'axis of \w+: expected a direction, got \[0.0, 0.0, 0.0\]'),
        (lambda: foreign.gazebo_urdf('screw'), "type of closure top0: expected one of ball"),
        (lambda: foreign.gazebo_urdf().replace('<mass value="9"/>', '<mass value="x"/>'),
         "mass value: expected 1 finite number, got 'x'"),
        (lambda: foreign.gazebo_urdf().replace('<child link="tube4"/>', '<child link="tube3"/>'),
         'links without a parent: expected one root'),
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


def test_models_without_limits_get_an_assumed_stroke(tmp_path: Path) -> None:
    text = foreign.closed_by_bodies().replace(' range="-0.15 0.15"', '')
    platform, notes = imported(tmp_path, text)

    mean = foreign.LENGTHS.mean()
    assert platform.limits.stroke[0] == pytest.approx([0.0, 0.5 * mean])
    assert platform.geometry.retracted_length == pytest.approx(0.75 * mean)
    assert any('the model has no limits' in note for note in notes)
    assert platform.sources['legs.stroke_m'].startswith('assumption')


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
