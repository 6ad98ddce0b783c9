# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A recording of another platform is called that, whether the platform was named or assumed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import recorded_bags
from srs_simulated import SimulatedRun
from stewart_tables.columns import STROKE, TIME
from stewart_tables.csv_tables import write_table
from typed_verbs import NOISE, simulated_run, stewart, write_tables


@pytest.fixture(scope='module')
def run() -> SimulatedRun:
    return simulated_run()


@pytest.fixture(scope='module')
def bag(run, tmp_path_factory) -> str:
    """Write what was recorded without a pose."""
    return recorded_bags.write_bag(run, tmp_path_factory.mktemp('bags') / 'run')


@pytest.fixture(scope='module')
def posed(run, tmp_path_factory) -> str:
    """Write what the rig said of its poses, too."""

    def told(item: Any) -> Any:
        if item.topic == '/platform/external_pose':
            item.topic = '/platform/pose'
        return item

    folder = tmp_path_factory.mktemp('bags')
    return recorded_bags.write_bag(run, folder / 'run', told, tracker='PoseStamped')


@pytest.mark.parametrize('verb', ['estimate', 'consistency'])
@pytest.mark.parametrize(
    ('words', 'said'),
    [
        ([], 'ex800, assumed for no --platform was given, does not fit: strokes from 0.'),
        (['--platform', 'vigo'], '--platform vigo does not fit: strokes from 0.'),
    ],
    ids=['assumed', 'named'],
)
def test_legs_outside_the_limits_are_those_of_another_platform(
    verb, words, said, bag, tmp_path, capsys
) -> None:
    target = tmp_path / 'motion.csv'
    words = [*words, *(['-o', str(target)] if verb == 'estimate' else [])]
    assert stewart([verb, bag, *words]) == 1
    told = capsys.readouterr().err
    assert said in told
    assert 'they fit ps6tl_1500, srs?' in told
    assert told.count('\n') == 1
    assert not target.exists()


def test_lengths_and_strokes_of_tables_are_told_apart(run, tmp_path, capsys) -> None:
    imu, legs = write_tables(run, tmp_path)
    words = ['estimate', '--imu', str(imu), '--legs', str(legs)]
    assert stewart(words) == 1
    told = capsys.readouterr().err
    assert 'lengths from 2.' in told
    assert 'outside [0.245, 0.405] m of ex800' in told
    assert told.endswith('they fit ps6tl_1500, srs?\n')
    strokes = run.legs.lengths - run.platform.geometry.retracted_length
    write_table(legs, (TIME, *STROKE), np.column_stack([run.legs.stamps, strokes]))
    assert stewart(words) == 1
    assert 'outside [0, 0.16] m of ex800' in capsys.readouterr().err


def test_legs_that_no_platform_has_are_refused_though_it_was_named(run, tmp_path, capsys) -> None:
    imu, legs = write_tables(run, tmp_path)
    lengths = np.column_stack([run.legs.stamps, 1e3 * run.legs.lengths])
    write_table(legs, (TIME, *(f'leg_{leg}_m' for leg in range(1, 7))), lengths)
    words = ['estimate', '--imu', str(imu), '--legs', str(legs), '--platform', 'srs']
    assert stewart(words) == 1
    told = capsys.readouterr().err
    assert '--platform srs does not fit: lengths from ' in told
    assert told.endswith('or not in m?\n')


def test_recorded_poses_say_which_platform_it_is(posed, capsys) -> None:
    assert stewart(['estimate', posed]) == 1
    told = capsys.readouterr().err
    assert 'ex800, assumed for no --platform was given, does not fit: its strokes and ' in told
    assert told.endswith('mm, for ex800 less than 5 mm; they fit srs\n')
    assert stewart(['estimate', posed, '--platform', 'srs', *NOISE]) == 0
    assert capsys.readouterr().err == ''


def test_a_platform_that_was_named_counts_while_the_legs_are_within_its_limits(
    posed, tmp_path, capsys
) -> None:
    target = tmp_path / 'motion.csv'
    stewart(['estimate', posed, '--platform', 'ps6tl_1500', '-o', str(target)])
    told = capsys.readouterr().err
    assert 'warning: ' in told
    assert 'run: --platform ps6tl_1500 does not fit: its strokes and its poses differ by' in told
    assert target.exists()


@pytest.mark.parametrize('words', [[], ['--platform', 'srs']], ids=['assumed', 'named'])
def test_what_fails_on_a_platform_that_nobody_named_is_not_written(
    words, run, tmp_path, monkeypatch, capsys
) -> None:
    """The legs of a small motion may fit several platforms."""
    monkeypatch.setattr('stewart_estimation.verbs.right_platform.ASSUMED', 'srs')
    imu, legs = write_tables(simulated_run(imu_delay=0.05), tmp_path)
    target = tmp_path / 'motion.csv'
    command = ['estimate', '--imu', str(imu), '--legs', str(legs), *NOISE, '-o', str(target)]
    assert stewart([*command, *words]) == 1
    told = capsys.readouterr().err
    assert 'or the platform be another one (--platform)' in told
    assumed = 'FAILED: srs was assumed, for no --platform was given, and ' in told
    assert assumed == ('no estimates are written' in told) == (not words)
    assert target.exists() == bool(words)
