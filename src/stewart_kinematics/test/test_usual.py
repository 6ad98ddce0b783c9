# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Values in another unit than their key says are asked about, each in a sentence of its own."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
import re
from typing import Any

import pytest
from stewart_description import platform_names
from stewart_kinematics.limits.usual import unusual
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.ring_dimensions import document, RingDimensions
from stewart_kinematics.model.schema import Section
from stewart_kinematics.verbs import platform as platform_verb
from typed_words import typed
import yaml

BODY = {'centre_of_mass_m': [0.0, 0.0, 0.0], 'inertia_kgm2': [0.01, 0.01, 0.01]}
SMALL = document(RingDimensions('small', 0.2, 0.15, 20.0, 20.0, 0.25, 0.1)) | {
    'masses': {
        'gravity_mps2': [0.0, 0.0, -9.80665],
        'platform': BODY | {'mass_kg': 3.0},
        'payload': BODY | {'mass_kg': 1.0},
        'cylinder': BODY | {'mass_kg': 0.3},
        'rod': BODY | {'mass_kg': 0.1},
    },
    'imu': {'position_m': [0.03, 0.0, 0.02], 'rpy_deg': [0.0, 0.0, 90.0]},
}


def content(changes: dict[str, object]) -> dict[str, Any]:
    """Return the small platform with other values, by the dotted paths of their keys."""
    result = deepcopy(SMALL)
    for path, value in changes.items():
        *folders, key = path.split('.')
        section: Any = result
        for folder in folders:
            section = section[folder]
        assert key in section
        section[key] = value
    return result


def found(changes: dict[str, object]) -> list[str]:
    return unusual(Platform.from_section(Section(content(changes), '')))


@pytest.mark.parametrize('name', platform_names())
def test_what_is_usual_is_asked_about_nowhere(name: str) -> None:
    assert unusual(Platform.from_yaml(name)) == []
    assert found({}) == []


@pytest.mark.parametrize(
    ('path', 'value', 'said'),
    [
        ('imu.position_m', [30.0, 0.0, 20.0], 'imu.position_m is 36.06 m, usual are 0 to 0.45 m'),
        ('masses.platform.mass_kg', 3000.0, 'platform.mass_kg is 3000 kg, usual are 0.0191 to '),
        ('masses.platform', BODY | {'mass_kg': 0.01, 'inertia_kgm2': [0, 0, 0]}, 'is 0.01 kg'),
        (
            'masses.payload.mass_kg',
            1000.0,
            'payload.mass_kg is 1000 kg, usual are 0 to 113 kg',
        ),
        ('masses.rod.mass_kg', 100.0, 'rod.mass_kg is 100 kg, usual are 0 to 10.8 kg'),
        ('masses.platform.centre_of_mass_m', [0.0, 0.0, 5.0], 'platform.centre_of_mass_m is 5 m'),
        (
            'masses.cylinder.centre_of_mass_m',
            [0.0, 0.0, 100.0],
            'cylinder.centre_of_mass_m is 100',
        ),
        ('masses.platform.inertia_kgm2', [1e4, 1e4, 1e4], 'platform.inertia_kgm2 is 57.74 m'),
        ('masses.gravity_mps2', [0.0, 0.0, -9806.65], 'gravity is 9807 m/s2, usual are 0 to 30'),
        ('legs.rate_mps', 200.0, 'legs.rate_mps is 200 m/s, usual are 0.0001 to 2 m/s'),
        ('legs.acceleration_mps2', 2000.0, 'legs.acceleration_mps2 is 2000 m/s2'),
        ('legs.stroke_m', [0.0, 1.0], 'the end of legs.stroke_m is 1 m, usual are 0 to 0.75 m'),
        (
            'legs.base_joint_angle_deg',
            0.785,
            'base_joint_angle_deg is 0.785 deg, usual are 1.57 to',
        ),
        ('limits.linear_velocity_mps', 200.0, 'limits.linear_velocity_mps is 200 m/s'),
        (
            'limits.linear_acceleration_mps2',
            2000.0,
            'limits.linear_acceleration_mps2 is 2000 m/s2',
        ),
        ('limits.angular_velocity_radps', 76.4, 'angular_velocity_radps is 76.4 rad/s, usual are'),
        ('limits.roll_deg', [-0.5, 0.5], 'half the range of limits.roll_deg is 0.5 deg'),
    ],
)
def test_a_value_in_another_unit_is_asked_about(path: str, value: object, said: str) -> None:
    (sentence,) = found({path: value})
    assert said in sentence
    assert re.search(r' is \S+ (\S+), usual .* circle of 0\.15 m: is it in \1\?$', sentence)


@pytest.mark.parametrize('ring', ['base_joints', 'platform_joints'])
def test_a_pair_s_angle_in_radians_is_asked_about(ring: str) -> None:
    (sentence,) = found({f'{ring}.ring.pair_angle_deg': 1.7453})
    assert f'neighbours of {ring} is 1.745 deg, usual are 2.09 to 120 deg' in sentence
    # Legs that share their joints are none that nearly do.
    assert found({f'{ring}.ring.pair_angle_deg': 0.0}) == []


def test_a_machine_in_millimetres_is_asked_about() -> None:
    def scaled(value: Any, of_length: bool = False) -> Any:
        if isinstance(value, dict):
            return {key: scaled(item, key.endswith('_m')) for key, item in value.items()}
        if isinstance(value, list):
            return [scaled(item, of_length) for item in value]
        return 1e3 * value if of_length and not isinstance(value, str) else value

    sentences = unusual(Platform.from_section(Section(scaled(SMALL), '')))
    assert 'radius of platform_joints is 150 m, usual are 0.005 to 6 m' in sentences[0]


def test_check_tells_all_of_them_though_the_platform_may_not_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {'imu.position_m': [0.0, 0.0, 20.0], 'masses.platform.mass_kg': 3000.0}
    file = tmp_path / 'wrong.yaml'
    file.write_text(yaml.safe_dump(content({**wrong, 'legs.distance_m': 0.07})))

    assert typed(platform_verb, 'check', str(file)) == 1

    said = capsys.readouterr().err
    parts = 'imu.position_m is 20 m', 'mass_kg is 3000 kg', 'may not rest', 'assumed, not known'
    assert [part for part in parts if part not in said] == []
