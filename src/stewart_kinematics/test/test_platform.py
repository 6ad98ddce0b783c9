# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A platform file is read strictly, in SI units and radians."""

from __future__ import annotations

from collections.abc import Callable
import copy
from dataclasses import replace
from pathlib import Path
import re
from typing import Any

import numpy as np
import pytest
from stewart_description import platform_names, platform_path
from stewart_kinematics.errors import ConfigurationError, GeometryError
from stewart_kinematics.model.geometry import ring_points
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.schema import Section
import yaml

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Platform]:
    """Read a stored platform after an edit of its content."""

    def read_edited(edit: Edit, name: str = 'vigo') -> Platform:
        content = copy.deepcopy(yaml.safe_load(platform_path(name).read_text()))
        edit(content)
        path = tmp_path / 'edited.yaml'
        path.write_text(yaml.safe_dump(content))
        return Platform.from_yaml(path)

    return read_edited


def put(path: str, value: object) -> Edit:
    """Return an edit that sets the value at a dotted key path."""
    *parents, last = path.split('.')

    def edit(content: dict[str, Any]) -> None:
        for key in parents:
            content = content[key]
        content[last] = value

    return edit


def drop(path: str) -> Edit:
    """Return an edit that removes the key at a dotted path."""
    *parents, last = path.split('.')

    def edit(content: dict[str, Any]) -> None:
        for key in parents:
            content = content[key]
        del content[last]

    return edit


@pytest.mark.parametrize('name', platform_names())
def test_stored_platform_is_read_under_its_own_name(name: str) -> None:
    """Each stored file names itself as its file does, and its sensor has a place."""
    platform = Platform.from_yaml(name)

    assert platform.name == platform.geometry.name == name
    assert platform.imu is not None


def test_units_become_si_and_radians() -> None:
    """Degrees of the file are radians in the dataclass; metres stay."""
    limits = Platform.from_yaml('ps6tl_1500').limits

    np.testing.assert_allclose(limits.pitch, np.radians([-20.2, 20.7]), rtol=1e-15)
    np.testing.assert_allclose(limits.base_joint_angle, np.radians(40.0), rtol=1e-15)
    np.testing.assert_array_equal(limits.stroke, np.tile([0.0, 1.5], (6, 1)))


def test_srs_refuses_masses_and_keeps_its_gravity() -> None:
    """Where no masses are printed there are none; gravity is the paper's, turned into z up."""
    platform = Platform.from_yaml('srs')

    assert platform.masses is None
    np.testing.assert_array_equal(platform.gravity, [0.0, 0.0, -9.80665])


def test_a_platform_feels_the_gravity_of_its_masses() -> None:
    platform = Platform.from_yaml('ex800')
    assert platform.masses is not None
    leaning = replace(platform.masses, gravity=np.array([1.2, -2.1, -9.4]))

    np.testing.assert_array_equal(replace(platform, masses=leaning).gravity, leaning.gravity)


def test_srs_sensor_keeps_the_axes_of_the_paper() -> None:
    """The paper's z-down sensor place comes out of the stored z-up one by the same half turn."""
    imu = Platform.from_yaml('srs').imu

    assert imu is not None
    half_turn = np.diag([1.0, -1.0, -1.0])
    np.testing.assert_allclose(half_turn @ imu.position, [-0.305, 0.0, -0.0105], atol=1e-15)
    np.testing.assert_allclose(imu.rotation, half_turn, atol=1e-15)


def test_masses_are_those_of_the_paper() -> None:
    """EX800: printed masses and moments, the cylinder's corrected."""
    masses = Platform.from_yaml('ex800').masses

    assert masses is not None
    assert masses.payload is None
    assert (masses.platform.mass, masses.cylinder.mass, masses.rod.mass) == (
        6.8369,
        0.3592,
        0.1229,
    )
    np.testing.assert_array_equal(
        masses.platform.inertia, np.diag([41.5850e-3, 41.5850e-3, 82.9623e-3])
    )
    bar = 0.3592 * 0.27**2 / 12.0
    np.testing.assert_allclose(masses.cylinder.inertia[0, 0], bar, rtol=0.04)


