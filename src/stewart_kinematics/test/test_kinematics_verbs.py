# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The verbs ``ik`` and ``fk`` undo each other and name what they cannot do."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.trajectories import Cycloidal
from stewart_kinematics.verbs import fk, ik
from stewart_tables.columns import (
    ACCELERATION,
    LEG_ACCELERATION,
    LENGTH,
    POSE,
    RATE,
    RPY,
    STROKE,
    TIME,
    TWIST,
)
from stewart_tables.csv_tables import read_table, write_table
from typed_words import typed

VIGO = Platform.from_yaml('vigo')
NEUTRAL = VIGO.geometry.neutral_pose
TIMES = np.linspace(0.0, 2.0, 21)
MOTION = Cycloidal(
    NEUTRAL, Pose.from_rpy(NEUTRAL.position + np.array([0.05, -0.02, 0.1]), (0.1, -0.05, 0.2)), 2.0
).sample(TIMES)


@pytest.fixture
def poses(tmp_path):
    path = tmp_path / 'poses.csv'
    write_table(path, [*POSE], np.column_stack([MOTION.position, MOTION.quaternion_xyzw]))
    return path


@pytest.fixture
def motion(tmp_path):
    path = tmp_path / 'motion.csv'
    table = [TIMES, MOTION.position, MOTION.quaternion_xyzw, MOTION.twist, MOTION.acceleration]
    write_table(path, [TIME, *POSE, *TWIST, *ACCELERATION], np.column_stack(table))
    return path


def header(path):
    return path.read_text().splitlines()[0].split(',')


def test_poses_alone_give_lengths_and_strokes(poses, tmp_path, capsys):
    out = tmp_path / 'legs.csv'
    assert typed(ik, poses, '-o', out) == 0
    assert header(out) == [*LENGTH, *STROKE]
    legs = inverse(VIGO.geometry, MOTION)
    table = read_table(out, (*LENGTH, *STROKE))
    np.testing.assert_allclose(table.take(LENGTH), legs.length, atol=1e-11)
    np.testing.assert_allclose(table.take(STROKE), legs.stroke, atol=1e-11)
    assert not capsys.readouterr().err


def test_motion_gives_rates_and_accelerations(motion, tmp_path):
    out = tmp_path / 'legs.csv'
    assert typed(ik, motion, '-o', out) == 0
    assert header(out) == [TIME, *LENGTH, *STROKE, *RATE, *LEG_ACCELERATION]
    legs = inverse(VIGO.geometry, MOTION)
    table = read_table(out, (TIME, *RATE, *LEG_ACCELERATION))
    np.testing.assert_allclose(table.take([TIME])[:, 0], TIMES, atol=1e-12)
    np.testing.assert_allclose(table.take(RATE), legs.rate, atol=1e-11)
    np.testing.assert_allclose(table.take(LEG_ACCELERATION), legs.acceleration, atol=1e-10)


def test_attitudes_may_be_roll_pitch_yaw(poses, tmp_path):
    angles, legs, expected, again = (tmp_path / f'{n}.csv' for n in ('angles', 'a', 'b', 'again'))
    rpy = Rotation.from_quat(MOTION.quaternion_xyzw).as_euler('ZYX', degrees=True)[:, ::-1]
    np.testing.assert_allclose(rpy[-1], np.degrees([0.1, -0.05, 0.2]), atol=1e-9)
    write_table(angles, [*POSE[:3], *RPY], np.column_stack([MOTION.position, rpy]))
    assert typed(ik, angles, '-o', legs) == typed(ik, poses, '-o', expected) == 0
    found, wanted = (read_table(path, LENGTH).take(LENGTH) for path in (legs, expected))
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert typed(fk, legs, '-o', again) == 0
    np.testing.assert_allclose(read_table(again, RPY).take(RPY), rpy, atol=1e-7)


