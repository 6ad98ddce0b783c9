# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The joints of simulated machines are found from poses, and the intervals are honest."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
import json
from pathlib import Path

from machines_made import EXACT, measured, NOISE, wrong
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import binom
from stewart_identification.calibration.fit import calibrate
from stewart_identification.calibration.machine import (
    LENGTH,
    Machine,
    RATE_SCALE,
    SIZE,
)
from stewart_identification.calibration.observations import (
    FORCES,
    Observations,
    RATES,
    read_observations,
    TURNS,
)
from stewart_identification.calibration.planning import allowed_poses, best_poses
from stewart_identification.calibration.prediction import (
    by_accelerometer,
    by_gyroscope,
    by_tracker,
)
from stewart_identification.calibration.verdict import accuracy, coordinates, remarks
from stewart_identification.errors import ConfigurationError, FitError, NotIdentifiable
from stewart_identification.verbs import calibrate as verb
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.solvers.forward import forward
from stewart_tables.columns import POSE, RATE, RPY, STROKE
from stewart_tables.csv_tables import write_table
from typed_words import typed
import yaml

run = partial(typed, verb)


@pytest.fixture(scope='module')
def forty(vigo: Platform) -> tuple[np.ndarray, np.ndarray]:
    return best_poses(vigo, 40, np.random.default_rng(1))


@pytest.mark.parametrize('instrument', [by_tracker, by_accelerometer, by_gyroscope])
def test_jacobians_are_those_of_finite_differences(instrument, vigo, forty) -> None:
    rng = np.random.default_rng(2)
    machine, rates = wrong(vigo, rng), rng.normal(0.0, 0.1, (40, 6))
    seen = measured(machine, forty, rng, EXACT, felt=True, rates=rates)

    def residual(step: np.ndarray) -> np.ndarray:
        moved = machine.moved(step)
        poses = moved.poses(seen, forty)
        return instrument(moved, seen, poses, NOISE).residual

    poses = machine.poses(seen, forty)
    jacobian = instrument(machine, seen, poses, NOISE).jacobian[:, :, :SIZE]
    small = 1e-5 * np.eye(SIZE)
    differences = np.stack([(residual(s) - residual(-s)) / 2e-5 for s in small], axis=-1)
    assert np.abs(differences - jacobian).max() < 1e-7 * np.abs(jacobian).max()


def test_a_machine_is_found_exactly_where_nothing_is_noisy(vigo, forty) -> None:
    rng = np.random.default_rng(3)
    machine = wrong(vigo, rng)
    found = calibrate(vigo, measured(machine, forty, rng, EXACT))

    # What the prior still pulls, against a tracker of 30 µm.
    assert np.abs(found.machine.base - machine.base).max() < 3e-5
    assert np.abs(found.machine.platform - machine.platform).max() < 3e-5
    assert np.abs(found.machine.length - machine.length).max() < 3e-5
    off = accuracy(found.machine, measured(machine, forty, rng, EXACT))
    assert off.position.max() < 3e-6


