# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the verb ``stewart trajectory``."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from stewart_kinematics.errors import ConfigurationError, TrajectoryError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion_csv import read_motion
from stewart_kinematics.nodes.parameters import OceanTrajectoryParameters
from stewart_kinematics.trajectories import Sampled
from stewart_kinematics.verbs import trajectory as verb
from stewart_tables import progress
from typed_words import typed

_call = partial(typed, verb)
VIGO = Platform.from_yaml('vigo')
NEUTRAL = VIGO.geometry.neutral_pose


def _made(tmp_path: Path, *words: str) -> Sampled:
    path = tmp_path / 'motion.csv'
    assert _call(*words, '-o', str(path)) == 0
    return read_motion(path)


@pytest.mark.parametrize(
    'words',
    [
        ('cycloidal', '--to', '0.05', '0', '1.7', '0', '5', '10', '--duration', '2'),
        ('ocean', '--seed', '3', '--duration', '8'),
        ('ocean', '--scaling', 'froude', '--hs', '0.5', '--tp', '6', '--duration', '8'),
        ('ocean', '--spectrum', 'pierson_moskowitz'),
        ('circle', '--radius', '0.08', '--period', '-4'),
        ('multisine', '--motion', 'ex800_wave', '--platform', 'ex800'),
    ],
)
def test_written_motion_is_allowed_rests_at_both_ends_and_reads_back(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    sampled = _made(tmp_path, *words)
    platform = Platform.from_yaml('ex800') if 'ex800' in words else VIGO
    motion = sampled.sample(np.linspace(0.0, sampled.duration, 400))
    MotionGuard(platform).check(motion)
    np.testing.assert_allclose(motion[0].twist, 0.0, atol=1e-10)
    np.testing.assert_allclose(motion[-1].twist, 0.0, atol=1e-10)
    assert np.abs(motion.twist).max() > 0.01


def test_duration_and_rate_are_what_was_asked_for(tmp_path: Path) -> None:
    sampled = _made(tmp_path, 'circle', '--duration', '6', '--rate', '50')
    np.testing.assert_allclose(sampled.time, np.arange(301) / 50.0, atol=1e-12)


def test_fastest_move_ends_at_its_target(tmp_path: Path) -> None:
    words = ('--to', '0', '0', '0.1', '0', '0', '10', '--relative-to', 'neutral')
    sampled = _made(tmp_path, 'cycloidal', *words)
    np.testing.assert_allclose(
        sampled.position[-1], NEUTRAL.position + np.array([0, 0, 0.1]), atol=1e-12
    )
    np.testing.assert_allclose(sampled.acceleration[-1], 0.0, atol=1e-12)
    assert sampled.duration < 1.0


def test_poses_count_from_the_reference(tmp_path: Path) -> None:
    words = ('cycloidal', '--from', '0', '0', '0.2', '0', '0', '0', '--to', '0', '0', '0.3', '0')
    sampled = _made(tmp_path, *words, '0', '0', '--relative-to', 'zero')
    np.testing.assert_allclose(sampled.position[[0, -1], 2], [1.574, 1.674], atol=1e-12)


def test_given_waves_replace_the_spectrum(tmp_path: Path) -> None:
    words = ('--component', '0.02', '3', '14', '0', '--component', '0.01', '2', '6', '45')
    sampled = _made(tmp_path, 'ocean', *words, '--scaling', 'none', '--fade', '0')
    height = 0.02 * np.exp(2 * np.pi / 14 * 0.02)
    eta = 0.01 * np.cos(np.pi / 4)
    height += eta * np.exp(2 * np.pi / 6 * eta)
    assert sampled.position[0, 2] == pytest.approx(NEUTRAL.position[2] + height, abs=1e-11)


def test_sea_is_the_one_that_its_node_plays(tmp_path: Path) -> None:
    sampled = _made(tmp_path, 'ocean', '--hs', '0.8', '--duration', '8')
    node = OceanTrajectoryParameters(significant_height=0.8, duration=8.0)
    guard = MotionGuard(VIGO)
    wave, centre, _ = node.motion(guard)
    played = node.faded(wave, centre, guard).sample(sampled.time)
    np.testing.assert_allclose(sampled.position, played.position, atol=1e-11)


def test_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    texts = []
    for seed in ('5', '5', '6'):
        path = tmp_path / f'{len(texts)}.csv'
        _call('ocean', '--seed', seed, '--duration', '5', '-o', str(path))
        texts.append(path.read_text(encoding='utf-8'))
    assert texts[0] == texts[1] != texts[2]


def test_motion_the_platform_may_not_do_is_refused_with_its_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'motion.csv'
    words = ('ocean', '--scaling', 'none', '--hs', '2', '--tp', '7', '-o', str(path))
    with pytest.raises(
        TrajectoryError, match=r'after \d+\.\d+ s .* at sample \d+ is .* allowed (are|is)'
    ):
        _call(*words)
    assert not path.exists()
    assert _call(*words, '--force') == 0
    assert 'leaves what vigo may do: after' in capsys.readouterr().err
    assert path.exists()


def test_too_short_a_move_names_the_shortest() -> None:
    with pytest.raises(TrajectoryError, match=r'needs at least \d\.\d{4} s'):
        _call('cycloidal', '--to', '0', '0', '1.8', '0', '0', '0', '--duration', '0.1')


@pytest.mark.parametrize(
    ('kind', 'option', 'value', 'expected'),
    [
        ('circle', '--period', '0', 'a number other than 0'),
        ('circle', '--period', '1e101', 'a number other than 0'),
        ('circle', '--rate', '0', 'a number above 0'),
        ('circle', '--duration', '-1', 'a number above 0'),
        ('circle', '--fade', 'nan', 'a number not below 0'),
        ('circle', '--radius', '1e101', 'a number above 0'),
        ('ocean', '--seed', '-1', 'an integer of at least 0'),
        ('ocean', '--waves', '1001', 'an integer from 1 to 1000'),
        ('ocean', '--hs', '31', 'a decimal number from 0.001 to 30'),
    ],
)
def test_numbers_that_make_no_motion_are_usage_errors(
    kind: str, option: str, value: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match='2'):
        _call(kind, option, value)
    assert f"{option}: expected {expected}, got '{value}'" in capsys.readouterr().err


def test_samples_go_to_standard_output_and_words_to_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _call('circle', '--duration', '5', '--rate', '20') == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0].startswith('time_s,x_m,y_m,z_m,qx,qy,qz,qw,vx_base_mps,')
    assert len(lines) == 102
    assert captured.err == '101 samples, 5 s\n'