@pytest.mark.parametrize('columns', [LENGTH, STROKE])
@pytest.mark.parametrize('relative_to', ['base', 'zero', 'neutral'])
def test_fk_undoes_ik_from_lengths_and_from_strokes(poses, tmp_path, columns, relative_to):
    legs, part, out = (tmp_path / name for name in ('legs.csv', 'part.csv', 'again.csv'))
    # The same numbers, read as counted from the reference, must come back counted so.
    shift = {'base': 0.0, 'zero': 1.374, 'neutral': 1.674}[relative_to]
    table = read_table(poses, POSE).take(POSE) - shift * np.eye(7)[2]
    counted = tmp_path / 'counted.csv'
    write_table(counted, POSE, table)
    assert typed(ik, counted, '-o', legs, '--relative-to', relative_to) == 0
    write_table(part, columns, read_table(legs, columns).take(columns))
    assert typed(fk, part, '-o', out, '--relative-to', relative_to) == 0
    assert header(out) == [*POSE, *RPY, *fk.QUALITY]
    np.testing.assert_allclose(read_table(out, POSE).take(POSE), table, atol=1e-9)
    quality = read_table(out, fk.QUALITY)
    assert (quality.values['converged'] == 1).all()
    assert (quality.values['iterations'] <= 5).all()
    assert (quality.values['condition_number'] > 5).all()


def test_fk_names_lines_without_a_pose_after_writing(tmp_path, capsys):
    home = inverse(VIGO.geometry, MOTION).length[0]
    path, out = tmp_path / 'legs.csv', tmp_path / 'poses.csv'
    # Of the last, whose strokes are in range, no pose is known.
    shut = np.add(VIGO.geometry.retracted_length, [0.0, 0.6, 0.0, 0.0, 0.6, 0.0])
    rows = np.column_stack([[0.0, 0.1, 0.2, 0.3], np.stack([home, [0.3, 3.0] * 3, home, shut])])
    write_table(path, [TIME, *LENGTH], rows)
    assert typed(fk, path, '-o', out) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert re.search(r'legs\.csv:3: stroke of leg \d is .* m, allowed are 0 to 0\.6 m', first)
    assert re.search(r'legs\.csv:5: no pose has these lengths \(after \d+ iterations', second)
    lines = out.read_text().splitlines()
    assert len(lines) == 5
    assert lines[2].split(',')[:12] == ['0.1', *['nan'] * 10, '0']
    assert lines[2].split(',')[-1] == 'nan'
    assert lines[3].split(',')[11] == '1'


@pytest.mark.parametrize('heights', [[0.1154, 0.3, 0.118], [0.3]])
def test_fk_carries_on_with_lines_where_ik_says_that_a_rod_does_not_reach(
    tmp_path, capsys, heights
):
    path, joints, out = (tmp_path / name for name in ('poses.csv', 'joints.csv', 'out.csv'))
    rows = [[0.0, 0.0, z, 0.0, 0.0, 0.0] for z in heights]
    write_table(path, [*POSE[:3], *RPY], rows)
    rods = ('--platform', 'sg90_rotary')
    assert typed(ik, path, '-o', joints, *rods) == 1
    capsys.readouterr()
    assert typed(fk, joints, '-o', out, *rods) == 1
    assert re.search(r'joints\.csv:\d: the rod of leg 1 does not reach', capsys.readouterr().err)
    columns = [*POSE, 'converged']
    found = read_table(out, columns, gaps=POSE).take(columns)
    reaches = np.array(heights) < 0.2
    np.testing.assert_array_equal(found[:, -1], reaches)
    np.testing.assert_allclose(found[reaches, 2], np.array(heights)[reaches], atol=1e-9)
    assert np.isnan(found[~reaches, :7]).all()


def test_ik_warns_outside_the_stroke_and_strict_fails(tmp_path, capsys):
    path = tmp_path / 'poses.csv'
    high = [0.0, 0.0, 2.4, 0.0, 0.0, 0.0, 1.0]
    write_table(path, POSE, [[*NEUTRAL.position, 0, 0, 0, 1], *[high] * 12])
    assert typed(ik, path) == 0
    captured = capsys.readouterr()
    assert len(captured.out.splitlines()) == 14
    first, *_, last = captured.err.splitlines()
    stroke = r'stroke of leg \d is 1\.01\d+ m, allowed are 0 to 0\.6 m'
    assert re.search(rf'poses\.csv:3: {stroke}', first)
    assert last == '... and 2 more poses outside the stroke'
    out = tmp_path / 'legs.csv'
    assert typed(ik, path, '--strict', '-o', out) == 1
    assert not out.exists()