@pytest.mark.parametrize('machines', [10, pytest.param(100, marks=pytest.mark.slow)])
def test_machines_are_known_as_well_as_the_tracker_sees(machines, vigo, forty) -> None:
    there = allowed_poses(vigo, 200, np.random.default_rng(4))
    before, after, angle, inside, told = [], [], [], [], []
    for seed in range(machines):
        rng = np.random.default_rng(100 + seed)
        machine = wrong(vigo, rng)
        found = calibrate(vigo, measured(machine, forty, rng))
        exact = measured(machine, there, rng, EXACT)
        before.append(accuracy(found.described, exact).position)
        now = accuracy(found.machine, exact)
        after.append(now.position)
        angle.append(now.attitude)
        true = [machine.base.ravel(), machine.platform.ravel(), machine.length]
        have = [found.machine.base.ravel(), found.machine.platform.ravel(), found.machine.length]
        error = np.concatenate(have) - np.concatenate(true)
        inside.append(np.abs(error) < 1.96 * found.deviations(np.eye(SIZE)[: LENGTH.stop]))
        told.append(found.misfit)

    def rms(values: list[np.ndarray]) -> np.ndarray:
        return np.sqrt(np.mean(np.square(values), axis=0))

    print(
        f'\nbefore {1e3 * rms(before).mean():.3f} mm; after, worst of 200 poses: '
        f'{1e6 * rms(after).max():.1f} um, {1e6 * rms(angle).max():.1f} urad, worst of all '
        f'{1e6 * np.max(after):.1f} um, {1e6 * np.max(angle):.1f} urad; coverage '
        f'{np.mean(inside):.4f}'
    )
    assert rms(before).mean() > 0.5e-3
    assert rms(after).max() < 3.0 * NOISE.position
    assert rms(angle).max() < 3.0 * NOISE.attitude
    # Each coordinate for itself, 42 of them: none outside the band that chance leaves to all.
    low, high = binom.interval(1.0 - 0.05 / LENGTH.stop, machines, 0.95)
    counts = np.sum(inside, axis=0)
    assert counts.min() >= low
    assert counts.max() <= high
    assert binom.cdf(np.sum(np.array(told) < 0.05), machines, 0.05) < 0.999


def test_noise_larger_than_stated_is_noticed_and_widens_what_is_told_and_written(
    vigo, forty, tmp_path, capsys
) -> None:
    rng = np.random.default_rng(5)
    seen = measured(wrong(vigo, rng), forty, rng, replace(NOISE, position=90e-6))
    found = calibrate(vigo, seen)

    assert found.misfit < 1e-3
    assert found.excess > 2.0
    target = tmp_path / 'mine.yaml'
    assert run(table(tmp_path / 'poses.csv', seen), '-o', target, '--json') == 1
    said = json.loads(capsys.readouterr().out)
    text = f'the residuals are {found.excess:.3g} times what the stated noise leaves, and all int'
    assert any(remark.startswith(text) for remark in said['remarks'])
    written = yaml.safe_load(target.read_text('utf-8'))['calibration']['coordinates']
    row = np.eye(SIZE)[0] @ found.directions
    wide = found.excess * np.sqrt(row @ found.covariance @ row)
    assert said['coordinates'][0]['deviation'] == pytest.approx(wide, rel=1e-9)
    for item in said['coordinates']:
        deviation = written[item['name']]['standard_deviation_m']
        assert deviation == pytest.approx(item['deviation'], rel=1e-2)


def test_an_imu_alone_shows_little_and_says_so(vigo) -> None:
    rng = np.random.default_rng(6)
    poses = allowed_poses(vigo, 60, rng)
    machine = wrong(vigo, rng)
    found = calibrate(vigo, measured(machine, poses, rng, tracked=False, felt=True))

    assert sum(not item.shown for item in coordinates(found)) > 12
    assert any('hardly better known' in remark for remark in remarks(found))
    # What it shows it shows honestly: mounting and tilt.
    wanted = machine.mounting @ found.machine.mounting.T
    assert Rotation.from_matrix(wanted).magnitude() < 2e-3
    tilted = (found.machine.gravity - machine.gravity) / np.linalg.norm(machine.gravity)
    assert np.abs(tilted).max() < 2e-3


def test_turns_show_the_scale_of_the_gyroscope(vigo) -> None:
    rng = np.random.default_rng(7)
    poses = allowed_poses(vigo, 60, rng)
    machine = wrong(vigo, rng)
    rates = rng.normal(0.0, 0.1, (60, 6))
    found = calibrate(vigo, measured(machine, poses, rng, rates=rates))

    sigma = found.deviations(np.eye(SIZE)[[RATE_SCALE]])[0]
    assert sigma < 1e-3
    assert abs(found.machine.scales[1] - machine.scales[1]) < 4.0 * sigma


