# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of `stewart estimate` and `stewart consistency`: bags, CSV files, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import recorded_bags
from recorded_bags import LATE, Spoil, UNKNOWN
from srs_simulated import SimulatedRun
from stewart_description import platform_path
from stewart_estimation.results import COLUMNS, NIS
from stewart_estimation.verbs.measurements import ANGULAR_VELOCITY, SPECIFIC_FORCE
from stewart_kinematics.motion_csv import read_motion
from stewart_tables import page as pages
from stewart_tables.columns import ACCELERATION, POSE, TIME, TWIST
from stewart_tables.csv_tables import read_table, write_table
from typed_verbs import NOISE, simulated_run, stewart, write_tables
import yaml


@pytest.fixture(scope='module')
def run() -> SimulatedRun:
    return simulated_run()


@pytest.fixture(scope='module')
def write_bag(run, tmp_path_factory) -> Callable[..., str]:
    """Write the run as a bag, spoilt as the test wants it."""

    def write(spoil: Spoil = lambda item: item, **options: Any) -> str:
        return recorded_bags.write_bag(
            run, tmp_path_factory.mktemp('bags') / 'run', spoil, **options
        )

    return write


@pytest.fixture(scope='module')
def bag(write_bag) -> str:
    return write_bag()


@pytest.fixture(scope='module')
def tables(run, tmp_path_factory) -> tuple[Path, Path]:
    """Write the run as two CSV files."""
    return write_tables(run, tmp_path_factory.mktemp('tables'))


def as_estimated(path: Path, run: SimulatedRun) -> SimpleNamespace:
    """Return a result file's errors against the truth, by column group."""
    table = read_table(
        path, [name for name in COLUMNS if name != NIS and 'innovation' not in name]
    )
    truth = {
        'position': (POSE[:3], run.truth.position),
        'velocity': (TWIST[:3], run.truth.linear_velocity),
        'rate': (TWIST[3:], run.truth.angular_velocity),
        'acceleration': (ACCELERATION[:3], run.truth.linear_acceleration),
        'angular_acceleration': (ACCELERATION[3:], run.truth.angular_acceleration),
    }
    return SimpleNamespace(
        table=table,
        **{name: table.take(columns) - value for name, (columns, value) in truth.items()},
    )


def rms(values, rows=slice(300, None)) -> float:
    return float(np.sqrt(np.mean(values[rows] ** 2)))


def test_a_bag_is_estimated_and_the_table_is_the_truth_within_its_sigmas(
    bag, run, tmp_path, capsys
) -> None:
    target = tmp_path / 'motion.csv'
    assert (
        stewart(['estimate', bag, '--platform', 'srs', *NOISE, '--json', '-o', str(target)]) == 0
    )
    said = json.loads(capsys.readouterr().out)
    assert said['leg_samples'] == len(run.legs)
    assert said['imu_samples'] == len(run.imu)
    assert said['mean_nis'] == pytest.approx(6.0, abs=0.6)
    assert said['consistent']
    np.testing.assert_allclose(
        said['gyroscope_bias_radps'], run.errors.gyroscope_bias, atol=1.5e-5
    )
    found = as_estimated(target, run)
    assert rms(found.position) < 5e-6
    assert rms(found.velocity) < 7e-5
    assert rms(found.rate) < 2.2e-4
    assert rms(found.acceleration) < 1e-2
    assert rms(found.angular_acceleration) < 1e-2
    sigmas = found.table.take([f'sigma_{name}' for name in POSE[:3]])
    assert 0.9 < np.mean(np.abs(found.position) < 2.0 * sigmas) < 0.99
    innovations = np.genfromtxt(target, delimiter=',', names=True)
    assert np.nanmean(innovations[NIS]) == pytest.approx(6.0, abs=0.6)
    share = np.abs(innovations['innovation_3_m']) < 2.0 * innovations['sigma_innovation_3_m']
    assert 0.92 < share.mean() < 0.98
    # What identification reads: pose, twist and acceleration as one motion.
    motion = read_motion(target).sample(5.0)
    np.testing.assert_allclose(motion.position, found.table.take(POSE[:3])[500], atol=1e-4)


