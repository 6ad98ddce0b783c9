# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A machine is driven by the geometry that it was calibrated with, or not at all."""

from __future__ import annotations

from pathlib import Path

from loopback import LoopbackBackend, LoopbackOptions
import pytest
from stewart_description.paths import platform_path
from stewart_driver.errors import ConfigurationError
from stewart_driver.nodes.driver_parameters import DriverParameters
from stewart_driver.rig_file import geometry_digest, leg_ends, Rig, save_rig


def backend(rig_file: Path, *, metal: bool = False) -> LoopbackBackend:
    found = LoopbackBackend(LoopbackOptions(cycle_time=0.004))
    found.rig_file, found.simulated = str(rig_file), not metal
    return found


@pytest.fixture
def rig_file(tmp_path: Path) -> Path:
    path = tmp_path / 'rig.yaml'
    save_rig(path, Rig('vigo', geometry=geometry_digest('vigo')))
    return path


def test_the_platform_of_the_rig_is_accepted(rig_file: Path) -> None:
    DriverParameters(platform='vigo').configuration(backend(rig_file))


def test_a_rig_file_of_another_platform_is_refused(rig_file: Path) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"platform: expected 'vigo', .* got 'ps6tl_1500'",
    ):
        DriverParameters(platform='ps6tl_1500').configuration(backend(rig_file))


def test_a_platform_of_another_name_and_the_same_geometry_is_accepted(
    rig_file: Path, tmp_path: Path
) -> None:
    identified = tmp_path / 'parameters.yaml'
    text = platform_path('vigo').read_text()
    identified.write_text(text.replace('mass_kg: 50.0', 'mass_kg: 60.0'))
    DriverParameters(platform=str(identified)).configuration(backend(rig_file))


def test_names_are_compared_where_the_geometry_was_never_written(tmp_path: Path) -> None:
    path = tmp_path / 'calibration.yaml'
    save_rig(path, Rig('vigo'))
    DriverParameters(platform='vigo').configuration(backend(path))
    with pytest.raises(ConfigurationError, match="expected 'vigo'"):
        DriverParameters(platform='ps6tl_1500').configuration(backend(path))


def test_metal_is_not_moved_where_nobody_says_which_platform_it_is(rig_file: Path) -> None:
    with pytest.raises(ConfigurationError, match="expected 'vigo'"):
        DriverParameters().configuration(backend(rig_file, metal=True))
    DriverParameters().configuration(backend(rig_file))


@pytest.mark.parametrize(
    ('before', 'after', 'refused'),
    [
        ('radius_m: 0.47045', 'radius_m: 0.57045', True),
        ('retracted_length_m: 1.19263', 'retracted_length_m: 1.2', True),
        ('mass_kg: 50.0', 'mass_kg: 60.0', False),
    ],
)
def test_a_geometry_edited_since_the_calibration_is_refused(
    rig_file: Path, tmp_path: Path, before: str, after: str, refused: bool
) -> None:
    text = platform_path('vigo').read_text()
    assert before in text
    edited = tmp_path / 'vigo.yaml'
    edited.write_text(text.replace(before, after))

    chosen = DriverParameters(platform=str(edited))
    if refused:
        with pytest.raises(ConfigurationError, match='another one at the last calibration'):
            chosen.configuration(backend(rig_file))
    else:
        chosen.configuration(backend(rig_file))


def test_a_platform_that_there_is_not_is_named(rig_file: Path) -> None:
    with pytest.raises(ConfigurationError, match='a platform that there is'):
        geometry_digest('vogi')


def test_legs_end_where_those_of_the_platform_end(rig_file: Path, tmp_path: Path) -> None:
    """Drives for 0.6 m on legs of 0.1 m: a jog went on into the end of the cylinder."""
    short = tmp_path / 'short.yaml'
    short.write_text(platform_path('vigo').read_text().replace('[0.0, 0.6]', '[0.02, 0.1]'))
    drives = backend(rig_file)
    drives.rig_file = ''

    limits = DriverParameters(platform=str(short)).configuration(drives).limits
    assert limits.stroke_lower.tolist() == [0.02] * 6
    assert limits.stroke_upper.tolist() == [0.1] * 6
    assert DriverParameters(platform='ps6tl_1500').configuration(drives).limits.stroke_upper[0] < 1
    with pytest.raises(ConfigurationError, match='park_strokes'):
        DriverParameters(platform=str(short), park_strokes=(0.2,) * 6).configuration(drives)

    short.write_text(short.read_text().replace('[0.02, 0.1]', '[0.7, 0.8]'))
    with pytest.raises(ConfigurationError, match='stroke_upper'):
        DriverParameters(platform=str(short)).configuration(drives)


def test_the_ends_of_cranks_are_angles() -> None:
    assert leg_ends('sg90_rotary') == pytest.approx((-1.396263, 1.396263))
    assert leg_ends('hexaglide_3d_mec') == (0.6, 1.6)


@pytest.mark.parametrize(
    ('text', 'key'), [('stroke_m: 0.6', 'legs.stroke_m'), ('rate_mps: 1.0', 'platform')]
)
def test_a_platform_without_ends_of_its_legs_is_refused(
    tmp_path: Path, text: str, key: str
) -> None:
    odd = tmp_path / 'odd.yaml'
    odd.write_text(f'legs: {{{text}}}\n')
    with pytest.raises(ConfigurationError, match=f'^{key}: expected'):
        leg_ends(odd)