def test_poses_that_are_planned_tell_more_than_any(vigo, forty) -> None:
    rng = np.random.default_rng(8)
    machine = wrong(vigo, rng)
    planned = calibrate(vigo, measured(machine, forty, rng))
    chance = calibrate(vigo, measured(machine, allowed_poses(vigo, 40, rng), rng))

    sizes = [np.linalg.slogdet(each.covariance)[1] for each in (planned, chance)]
    assert sizes[0] < sizes[1] - 10.0


def test_two_poses_or_none_that_turn_place_no_tracker(vigo, forty) -> None:
    rng = np.random.default_rng(9)
    machine = wrong(vigo, rng)
    with pytest.raises(NotIdentifiable, match='2 poses do not place the tracker'):
        calibrate(vigo, measured(machine, forty, rng)[[0, 1]])
    neutral = vigo.geometry.neutral_pose
    shifts = neutral.position + rng.uniform(-0.05, 0.05, (20, 3))
    level = np.tile(np.eye(3), (20, 1, 1))
    with pytest.raises(NotIdentifiable, match='turned'):
        calibrate(vigo, measured(machine, (shifts, level), rng))


def table(path: Path, seen: Observations) -> Path:
    quaternion = Rotation.from_matrix(seen.rotation).as_quat()
    values = np.hstack([seen.strokes, seen.position, quaternion])
    write_table(path, (*STROKE, *POSE), values)
    return path


def test_verb_writes_a_platform_that_kinematics_take(vigo, forty, tmp_path, capsys) -> None:
    rng = np.random.default_rng(10)
    machine = wrong(vigo, rng)
    poses = table(tmp_path / 'poses.csv', measured(machine, forty, rng))
    others = measured(machine, allowed_poses(vigo, 20, rng), rng)
    check = table(tmp_path / 'check.csv', others)
    target, picture = tmp_path / 'mine.yaml', tmp_path / 'picture.svg'

    assert run(poses, '--validate', check, '-o', target, '--plot', picture, '--json') == 0

    said = capsys.readouterr()
    assert len(json.loads(said.out)['coordinates']) == LENGTH.stop
    assert json.loads(said.out)['validation_probability'] > 0.01
    assert 'before, at' in said.err
    assert picture.read_text().startswith('<?xml')
    mine = Platform.from_yaml(target)
    assert mine.name == 'vigo_calibrated'
    pose = forward(mine.geometry, others.strokes[0] + mine.geometry.retracted_length).pose
    there = machine.poses(others[:1], (pose.position[None], pose.rotation[None]))
    # Base and platform themselves are known to some 0.1 mm, against each other to far less.
    assert np.abs(there[0][0] - pose.position).max() < 6e-4


def test_poses_to_judge_by_are_looked_at_before_the_fit(
    vigo, forty, tmp_path, monkeypatch
) -> None:
    rng = np.random.default_rng(10)
    poses = table(tmp_path / 'poses.csv', measured(wrong(vigo, rng), forty, rng))
    strokes = np.loadtxt(poses, delimiter=',', skiprows=1)[:, :6]
    felt = np.tile([0.0, 0.0, 9.81], (len(strokes), 1))
    write_table(tmp_path / 'imu.csv', (*STROKE, *FORCES), np.hstack([strokes, felt]))
    monkeypatch.setattr(verb, 'calibrate', None)
    with pytest.raises(ConfigurationError, match='--validate'):
        run(poses, '--validate', tmp_path / 'imu.csv', '-o', tmp_path / 'mine.yaml')
    with pytest.raises(ConfigurationError, match='poses of a tracker in the other table, too'):
        run(tmp_path / 'imu.csv', '--validate', poses)


