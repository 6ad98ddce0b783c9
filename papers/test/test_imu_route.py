# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The paper's way without forces: what it computes is right, and what it is worth is said."""

from __future__ import annotations

import json
import os
from pathlib import Path
import sys
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_bags.reading import Bag
from stewart_bags.series import ImuSeries, OdometrySeries, read_series
from stewart_identification.errors import ShapeError, UnusableRecording
from stewart_identification.recording.from_bag import experiment_from, Extracted, Extraction
from stewart_identification.recording.recordings import read_recording
from stewart_kinematics.model.platform import Platform

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'papers'), str(ROOT / 'src' / 'stewart_identification' / 'test')]

from imu_fusion import fuse, settled_gain
from imu_motion import measured_motion, read_imu
from imu_mounting import find_mounting
import imu_route
from recordings_made import (
    excitation,
    imu_samples,
    PAYLOAD,
    Run,
    run_rig,
    write_bag,
    write_imu_bag,
)


@pytest.fixture(scope='module')
def ex800() -> Platform:
    return Platform.from_yaml('ex800')


@pytest.fixture(scope='module')
def payload_run(ex800: Platform) -> Run:
    """Ten seconds of five harmonics with a payload, sampled at 200 Hz."""
    return run_rig(ex800, excitation(ex800), PAYLOAD, force_noise=0.5)


