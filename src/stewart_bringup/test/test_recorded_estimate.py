# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of what a report says of a live estimate: errors that were put in come out."""

from __future__ import annotations

import numpy as np
import pytest
from srs_simulated import simulate
from stewart_bags.writing import BagWriter
from stewart_bringup.demo.recorded_estimate import estimate_section
from stewart_estimation.verbs.measurements import BadRecording
from stewart_kinematics.spatial import matrix_from_quaternion

START_NS = 1_700_000_000_000_000_000


SIGMA = 2e-5


def write(path, run, *, estimate_from=0.0, told=True):
    """Write truth, legs, and an estimate 1 mm and 2 mm/s beside the truth along x."""
    rng = np.random.default_rng(1)
    with BagWriter(path) as writer:
        types = writer.typestore.types
        geometry = 'geometry_msgs/msg/'
        point, turn, vector = (types[geometry + n] for n in ('Point', 'Quaternion', 'Vector3'))

        def odometry(row, stamp, beside):
            truth = run.truth[row]
            to_platform = matrix_from_quaternion(truth.quaternion_xyzw).T
            linear = to_platform @ (truth.linear_velocity - beside * np.array([2e-3, 0.0, 0.0]))
            covariance = np.eye(6).ravel() * 1e-6
            pose = types[geometry + 'Pose'](
                point(*(truth.position - beside * np.array([1e-3, 0.0, 0.0])).tolist()),
                turn(*truth.quaternion_xyzw.tolist()),
            )
            twist = types[geometry + 'Twist'](
                vector(*linear.tolist()), vector(*(to_platform @ truth.angular_velocity).tolist())
            )
            return types['nav_msgs/msg/Odometry'](
                header(stamp),
                'platform_link',
                types[geometry + 'PoseWithCovariance'](pose, covariance),
                types[geometry + 'TwistWithCovariance'](twist, covariance),
            )

        def header(stamp):
            time = types['builtin_interfaces/msg/Time'](*divmod(stamp, 10**9))
            return types['std_msgs/msg/Header'](time, 'base_link')

        def status(row, stamp):
            innovations = SIGMA * rng.standard_normal(6)
            return types['stewart_interfaces/msg/EstimatorStatus'](
                header(stamp),
                innovations,
                np.full(6, SIGMA),
                float(np.sum((innovations / SIGMA) ** 2)),
                vector(0.0, 0.0, 0.0),
                vector(0.0, 0.0, 0.0),
                np.nan,
                np.full(6, row, np.uint32),
                np.zeros(6, np.uint32),
            )

        for row, seconds in enumerate(run.legs.stamps):
            stamp = START_NS + round(seconds * 1e9)
            if row % 2 == 0:
                writer.write('/simulation/truth', stamp, odometry(row, stamp, 0.0))
            if seconds >= estimate_from:
                writer.write('/platform/odometry', stamp, odometry(row, stamp, 1.0))
                if told:
                    writer.write('/estimator/status', stamp, status(row, stamp))
            strokes = run.legs.lengths[row] - run.platform.geometry.retracted_length
            names = [f'leg_{leg}' for leg in range(1, 7)]
            legs = types['sensor_msgs/msg/JointState'](
                header(stamp), names, strokes, np.empty(0), np.empty(0)
            )
            writer.write('/actuator_states', stamp, legs)
    return path


def test_errors_that_were_put_in_come_out(tmp_path) -> None:
    run = simulate('MP1', 0, duration=14.0)
    section = estimate_section(write(tmp_path / 'bag', run), run.platform.geometry)
    np.testing.assert_allclose(section.position[:, 0], 1e-3, atol=1e-7)
    np.testing.assert_allclose(section.position[:, 1:], 0.0, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(section.velocity, axis=1), 2e-3, atol=2e-5)
    np.testing.assert_allclose(section.attitude, 0.0, atol=1e-7)
    np.testing.assert_allclose(section.rate, 0.0, atol=1e-5)
    found = section.figures()
    assert found['position, estimate [mm]'][0] == pytest.approx(1.0, abs=1e-3)
    assert found['velocity, estimate [mm/s]'][0] == pytest.approx(2.0, abs=0.02)
    # The lag of 9 ms times 0.8 m/s² at full size.
    assert 5.0 < found['velocity, differentiator at 25 Hz [mm/s]'][1] < 12.0
    # 2 mm/s along base x is more than two sigmas in one of six components, mostly.
    assert 0.75 < section.inside < 1.0
    # The first two seconds are left out.
    assert section.fit.consistency.rows == 1201
    assert section.fit.consistency.inside == pytest.approx(0.9545, abs=0.01)
    assert section.fit.consistency.mean_nis == pytest.approx(6.0, abs=0.3)
    names, _, values, errors = zip(*section.velocities, strict=True)
    assert names == ('filter', 'truth', 'differentiator')
    np.testing.assert_allclose(values[1] - values[0], errors[0], atol=1e-12)
    pictures = section.pictures()
    assert any('NIS' in caption for caption in pictures)
    assert len(pictures) == 4


def test_without_the_status_of_the_estimator_its_innovations_are_left_out(tmp_path) -> None:
    run = simulate('MP1', 0, duration=3.0)
    section = estimate_section(write(tmp_path / 'bag', run, told=False), run.platform.geometry)
    assert section.fit is None
    assert len(section.pictures()) == 2


def test_bags_without_a_common_time_are_refused(tmp_path) -> None:
    run = simulate('MP1', 0, duration=1.0)
    with pytest.raises(BadRecording, match='no time in common'):
        estimate_section(write(tmp_path / 'bag', run), run.platform.geometry)