def test_csv_files_give_what_the_bag_gives(bag, tables, run, tmp_path, capsys) -> None:
    imu, legs = map(str, tables)
    one, other = tmp_path / 'bag.csv', tmp_path / 'tables.csv'
    common = ['--platform', 'srs', *NOISE]
    assert stewart(['estimate', bag, *common, '-o', str(one)]) == 0
    assert stewart(['estimate', '--imu', imu, '--legs', legs, *common, '-o', str(other)]) == 0
    assert 'consistent: yes' in capsys.readouterr().out
    first, second = (read_table(path, (TIME, *POSE)).take(POSE) for path in (one, other))
    np.testing.assert_allclose(first, second, atol=2e-9)
    # Bags count from their beginning, as `stewart bag --csv` does; files keep their times.
    np.testing.assert_allclose(read_table(other, [TIME]).take([TIME])[:, 0], run.legs.stamps)


def test_explicit_joints_and_smoothing(tables, run, tmp_path, capsys) -> None:
    content = yaml.safe_load(Path(platform_path('srs')).read_text('utf-8'))
    geometry = run.platform.geometry
    for name, points in (
        ('base_joints', geometry.base_joints),
        ('platform_joints', geometry.platform_joints),
    ):
        content[name] = {'points_m': points.tolist()}
        content['sources'] = {
            key: value for key, value in content['sources'].items() if not key.startswith(name)
        } | {name: 'measured'}
    own = tmp_path / 'own.yaml'
    own.write_text(yaml.safe_dump(content), encoding='utf-8')
    imu, legs = map(str, tables)
    target = tmp_path / 'smooth.csv'
    arguments = ['estimate', '--imu', imu, '--legs', legs, '--platform', str(own), *NOISE]
    assert stewart([*arguments, '--smooth', '-o', str(target)]) == 0
    assert 'smoothed: yes' in capsys.readouterr().out
    found = as_estimated(target, run)
    assert rms(found.position) < 2.5e-6
    assert rms(found.velocity) < 6e-5


def test_consistency_is_found_and_written_as_one_page(bag, tmp_path, capsys) -> None:
    target = tmp_path / 'page.html'
    arguments = ['consistency', bag, '--platform', 'srs', *NOISE, '--page', str(target)]
    assert stewart(arguments) == 0
    assert 'consistent, 1599 rows, mean NIS' in capsys.readouterr().out
    page = target.read_text('utf-8')
    assert page.count('</svg>') == 3
    assert not re.search(r'(src|href)="(?!#)', page)
    assert 'every test held' in page


@pytest.mark.parametrize(
    ('noise', 'broken'),
    [
        (['--imu-sigma', '7e-4', '1.7e-4', '--leg-sigma', '5e-6'], {'mean NIS', 'inside 2 sigma'}),
        pytest.param(
            ['--imu-sigma', '2e-4', '3e-5', '--leg-sigma', '1e-5'],
            {'lag-1 correlation'},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ['--imu-sigma', '7e-4', '1.7e-4', '--leg-sigma', '3e-5'],
            {'mean NIS', 'inside 2 sigma'},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ['--imu-sigma', '7e-2', '1.7e-2', '--leg-sigma', '1e-5'],
            {'mean NIS'},
            marks=pytest.mark.slow,
        ),
    ],
    ids=['legs too sure', 'IMU too sure', 'legs too unsure', 'IMU too unsure'],
)
def test_an_ill_tuned_filter_is_found_out(bag, noise, broken, capsys) -> None:
    assert stewart(['consistency', bag, '--platform', 'srs', *noise, '--json']) == 1
    said = json.loads(capsys.readouterr().out)
    assert not said['consistent']
    assert broken <= {item['name'] for item in said['verdicts'] if not item['held']}
    assert all(item['hint'] for item in said['verdicts'] if not item['held'])