def test_strokes_off_their_zero_give_no_file(vigo, forty, tmp_path, capsys) -> None:
    rng = np.random.default_rng(5)
    seen = measured(wrong(vigo, rng), forty, rng)
    target = tmp_path / 'mine.yaml'
    assert not any('beyond what was allowed' in text for text in remarks(calibrate(vigo, seen)))
    shifted = table(tmp_path / 'poses.csv', replace(seen, strokes=seen.strokes + 5e-3))
    assert run(shifted, '-o', target) == 1
    said = capsys.readouterr().err
    assert 'the lengths change by up to' in said
    assert 'mine.yaml is not written' in said
    assert not target.exists()


@pytest.mark.parametrize('moved', ['tracker', 'target'])
def test_poses_of_a_tracker_that_was_moved_give_no_file(
    moved, vigo, forty, tmp_path, capsys
) -> None:
    """Poses that were metres off validated a machine."""
    rng = np.random.default_rng(10)
    machine = wrong(vigo, rng)
    poses = table(tmp_path / 'poses.csv', measured(machine, forty, rng))
    frame = np.array(getattr(machine, moved))
    frame[0, 3] += 1e-3
    others = measured(replace(machine, **{moved: frame}), allowed_poses(vigo, 20, rng), rng)
    check, target = table(tmp_path / 'check.csv', others), tmp_path / 'mine.yaml'

    assert run(poses, '--validate', check, '-o', target, '--json') == 1

    told = capsys.readouterr()
    assert json.loads(told.out)['validation_probability'] < 1e-3
    assert f'does not fit the validation poses, {check}:' in told.err
    assert 'was the tracker or the target moved' in told.err
    assert 'mine.yaml is not written' in told.err
    assert not target.exists()


def test_a_table_with_a_header_alone_is_refused(tmp_path) -> None:
    """It ended as an IndexError."""
    path = tmp_path / 'header.csv'
    write_table(path, (*STROKE, *POSE), np.empty((0, 13)))
    with pytest.raises(ConfigurationError, match=r'header\.csv: expected one row or more'):
        read_observations(path)


def test_verb_plans_poses_inside_the_limits(tmp_path, capsys) -> None:
    target = tmp_path / 'plan.csv'
    assert run('--plan', 5, '--poses', target) == 0
    assert len(target.read_text().splitlines()) == 6
    assert run() == 2
    assert '--plan N' in capsys.readouterr().err
    with pytest.raises(ConfigurationError, match='--json: expected a table of measured poses'):
        run('--plan', 5, '--json')
    with pytest.raises(ConfigurationError, match='--poses: expected a file: the changes go to'):
        run(target, '--plan', 5)
    other = tmp_path / 'none.csv'
    for count in (-3, 1001):
        with pytest.raises(SystemExit):
            run('--plan', count, '--poses', other)
        said = f"--plan: expected a whole number from 0 to 1000, got '{count}'"
        assert said in capsys.readouterr().err
    assert not other.exists()


def test_tables_that_cannot_be_used_are_refused(vigo, tmp_path) -> None:
    path = tmp_path / 'bad.csv'
    write_table(path, STROKE, np.full((3, 6), 0.3))
    with pytest.raises(ConfigurationError, match='strokes alone'):
        read_observations(path)
    write_table(path, (*STROKE, *POSE), np.full((3, 13), 0.3))
    with pytest.raises(ConfigurationError, match='norm 1'):
        read_observations(path)
    write_table(path, (*STROKE, *FORCES), np.full((3, 9), 0.3))
    assert not read_observations(path).tracked.any()


@pytest.mark.parametrize('rate', ['nan', '', '1e-7'])
def test_gravity_counts_where_rates_are_not_measured_or_noise(rate, tmp_path) -> None:
    path = tmp_path / 'rests.csv'
    head = ','.join((*STROKE, *FORCES, *RATES))
    rows = [[*['0.3'] * 6, '0', '0', '9.8', *[each] * 6] for each in (rate, '0', '0.05')]
    path.write_text('\n'.join([head, *map(','.join, rows), '']), encoding='utf-8')
    assert read_observations(path).felt.tolist() == [True, True, False]