@pytest.mark.parametrize(
    ('edit', 'key', 'value'),
    [
        (put('base_joints.ring.radius_m', -0.4), 'base_joints.ring.radius_m', -0.4),
        (put('base_joints.ring.radius_m', 'wide'), 'base_joints.ring.radius_m', 'wide'),
        (put('base_joints.ring.radius_m', '1e9'), 'base_joints.ring.radius_m', '1e9'),
        (put('base_joints.ring.radius_m', True), 'base_joints.ring.radius_m', True),
        (put('base_joints.ring.pair_angle_deg', 130.0), 'base_joints.ring.pair_angle_deg', 130.0),
        (put('base_joints.ring.radius_mm', 470.45), 'base_joints.ring.radius_mm', 470.45),
        (drop('base_joints.ring.height_m'), 'base_joints.ring.height_m', None),
        (put('base_joints', 3), 'base_joints', 3),
        (
            put('platform_joints.points_m', [[0, 0, 0]] * 6),
            'platform_joints',
            ['points_m', 'ring'],
        ),
        (put('pairing', [1, 2, 3, 4, 5, 5]), 'pairing', [1, 2, 3, 4, 5, 5]),
        (put('pairing', [1, 2, 3, 4, 5]), 'pairing', [1, 2, 3, 4, 5]),
        (put('pairing', [1, 2, 3, 4, 5, True]), 'pairing', [1, 2, 3, 4, 5, True]),
        (put('legs.stroke_m', [0.6, 0.0]), 'legs.stroke_m', [0.6, 0.0]),
        (put('legs.stroke_m', [0.0, 0.3, 0.6]), 'legs.stroke_m', [0.0, 0.3, 0.6]),
        (put('legs.rate_mps', 0), 'legs.rate_mps', 0),
        (put('legs.base_joint_angle_deg', 91.0), 'legs.base_joint_angle_deg', 91.0),
        (put('limits.roll_deg', [25.0, -25.0]), 'limits.roll_deg', [25.0, -25.0]),
        (put('limits.condition_number', 0.5), 'limits.condition_number', 0.5),
        (drop('limits.linear_jerk_mps3'), 'limits.linear_jerk_mps3', None),
        (put('limits.linear_snap_mps4', 1.0), 'limits.linear_snap_mps4', 1.0),
        (put('masses.rod.mass_kg', -1.0), 'masses.rod.mass_kg', -1.0),
        (
            put('masses.rod.inertia_kgm2', [1.0, 1.0, 3.0]),
            'masses.rod.inertia_kgm2',
            [1.0, 1.0, 3.0],
        ),
        (
            put('masses.rod.inertia_kgm2', [[2, 1, 0], [0, 2, 0], [0, 0, 2]]),
            'masses.rod.inertia_kgm2',
            [[2, 1, 0], [0, 2, 0], [0, 0, 2]],
        ),
        (drop('masses.cylinder'), 'masses.cylinder', None),
        (put('name', ''), 'name', ''),
        (put('colour', 'blue'), 'colour', 'blue'),
        (drop('sources'), 'sources', None),
    ],
)
def test_wrong_entry_is_named_with_its_value(
    read: Callable[..., Platform], edit: Edit, key: str, value: object
) -> None:
    """The error carries the key path and the value, and says both after the file."""
    with pytest.raises(ConfigurationError) as caught:
        read(edit)

    assert caught.value.key == key
    assert caught.value.value == value
    assert re.match(rf'/.*\.yaml: {re.escape(key)}: expected ', str(caught.value))
    assert str(caught.value).endswith(f', got {"nothing" if value is None else repr(value)}')


def test_a_mistyped_platform_is_answered_with_the_one_that_is_meant() -> None:
    with pytest.raises(ConfigurationError, match=r"did you mean vigo\?\), got 'vigoo'"):
        Platform.from_yaml('vigoo')