def test_each_leg_may_have_a_noise_of_its_own(bag, capsys) -> None:
    told = ['estimate', bag, '--platform', 'srs', *NOISE[:3], '--json', '--leg-sigma']
    found = []
    for sigmas in (['1e-5'], ['1e-5'] * 6, ['1e-5', '1e-5', '1e-4', '1e-5', '1e-5', '1e-5']):
        assert stewart([*told, *sigmas]) == 0
        found.append(json.loads(capsys.readouterr().out)['mean_nis'])
    assert found[0] == found[1]
    # The third leg has a tenth of the noise that is said, and counts for nothing.
    assert found[2] == pytest.approx(5.0, abs=0.6)
    assert stewart([*told, '1e-5', '1e-5']) == 1
    assert '--leg-sigma: expected one number, or six' in capsys.readouterr().err


def test_noise_is_measured_at_rest(bag, capsys) -> None:
    # MP2 fades in over ten seconds; in its first third of a second nothing moves by 1 µm.
    arguments = ['estimate', bag, '--platform', 'srs', '--noise-from-rest', '0.35', '--json']
    assert stewart(arguments) == 0
    assert json.loads(capsys.readouterr().out)['mean_nis'] == pytest.approx(6.0, abs=2.5)
    arguments[5] = '1000'
    assert stewart(arguments) == 1
    assert 'rest: expected no more than the recording has, ' in capsys.readouterr().err


def test_stated_covariances_count_and_zeros_are_unknown(write_bag, bag, capsys) -> None:
    stated = write_bag(covariance=(np.eye(3).ravel() * 49e-8, np.eye(3).ravel() * 2.9e-8))
    found = []
    for path in (stated, bag):
        arguments = ['estimate', path, '--platform', 'srs', '--leg-sigma', '1e-5', '--json']
        assert stewart(arguments) == 0
        found.append(json.loads(capsys.readouterr().out)['mean_nis'])
    # Assumed are 0.02 m/s² and 1e-3 rad/s, much more than what is stated.
    assert found[0] == pytest.approx(6.0, abs=0.6)
    assert found[1] < 5.8


def without_leg_3(item: Any) -> Any:
    if item.topic == '/actuator_states' and item.number >= 400:
        item.message.name = [name for name in item.message.name if name != 'leg_3']
        item.message.position = np.delete(item.message.position, 2)
    return item


def with_nan(item: Any) -> Any:
    if item.topic == '/imu/data' and item.number == 600:
        item.message.linear_acceleration.y = float('nan')
    return item


def backwards(item: Any) -> Any:
    if item.topic == '/actuator_states' and item.number == 801:
        # Received after the one that follows it.
        item.late = 15_000_000
    return item


@pytest.mark.parametrize(
    ('spoil', 'words'),
    [
        (without_leg_3, r'/actuator_states: message \d+, \d+\.\d+ s .* has no stroke of leg 3'),
        (with_nan, r'/imu/data: message 301, 2\.99\d+ s .* no linear acceleration y \(got nan\)'),
        (backwards, r'/actuator_states: message 402 is stamped \d+ ns, not later than the one'),
    ],
    ids=['leg missing', 'NaN', 'unordered'],
)
def test_a_bag_with_gaps_is_refused_in_a_sentence_or_taken_leniently(
    write_bag, spoil, words, capsys
) -> None:
    path = write_bag(spoil)
    assert stewart(['estimate', path, '--platform', 'srs', *NOISE]) == 1
    said = capsys.readouterr().err
    assert re.search(words, said), said
    assert said.count('\n') == 1
    assert stewart(['estimate', path, '--platform', 'srs', *NOISE, '--lenient', '--json']) == 0
    assert json.loads(capsys.readouterr().out)['mean_nis'] == pytest.approx(6.0, abs=0.7)


