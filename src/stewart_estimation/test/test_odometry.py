# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of estimates as ROS has them, against samples drawn from the covariance."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from srs_simulated import simulate
from stewart_estimation.estimate import Estimate
from stewart_estimation.kernels.records import R_FORCE_BIAS, REPORT
from stewart_estimation.live_rows import LiveRows
from stewart_estimation.odometry import EstimateColumns
from stewart_estimation.replay import replay
from stewart_estimation.results import angular_acceleration
from stewart_estimation.settings import FilterSettings, ImuNoise
from stewart_kinematics.errors import StewartError
from stewart_kinematics.spatial import (
    compose_quaternions,
    exp_quaternion,
    invert_quaternion,
    log_quaternion,
    matrix_from_quaternion,
)

SETTINGS = FilterSettings(ImuNoise(0.02, 1e-3), 2e-5)
REST, RATE_COVARIANCE = np.zeros(3), 1e-4 * np.eye(3)


def written(
    estimate: Estimate,
    settings: FilterSettings = SETTINGS,
    acceleration: np.ndarray = REST,
    rate_covariance: np.ndarray = RATE_COVARIANCE,
) -> SimpleNamespace:
    """Return what the messages have of an estimate."""
    report = np.concatenate(
        [
            estimate.position,
            estimate.quaternion_xyzw,
            estimate.linear_velocity,
            estimate.angular_velocity,
            acceleration,
            np.zeros(REPORT - R_FORCE_BIAS),
        ]
    )
    rows = LiveRows(
        np.array([estimate.stamp]),
        report[None],
        np.ascontiguousarray(estimate.covariance)[None],
        np.ascontiguousarray(rate_covariance)[None],
        np.zeros((1, 19)),
        np.zeros(1, dtype=bool),
    )
    (odometry,), (accelerations,) = EstimateColumns(settings).of(rows)
    return SimpleNamespace(
        pose_covariance=odometry[7:43].reshape(6, 6),
        linear=odometry[43:46],
        angular=odometry[46:49],
        twist_covariance=odometry[49:].reshape(6, 6),
        acceleration_covariance=accelerations[6:].reshape(6, 6),
    )


def drawn(estimate: Estimate, count: int) -> list[Estimate]:
    """Return truths that the estimate holds possible."""
    generator = np.random.default_rng(0)
    root = np.linalg.cholesky(estimate.covariance)
    errors = generator.standard_normal((count, 15)) @ root.T
    return [
        replace(
            estimate,
            position=estimate.position + error[:3],
            linear_velocity=estimate.linear_velocity + error[3:6],
            quaternion_xyzw=compose_quaternions(
                estimate.quaternion_xyzw, exp_quaternion(error[6:9])
            ),
        )
        for error in errors
    ]


def test_covariances_are_those_of_the_samples() -> None:
    base = np.random.default_rng(1).standard_normal((15, 15))
    covariance = 1e-4 * (base @ base.T + 15.0 * np.eye(15))
    turn = exp_quaternion(np.array([0.4, -0.8, 0.3]))
    estimate = Estimate(
        0.0,
        np.zeros(3),
        turn,
        covariance,
        linear_velocity=np.array([0.5, -2.0, 1.0]),
        angular_velocity=np.array([0.1, 0.2, -0.3]),
    )
    truths, found = drawn(estimate, 20_000), written(estimate)
    poses = np.array(
        [
            np.concatenate(
                [
                    item.position,
                    log_quaternion(
                        compose_quaternions(item.quaternion_xyzw, invert_quaternion(turn))
                    ),
                ]
            )
            for item in truths
        ]
    )
    scale = np.abs(np.diagonal(found.pose_covariance)).max()
    np.testing.assert_allclose(np.cov(poses.T), found.pose_covariance, atol=0.05 * scale)
    linear = np.array(
        [matrix_from_quaternion(t.quaternion_xyzw).T @ t.linear_velocity for t in truths]
    )
    scale = np.abs(found.twist_covariance[:3, :3]).max()
    np.testing.assert_allclose(np.cov(linear.T), found.twist_covariance[:3, :3], atol=0.05 * scale)
    np.testing.assert_allclose(
        found.angular, matrix_from_quaternion(turn).T @ estimate.angular_velocity
    )


def test_estimate_without_attitude_is_refused(srs) -> None:
    run = simulate('MP2', 2, duration=0.5)
    settings = srs.settings(run)
    estimate = replay(srs.geometry, settings, run.imu, run.legs).estimate(20)
    lost = replace(estimate, quaternion_xyzw=np.full(4, np.nan))

    with pytest.raises(StewartError, match='norm above 0, got nan'):
        written(lost)


def test_accelerations_err_as_they_claim(srs) -> None:
    run = simulate('MP2', 2, duration=8.0)
    settings = srs.settings(run)
    series = replay(srs.geometry, settings, run.imu, run.legs)
    rows = range(200, 800, 5)
    error = np.array([run.truth.linear_acceleration[row] for row in rows])
    error -= series.linear_acceleration[200:800:5]
    sigmas = []
    for row in rows:
        beside = series.linear_acceleration[row], series.rate_covariance[row]
        covariance = written(series.estimate(row), settings, *beside).acceleration_covariance
        sigmas.append(np.sqrt(np.diagonal(covariance)[:3]))
    assert 0.92 < np.mean(np.abs(error) < 2.0 * np.array(sigmas)) < 0.99


def test_parabolas_give_the_angular_acceleration_on_any_steps() -> None:
    generator = np.random.default_rng(3)
    stamps = np.cumsum(generator.uniform(0.004, 0.012, 500))
    velocity = np.stack([np.sin(3.0 * stamps), stamps**2, 2.0 * stamps], axis=1)
    expected = np.stack([3.0 * np.cos(3.0 * stamps), 2.0 * stamps, 2.0 + 0.0 * stamps], axis=1)
    found = angular_acceleration(stamps, velocity)
    np.testing.assert_allclose(found[2:-2, 0], expected[2:-2, 0], atol=6e-3)
    np.testing.assert_allclose(found[:, 1:], expected[:, 1:], atol=1e-9)
    even = 0.01 * np.arange(20_000.0)
    noise = angular_acceleration(even, generator.standard_normal((len(even), 3)))
    assert abs(noise[2:-2].std() * 0.01 - np.sqrt(0.1)) < 0.01
    assert np.isnan(angular_acceleration(even[:4], np.zeros((4, 3)))).all()