def test_a_turn_without_rates_of_legs_is_refused(tmp_path) -> None:
    path = tmp_path / 'turns.csv'
    write_table(path, (*STROKE, *TURNS, *RATES), [[0.3] * 15, [*[0.3] * 9, *[np.nan] * 6]])
    with pytest.raises(ConfigurationError, match=r'turns.csv:3.*wx_radps alone'):
        read_observations(path)


@pytest.mark.parametrize('count', [12, 40])
def test_one_spoilt_pose_and_a_copy_change_nothing(count, vigo, forty, tmp_path, capsys) -> None:
    rng = np.random.default_rng(count)
    machine = wrong(vigo, rng)
    poses = (forty[0][:count], forty[1][:count])
    seen = measured(machine, poses, rng)
    seen.position[4] += [5e-3, 0.0, 0.0]

    path = table(tmp_path / 'poses.csv', seen[[0, 1, 0, *range(2, count)]])
    written = tmp_path / 'found.yaml'
    assert run(path, '--platform', 'vigo', '-o', written, '--json') == 0

    told = capsys.readouterr()
    assert '1 row(s) copied from others count once' in told.err
    assert f'warning: {path}:7 contradicts the others and is left out' in told.err
    start = Machine.described(vigo)
    truth = np.concatenate(
        [
            (machine.base - start.base).ravel(),
            (machine.platform - start.platform).ravel(),
            machine.length - start.length,
        ]
    )
    items = json.loads(told.out)['coordinates']
    held = [
        abs(i['change'] - t) < 1.96 * i['deviation'] for i, t in zip(items, truth, strict=True)
    ]
    assert sum(held) >= 36


def test_tables_in_millimetres_and_with_gaps_are_read(vigo, forty, tmp_path) -> None:
    rng = np.random.default_rng(13)
    seen = measured(wrong(vigo, rng), forty, rng)
    seen.position[3] = np.nan
    path = table(tmp_path / 'metres.csv', seen)
    head, *rows = path.read_text(encoding='utf-8').splitlines()
    scale = np.array([1e3] * 9 + [1.0] * 4)
    cells = [[float(cell) for cell in row.split(',')] * scale for row in rows]
    lines = [','.join(map(repr, row.tolist())) for row in map(np.asarray, cells)]
    small = tmp_path / 'millimetres.csv'
    small.write_text('\n'.join([head.replace('_m', '_mm'), *lines, '']), encoding='utf-8')

    one, other = read_observations(path), read_observations(small)

    assert one.tracked.sum() == 39
    assert np.allclose(one.position, other.position, rtol=1e-12, equal_nan=True)
    assert np.allclose(one.strokes, other.strokes, rtol=1e-12)


def test_attitudes_in_degrees_and_the_names_of_other_tables_are_read(
    vigo, forty, tmp_path
) -> None:
    rng = np.random.default_rng(13)
    seen = measured(wrong(vigo, rng), forty, rng)
    seen.position[3], seen.rotation[3] = np.nan, np.nan
    known = np.delete(np.arange(len(seen)), 3)
    angles = np.full((len(seen), 3), np.nan)
    turns = Rotation.from_matrix(seen.rotation[known])
    angles[known] = turns.as_euler('ZYX', degrees=True)[:, ::-1]
    felt = rng.normal(size=(len(seen), 9))
    columns = (*STROKE, *POSE[:3], *RPY, 'p_radps', 'q_radps', 'r_radps', *RATE)
    values = np.hstack([seen.strokes, seen.position, angles, felt])
    write_table(tmp_path / 'euler.csv', columns, values)

    read = read_observations(tmp_path / 'euler.csv')

    assert read.tracked.sum() == len(known)
    assert np.allclose(read.rotation, seen.rotation, atol=1e-12, equal_nan=True)
    assert np.allclose(np.hstack([read.angular_velocity, read.rates]), felt, rtol=1e-12)
    write_table(tmp_path / 'twice.csv', (*columns, *TURNS), np.hstack([values, felt[:, :3]]))
    with pytest.raises(ConfigurationError, match='wx_radps: expected one of wx_radps and p_radps'):
        read_observations(tmp_path / 'twice.csv')


