# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Hexapods from SDFormat: our own come back, and other people's ways of writing one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.exchange.importing import import_platform
from stewart_kinematics.exchange.sdf import sdf
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.schema import Section

LEG = """
    <joint name="foot_{n}" type="ball"><parent>plate</parent><child>rod_{n}</child></joint>
    <joint name="slide_{n}" type="prismatic">
      <parent>tube_{n}</parent><child>rod_{n}</child>
      <axis><xyz expressed_in="tube_{n}">0 0 2</xyz>
        <limit><lower>-0.1</lower><upper>0.1</upper><velocity>0.3</velocity></limit></axis>
    </joint>
    <joint name="hip_{n}" type="universal">
      <parent>ground</parent><child>tube_{n}</child>
      <axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>
    </joint>
    <frame name="hip_frame_{n}" attached_to="ground"><pose>{hip}</pose></frame>
    <link name="tube_{n}">
      <pose relative_to="hip_frame_{n}" rotation_format="quat_xyzw">0 0 0 {turn}</pose></link>
    <link name="rod_{n}"><pose relative_to="plate">{socket} 0 0 0</pose></link>
"""
MODEL = """
<sdf version="1.9"><model name="hexapod"><pose degrees="true">1 2 0 0 0 90</pose>
    <link name="plate"><pose relative_to="ground">0 0 1 0 0 0</pose>
      <inertial><mass>5</mass><pose>0 0 0.1 0 0 0</pose></inertial>
      <sensor name="imu" type="imu"><pose>0.01 0 0 0 0 0</pose></sensor></link>
    <link name="ground"><pose>0 0 0.5 0 0 0</pose></link>{legs}{more}</model></sdf>
"""
ANGLES = np.radians([10.0, 110.0, 130.0, 230.0, 250.0, 350.0])
BASE = np.column_stack([np.cos(ANGLES), np.sin(ANGLES), 0.0 * ANGLES])
PLATE = np.roll(0.6 * BASE @ Rotation.from_euler('z', 60.0, True).as_matrix().T, 1, 0)


def words(numbers: np.ndarray) -> str:
    return ' '.join(f'{number:.17g}' for number in numbers)


def model(more: str = '') -> str:
    """A hexapod whose joints come with the loops first, in every frame that there is."""
    legs = []
    for n in range(6):
        along = PLATE[n] + [0.0, 0.0, 1.0] - BASE[n]
        across = np.cross([0.0, 0.0, 1.0], along)
        lean = np.arctan2(np.linalg.norm(across), along[2])
        turn = Rotation.from_rotvec(lean * across / np.linalg.norm(across))
        hip = words([*BASE[n], 0.0, 0.0, 0.0])
        turned = words(turn.as_quat())
        legs.append(LEG.format(n=n + 1, hip=hip, turn=turned, socket=words(PLATE[n])))
    return MODEL.format(legs=''.join(legs), more=more)


def imported(folder: Path, text: str) -> tuple[Platform, list[str]]:
    file = folder / 'model.sdf'
    file.write_text(text)
    content, notes = import_platform(file)
    return Platform.from_section(Section(content, '')), notes


@pytest.mark.parametrize('name', ['ex800', 'ps6tl_1500', 'srs', 'vigo'])
def test_a_stored_platform_comes_back(name: str, tmp_path: Path) -> None:
    platform = Platform.from_yaml(name)

    back, notes = imported(tmp_path, sdf(platform))

    lengths = back.geometry.retracted_length[:, None] + back.limits.stroke
    ours = platform.geometry.retracted_length[:, None] + platform.limits.stroke
    assert lengths == pytest.approx(ours, abs=1e-9)
    assert back.geometry.base_joints == pytest.approx(platform.geometry.base_joints, abs=1e-9)
    sockets = platform.geometry.platform_joints
    assert back.geometry.platform_joints == pytest.approx(sockets, abs=1e-9)
    assert back.base_joint_axes == pytest.approx(platform.base_joint_axes, abs=1e-9)
    assert back.limits.rate == platform.limits.rate
    assert (platform.imu is None) == (back.imu is None)
    if platform.masses is not None:
        for part in ('platform', 'cylinder', 'rod'):
            body, own = getattr(back.masses, part), getattr(platform.masses, part)
            assert body.mass == pytest.approx(own.mass, rel=1e-9)
            assert body.inertia == pytest.approx(own.inertia, abs=1e-9)
    assert 'zero_pose: assumed, the neutral pose' in notes


