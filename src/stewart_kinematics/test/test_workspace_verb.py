# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart workspace`` prints ranges, writes positions and draws a picture."""

from __future__ import annotations

import csv
from functools import partial
import json
from pathlib import Path

import numpy as np
import pytest
from stewart_kinematics.errors import ConfigurationError, MotionRefused
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion
from stewart_kinematics.verbs import workspace
from stewart_tables import progress
from typed_words import typed

run = partial(typed, workspace)


def test_table_shows_ranges_and_what_stops(capsys: pytest.CaptureFixture[str]) -> None:
    assert run('--platform', 'vigo') == 0
    lines = capsys.readouterr().out.splitlines()

    assert 'z 1674.0 mm' in lines[0]
    heave = next(line.split() for line in lines if line.startswith('z '))
    assert heave[:6] == ['z', '-310.33', '302.95', 'mm', 'stroke', 'of']
    assert [line.split()[0] for line in lines[2:]] == ['x', 'y', 'z', 'roll', 'pitch', 'yaw']
    assert lines[-1].split() == ['yaw', '-30.00', '30.00', 'deg', 'yaw', 'yaw']


def test_json_holds_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run('--platform', 'vigo', '--at', 'zero', '--json') == 0
    result = json.loads(capsys.readouterr().out)
    z = result['ranges'][2]

    assert result['pose'] == {'position_m': [0.0, 0.0, 1.374], 'rpy_deg': [0.0, 0.0, 0.0]}
    assert (z['axis'], z['unit']) == ('z', 'mm')
    assert z['lower'] == pytest.approx(-10.33, abs=5e-3)
    assert z['stopped_below_by'].startswith('stroke of leg ')
    assert 'volume_m3' not in result


def test_pose_on_the_command_line_is_absolute(capsys: pytest.CaptureFixture[str]) -> None:
    words = ['0.05', '0', '1.6', '0', '0', '10']
    assert run('--platform', 'vigo', '--json', '--pose', *words) == 0
    result = json.loads(capsys.readouterr().out)

    assert result['pose']['rpy_deg'] == pytest.approx([0.0, 0.0, 10.0])
    assert result['ranges'][5]['upper'] == pytest.approx(20.0, abs=1e-6)


def test_csv_holds_allowed_poses_that_fill_the_volume(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / 'positions.csv'
    assert run('--platform', 'srs', '--csv', str(file), '--cells', '12', '--json') == 0
    result = json.loads(capsys.readouterr().out)
    with file.open(newline='') as stream:
        rows = list(csv.DictReader(stream))
    table = np.array([[float(row[key]) for key in workspace.COLUMNS] for row in rows])

    cells = len(rows) * np.prod(result['cell_m'])
    assert result['volume_m3'] == pytest.approx(cells, rel=1e-12)
    motion = Motion(table[:, :3], table[:, 3:7])
    assert MotionGuard(Platform.from_yaml('srs')).allowed(motion).all()


def test_csv_on_standard_output_keeps_the_table_off_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run('--platform', 'ex800', '--csv', '-', '--cells', '4') == 0
    captured = capsys.readouterr()

    assert captured.out.splitlines()[0] == ','.join(workspace.COLUMNS)
    assert all(len(line.split(',')) == 8 for line in captured.out.splitlines())
    assert 'volume with this attitude' in captured.err


@pytest.mark.parametrize(
    ('suffix', 'magic'),
    [pytest.param('.png', b'\x89PNG', marks=pytest.mark.slow), ('.svg', b'<?xml')],
)
def test_picture_is_written_in_the_format_of_its_suffix(
    suffix: str, magic: bytes, tmp_path: Path
) -> None:
    file = tmp_path / f'workspace{suffix}'
    assert run('--platform', 'ex800', '--plot', str(file), '--cells', '8') == 0

    assert file.read_bytes().startswith(magic)


def test_progress_is_shown_to_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run('--platform', 'ex800', '--volume', '--cells', '4') == 0
    assert capsys.readouterr().err == ''
    monkeypatch.setattr(progress, 'PATIENCE', 0.0)
    monkeypatch.setattr('sys.stderr.isatty', lambda: True)
    assert run('--platform', 'ex800', '--volume', '--cells', '4') == 0

    assert 'volume' in capsys.readouterr().err


def test_unknown_kind_of_picture_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        run('--platform', 'vigo', '--plot', str(tmp_path / 'a.xyz'))
    assert stop.value.code == 2
    assert 'expected a file ending in .pdf, .png, .svg, got' in capsys.readouterr().err


def test_what_cannot_be_is_an_error_of_ours() -> None:
    with pytest.raises(MotionRefused, match='stroke'):
        run('--platform', 'vigo', '--pose', '0', '0', '0', '0', '0', '0')
    with pytest.raises(ConfigurationError, match=r'--pose: expected six numbers from -1e\+100'):
        run('--platform', 'vigo', '--pose', 'nan', '0', '0', '0', '0', '0')
    with pytest.raises(SystemExit, match='2'):
        run('--platform', 'vigo', '--volume', '--cells', '100000')


def test_file_that_cannot_be_written_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match='2'):
        run('--platform', 'vigo', '--csv', str(tmp_path / 'no' / 'a.csv'))
    assert 'there is no folder' in capsys.readouterr().err
