# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The platform of a calibration file changes by --adopt, which keeps the calibration, only."""

from __future__ import annotations

import datetime
from pathlib import Path
from types import ModuleType

import pytest
from stewart_description.paths import platform_path
from stewart_driver.errors import ConfigurationError
from stewart_driver.rig_file import (
    Channel,
    DaqCalibration,
    DriveCalibration,
    DriveIdentity,
    geometry_digest,
    load_rig,
    require_platform_of_the_rig,
    Rig,
    save_rig,
)
from stewart_driver.verbs import calibrate_daq, calibrate_drives
from typed_words import typed

TODAY = datetime.date(2026, 1, 1)
DRIVES = DriveCalibration(
    (1, 2, 3, 4, 5, 6), TODAY, 'zero', (0.0,) * 6, (DriveIdentity(131, 172, 1, 7),) * 6
)
DAQ = DaqCalibration((Channel(0.01, 0.08, 1e-5),) * 6, (), TODAY)
READING = {calibrate_drives: ['--pose', 'zero', '--interface', 'absent'], calibrate_daq: []}
VERBS = pytest.mark.parametrize('verb', [calibrate_drives, calibrate_daq])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / 'calibration.yaml'
    save_rig(path, Rig('vigo', geometry_digest('vigo'), DRIVES, DAQ))
    return path


@pytest.fixture
def calibrated(tmp_path: Path) -> Path:
    """Return a platform file as `stewart calibrate` writes one: a leg is another 0.4 mm long."""
    path, text = tmp_path / 'my_vigo.yaml', platform_path('vigo').read_text()
    before = 'retracted_length_m: 1.19263'
    assert before in text
    path.write_text(text.replace(before, 'retracted_length_m: 1.19303'))
    return path


def run(verb: ModuleType, file: Path, *words: str) -> int:
    return typed(verb, '--rig-file', file, *words)


@VERBS
def test_another_platform_is_refused_before_anything_is_read(
    verb: ModuleType, file: Path, calibrated: Path
) -> None:
    before = file.read_bytes()
    read = ['--table', 'absent.csv'] if verb is calibrate_daq else READING[verb]
    with pytest.raises(ConfigurationError, match=r"--platform: expected 'vigo', .* --adopt"):
        run(verb, file, '--platform', str(calibrated), '--yes', *read)
    assert file.read_bytes() == before


@VERBS
def test_adopting_a_platform_keeps_what_was_calibrated(
    verb: ModuleType,
    file: Path,
    calibrated: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(calibrated.parent)
    with pytest.raises(ConfigurationError, match='--adopt'):
        require_platform_of_the_rig(str(calibrated), str(file))

    assert run(verb, file, '--adopt', 'my_vigo.yaml', '--yes') == 0

    assert load_rig(file) == Rig(str(calibrated), geometry_digest(calibrated), DRIVES, DAQ)
    require_platform_of_the_rig(str(calibrated), str(file))
    said = capsys.readouterr().err
    assert 'lengths of the legs by 0.400 mm' in said
    assert 'joints by 0.000 mm' in said


def test_nothing_is_adopted_without_a_yes(
    file: Path, calibrated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()
    monkeypatch.setattr('sys.stdin.readline', lambda: 'n\n', raising=False)
    assert run(calibrate_drives, file, '--adopt', str(calibrated)) == 1
    assert file.read_bytes() == before


def test_a_new_file_names_its_platform_by_a_path_that_holds_anywhere(
    tmp_path: Path, calibrated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    header = ','.join(
        f'{kind}_{leg}_{unit}'
        for kind, unit in (('input', 'v'), ('stroke', 'm'))
        for leg in range(1, 7)
    )
    lines = [','.join([str(volts)] * 6 + [str(0.01 * volts)] * 6) for volts in (0.0, 1.0, 2.0)]
    Path('points.csv').write_text('\n'.join([header, *lines]) + '\n')
    new = tmp_path / 'new.yaml'
    assert run(calibrate_daq, new, '--platform', 'my_vigo.yaml', '--table', 'points.csv') == 0
    assert load_rig(new).platform == str(calibrated)
