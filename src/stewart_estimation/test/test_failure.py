# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Estimates that cannot be trusted end the verbs with 1, and one sentence says why."""

from __future__ import annotations

import json
from pathlib import Path
import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_estimation.failure import failure
from stewart_estimation.verbs.measurements import ANGULAR_VELOCITY, SPECIFIC_FORCE
from stewart_kinematics.model.platform import Platform
from stewart_tables import page as pages
from stewart_tables.columns import TIME
from stewart_tables.csv_tables import read_table, write_table
from typed_verbs import NOISE, simulated_run, stewart, write_tables

COLUMNS = (TIME, *SPECIFIC_FORCE, *ANGULAR_VELOCITY)


def named(tables: tuple[Path, Path]) -> list[str]:
    """Return the words that name the files of IMU and legs, and what is known of them."""
    imu, legs = map(str, tables)
    return ['--imu', imu, '--legs', legs, '--platform', 'srs', *NOISE]


@pytest.fixture(scope='module')
def tables(tmp_path_factory) -> tuple[Path, Path]:
    return write_tables(simulated_run(), tmp_path_factory.mktemp('tables'))


def test_a_gate_that_refuses_nearly_everything_is_a_failure(tmp_path, capsys) -> None:
    words = [*named(write_tables(simulated_run(imu_delay=0.05), tmp_path)), '--gate']
    for more, problem in (
        ([], 'FAILED: the gate refused'),
        (['--restart'], 'FAILED: the filter began anew'),
    ):
        assert stewart(['estimate', *words, *more]) == 1
        said = capsys.readouterr().err
        assert problem in said or 'FAILED: the gate refused' in said
        assert '--delay' in said
    # The recording goes through again from the delay it has shown, so its beginning fits, too.
    assert stewart(['estimate', *words, '--delay', '--json']) == 0
    assert json.loads(capsys.readouterr().out)['consistent']


def turned_over(table: np.ndarray) -> np.ndarray:
    return table * [1, 1, -1, -1, 1, -1, -1]


def without_gravity(table: np.ndarray) -> np.ndarray:
    return table - [0, *table[:20, 1:4].mean(axis=0), 0, 0, 0]


def in_g(table: np.ndarray) -> np.ndarray:
    return table / [1, *[9.80665] * 3, 1, 1, 1]


def in_degrees(table: np.ndarray) -> np.ndarray:
    return table * [1, 1, 1, 1, *[57.3] * 3]


def with_a_step(table: np.ndarray) -> np.ndarray:
    return table + np.outer(table[:, 0] > 8.0, [0.5, 0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ('spoil', 'said'),
    [
        (turned_over, 'bias of the accelerometer would be'),
        pytest.param(
            without_gravity, 'bias of the accelerometer would be', marks=pytest.mark.slow
        ),
        pytest.param(
            in_g,
            'bias of the accelerometer would be .* and are the rates in rad/s',
            marks=pytest.mark.slow,
        ),
        pytest.param(in_degrees, 'which no sensor has', marks=pytest.mark.slow),
        (with_a_step, r'lie far beyond their sigmas, the first at 8\.\d+ s.*a clock may have'),
    ],
)
def test_an_imu_read_wrongly_is_a_failure_that_says_why(
    tables, tmp_path, capsys, monkeypatch, spoil, said
) -> None:
    imu, legs = tables
    if spoil is not turned_over:
        # That pictures can be drawn of what is this wrong is seen once.
        monkeypatch.setattr(pages, 'drawing', lambda *_, **__: '')
    write_table(tmp_path / 'imu.csv', COLUMNS, spoil(read_table(imu, COLUMNS).take(COLUMNS)))
    page = tmp_path / 'page.html'
    for verb in ('estimate', 'consistency'):
        words = [verb, *named((tmp_path / 'imu.csv', legs)), '--json']
        words += ['--page', str(page)] if verb == 'consistency' else []
        assert stewart(words) == 1
        told = capsys.readouterr()
        assert re.search(said, told.err)
        assert re.search(said, json.loads(told.out)['problem'])
    assert not json.loads(told.out)['consistent']
    assert 'every test held' not in page.read_text()


def test_a_turn_too_large_for_three_small_angles_is_named_with_the_mounting(
    tables, tmp_path, capsys
) -> None:
    imu, legs = tables
    values = read_table(imu, COLUMNS).take(COLUMNS)
    # Of a sensor whose x is where y should be, and whose -y where x.
    values = values[:, [0, 2, 1, 3, 5, 4, 6]] * [1, 1, -1, 1, 1, -1, 1]
    write_table(tmp_path / 'imu.csv', COLUMNS, values)
    words = ['estimate', *named((tmp_path / 'imu.csv', legs)), '--misalignment']
    assert stewart(words) == 1
    said = capsys.readouterr().err
    assert 'FAILED: the estimate is not consistent' in said
    assert 'turned by 90°, and --misalignment finds up to 4.6°: write imu.rpy_deg' in said
    numbers = re.search(r'about \[(.*)\]', said)
    assert numbers is not None
    written = Rotation.from_euler('xyz', list(map(float, numbers[1].split(','))), degrees=True)
    stated = Rotation.from_quat(Platform.from_yaml('srs').imu.quaternion_xyzw)
    true = stated * Rotation.from_euler('z', 90.0, degrees=True)
    assert np.degrees((true.inv() * written).magnitude()) < 1.0


def test_times_that_are_not_seconds_are_refused_and_doubled_stamps_are_not(
    tables, tmp_path, capsys
) -> None:
    imu, legs = tables
    values = read_table(imu, COLUMNS).take(COLUMNS)
    words = ['estimate', *named((tmp_path / 'imu.csv', legs))]
    write_table(tmp_path / 'imu.csv', COLUMNS, values * [1e3, 1, 1, 1, 1, 1, 1])
    assert stewart(words) == 1
    assert 'samples of the IMU are 10 s apart' in capsys.readouterr().err
    write_table(tmp_path / 'imu.csv', COLUMNS, np.repeat(values, 2, axis=0))
    assert stewart([*words, '--lenient']) == 0


@pytest.mark.parametrize(('refused', 'said'), [(2, ''), (3, '30 % of the poses from outside')])
def test_poses_from_outside_that_do_not_fit_are_a_failure(refused, said) -> None:
    fine = {
        'stamps': np.arange(9.0),
        'innovations': np.zeros((9, 6)),
        'used': np.ones((9, 6), dtype=bool),
        'nis': np.full(9, 6.0),
        'restarts': (),
        'gaps': {},
        'accelerometer_bias': np.zeros((9, 3)),
        'gyroscope_bias': np.zeros((9, 3)),
    }
    external = SimpleNamespace(used=np.arange(10) >= refused)
    settings = SimpleNamespace(delay=None, misalignment=None)
    problem = failure(SimpleNamespace(**fine, external=external), settings)
    assert problem.startswith(said)
    assert bool(problem) is bool(said)
