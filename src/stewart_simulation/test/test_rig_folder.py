# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig removes its own files from a folder, and nobody else's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from stewart_simulation.errors import RigError
from stewart_simulation.rig import directory as places
from stewart_simulation.rig.launcher import RigProcess
from stewart_simulation.rig.settings import RigSettings

CARD_ONLY = RigSettings(platform='ex800', ethercat=False, imu=False, moved_by='card')


@pytest.mark.parametrize('name', places.NAMES)
def test_a_folder_with_a_file_of_somebody_else_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('of a real machine')

    with pytest.raises(RigError, match=f'{name} is not of a virtual rig'):
        places.claim(tmp_path)

    assert (tmp_path / name).read_text() == 'of a real machine'
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_a_rig_that_was_refused_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    (tmp_path / places.RIG_FILE).write_text('of a real machine')

    with pytest.raises(RigError, match=r'calibration.yaml is not of a virtual rig'):
        RigProcess(CARD_ONLY, tmp_path)

    assert (tmp_path / places.RIG_FILE).read_text() == 'of a real machine'


def test_what_a_killed_rig_has_left_is_removed(tmp_path: Path) -> None:
    places.claim(tmp_path)
    for name in places.NAMES:
        (tmp_path / name).touch()
    (tmp_path / 'notes').touch()

    places.claim(tmp_path)

    assert {entry.name for entry in tmp_path.iterdir()} == {places.MARK, 'notes'}


def test_only_the_rig_that_has_claimed_a_folder_sweeps_it(tmp_path: Path) -> None:
    folder = tmp_path / 'd'
    places.claim(folder)
    (folder / places.TRUTH).touch()

    places.sweep(folder, os.getppid())
    assert (folder / places.TRUTH).exists()
    places.sweep(folder, os.getpid())
    assert not folder.exists()
    places.sweep(folder, os.getpid())