def test_frames_orders_and_rotations_are_what_the_format_says(tmp_path: Path) -> None:
    platform, notes = imported(tmp_path, model())

    base, sockets = platform.geometry.base_joints, platform.geometry.platform_joints
    assert base == pytest.approx(BASE, abs=1e-12)
    assert sockets == pytest.approx(PLATE, abs=1e-12)
    length = np.linalg.norm(PLATE[0] + [0.0, 0.0, 1.0] - BASE[0])
    assert platform.geometry.retracted_length[0] == pytest.approx(length)
    assert platform.limits.stroke[0].tolist() == [-0.1, 0.1]
    assert platform.limits.rate == 0.3
    assert platform.geometry.neutral_pose.position == pytest.approx([0.0, 0.0, 1.0])
    assert platform.masses is not None
    assert platform.masses.platform.centre_of_mass == pytest.approx([0.0, 0.0, 0.1])
    assert platform.masses.platform.inertia == pytest.approx(np.eye(3))
    assert platform.imu is not None
    assert platform.imu.position == pytest.approx([0.01, 0.0, 0.0])
    assert 'base_link is ground, platform_link is plate' in notes


def test_what_is_fixed_to_the_world_is_the_base(tmp_path: Path) -> None:
    # Every leg descends from the plate, down to the ground.
    text = model(
        '<joint name="f" type="fixed"><parent>world</parent><child>ground</child></joint>'
    )
    for n in range(1, 7):
        for above, below in ((f'tube_{n}', f'rod_{n}'), ('ground', f'tube_{n}')):
            joint = f'<parent>{above}</parent><child>{below}</child>'
            turned = f'<parent>{below}</parent><child>{above}</child>'
            text = text.replace(joint, f'{turned}<pose relative_to="{below}"/>')
    platform, notes = imported(tmp_path, text)

    assert platform.geometry.base_joints == pytest.approx(BASE, abs=1e-12)
    assert platform.masses is not None
    assert platform.masses.platform.mass == 5.0
    assert 'base_link is ground, platform_link is plate' in notes


def test_links_that_are_fixed_in_a_circle_are_one_base(tmp_path: Path) -> None:
    ends = (
        '<parent>ground</parent><child>deck</child>',
        '<parent>deck</parent><child>ground</child>',
    )
    joints = ''.join(
        f'<joint name="weld_{k}" type="fixed">{end}</joint>' for k, end in enumerate(ends)
    )

    _, notes = imported(tmp_path, model(f'<link name="deck"/>{joints}'))

    assert 'base_link is ground, platform_link is plate' in notes


def test_old_versions_have_their_axes_in_the_frame_of_the_model(tmp_path: Path) -> None:
    text = model().replace(' expressed_in="tube_1"', '')

    with pytest.raises(ConfigurationError, match='slide_1: distance'):
        imported(tmp_path, text.replace('version="1.9"', 'version="1.4"'))


def test_what_has_no_place_is_told(tmp_path: Path) -> None:
    gear = '<joint name="g" type="gearbox"><parent>plate</parent><child>rod_1</child></joint>'

    _, notes = imported(tmp_path, model(f'{gear}<include><uri>model://tool</uri></include>'))

    assert 'g: a gearbox has no place' in notes
    assert 'include model://tool: nested models are not read' in notes


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('<sdf version="1.9"/>', 'models with joints'),
        (model().replace('relative_to="ground"', 'relative_to="rod_1"'), 'without a circle'),
        (model().replace('relative_to="ground"', 'relative_to="nowhere"'), "got 'nowhere'"),
        (model().replace('<mass>5</mass>', '<mass>heavy</mass>'), 'mass of plate'),
        (model().replace('type="ball"', 'type="rubber"'), 'type of joint foot_1'),
        (model().replace('<child>rod_1', '<child>stick'), 'link of joint'),
        (model().replace('>0 0 2<', '>0 0 0<'), 'axis of slide_1'),
    ],
)
def test_what_cannot_be_read_is_one_sentence(text: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=expected):
        imported(tmp_path, text)
