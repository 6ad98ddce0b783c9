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
from stewart_driver.rig_file import geometry_digest, Rig, save_rig


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
