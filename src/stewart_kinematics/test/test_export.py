# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""SDF by the published specification, and the verbs that write and read models.

The rules are those of SDFormat 1.11 (sdformat.org/spec), for the elements that are written. Its
own XSD cannot be loaded as published: two types have the name ``model``, and ``pose`` is empty.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_description import platform_path
from stewart_description.urdf import render_urdf
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.exchange.mjcf import mjcf
from stewart_kinematics.exchange.neutral_legs import LEAST_MASS, weighed, words
from stewart_kinematics.exchange.sdf import sdf
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.verbs import export
from stewart_kinematics.verbs import platform as platform_verb
from typed_words import typed
import yaml

NAMES = ('ex800', 'ps6tl_1500', 'srs', 'vigo')

# element: attributes, children that must be there once, others that may be, how many numbers
POSE = (set(), (), (), 6)
NUMBER = (set(), (), (), 1)
TEXT = (set(), (), (), 0)
RULES = {
    'sdf': ({'version'}, (), ('world',), 0),
    'world': ({'name'}, (), ('plugin', 'gravity', 'model'), 0),
    'gravity': (set(), (), (), 3),
    'model': ({'name'}, (), ('link', 'joint', 'plugin'), 0),
    'plugin': ({'filename', 'name'}, (), ('joint_name',), 0),
    'joint_name': TEXT,
    'link': ({'name'}, (), ('pose', 'inertial', 'sensor', 'visual'), 0),
    'inertial': (set(), ('mass', 'inertia'), ('pose',), 0),
    'inertia': (set(), ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), (), 0),
    'sensor': ({'name', 'type'}, (), ('pose', 'always_on', 'update_rate', 'force_torque'), 0),
    'force_torque': (set(), (), ('frame',), 0),
    'visual': ({'name'}, ('geometry',), ('pose',), 0),
    'geometry': (set(), (), ('cylinder',), 0),
    'cylinder': (set(), ('radius', 'length'), (), 0),
    'joint': ({'name', 'type'}, ('parent', 'child'), ('axis', 'axis2', 'sensor'), 0),
    'axis': (set(), ('xyz', 'limit'), (), 0),
    'axis2': (set(), ('xyz', 'limit'), (), 0),
    'limit': (set(), ('lower', 'upper'), ('velocity',), 0),
    'xyz': (set(), (), (), 3),
    'pose': POSE,
    **dict.fromkeys(('parent', 'child', 'always_on', 'frame'), TEXT),
    **dict.fromkeys(('mass', 'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), NUMBER),
    **dict.fromkeys(('radius', 'length', 'lower', 'upper', 'velocity', 'update_rate'), NUMBER),
}
REPEATED = {'plugin', 'link', 'joint', 'model', 'world', 'sensor', 'visual'}
AXES = {'fixed': 0, 'ball': 0, 'prismatic': 1, 'universal': 2}
SENSORS = {'link': {'imu'}, 'joint': {'force_torque'}}


def faults(element: ET.Element) -> list[str]:
    """Return what the specification does not allow, below an element too."""
    attributes, needed, allowed, count = RULES[element.tag]
    found = []
    if set(element.attrib) != attributes:
        found.append(f'{element.tag} has the attributes {sorted(element.attrib)}')
    tags = [child.tag for child in element]
    found += [f'{element.tag} without {tag}' for tag in needed if tag not in tags]
    found += [f'{tag} in {element.tag}' for tag in tags if tag not in (*needed, *allowed)]
    found += [
        f'{tag} twice in {element.tag}' for tag in set(tags) - REPEATED if tags.count(tag) > 1
    ]
    numbers = (element.text or '').split()
    if count and not (len(numbers) == count and np.isfinite([float(x) for x in numbers]).all()):
        found.append(f'{element.tag} holds {element.text}')
    if element.tag == 'joint':
        kind, axes = element.get('type', ''), sum(tag.startswith('axis') for tag in tags)
        found += [f'{kind} joint with {axes} axes'] if AXES.get(kind) != axes else []
    for sensor in element.findall('sensor'):
        if sensor.get('type') not in SENSORS[element.tag]:
            found.append(f'{sensor.get("type")} in {element.tag}')
    known = [child for child in element if child.tag in RULES]
    return found + [fault for child in known for fault in faults(child)]


def numbers(element: ET.Element, path: str) -> np.ndarray:
    return np.array([float(x) for x in (element.findtext(path) or '').split()])


def model_of(text: str) -> ET.Element:
    model = ET.fromstring(text).find('world/model')
    assert model is not None
    return model


@pytest.mark.parametrize('name', NAMES)
def test_sdf_keeps_the_specification(name: str) -> None:
    root = ET.fromstring(sdf(Platform.from_yaml(name)))
    model = root.find('world/model')
    assert model is not None

    assert faults(root) == []
    links = [link.get('name') for link in model.findall('link')]
    joints = [joint.get('name') for joint in model.findall('joint')]
    assert len({*links, *joints}) == len(links) + len(joints)  # one scope of names
    for joint in model.findall('joint'):
        assert joint.findtext('parent') in {*links, 'world'}
        assert joint.findtext('child') in links
    for link in model.findall('link')[1:]:
        tensor = np.array([numbers(link, f'inertial/inertia/i{k}')[0] for k in ('xx', 'yy', 'zz')])
        assert numbers(link, 'inertial/mass')[0] >= LEAST_MASS
        assert (tensor > 0.0).all()


def test_rules_find_what_is_wrong() -> None:
    text = sdf(Platform.from_yaml('ex800'))
    for right, wrong, fault in (
        ('<mass>0.3592</mass>', '', 'inertial without mass'),
        ('type="universal"', 'type="ball"', 'ball joint with 2 axes'),
        ('<xyz>0.0 0.0 1.0</xyz>', '<xyz>0.0 1.0</xyz>', 'xyz holds 0.0 1.0'),
        ('<always_on>true</always_on>', '<gain>1</gain>', 'gain in sensor'),
        (' type="imu"', '', "sensor has the attributes ['name']"),
    ):
        assert fault in faults(ET.fromstring(text.replace(right, wrong, 1)))


def place(link: ET.Element) -> tuple[np.ndarray, np.ndarray]:
    pose = numbers(link, 'pose')
    return pose[:3], Rotation.from_euler('xyz', pose[3:]).as_matrix()


@pytest.mark.parametrize('name', NAMES)
def test_sdf_closes_its_loops_where_the_platform_file_says(name: str) -> None:
    platform = Platform.from_yaml(name)
    geometry, neutral = platform.geometry, platform.geometry.neutral_pose
    model = model_of(sdf(platform))
    stroke = inverse(geometry, Motion.at_rest(neutral)).stroke

    for i in range(6):
        links = {
            part: model.find(f"link[@name='leg_{i + 1}_{part}']") for part in ('cylinder', 'rod')
        }
        (foot, turn), (tip, same) = place(links['cylinder']), place(links['rod'])
        socket = neutral.position + neutral.rotation @ geometry.platform_joints[i]
        assert foot == pytest.approx(geometry.base_joints[i], abs=1e-12)
        assert tip == pytest.approx(socket, abs=1e-12)
        assert turn == pytest.approx(same, abs=1e-12)
        slide = model.find(f"joint[@name='leg_{i + 1}']")
        base = model.find(f"joint[@name='leg_{i + 1}_base']")
        limits = [numbers(slide, f'axis/limit/{end}')[0] for end in ('lower', 'upper')]
        assert np.add(limits, stroke[i]) == pytest.approx(platform.limits.stroke[i], abs=1e-12)
        along = turn @ numbers(slide, 'axis/xyz')
        assert along == pytest.approx((tip - foot) / np.linalg.norm(tip - foot), abs=1e-12)
        fixed, turning = (turn @ numbers(base, f'{tag}/xyz') for tag in ('axis', 'axis2'))
        assert fixed == pytest.approx(platform.base_joint_axes[i], abs=1e-12)
        assert [fixed @ turning, turning @ along] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_sdf_has_the_masses_of_the_file() -> None:
    platform = Platform.from_yaml('vigo')
    assert platform.masses is not None
    model = model_of(sdf(platform))
    for link, body in (
        ('platform_link', platform.masses.platform),
        ('payload_link', platform.masses.payload),
        ('leg_3_cylinder', platform.masses.cylinder),
        ('leg_6_rod', platform.masses.rod),
    ):
        found = model.find(f"link[@name='{link}']")
        assert found is not None
        assert body is not None
        assert numbers(found, 'inertial/mass')[0] == body.mass
        assert numbers(found, 'inertial/pose')[:3] == pytest.approx(body.centre_of_mass)
        tensor = [numbers(found, f'inertial/inertia/i{k}')[0] for k in ('xx', 'yy', 'zz')]
        assert tensor == pytest.approx(np.diag(body.inertia))


@pytest.mark.parametrize('name', NAMES)
def test_urdf_says_where_its_loops_close(name: str) -> None:
    platform = Platform.from_yaml(name)
    drake = '{http://drake.mit.edu}ball_constraint'
    closures = ET.fromstring(render_urdf(name)).findall(drake)

    assert len(closures) == 6
    for i, closure in enumerate(closures):
        ends = [closure.find(f'{drake}_body_{body}').attrib['name'] for body in 'AB']
        assert ends == ['platform_link', f'leg_{i + 1}_rod']
        point = [float(x) for x in closure.find(f'{drake}_p_AP').attrib['value'].split()]
        assert point == pytest.approx(platform.geometry.platform_joints[i], abs=1e-12)


@pytest.mark.parametrize('kind', ['mjcf', 'sdf', 'urdf'])
def test_export_writes_a_whole_file_or_standard_output(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / 'model.xml'
    wanted = {'mjcf': mjcf, 'sdf': sdf}
    text = render_urdf('ex800') if kind == 'urdf' else wanted[kind](Platform.from_yaml('ex800'))

    assert typed(export, 'ex800', '--format', kind, '-o', str(target)) == 0
    assert typed(export, 'ex800', '--format', kind) == 0

    assert target.read_text() == text == capsys.readouterr().out
    assert [item.name for item in tmp_path.iterdir()] == ['model.xml']


def test_export_says_that_masses_are_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(export, 'srs', '--format', 'mjcf') == 0

    out, err = capsys.readouterr()
    assert 'every body has 1e-07 kg, and forces mean nothing here' in out
    assert err == 'note: srs has no masses: forces mean nothing\n'


def test_comment_of_a_title_with_hyphens_is_still_xml(tmp_path: Path) -> None:
    file = tmp_path / 'odd.yaml'
    stored = Path(str(__import__('stewart_description').platform_path('ex800'))).read_text()
    file.write_text(stored.replace('DeltaLab EX800', "'A --- & <b> -'"))
    platform = Platform.from_yaml(file)

    assert (
        ET.fromstring(mjcf(platform)).find("custom/text[@name='title']").get('data')
        == 'A --- & <b> -'
    )
    assert ET.fromstring(sdf(platform)).tag == 'sdf'


@pytest.mark.parametrize('rounding', [0.0, 5e-7])
@pytest.mark.parametrize('seed', range(5))
def test_a_thin_plate_may_be_simulated(seed: int, rounding: float, tmp_path: Path) -> None:
    """Of a turned disc, or of one that was rounded for print, Ixx + Iyy is less than Izz."""
    content = yaml.safe_load(platform_path('ex800').read_text())
    turn = Rotation.random(random_state=seed).as_matrix()
    inertia = turn @ np.diag([1.0, 1.0, 2.0 * (1.0 + rounding)]) @ turn.T
    content['masses']['platform']['inertia_kgm2'] = (0.5 * (inertia + inertia.T)).tolist()
    file = tmp_path / 'disc.yaml'
    file.write_text(yaml.safe_dump(content))
    platform = Platform.from_yaml(file)
    found = weighed(platform.masses.platform).inertia
    moments = np.linalg.eigvalsh(found)

    assert moments[0] + moments[1] > moments[2]
    np.testing.assert_allclose(found, inertia, rtol=0.0, atol=2e-6)
    # It allows for no rounding at all.
    pytest.importorskip('mujoco').MjModel.from_xml_string(mjcf(platform))


def test_numbers_keep_every_digit() -> None:
    assert words([0.1 + 0.2, -0.0, 1e-12]) == '0.30000000000000004 0.0 1e-12'


def test_import_writes_a_file_and_names_what_it_assumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, target = tmp_path / 'my.urdf', tmp_path / 'mine.yaml'
    model.write_text(render_urdf('vigo'))

    assert typed(platform_verb, 'import', str(model), '-o', str(target)) == 0

    err = capsys.readouterr().err
    assert 'note: neutral_pose: assumed, half way out, at 1.67168 m' in err
    assert 'assumed, not known: legs.acceleration_mps2' in err
    text = target.read_text()
    assert text.startswith('# Made by `stewart platform import`.')
    assert '  legs.stroke_m: imported from my.urdf\n' in text
    back, vigo = Platform.from_yaml(target), Platform.from_yaml('vigo')
    assert back.geometry.base_joints == pytest.approx(vigo.geometry.base_joints, abs=1e-9)


def test_import_that_fails_writes_nothing(tmp_path: Path) -> None:
    model, target = tmp_path / 'my.urdf', tmp_path / 'mine.yaml'
    model.write_text('<robot name="r"><link name="a"/></robot>')
    with pytest.raises(ConfigurationError, match='bodies that bear six chains of joints'):
        typed(platform_verb, 'import', str(model), '-o', str(target))
    with pytest.raises(OSError, match='absent'):
        typed(platform_verb, 'import', str(tmp_path / 'absent.xml'), '-o', str(target))
    assert not target.exists()
