# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The URDF is a tree that others accept, with the numbers of the YAML file."""

from __future__ import annotations

from collections import Counter
from functools import cache
import math
from pathlib import Path
import shutil
import subprocess
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from stewart_description import platform_names, platform_path, UnknownPlatformError
from stewart_description.urdf import render_urdf, RenderError
import yaml

needs_check_urdf = pytest.mark.skipif(
    shutil.which('check_urdf') is None, reason='check_urdf is absent (liburdfdom-tools)'
)
# To render one takes a tenth of a second.
model_of = cache(render_urdf)
NAMES = platform_names()
LEGS = range(1, 7)


def tree_faults(urdf: str) -> list[str]:
    """Return what keeps a model from being a tree: one root, one parent for each other link."""
    robot = ET.fromstring(urdf)
    links = [link.attrib['name'] for link in robot.findall('link')]
    joints = robot.findall('joint')
    parents = [joint.find('parent').attrib['link'] for joint in joints]
    children = Counter(joint.find('child').attrib['link'] for joint in joints)
    faults = [f'{name} is used twice' for name, count in Counter(links).items() if count > 1]
    names = Counter(joint.attrib['name'] for joint in joints)
    faults += [f'joint {name} is used twice' for name, count in names.items() if count > 1]
    faults += [f'{name} is no link' for name in {*parents, *children} - {*links}]
    faults += [f'{name} has {count} parents' for name, count in children.items() if count > 1]
    roots = [name for name in links if name not in children]
    if len(roots) != 1:
        faults.append(f'roots are {roots}')
    return faults


def load(name: str) -> dict[str, Any]:
    content = yaml.safe_load(platform_path(name).read_text())
    assert isinstance(content, dict)
    return content


def find(urdf: str, kind: str, name: str) -> ET.Element:
    element = ET.fromstring(urdf).find(f"./{kind}[@name='{name}']")
    assert element is not None, name
    return element


def numbers(element: ET.Element, path: str, attribute: str) -> list[float]:
    found = element.find(path)
    assert found is not None, path
    return [float(item) for item in found.attrib[attribute].split()]


