# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is played for which options, and where its configuration is."""

from __future__ import annotations

from math import degrees
from pathlib import Path

import pytest
from stewart_bringup.demo import machine
from stewart_bringup.demo.scenarios import (
    choose,
    REAL_TIME,
    SIMULATED_TIME,
    SIMULATED_WIRES,
    WAVES,
)
from stewart_bringup.errors import BringupError
from stewart_bringup.rigs import available, config_file
from stewart_bringup.verbs import demo
from typed_words import parsed


def names(platform: str | None, wave: str | None) -> list[str]:
    return [item.name for item in choose(platform, wave, 15.0, 1, 'simulated')]


@pytest.mark.parametrize(
    ('platform', 'wave', 'played'),
    [
        (None, None, ['vigo_jonswap', 'vigo_random', 'ex800_eq18', 'ex800_eq18_unaided']),
        ('vigo', None, ['vigo_jonswap', 'vigo_random']),
        ('ex800', None, ['ex800_eq18', 'ex800_eq18_unaided']),
        ('srs', None, ['srs_jonswap']),
        (None, 'eq18', ['ex800_eq18']),
        ('vigo', 'eq18', ['vigo_eq18']),
    ],
)
def test_scenarios_follow_platform_and_wave(
    platform: str | None, wave: str | None, played: list[str]
) -> None:
    assert names(platform, wave) == played


def test_some_waves_go_over_wires_unless_a_back_end_is_asked_for() -> None:
    own = [item.name for item in choose(None, None, 15.0, 1, None)]

    assert own == [
        'vigo_jonswap',
        'ex800_eq18',
        'ex800_eq18_unaided',
        'vigo_ethercat_random',
        'ex800_daq_eq18',
    ]
    assert [item.rig for item in choose('vigo', None, 15.0, 1, 'ethercat')] == [
        'vigo_ethercat'
    ] * 2
    for item in choose(None, None, 15.0, 1, None):
        assert config_file('rig', item.rig).is_file()


def test_what_cannot_be_sent_here_is_played_on_simulated_drives_and_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, 'why_no_frames', lambda: 'the kernel forbids it')
    chosen = choose(None, None, 15.0, 1, None)
    played = machine.playable(chosen)

    assert [item.rig for item in played][3:] == ['vigo', 'ex800_daq']
    assert 'the kernel forbids it' in played[3].fallback
    assert [item.fallback for item in played if item is not played[3]] == [''] * 4
    monkeypatch.setattr(machine, 'why_no_frames', lambda: '')
    assert machine.playable(chosen) == chosen


def test_seed_goes_only_to_what_is_drawn_at_random() -> None:
    jonswap, random, *_ = choose(None, None, 15.0, 7, 'simulated')

    assert jonswap.overrides()['ocean_trajectory'] == {'seed': 7}
    assert 'ocean_trajectory' not in random.overrides()


def test_the_second_run_is_shorter_and_without_feed_forward() -> None:
    aided, unaided = choose('ex800', None, 15.0, 1, 'simulated')

    assert 'feed_forward' not in aided.overrides()
    assert unaided.overrides()['feed_forward'] == {'enabled': False}
    assert unaided.duration < aided.duration


def test_what_runs_against_the_real_clock_is_shorter_and_may_come_late() -> None:
    chosen = choose(None, None, None, 1, None)

    assert [item.duration for item in chosen] == [15.0, 6.0, 6.0, 8.0, 8.0]
    assert [item.bounds.real_time for item in chosen] == [False] * 3 + [True] * 2


def test_time_is_each_scenarios_own_unless_it_is_asked_for() -> None:
    for time, expected in (('simulated', {True}), ('real', {False}), (None, {True, False})):
        assert {item.simulated for item in choose(None, None, 3.0, 1, None, time)} == expected


def test_coarse_encoders_widen_what_has_to_hold() -> None:
    (coarse,) = choose('sg90_rotary', None, None, 0, 'simulated')
    assert coarse.bounds.latency == SIMULATED_TIME.latency
    # Half a step of 1.5 mrad of one crank turns the plate by 0.169 mrad.
    assert coarse.bounds.path_rotation == pytest.approx(2e-4 + 6 * 1.69e-4, rel=0.01)
    (fine, *_) = choose('vigo', None, None, 0, 'simulated')
    assert fine.bounds is SIMULATED_TIME


def test_the_readme_has_the_bounds() -> None:
    text = (Path(__file__).parents[1] / 'README.md').read_text(encoding='utf-8')
    for bounds in (REAL_TIME, SIMULATED_TIME):
        path = f'{1e3 * bounds.path_position:g} mm, {degrees(bounds.path_rotation):.3g}°'
        share = f'{100 * bounds.least_rate_share:g} % of ' if bounds.least_rate_share < 1 else ''
        assert f'| {path} | {share}{bounds.rate:g} Hz | {1e3 * bounds.latency:g} ms' in text
    assert f'behind wires {1e3 * SIMULATED_WIRES.latency:g} ms' in text


def test_every_wave_and_its_platform_have_a_configuration() -> None:
    for wave in WAVES.values():
        assert config_file('wave', wave.name).is_file()
        assert config_file('rig', wave.platform).is_file()
    assert set(available('wave')) == set(WAVES)


def test_unknown_rig_is_named_with_what_there_is() -> None:
    with pytest.raises(
        BringupError, match=r"'rig mars'.* ex800, .*ps6tl_1500, sg90_rotary, srs, vigo"
    ):
        config_file('rig', 'mars')


def test_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        config_file('rig', str(tmp_path / 'my_rig.yaml'))

    assert caught.value.filename == str(tmp_path / 'my_rig.yaml')


def test_own_file_is_taken(tmp_path: Path) -> None:
    mine = tmp_path / 'my_rig.yaml'
    mine.write_text('/**: {ros__parameters: {platform: vigo}}\n')

    assert config_file('rig', str(mine)) == mine


@pytest.mark.parametrize(
    'wrong',
    [['--duration', '0'], ['--duration', 'nan'], ['--seed', '-1'], ['--wave', 'tsunami']],
)
def test_wrong_option_is_a_usage_error(wrong: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        parsed(demo, *wrong)
    assert stop.value.code == 2
