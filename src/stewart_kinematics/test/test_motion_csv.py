# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from stewart_kinematics.errors import ConfigurationError, TrajectoryError
from stewart_kinematics.motion import Pose
from stewart_kinematics.motion_csv import poses_from_base, poses_in_base, read_motion
from stewart_kinematics.trajectories import Cycloidal
from stewart_tables.columns import ACCELERATION, MOTION, POSE, TIME, TWIST
from stewart_tables.csv_tables import read_table

MOVE = Cycloidal(
    Pose.from_rpy([0.0, 0.0, 1.6], [0.0, 0.0, 0.0]),
    Pose.from_rpy([0.05, -0.02, 1.7], [0.1, -0.05, 0.2]),
    1.0,
)


def write(path: Path, columns: tuple[str, ...], count: int = 51) -> Path:
    time = np.linspace(0.0, 1.0, count)
    motion = MOVE.sample(time)
    everything = np.column_stack(
        [time + 5.0, motion.position, motion.quaternion_xyzw, motion.twist, motion.acceleration]
    )
    names = (TIME, *POSE, *TWIST, *ACCELERATION)
    chosen = everything[:, [names.index(name) for name in columns]]
    lines = [','.join(columns), *(','.join(f'{cell:.12g}' for cell in row) for row in chosen)]
    path.write_text('\n'.join(lines) + '\n')
    return path


@pytest.mark.parametrize(
    ('columns', 'tolerance'), [((TIME, *POSE), 1e-5), ((*POSE, *ACCELERATION, TIME, *TWIST), 1e-8)]
)
def test_motion_is_that_of_the_file(
    tmp_path: Path, columns: tuple[str, ...], tolerance: float
) -> None:
    samples = read_motion(write(tmp_path / 'move.csv', columns))
    time = np.linspace(0.0, 1.0, 333)

    assert samples.duration == pytest.approx(1.0)
    expected = MOVE.sample(time)
    np.testing.assert_allclose(samples.sample(time).position, expected.position, atol=tolerance)


def test_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match='expected the columns qw as well'):
        read_motion(write(tmp_path / 'move.csv', (TIME, *POSE[:-1])))


def test_cell_that_is_no_number_is_named_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / 'move.csv', (TIME, *POSE))
    lines = path.read_text().splitlines()
    lines[7] = lines[7].replace(',', ',x', 1)
    path.write_text('\n'.join(lines))

    with pytest.raises(ConfigurationError, match=r"move\.csv:8: x_m: expected a number, got 'x"):
        read_motion(path)


def test_blank_lines_count_as_lines_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / 'move.csv', (TIME, *POSE))
    head, *rows = path.read_text().splitlines()
    path.write_text('\n\n'.join([head, *rows]))
    assert read_motion(path).duration == pytest.approx(1.0)

    path.write_text('\n\n'.join([head, *rows[:2], rows[2].replace(',', ',x', 1)]))
    with pytest.raises(ConfigurationError, match=r'move\.csv:7: x_m: expected a number'):
        read_motion(path)
    path.write_text('\n\n'.join([head, *rows[:2], rows[0], rows[3]]))
    with pytest.raises(TrajectoryError, match=r'line 7\b'):
        read_motion(path)


def test_torn_line_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / 'move.csv', (TIME, *POSE))
    path.write_text(path.read_text()[:-20])

    with pytest.raises(ConfigurationError, match='cells'):
        read_motion(path)


def test_stamps_that_go_back_are_refused_with_their_line(tmp_path: Path) -> None:
    path = write(tmp_path / 'move.csv', (TIME, *POSE))
    lines = path.read_text().splitlines()
    lines[3], lines[4] = lines[4], lines[3]
    path.write_text('\n'.join(lines))

    with pytest.raises(TrajectoryError, match='line 5 goes back'):
        read_motion(path)


def test_empty_file_has_no_columns(tmp_path: Path) -> None:
    (tmp_path / 'empty.csv').write_text('')

    with pytest.raises(ConfigurationError, match='a line with the names of the columns'):
        read_motion(tmp_path / 'empty.csv')


def test_poses_count_from_the_reference(tmp_path: Path) -> None:
    path = tmp_path / 'table.csv'
    path.write_text('x_m,y_m,z_m,qx,qy,qz,qw\n0.1,0,0,0,0,0.70711,0.70711\n')
    reference = Pose.from_rpy([1.0, 2.0, 3.0], (0.0, 0.0, np.pi / 2))
    table = read_table(path, POSE)
    position, quaternion = poses_in_base(table, reference)
    np.testing.assert_allclose(position, [[1.0, 2.1, 3.0]], atol=1e-15)
    np.testing.assert_allclose(quaternion, [[0.0, 0.0, 1.0, 0.0]], atol=1e-5)
    back, turned = poses_from_base(position, quaternion, reference)
    np.testing.assert_allclose(back, [[0.1, 0.0, 0.0]], atol=1e-15)
    np.testing.assert_allclose(turned, [[0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]], atol=1e-15)


def test_two_attitudes_of_a_row_that_disagree_are_refused(tmp_path: Path) -> None:
    path = tmp_path / 'both.csv'
    rows = ['0,0,1,0.0872,0,0,0.9962,10,0,0', '0,0,1,0.0872,0,0,0.9962,-350,0,0']
    names = ','.join((*POSE, 'roll_deg', 'pitch_deg', 'yaw_deg'))
    path.write_text('\n'.join([names, *rows]) + '\n')
    table, home = read_table(path, MOTION), Pose.from_rpy([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    assert poses_in_base(table, home)[1][1] == pytest.approx([0.0872, 0.0, 0.0, 0.9962], abs=1e-4)

    path.write_text('\n'.join([names, *rows, '0,0,1,0.0872,0,0,0.9962,0,10,0']) + '\n')
    with pytest.raises(ConfigurationError, match=r'both\.csv:4: roll_deg, pitch_deg, yaw_deg'):
        poses_in_base(read_table(path, MOTION), home)


def test_quaternion_without_norm_1_is_named(tmp_path: Path) -> None:
    path = tmp_path / 'table.csv'
    path.write_text('x_m,y_m,z_m,qx,qy,qz,qw\n0,0,0,0,0,0,1\n0,0,0,0,0,1,1\n')
    table = read_table(path, POSE)
    with pytest.raises(
        ConfigurationError, match=r'table\.csv:3: qx, qy, qz, qw: .*norm 1, got 1\.41'
    ):
        poses_in_base(table, Pose.identity())