def test_fields_and_topics_that_are_not_there_are_named(write_bag, capsys) -> None:
    silent = write_bag(covariance=([-1.0, *[0.0] * 8], UNKNOWN))
    assert stewart(['estimate', silent, '--platform', 'srs']) == 1
    assert '/imu/data has no linear acceleration' in capsys.readouterr().err
    legless = write_bag(only='imu')
    assert stewart(['estimate', legless, '--platform', 'srs']) == 1
    assert 'no topic actuator_states, there are /imu/data' in capsys.readouterr().err


@pytest.mark.parametrize('options', [[], ['--lenient']])
def test_a_bag_that_nobody_stamped_is_refused(write_bag, options, capsys) -> None:
    def unstamped(item: Any) -> Any:
        item.message.header.stamp.sec = item.message.header.stamp.nanosec = 0
        return item

    assert stewart(['estimate', write_bag(unstamped), '--platform', 'srs', *options]) == 1
    assert 'all stamps of /imu/data are zero' in capsys.readouterr().err


def edited(source: Path, target: Path, line: int, change: Callable[[list[str]], list[str]]) -> str:
    lines = source.read_text().splitlines()
    lines[line - 1] = ','.join(change(lines[line - 1].split(',')))
    target.write_text('\n'.join(lines) + '\n')
    return str(target)


def test_lost_values_and_unordered_rows_of_a_table_are_taken_leniently(
    tables, tmp_path, capsys
) -> None:
    imu = edited(tables[0], tmp_path / 'imu.csv', 300, lambda row: [row[0], 'nan', *row[2:]])
    legs = edited(tables[1], tmp_path / 'legs.csv', 301, lambda row: [*row[:3], '', *row[4:]])
    lines = Path(legs).read_text().splitlines(keepends=True)
    lines[400:402] = lines[401], lines[400]
    Path(legs).write_text(''.join(lines))
    words = ['estimate', '--imu', imu, '--legs', legs, '--platform', 'srs', *NOISE]
    assert stewart(words) == 1
    assert 'imu.csv:300' in capsys.readouterr().err
    assert stewart([*words, '--lenient', '--json']) == 0
    assert json.loads(capsys.readouterr().out)['mean_nis'] == pytest.approx(6.0, abs=0.7)
    letters = edited(tables[0], tmp_path / 'imu.csv', 300, lambda row: [row[0], 'x', *row[2:]])
    assert stewart([*words[:2], letters, *words[3:], '--lenient']) == 1
    assert 'imu.csv:300' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('which', 'line', 'change', 'words'),
    [
        ('imu', 30, lambda c: [*c[:2], 'nan', *c[3:]], r'bad\.csv:30: fy_mps2.*finite number'),
        ('imu', 1, lambda c: [*c[:-1], 'r_degps'], r'bad\.csv:1: .*the columns r_radps as well'),
        ('legs', 40, lambda c: ['0.1', *c[1:]], r'bad\.csv:40: time_s.*later than 0\.373 s'),
        ('legs', 1, lambda c: [*c[:4], 'leg_9_m', *c[5:]], r'bad\.csv:1: .*leg_4_m as well'),
        ('legs', 50, lambda c: c[:-1], r'bad\.csv:50: expected 7 cells, got 6'),
        ('legs', 60, lambda c: [*c[:3], '-2.7', *c[4:]], r'bad\.csv:60: leg_3_m.*longer than 0'),
        ('legs', 1, lambda c: [c[0], *[f'{n}_x' for n in c[1:]]], r'leg_1_m \.\.\. or stroke_1_m'),
    ],
    ids=['NaN', 'wrong column', 'unordered', 'leg missing', 'cells', 'negative', 'neither'],
)
def test_a_wrong_table_is_refused_by_its_line(
    tables, tmp_path, which, line, change, words, capsys
) -> None:
    files = dict(zip(('imu', 'legs'), tables, strict=True))
    files[which] = edited(files[which], tmp_path / 'bad.csv', line, change)
    arguments = ['--imu', str(files['imu']), '--legs', str(files['legs']), '--platform', 'srs']
    assert stewart(['estimate', *arguments]) == 1
    said = capsys.readouterr().err
    assert re.search(words, said), said
    assert said.count('\n') == 1