@pytest.mark.parametrize('value', [float('nan'), float('inf')])
def test_number_that_is_not_finite_is_refused(read: Callable[..., Platform], value: float) -> None:
    """YAML can say .nan and .inf; a platform cannot."""
    with pytest.raises(ConfigurationError, match=r'zero_pose\.position_m: expected 3 finite'):
        read(put('zero_pose.position_m', [0.0, 0.0, value]))


def test_five_points_of_six_are_refused(read: Callable[..., Platform]) -> None:
    """The count that was found is said."""
    with pytest.raises(ConfigurationError, match='6 rows of 3 numbers, and there are 5'):
        read(put('base_joints', {'points_m': [[0.1, 0.2, 0.3]] * 5}))


def test_point_with_two_coordinates_is_named(read: Callable[..., Platform]) -> None:
    """The row counts from one, as legs do."""
    points = ring_points(0.4, 0.4, 0.1, 0.0).tolist()
    points[3] = [0.1, 0.2]
    with pytest.raises(ConfigurationError, match=r'base_joints\.points_m\[4\]'):
        read(put('base_joints', {'points_m': points}))


def test_key_given_twice_is_refused(tmp_path: Path) -> None:
    """YAML itself would silently keep the last one."""
    path = tmp_path / 'twice.yaml'
    path.write_text(platform_path('vigo').read_text() + '\nname: other\n')

    found = (
        r"twice\.yaml: expected valid YAML, got 'the key name more than once, again in line \d+"
    )
    with pytest.raises(ConfigurationError, match=found):
        Platform.from_yaml(path)


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        (
            'a:\n- {',
            'expected valid YAML, got .did not find expected node content in line 3, column 1',
        ),
        ('- 1\n- 2\n', r'expected a YAML file with keys and values, got \[1, 2\]'),
        ('', 'expected a YAML file with keys and values, got nothing'),
        ('x' * 1000, "expected a YAML file .*, got 'x+\\.\\.\\.x+'$"),
    ],
)
def test_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """Broken YAML and other documents are named, and shown in part where they are long."""
    path = tmp_path / 'broken.yaml'
    path.write_text(text)

    with pytest.raises(ConfigurationError, match=rf'broken\.yaml: {said}'):
        Platform.from_yaml(path)


def test_keys_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """YAML makes a number of 1."""
    path = tmp_path / 'numbered.yaml'
    path.write_text('1: 2\n')

    with pytest.raises(
        ConfigurationError,
        match=r'numbered\.yaml: expected a mapping with text keys, got \{1: 2\}',
    ):
        Platform.from_yaml(path)


def test_missing_file_is_an_os_error(tmp_path: Path) -> None:
    """A path is never taken for a name."""
    with pytest.raises(FileNotFoundError, match=r'absent\.yaml'):
        Platform.from_yaml(tmp_path / 'absent.yaml')


def test_explicit_points_of_a_ring_equal_the_ring(read: Callable[..., Platform]) -> None:
    """Both ways to say where the joints are give the same geometry, pairing included."""
    rng = np.random.default_rng(7)
    for _ in range(10):
        base = (rng.uniform(0.4, 0.6), rng.uniform(5.0, 30.0), rng.uniform(0.0, 0.1), 0.0)
        plate = (rng.uniform(0.2, 0.4), rng.uniform(5.0, 25.0), rng.uniform(-0.1, 0.0), 60.0)
        rings: dict[str, Any] = {}
        points: dict[str, Any] = {}
        for key, (radius, angle, height, offset) in (
            ('base_joints', base),
            ('platform_joints', plate),
        ):
            rings[key] = {
                'ring': {
                    'radius_m': radius,
                    'pair_angle_deg': angle,
                    'height_m': height,
                    'offset_deg': offset,
                }
            }
            table = ring_points(radius, np.radians(angle), height, np.radians(offset))
            points[key] = {'points_m': table.tolist()}
            for joints in (rings, points):
                joints['pairing'] = [6, 1, 2, 3, 4, 5]
        ring = read(lambda content, new=rings: content.update(new)).geometry
        explicit = read(lambda content, new=points: content.update(new)).geometry

        np.testing.assert_allclose(explicit.base_joints, ring.base_joints, atol=1e-15)
        np.testing.assert_allclose(explicit.platform_joints, ring.platform_joints, atol=1e-15)