def test_angles_in_radians_are_read_and_those_of_no_known_name_are_asked_for(tmp_path) -> None:
    angles = np.array([[0.1, -0.2, 3.0], [np.nan] * 3])
    values = np.hstack([np.zeros((2, 6)), np.ones((2, 3)), angles])
    columns = (*STROKE, *POSE[:3])
    path = tmp_path / 'euler.csv'
    write_table(path, (*columns, 'roll_rad', 'pitch_rad', 'yaw_rad'), values)
    read = read_observations(path)
    assert read.tracked.tolist() == [True, False]
    # About fixed x, then y, then z.
    turn = Rotation.from_euler('xyz', angles[0]).as_matrix()
    assert np.allclose(read.rotation[0], turn, atol=1e-12)
    write_table(path, (*columns, 'rx', 'ry', 'rz'), values)
    said = r"roll_deg, .*R_z\(yaw\) R_y\(pitch\) R_x\(roll\), .*got 'rx, ry, rz'"
    with pytest.raises(ConfigurationError, match=said):
        read_observations(path)
    both = np.hstack([values[:1], values[:1, 6:7]])
    write_table(path, (*columns, 'roll_rad', 'pitch_rad', 'yaw_rad', 'x_mm'), both)
    with pytest.raises(ConfigurationError, match='x_m: expected one of x_m and x_mm'):
        read_observations(path)


def test_what_does_not_belong_together_is_refused(vigo, forty) -> None:
    rng = np.random.default_rng(14)
    seen = measured(wrong(vigo, rng), forty, rng)

    turned = Rotation.from_quat(np.roll(Rotation.from_matrix(seen.rotation).as_quat(), 1, axis=1))
    with pytest.raises(FitError, match=r'half of the poses .* order of the quat'):
        calibrate(vigo, replace(seen, rotation=turned.as_matrix()))
    mirror = np.diag([1.0, -1.0, 1.0])
    left = replace(seen, position=seen.position @ mirror, rotation=mirror @ seen.rotation @ mirror)
    with pytest.raises(FitError, match=r'They are mirrored: .* left-handed'):
        calibrate(vigo, left)
    lost = np.where(np.arange(6) == 2, np.nan, seen.strokes)
    with pytest.raises(ConfigurationError, match='row 0: stroke of leg 3: expected a measured'):
        calibrate(vigo, replace(seen, strokes=lost))
    with pytest.raises(FitError, match='order of the legs'):
        calibrate(vigo, replace(seen, strokes=seen.strokes[:, [1, 0, 2, 3, 4, 5]]))
    with pytest.raises(FitError, match=r'spread over .* m: are they in millimetres'):
        calibrate(vigo, replace(seen, position=1e3 * seen.position))
    with pytest.raises(ConfigurationError, match='columns in millimetres are called stroke_1_mm'):
        calibrate(vigo, replace(seen, strokes=1e3 * seen.strokes))


def test_many_spoilt_poses_are_named_and_stay(vigo, forty, tmp_path, capsys) -> None:
    """They had been told from no other misfit, and the joints were doubted."""
    rng = np.random.default_rng(3)
    seen, spoilt = measured(wrong(vigo, rng), forty, rng), [2, 9, 17, 18, 25, 33, 39]
    seen.position[spoilt] += rng.normal(0.0, 0.02, (len(spoilt), 3))
    path, written = table(tmp_path / 'poses.csv', seen), tmp_path / 'found.yaml'
    assert run(path, '--platform', 'vigo', '-o', written) == 1
    rows = ', '.join(f'{path}:{row + 2}' for row in spoilt)
    said = f'7 of 40 rows contradict the others, and without them these fit: {rows}; more than 10'
    assert said in capsys.readouterr().err
    assert not written.exists()
