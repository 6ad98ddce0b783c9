# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The data files are found wherever the package was put."""

from __future__ import annotations

import os
from pathlib import Path
import shutil
import subprocess
import sys

import pytest
from stewart_description import (
    platform_path,
    rviz_path,
    UnknownPlatformError,
    urdf_path,
)
import yaml

SOURCES = Path(__file__).parents[1]
PACKAGE = SOURCES / 'stewart_description'
DATA = ('platforms', 'rviz', 'urdf')


def share(prefix: Path) -> Path:
    """Install the data files under a prefix, as data_files does, and return the directory."""
    target = prefix / 'share' / 'stewart_description'
    for name in DATA:
        shutil.copytree(SOURCES / name, target / name)
    return target


def found_by(package_parent: Path, ament_prefix_path: str = '') -> Path:
    """Return where a fresh interpreter finds vigo with the package of a directory."""
    code = 'import stewart_description as d; print(d.platform_path("vigo"))'
    environment = {
        **os.environ,
        'PYTHONPATH': str(package_parent),
        'AMENT_PREFIX_PATH': ament_prefix_path,
    }
    run = subprocess.run(
        [sys.executable, '-c', code],
        env=environment,
        cwd=package_parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(run.stdout.strip())


def test_source_tree() -> None:
    assert platform_path('vigo') == SOURCES / 'platforms' / 'vigo.yaml'
    assert urdf_path().is_file()
    assert rviz_path().is_file()


@pytest.mark.parametrize(
    'site', ['lib/python3.11/site-packages', 'local/lib/python3.12/dist-packages', '.']
)
def test_prefix_of_pip_or_colcon(site: str, tmp_path: Path) -> None:
    """The share folder beside the module is found without any environment variable."""
    parent = tmp_path / 'prefix' / site
    shutil.copytree(PACKAGE, parent / 'stewart_description')
    data = share(tmp_path / 'prefix')

    assert found_by(parent.resolve()) == data.resolve() / 'platforms' / 'vigo.yaml'


def test_symlink_install_reads_the_sources(tmp_path: Path) -> None:
    """With --symlink-install colcon links the package into its build folder."""
    build = tmp_path / 'build' / 'stewart_description'
    build.mkdir(parents=True)
    (build / 'stewart_description').symlink_to(PACKAGE)

    assert found_by(build) == SOURCES / 'platforms' / 'vigo.yaml'


def test_ament_prefix_path_is_the_last_resort(tmp_path: Path) -> None:
    """A module without data beside it asks ament; one with data does not."""
    shutil.copytree(PACKAGE, tmp_path / 'alone' / 'stewart_description')
    data = share(tmp_path / 'underlay')
    prefixes = os.pathsep.join([str(tmp_path / 'empty'), str(tmp_path / 'underlay')])
    assert found_by(tmp_path / 'alone', prefixes) == data / 'platforms' / 'vigo.yaml'

    shutil.copytree(PACKAGE, tmp_path / 'overlay' / 'site' / 'stewart_description')
    own = share(tmp_path / 'overlay')
    assert found_by(tmp_path / 'overlay' / 'site', prefixes) == own / 'platforms' / 'vigo.yaml'


def test_missing_data_is_said(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / 'stewart_description')
    with pytest.raises(subprocess.CalledProcessError) as caught:
        found_by(tmp_path)

    assert 'the data files of stewart_description are neither' in caught.value.stderr


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        UnknownPlatformError, match="'hexapod': known are ex800, hexaglide_3d_mec, "
    ):
        platform_path('hexapod')


def test_path_is_taken_as_it_is(tmp_path: Path) -> None:
    """A suffix, a directory part or a Path object makes a path of it."""
    file = tmp_path / 'mine.yaml'
    file.write_text('name: mine\n')

    assert platform_path(str(file)) == platform_path(file) == file
    for missing in ('vigo.yaml', './vigo', Path('vigo')):
        with pytest.raises(FileNotFoundError, match=f'no platform file at {Path.cwd()}/'):
            platform_path(missing)


def test_rviz_shows_the_topics_and_frames_of_the_design() -> None:
    manager = yaml.safe_load(rviz_path().read_text())['Visualization Manager']
    topics = {
        display.get('Topic', display.get('Description Topic', {})).get('Value')
        for display in manager['Displays']
    }

    assert topics >= {'robot_description', 'platform/pose', 'platform/odometry'}
    assert manager['Global Options']['Fixed Frame'] == 'base_link'
