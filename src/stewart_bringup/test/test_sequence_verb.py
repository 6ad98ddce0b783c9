# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A file of waypoints, planned without a rig."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from stewart_bringup import main as command
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion_csv import read_motion

# A verb is found among the entry points of the installed packages.
pytestmark = pytest.mark.installed

FILE = """relative_to: neutral
dwell_s: 0.5
waypoints:
  - {name: up, position_m: [0, 0, 0.05], rpy_deg: [0, 0, 0]}
  - {pose: neutral}
"""


def ask(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    found = command.main(['sequence', *words])
    said = capsys.readouterr()
    assert found == code, said.err
    return said.err if code else said.out


def test_check_tells_when_each_waypoint_is_reached(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'cell.yaml'
    path.write_text(FILE)
    lines = ask(capsys, str(path), '--check', '--platform', 'ex800').splitlines()

    assert len(lines) == 2
    assert lines[0].startswith('1 up: after ')
    assert 'x 0.0, y 0.0, z 325.0 mm' in lines[0]
    assert lines[1].startswith('2 neutral: after ')


@pytest.mark.parametrize('words', [(), ('--teach',)])
def test_a_file_of_something_else_is_refused_before_a_rig_is_waited_for(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    monkeypatch.setattr('stewart_bringup.verbs.sequence.on_the_graph', pytest.fail)
    path = tmp_path / 'wave.csv'
    path.write_text('time_s,x_m\n')
    assert 'wave.csv: expected a YAML file with keys' in ask(capsys, str(path), *words, code=1)


def test_the_samples_keep_every_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, table = tmp_path / 'cell.yaml', tmp_path / 'cell.csv'
    path.write_text(FILE)
    ask(capsys, str(path), '-o', str(table), '--repeat', '2', '--rate', '50')
    motion, guard = read_motion(table), MotionGuard(Platform.from_yaml('vigo'))
    time = np.arange(0.0, motion.duration, 0.02)

    samples = motion.sample(time)
    guard.check(samples)
    assert np.ptp(samples.position[:, 2]) == pytest.approx(0.05, abs=1e-9)
    peaks = samples.position[:, 2] > samples.position[:, 2].max() - 1e-9
    assert np.sum(np.diff(peaks.astype(int)) == 1) == 2


@pytest.mark.parametrize(
    ('text', 'words', 'sentence'),
    [
        (FILE.replace('0.05', '5'), ('--check',), 'waypoint 1 (up) is out of reach: stroke of'),
        (
            FILE.replace('pose:', 'pos:'),
            ('--check',),
            'waypoints[2].pos: expected a key that',
        ),
        (FILE, ('--check', '--repeat', '5000'), 'may be visited 1 to 1000 times'),
        (FILE, ('--check', '--name', 'x'), '--name is for --teach'),
        (FILE, ('--platform', 'ex800'), 'a rig says which platform it is'),
    ],
)
def test_what_cannot_be_is_one_sentence(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    words: tuple[str, ...],
    sentence: str,
) -> None:
    path = tmp_path / 'cell.yaml'
    path.write_text(text)
    said = ask(capsys, str(path), *words, code=1)

    assert sentence in said
    assert said.count('\n') == 1
