# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is found of an IMU: mounting, tilt of the base, scales and biases, told and written."""

from __future__ import annotations

import json
from pathlib import Path

from machines_made import measured, wrong
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_identification.calibration.fit import calibrate, MISFIT
from stewart_identification.calibration.machine import FORCE_BIAS, Machine, RATE_BIAS, SIZE
from stewart_identification.calibration.observations import (
    FORCES,
    Observations,
)
from stewart_identification.calibration.planning import allowed_poses
from stewart_identification.calibration.verdict import coordinates, imu_unknowns
from stewart_identification.errors import FitError
from stewart_identification.verbs import calibrate as verb
from stewart_kinematics.model.platform import Platform
from stewart_tables.columns import POSE, STROKE
from stewart_tables.csv_tables import write_table
from typed_words import typed


@pytest.fixture(scope='module')
def truth(vigo: Platform) -> Machine:
    return wrong(vigo, np.random.default_rng(1))


@pytest.fixture(scope='module')
def rests(vigo: Platform, truth: Machine) -> Observations:
    rng = np.random.default_rng(2)
    return measured(truth, allowed_poses(vigo, 40, rng), rng, tracked=False, felt=True)


def test_biases_are_found_beside_a_tracker_and_leave_the_joints_alone(vigo, truth) -> None:
    rng = np.random.default_rng(3)
    rates = rng.normal(0.0, 0.1, (40, 6)) * (np.arange(40) % 2)[:, None]
    seen = measured(truth, allowed_poses(vigo, 40, rng), rng, felt=True, rates=rates)

    found = calibrate(vigo, seen)

    assert found.misfit > MISFIT
    items = imu_unknowns(found)
    assert len(items) == 13
    assert all(item.shown for item in items)
    sigma = found.deviations(np.eye(SIZE)[FORCE_BIAS.start : RATE_BIAS.stop])
    assert sigma.max() < 0.02
    assert np.all(np.abs(found.machine.biases - truth.biases) < 4.0 * sigma)
    wanted = (truth.base - found.described.base).ravel()
    base = coordinates(found)[: wanted.size]
    off = [(item.change - w) / item.deviation for item, w in zip(base, wanted, strict=True)]
    assert np.max(np.abs(off)) < 4.0


def test_a_bias_at_rest_is_no_misfit(vigo, rests) -> None:
    found = calibrate(vigo, rests)
    assert found.misfit > MISFIT
    # Nothing turned: of the gyroscope nothing is told.
    assert not any('gyroscope' in item.name for item in imu_unknowns(found))


def test_what_is_found_of_the_imu_is_told_and_written(
    truth, rests, tmp_path: Path, capsys
) -> None:
    path, written = tmp_path / 'felt.csv', tmp_path / 'mine.yaml'
    write_table(path, (*STROKE, *FORCES), np.hstack([rests.strokes, rests.specific_force]))
    words = [path, '--platform', 'vigo', '-o', written]

    assert typed(verb, *words, '--json') == 0
    told = {item['name']: item for item in json.loads(capsys.readouterr().out)['imu']}
    assert len(told) == 9
    bias = told['accelerometer bias x']
    assert abs(bias['change'] - truth.biases[0]) < 4.0 * bias['deviation']
    assert typed(verb, *words) == 0
    assert 'base tilt x' in capsys.readouterr().out

    mine = Platform.from_yaml(written)
    assert mine.name == 'vigo_calibrated'
    tilt = np.cross(mine.gravity, truth.gravity) / (truth.gravity @ truth.gravity)
    assert np.all(np.abs(tilt[:2]) < 4.0 * told['base tilt x']['deviation'])
    off = Rotation.from_matrix(truth.mounting @ mine.imu.rotation.T).as_rotvec()
    for axis, error in zip('xyz', off, strict=True):
        assert abs(error) < 4.0 * told[f'IMU mounting {axis}']['deviation']
    assert 'calibrated from felt.csv' in mine.sources['imu.rpy_deg']


@pytest.mark.parametrize(
    ('turn', 'question'),
    [
        (np.eye(3) / 9.81, r'tells 0\.9.* m/s², and gravity is 9\.8'),
        (-np.eye(3), r'gravity 1[78]\d° from .* or the signs'),
        (np.diag([1.0, -1.0, -1.0]), r'gravity 1[567]\d° from .*: correct imu.rpy_deg'),
    ],
    ids=['in g', 'downwards', 'upside down'],
)
@pytest.mark.parametrize('tracked', [False, True])
def test_an_imu_that_is_read_in_another_way_gives_no_file(
    vigo, truth, turn, question, tmp_path: Path, *, tracked: bool
) -> None:
    rng = np.random.default_rng(4)
    seen = measured(truth, allowed_poses(vigo, 20, rng), rng, tracked=tracked, felt=True)
    columns = [seen.strokes, seen.specific_force @ turn.T]
    names = [*STROKE, *FORCES]
    if tracked:
        columns += [seen.position, Rotation.from_matrix(seen.rotation).as_quat()]
        names += POSE
    path, written = tmp_path / 'felt.csv', tmp_path / 'mine.yaml'
    write_table(path, names, np.hstack(columns))
    words = [path, '--platform', 'vigo', '-o', written]
    with pytest.raises(FitError, match=question):
        typed(verb, *words)
    assert not written.exists()