def accepted_by_check_urdf(urdf: str, folder: Path) -> bool:
    file = folder / 'model.urdf'
    file.write_text(urdf)
    return subprocess.run(['check_urdf', file], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize('name', NAMES)
def test_model_is_a_tree_from_base_to_sensor(name: str) -> None:
    urdf = model_of(name)

    assert tree_faults(urdf) == []
    assert find(urdf, 'link', 'imu_link') is not None
    assert ET.fromstring(urdf).attrib['name'] == 'stewart'


def test_a_controller_manager_is_told_of_six_legs_only_when_asked() -> None:
    assert ET.fromstring(model_of('vigo')).find('ros2_control') is None
    urdf = model_of('vigo', 'a_', ros2_control=True)
    system = find(urdf, 'ros2_control', 'a_legs')

    assert tree_faults(urdf) == []
    joints = system.findall('joint')
    assert [joint.attrib['name'] for joint in joints] == [f'a_leg_{leg}' for leg in LEGS]
    for joint in joints:
        assert find(urdf, 'joint', joint.attrib['name']).attrib['type'] == 'prismatic'
        for kind in ('command_interface', 'state_interface'):
            assert [item.attrib['name'] for item in joint.findall(kind)] == [
                'position',
                'velocity',
            ]
    assert {item.attrib['name']: item.text for item in system.iter('param')} == {
        'joint_commands_topic': 'joint_commands',
        'joint_states_topic': 'actuator_states',
        'trigger_joint_command_threshold': '-1',
    }
    assert system.findtext('hardware/plugin') == (
        'joint_state_topic_hardware_interface/JointStateTopicSystem'
    )


@needs_check_urdf
@pytest.mark.parametrize('name', NAMES)
def test_check_urdf_accepts_the_model(name: str, tmp_path: Path) -> None:
    assert accepted_by_check_urdf(model_of(name), tmp_path)


def with_second_parent(urdf: str) -> str:
    """Hang the first rod on the platform as well, which closes a loop."""
    robot = ET.fromstring(urdf)
    joint = ET.SubElement(robot, 'joint', name='leg_1_top', type='fixed')
    ET.SubElement(joint, 'parent', link='platform_link')
    ET.SubElement(joint, 'child', link='leg_1_rod')
    return ET.tostring(robot, encoding='unicode')


def test_tree_check_finds_a_second_parent() -> None:
    assert tree_faults(with_second_parent(model_of('vigo'))) == ['leg_1_rod has 2 parents']


@needs_check_urdf
def test_check_urdf_lets_a_second_parent_pass(tmp_path: Path) -> None:
    """This is why there is a check of our own; if this fails, check_urdf has learnt it."""
    assert accepted_by_check_urdf(with_second_parent(model_of('vigo')), tmp_path)


def test_tree_check_finds_a_second_root_and_an_unknown_link() -> None:
    robot = ET.fromstring(model_of('vigo'))
    ET.SubElement(robot, 'link', name='loose')
    robot.find('./joint/child').attrib['link'] = 'nowhere'
    faults = tree_faults(ET.tostring(robot, encoding='unicode'))

    assert 'nowhere is no link' in faults
    assert any('loose' in fault for fault in faults)


@pytest.mark.parametrize('name', NAMES)
def test_yourdfpy_accepts_the_model(name: str, tmp_path: Path) -> None:
    yourdfpy = pytest.importorskip('yourdfpy')
    file = tmp_path / 'model.urdf'
    file.write_text(model_of(name))
    model = yourdfpy.URDF.load(str(file), build_scene_graph=True, load_meshes=False)

    assert model.validate()
    assert model.num_actuated_joints == 24
    assert model.base_link == 'base_link'


@pytest.mark.parametrize('name', NAMES)
def test_leg_limits_are_those_of_the_file(name: str) -> None:
    legs = load(name)['legs']
    urdf = model_of(name)
    for leg in LEGS:
        joint = find(urdf, 'joint', f'leg_{leg}')
        limits = [numbers(joint, 'limit', key)[0] for key in ('lower', 'upper', 'velocity')]
        kind = legs.get('kind', 'linear')
        if kind == 'linear':
            assert limits == [*legs['stroke_m'], legs['rate_mps']]
            assert numbers(joint, 'origin', 'xyz') == [0.0, 0.0, legs['retracted_length_m']]
        elif kind == 'rotary':
            assert joint.attrib['type'] == 'revolute'
            assert limits == [
                *(math.radians(end) for end in legs['angle_deg']),
                legs['rate_radps'],
            ]
        else:
            assert limits == [*legs['position_m'], legs['rate_mps']]
            assert numbers(joint, 'axis', 'xyz') == legs['rail_direction']


@pytest.mark.parametrize('name', NAMES)
def test_virtual_joints_carry_the_attitude_limits(name: str) -> None:
    limits = load(name)['limits']
    urdf = model_of(name)
    for angle in ('roll', 'pitch', 'yaw'):
        joint = find(urdf, 'joint', f'platform_{angle}')
        bounds = [math.degrees(numbers(joint, 'limit', key)[0]) for key in ('lower', 'upper')]
        assert bounds == pytest.approx(limits[f'{angle}_deg'], abs=1e-12)


@pytest.mark.parametrize('name', NAMES)
def test_sensor_is_where_the_file_puts_it(name: str) -> None:
    imu = load(name)['imu']
    joint = find(model_of(name), 'joint', 'imu_link_mount')

    assert joint.find('parent').attrib['link'] == 'platform_link'
    assert numbers(joint, 'origin', 'xyz') == pytest.approx(imu['position_m'], abs=1e-15)
    turn = [math.degrees(angle) for angle in numbers(joint, 'origin', 'rpy')]
    assert turn == pytest.approx(imu['rpy_deg'], abs=1e-12)


def test_inertias_are_those_of_the_file() -> None:
    masses = load('vigo')['masses']
    urdf = model_of('vigo')
    for link, body in (
        ('platform_link', 'platform'),
        ('payload_link', 'payload'),
        ('leg_3_cylinder', 'cylinder'),
        ('leg_6_rod', 'rod'),
    ):
        inertial = find(urdf, 'link', link).find('inertial')
        assert inertial is not None
        assert numbers(inertial, 'mass', 'value') == [masses[body]['mass_kg']]
        assert numbers(inertial, 'origin', 'xyz') == masses[body]['centre_of_mass_m']
        tensor = [numbers(inertial, 'inertia', key)[0] for key in ('ixx', 'iyy', 'izz')]
        assert tensor == masses[body]['inertia_kgm2']


def test_full_inertia_is_written_entry_by_entry(tmp_path: Path) -> None:
    content = load('vigo')
    content['masses']['platform']['inertia_kgm2'] = [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 2.5]]
    file = tmp_path / 'full.yaml'
    file.write_text(yaml.safe_dump(content))
    inertial = find(model_of(file), 'link', 'platform_link').find('inertial')

    assert inertial is not None
    keys = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    tensor = [numbers(inertial, 'inertia', key)[0] for key in keys]
    assert tensor == [1.0, 0.1, 0.2, 2.0, 0.3, 2.5]