def test_inputs_that_do_not_belong_together_are_refused(bag, tables, tmp_path, capsys) -> None:
    imu, legs = map(str, tables)
    for arguments in ([], ['--imu', imu], [bag, '--imu', imu, '--legs', legs]):
        assert stewart(['estimate', *arguments]) == 1
        assert 'either a BAG or both --imu FILE and --legs FILE' in capsys.readouterr().err
    table = read_table(imu, (TIME, *SPECIFIC_FORCE, *ANGULAR_VELOCITY))
    later = np.column_stack(list(table.values.values()))
    later[:, 0] += 100.0
    write_table(tmp_path / 'later.csv', list(table.values), later)
    arguments = ['--imu', str(tmp_path / 'later.csv'), '--legs', legs, '--platform', 'srs']
    assert stewart(['estimate', *arguments]) == 1
    assert 'no time in common: IMU 100 to 116 s, legs 0.003' in capsys.readouterr().err


def test_recorded_poses_of_a_tracker_are_used(bag, write_bag, capsys) -> None:
    path = write_bag(tracker='PoseWithCovarianceStamped')
    words = ['--platform', 'srs', *NOISE, '--json']
    assert stewart(['estimate', path, *words]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said['consistent']
    assert said['external_poses'] > 250
    assert said['external_poses_refused'] == 0
    assert abs(said['external_delay_s'] - LATE) < 4.0 * said['external_delay_sigma_s'] < 5e-3
    for without in ([bag], [path, '--no-external-pose']):
        assert stewart(['estimate', *without, *words]) == 0
        said = json.loads(capsys.readouterr().out)
        assert 'external_poses' not in said
        assert 'external_poses_recorded' not in said


@pytest.mark.parametrize(
    ('late', 'sigma', 'advised'),
    [
        pytest.param(
            *(0.0, '8e-5', r'--leg-sigma (9\.\de-06|1(\.[01])?e-05)'),
            id='noise',
            marks=pytest.mark.slow,
        ),
        pytest.param(2e-3, '1e-5', '--delay', id='delay'),
    ],
)
def test_what_consistency_advises_makes_the_recording_consistent(
    tables, late, sigma, advised, tmp_path, capsys, monkeypatch
) -> None:
    # They take longest, and test_consistency_is_found_and_written_as_one_page draws them.
    monkeypatch.setattr(pages, 'drawing', lambda *_, **__: '')
    imu, legs = tables
    table = read_table(imu, (TIME, *SPECIFIC_FORCE, *ANGULAR_VELOCITY))
    rows = np.column_stack(list(table.values.values()))[:800]
    rows[:, 0] += late
    write_table(tmp_path / 'imu.csv', list(table.values), rows)
    short = tmp_path / 'legs.csv'
    short.write_text(''.join(legs.read_text('utf-8').splitlines(keepends=True)[:800]), 'utf-8')
    files = ['--imu', str(tmp_path / 'imu.csv'), '--legs', str(short), '--platform', 'srs']
    command = ['consistency', *files, *NOISE[:-1], sigma]
    target = tmp_path / 'page.html'
    assert stewart([*command, '--json', '--page', str(target)]) == 1
    said = json.loads(capsys.readouterr().out)
    words = said['advice']['options']
    assert re.fullmatch(advised, ' '.join(words))
    assert said['advice']['consistent']
    page = target.read_text('utf-8')
    assert f'Add {" ".join(words)} to the command' in page

    assert stewart([*command, *words]) == 0
    assert 'tried' not in capsys.readouterr().out
    # The summary of the estimates does not leave one alone with "no" either.
    assert stewart(['estimate', *command[1:]]) == 0
    assert 'stewart consistency with the same arguments' in capsys.readouterr().out