def test_recorded_poses_are_resampled_and_faded(tmp_path: Path) -> None:
    recorded = tmp_path / 'recorded.csv'
    assert _call('circle', '--duration', '6', '--rate', '20', '-o', str(recorded)) == 0
    again = _made(tmp_path, 'sampled', '--motion', str(recorded), '--rate', '200')
    circle = read_motion(recorded)
    assert again.time.size == 1201
    np.testing.assert_allclose(again.position[::10], circle.position, atol=1e-11)
    assert circle.twist is not None
    assert again.twist is not None
    np.testing.assert_allclose(again.twist[::10], circle.twist, atol=1e-11)
    faded = _made(tmp_path, 'sampled', '--motion', str(recorded), '--fade', '1', '--duration', '4')
    assert faded.duration == pytest.approx(4.0)
    np.testing.assert_allclose(faded.position[-1], circle.position[0], atol=1e-11)


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (('circle', '--duration', '1e9'), r'are 1e\+11 samples, allowed are at most 5e\+06'),
        (('cycloidal', '--to', '0', '0', '1.7', '0', '0', '0', '--duration', '1e9'), 'at most'),
        # Before the sea is fitted, which would take hours.
        (('ocean', '--duration', '1e7'), r'are 1e\+09 samples, allowed are at most 5e\+06'),
    ],
)
def test_absurd_numbers_are_refused_in_one_sentence(words: tuple[str, ...], message: str) -> None:
    with pytest.raises((ConfigurationError, TrajectoryError), match=message):
        _call(*words)


def test_fitting_a_sea_shows_progress_to_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _call('ocean', '--duration', '5', '--rate', '20') == 0
    assert 'fitting the sea' not in capsys.readouterr().err
    monkeypatch.setattr(progress, 'PATIENCE', 0.0)
    monkeypatch.setattr('sys.stderr.isatty', lambda: True)
    assert _call('ocean', '--duration', '5', '--rate', '20') == 0
    assert 'fitting the sea' in capsys.readouterr().err


def test_picture_is_written(tmp_path: Path) -> None:
    path = tmp_path / 'motion.png'
    _made(tmp_path, 'circle', '--duration', '5', '--rate', '20', '--plot', str(path))
    assert path.read_bytes().startswith(b'\x89PNG')


def test_kind_is_needed() -> None:
    with pytest.raises(SystemExit) as stop:
        _call()
    assert stop.value.code == 2


def test_what_happens_between_the_samples_is_checked_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once a period, at its turning point, a sine of 0.75 m/s stands still."""
    sine = f'amplitude: 0.12, angular_frequency_radps: {2.0 * np.pi}, phase_rad: {0.5 * np.pi}'
    motion, path = tmp_path / 'sine.yaml', tmp_path / 'motion.csv'
    motion.write_text(f'title: a sine\nsource: test\nsequence: ZXY\nz_m: [{{{sine}}}]\n')
    words = 'multisine', '--motion', str(motion), '--fade', '0', '--duration', '4', '--rate', '1'
    with pytest.raises(TrajectoryError, match=r'after 0\.\d+ s linear velocity is 0\.[67]'):
        _call(*words, '-o', str(path))
    assert not path.exists()
    assert _call(*words, '--force', '-o', str(path)) == 0
    assert 'leaves what vigo may do' in capsys.readouterr().err