@pytest.mark.parametrize(
    ('name', 'bodies'), [('srs', 0), ('ps6tl_1500', 1), ('ex800', 13), ('sg90_rotary', 7)]
)
def test_bodies_without_a_mass_have_no_inertial(name: str, bodies: int) -> None:
    """SRS: no masses at all; PS-6TL: massless legs; EX800: thirteen bodies."""
    assert len(ET.fromstring(model_of(name)).findall('.//inertial')) == bodies


@pytest.mark.parametrize('name', ['vigo', 'sg90_rotary', 'hexaglide_3d_mec'])
def test_what_is_seen_may_be_hit(name: str) -> None:
    for link in ET.fromstring(model_of(name)).iter('link'):
        seen, hit = (
            [
                (item.tag, item.attrib)
                for part in link.findall(kind)
                for item in part.iter()
                if item.tag not in {kind, 'material'}
            ]
            for kind in ('visual', 'collision')
        )
        assert seen == hit


def test_prefix_stands_before_every_link_and_joint() -> None:
    plain, prefixed = (ET.fromstring(model_of('vigo', *prefix)) for prefix in ((), ('left_',)))
    for kind in ('link', 'joint'):
        names = [f'left_{element.attrib["name"]}' for element in plain.findall(kind)]
        assert names == [element.attrib['name'] for element in prefixed.findall(kind)]
    assert tree_faults(model_of('vigo', 'left_')) == []


def test_optional_parts_may_be_absent(tmp_path: Path) -> None:
    content = load('vigo')
    del content['imu'], content['masses']
    file = tmp_path / 'bare.yaml'
    file.write_text(yaml.safe_dump(content))
    urdf = model_of(file)

    assert tree_faults(urdf) == []
    assert 'imu_link' not in urdf
    assert 'inertial' not in urdf


@pytest.mark.parametrize('folder', ["o'brien", 'back\\slash', 'two words', 'a}b'])
def test_a_path_may_have_any_characters(folder: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir()
    file = shutil.copy(platform_path('srs'), tmp_path / folder / "the rig's.yaml")

    assert model_of(file) == model_of('srs')


@pytest.mark.parametrize(
    ('change', 'reason'),
    [
        (lambda content: content['legs'].pop('distance_m'), 'distance_m'),
        (lambda content: content['legs'].update(retracted_length_m='long'), 'sequence'),
    ],
)
def test_a_file_that_makes_no_model_is_named(change: Any, reason: str, tmp_path: Path) -> None:
    content = load('vigo')
    change(content)
    file = tmp_path / 'wrong.yaml'
    file.write_text(yaml.safe_dump(content))

    with pytest.raises(RenderError, match=rf'wrong.yaml: no URDF .*{reason}'):
        render_urdf(file)


def test_unknown_platform_is_refused_before_xacro() -> None:
    with pytest.raises(UnknownPlatformError):
        model_of('hexapod')


def test_stock_xacro_command_takes_a_name_or_a_file(tmp_path: Path) -> None:
    """The way a launch file calls it, without our Python."""
    xacro = pytest.importorskip('xacro')
    file = platform_path('ex800').parents[1] / 'urdf' / 'stewart.urdf.xacro'
    by_name = xacro.process_file(str(file), mappings={'platform': 'srs'}).toxml()
    copy = shutil.copy(platform_path('srs'), tmp_path / 'copy.yaml')
    by_file = xacro.process_file(str(file), mappings={'file': str(copy)}).toxml()

    assert by_name == by_file