@pytest.fixture(scope='module')
def payload_bag(payload_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bag(tmp_path_factory.mktemp('payload') / 'bag', payload_run)


@pytest.fixture(scope='module')
def payload_extracted(payload_bag: Path, ex800: Platform) -> Extracted:
    return experiment_from(read_recording(payload_bag), ex800)


def test_fusion_is_eq_19_written_out() -> None:
    rng = np.random.default_rng(2)
    model, measured = rng.normal(0.0, 10.0, (2, 50, 3))

    found = fuse(model, measured)

    covariance = 0.0
    for row in range(50):
        before = covariance + 0.05
        gain = before / (before + 0.5)
        covariance = (1.0 - gain) * before
        expected = model[row] + gain * (measured[row] - model[row])
        assert np.allclose(found.fused[row], expected, rtol=1e-12)
        assert np.allclose(found.gains[row], gain, rtol=1e-12)
    assert found.gains[-1, 0] == pytest.approx(settled_gain(), rel=1e-9)
    assert settled_gain() == pytest.approx(0.2702, abs=5e-5)
    with pytest.raises(ShapeError):
        fuse(model, measured[:-1])


@pytest.mark.parametrize(
    ('turn', 'offset'),
    [
        (Rotation.identity(), 0.0),
        (Rotation.from_euler('x', 90, degrees=True), 0.037),
        (Rotation.from_euler('zyx', [30, -20, 70], degrees=True), -7.5),
    ],
)
def test_other_clock_and_mounting_are_found(
    turn: Rotation,
    offset: float,
    payload_run: Run,
    payload_extracted: Extracted,
    ex800: Platform,
    tmp_path: Path,
) -> None:
    assert ex800.imu is not None
    rng = np.random.default_rng(7)
    force, rate = imu_samples(payload_run, ex800.imu.position, turn, rng)
    bag = write_imu_bag(tmp_path / 'imu', payload_run.time + offset, force, rate)

    found = measured_motion(
        payload_extracted,
        read_imu(bag),
        ex800,
        Extraction(),
        other_recorder=True,
    )

    assert found.clock.offset == pytest.approx(offset, abs=3e-4)
    wrong = Rotation.from_matrix(found.mounting.rotation) * turn.inv()
    assert np.degrees(wrong.magnitude()) < 0.1
    assert found.described == (turn.magnitude() == 0.0)
    legs = payload_extracted.experiment.inputs[found.rows]
    left = found.motion.linear_acceleration - legs.linear_acceleration
    assert left.std(axis=0).max() < 0.02
    left = found.motion.angular_acceleration - legs.angular_acceleration
    assert left.std(axis=0).max() < 0.05


def test_a_gap_of_the_sensor_is_not_drawn_across(
    payload_run: Run, payload_extracted: Extracted, ex800: Platform, tmp_path: Path
) -> None:
    assert ex800.imu is not None
    time, rng = payload_run.time, np.random.default_rng(7)
    force, rate = imu_samples(payload_run, ex800.imu.position, Rotation.identity(), rng)
    force[300, 1] = 1e5
    there = (time < 4.0) | (time > 6.0)
    bag = write_imu_bag(tmp_path / 'imu', time[there] + 0.037, force[there], rate[there])

    found = measured_motion(
        payload_extracted,
        read_imu(bag),
        ex800,
        Extraction(),
        other_recorder=True,
    )

    assert found.clock.offset == pytest.approx(0.037, abs=3e-4)
    covered = payload_extracted.experiment.stamps[found.rows]
    assert not np.any((covered > 3.7) & (covered < 6.3))
    assert 6.0 < 0.01 * len(covered) < 7.0
    legs = payload_extracted.experiment.inputs[found.rows]
    left = found.motion.linear_acceleration - legs.linear_acceleration
    assert left.std(axis=0).max() < 0.02
    said = '\n'.join(map(str, found.remarks))
    assert '/imu/data: 1 sample, from 1.500 s on: values that jump away and back' in said
    assert '/imu/data: 401 samples, from 3.995 s on: missing in 1 gap of up to 2.01 s' in said


@pytest.mark.parametrize(
    ('until', 'factor', 'reason'),
    [
        (0.3, 1.0, r'no piece of /imu/data .* 0\.6 s, 60 samples in 0\.295 s have 0 gaps'),
        (
            1.2,
            1.0,
            r'imu/data and the legs: two .* have 0\.59 s in common even when shifted by 30 s',
        ),
        (9.9, 1.0 / 9.8, r'of /imu/data is 1\.\d+ m/s² over \d+ samples, 9\.\d+ m/s² are'),
        (
            9.9,
            np.nan,
            r'0 of the \d+ messages of /imu/data can be used \(/imu/data: \d+ samples, fr',
        ),
    ],
)
def test_a_sensor_that_says_too_little_is_refused_with_topic_and_count(
    until: float,
    factor: float,
    reason: str,
    payload_run: Run,
    payload_extracted: Extracted,
    ex800: Platform,
    tmp_path: Path,
) -> None:
    assert ex800.imu is not None
    time, rng = payload_run.time, np.random.default_rng(7)
    force, rate = imu_samples(payload_run, ex800.imu.position, Rotation.identity(), rng)
    there = time < until
    bag = write_imu_bag(tmp_path / 'imu', time[there], factor * force[there], rate[there])

    with pytest.raises(UnusableRecording, match=reason):
        measured_motion(
            payload_extracted,
            read_imu(bag),
            ex800,
            Extraction(),
            other_recorder=True,
        )


def test_script_says_that_the_fit_returns_what_was_assumed(
    payload_bag: Path, payload_run: Run, ex800: Platform, tmp_path: Path, capsys: Any
) -> None:
    assert ex800.imu is not None
    force, rate = imu_samples(
        payload_run, ex800.imu.position, Rotation.identity(), np.random.default_rng(1)
    )
    imu = write_imu_bag(tmp_path / 'imu', payload_run.time + 0.037, force, rate)
    words = [payload_bag, '--imu-bag', imu, '--json', '-o', tmp_path / 'o']

    assert imu_route.main([str(word) for word in words]) == 0

    said = json.loads(capsys.readouterr().out)
    # The platform weighs 8.8369 kg with its payload. The fit does not see it.
    for assumed, returned in said['mass_returned_kg'].items():
        assert returned == pytest.approx(float(assumed.split()[0]), rel=2e-3)
    assert said['clock_offset_s'] == pytest.approx(0.037, abs=3e-4)
    assert np.allclose(said['acceleration_gain'], 1.0, atol=0.02)
    page = (tmp_path / 'o' / 'report.html').read_text('utf-8')
    assert 'Without a force nothing of an inertia is measured' in page


def test_real_sensor_with_gravity_on_y_and_yaw_alone_is_refused_with_the_reason() -> None:
    given = os.environ.get('STEWART_TEST_BAGS')
    others_bags = Path(given) if given else ROOT.parent / 'shared' / 'bags'
    if not others_bags.is_dir():
        pytest.skip('no recordings of others: set STEWART_TEST_BAGS to their directory')
    with Bag(others_bags / 'husky_imu_odom_90s_jazzy_mcap') as bag:
        names = {t.msgtype: name for name, t in bag.topics.items()}
        imu = read_series(bag, names[ImuSeries.MSGTYPE], ImuSeries)
        odometry = read_series(bag, names[OdometrySeries.MSGTYPE], OdometrySeries)
    # A car turns about the vertical only: gravity shows two angles of the mounting, not three.
    origin = int(imu.stamp_ns[0])
    yaw = np.interp(imu.seconds(origin), odometry.seconds(origin), odometry.angular_velocity[:, 2])
    zero = np.zeros_like(yaw)
    up = np.tile([0.0, 0.0, 9.80665], (len(imu), 1))

    mean = imu.specific_force.mean(axis=0)
    assert mean[1] == pytest.approx(9.79, abs=0.02)
    assert np.linalg.norm(mean[[0, 2]]) < 0.3
    with pytest.raises(UnusableRecording, match='the angle about gravity is not seen'):
        find_mounting(
            up, np.stack([zero, zero, yaw], axis=1), imu.specific_force, imu.angular_velocity
        )