def test_ik_takes_rounding_for_no_stroke_beyond_its_end(tmp_path, capsys):
    lengths, poses = tmp_path / 'legs.csv', tmp_path / 'poses.csv'
    lower = VIGO.geometry.retracted_length + VIGO.limits.stroke[:, 0]
    write_table(lengths, LENGTH, [lower - 3.4e-13, lower - 1e-8])
    assert typed(fk, lengths, '-o', poses) == 0
    assert typed(ik, poses, '--strict') == 1
    said = capsys.readouterr().err
    assert 'poses.csv:3' in said
    assert 'poses.csv:2' not in said


def test_columns_that_nobody_reads_are_told(tmp_path, capsys):
    path = tmp_path / 'poses.csv'
    write_table(path, [*POSE, 'vx_mps'], [[*NEUTRAL.position, 0, 0, 0, 1, 0.1]])
    assert typed(ik, path) == 0
    assert 'poses.csv:1: columns that are not read: vx_mps' in capsys.readouterr().err


def test_the_names_of_columns_are_sought_behind_remarks(tmp_path, capsys):
    path = tmp_path / 'poses.csv'
    write_table(path, [*POSE, 'vx_mps'], [[*NEUTRAL.position, 0, 0, 0, 1, 0.1]])
    path.write_text(f'# by hand\n# twice\n{path.read_text()}')
    assert typed(ik, path) == 0
    assert 'poses.csv:3: columns that are not read: vx_mps' in capsys.readouterr().err
    with pytest.raises(ConfigurationError, match=r'poses\.csv:3: .* or stroke_1_m'):
        typed(fk, path)


@pytest.mark.parametrize('platform', ['vigo', 'sg90_rotary'])
def test_fk_knows_every_column_that_ik_writes(tmp_path, capsys, platform):
    path, legs, more = (tmp_path / name for name in ('motion.csv', 'legs.csv', 'more.csv'))
    neutral = Platform.from_yaml(platform).geometry.neutral_pose
    row = [*neutral.position, 0, 0, 0, 1, *np.zeros(12)]
    write_table(path, [*POSE, *TWIST, *ACCELERATION], [row])
    of_platform = ('--platform', platform)
    assert typed(ik, path, '-o', legs, *of_platform) == 0
    assert typed(fk, legs, *of_platform) == 0
    assert 'not read' not in capsys.readouterr().err
    more.write_text(legs.read_text().replace('\n', ',leg_7_mps\n', 1).rstrip() + ',0\n')
    assert typed(fk, more, *of_platform) == 0
    assert 'more.csv:1: columns that are not read: leg_7_mps\n' in capsys.readouterr().err


def test_a_table_without_rows_and_one_whose_time_runs_back_are_told_of(tmp_path, capsys):
    path = tmp_path / 'poses.csv'
    write_table(path, [TIME, *POSE], np.empty((0, 8)))
    with pytest.raises(ConfigurationError, match=r'poses\.csv:2: expected a line of numbers'):
        typed(ik, path)
    rows = [[time, *NEUTRAL.position, 0, 0, 0, 1] for time in (0.0, 0.2, 0.1)]
    write_table(path, [TIME, *POSE], rows)
    assert typed(ik, path) == 0
    assert 'poses.csv:4: the time runs backwards here' in capsys.readouterr().err


def test_input_that_cannot_be_used_is_refused(tmp_path, motion):
    path = tmp_path / 'table.csv'
    path.write_text('time_s\n0\n')
    with pytest.raises(ConfigurationError, match='x_m, y_m, z_m, qx, qy, qz, qw as well'):
        typed(ik, path)
    with pytest.raises(ConfigurationError, match=r'expected leg_1_m .* or stroke_1_m'):
        typed(fk, path)
    write_table(path, STROKE, [[0.1, 0.1, -2.0, 0.1, 0.1, 0.1]])
    with pytest.raises(ConfigurationError, match=r'table\.csv:2: stroke_3_m: .*longer than 0 m'):
        typed(fk, path)
    whole = read_table(motion, (*POSE, *ACCELERATION))
    columns = [*POSE, *ACCELERATION]
    write_table(path, columns, whole.take(columns))
    with pytest.raises(ConfigurationError, match='accelerations without twists'):
        typed(ik, path)
    with pytest.raises(FileNotFoundError):
        typed(fk, tmp_path / 'nothing.csv')