def test_printed_pairing_of_the_ex800_is_refused(read: Callable[..., Platform]) -> None:
    """Joining B_i to P_i is all but singular everywhere: the error says by how much."""
    with pytest.raises(GeometryError, match=r'condition number is 50\.2 .* length scale 0\.195 m'):
        read(put('pairing', [1, 2, 3, 4, 5, 6]), 'ex800')


def test_geometry_from_yaml_is_that_of_the_platform() -> None:
    """Both readers give the same joints."""
    geometry = Platform.from_yaml('srs').geometry

    np.testing.assert_array_equal(
        geometry.platform_joints, Platform.from_yaml('srs').geometry.platform_joints
    )


def test_base_joint_axes_are_unit_vectors_along_x_by_default(
    read: Callable[..., Platform],
) -> None:
    key = 'legs.base_joint_axis_direction'
    plain, all_alike = Platform.from_yaml('vigo'), read(put(key, [0.0, 3.0, 4.0]))
    rows = [[1.0, 0.0, 0.0]] * 5 + [[0.0, -2.0, 0.0]]

    np.testing.assert_array_equal(plain.base_joint_axes, np.tile([1.0, 0.0, 0.0], (6, 1)))
    np.testing.assert_allclose(all_alike.base_joint_axes, np.tile([0.0, 0.6, 0.8], (6, 1)))
    np.testing.assert_array_equal(
        read(put(key, rows)).base_joint_axes[4:], [[1, 0, 0], [0, -1, 0]]
    )


@pytest.mark.parametrize(('degrees', 'refused'), [(0.0, True), (4.0, True), (6.0, False)])
def test_an_axis_along_its_leg_is_refused(
    degrees: float, refused: bool, read: Callable[..., Platform]
) -> None:
    geometry = Platform.from_yaml('vigo').geometry
    tips = geometry.platform_joints + geometry.neutral_pose.position
    along = (tips - geometry.base_joints)[2]
    beside = np.cross(along, [1.0, 0.0, 0.0])
    beside *= np.tan(np.radians(degrees)) * np.linalg.norm(along) / np.linalg.norm(beside)
    rows = [[1.0, 0.0, 0.0]] * 6
    rows[2] = (along + beside).tolist()
    edit = put('legs.base_joint_axis_direction', rows)

    if refused:
        with pytest.raises(ConfigurationError, match=r'axis_direction: .* of leg 3 it is not'):
            read(edit)
    else:
        read(edit)


@pytest.mark.parametrize('axis', [[0.0, 0.0, 0.0], [1.0, 0.0], [[1.0, 0.0, 0.0]] * 5, 'x'])
def test_what_is_no_axis_is_refused(axis: object, read: Callable[..., Platform]) -> None:
    with pytest.raises(ConfigurationError, match=r'legs\.base_joint_axis_direction'):
        read(put('legs.base_joint_axis_direction', axis))


@pytest.mark.parametrize(
    ('written', 'expected'),
    [
        (f'1{"0" * 400}', 'legs: expected a mapping with text keys, got 1000'),
        (f'0x1{"f" * 4000}', 'more digits than Python writes'),
        (f'1{"0" * 5000}', 'valid YAML, got .Exceeds the limit'),
        ('[' * 3000, 'valid YAML'),
        ('2026-99-99', 'valid YAML'),
    ],
)
def test_what_python_cannot_read_is_refused_by_its_file(
    written: str, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / 'huge.yaml'
    path.write_text(f'legs: {written}\n')

    with pytest.raises(ConfigurationError, match=expected):
        Platform.from_yaml(path)


def test_a_whole_number_too_large_for_a_float_is_refused() -> None:
    for huge in (10**400, 10**5000):
        with pytest.raises(ConfigurationError, match=r'at most 1e\+100, got (1000|.*more digits)'):
            Section({'distance_m': huge}, 'legs').number('distance_m')
