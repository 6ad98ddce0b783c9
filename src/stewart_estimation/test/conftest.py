# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from srs_simulated import simulate
from stewart_estimation.settings import FilterSettings, ImuNoise
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.spatial import compose_quaternions, invert_quaternion, log_quaternion

# Helpers of these tests are imported by name, and the oracle of the benchmarks.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[3] / 'benchmarks'))


def settings_of(run, **refinements):
    """The filter is told what the sensors were spoilt with: Q, R = diag σ², as the SRS has it."""
    noise = ImuNoise(run.errors.specific_force, run.errors.angular_velocity)
    return FilterSettings(
        noise, run.errors.length, run.platform.imu, run.platform.gravity, **refinements
    )


def errors_of(estimates, run):
    """True minus estimated in the order of the covariance, shape (n, 15)."""
    known = np.isfinite(estimates.position[:, 0])
    truth, turn = run.truth, invert_quaternion(estimates.quaternion_xyzw[known])
    errors = np.full((len(estimates), 15), np.nan)
    errors[:, 0:3] = truth.position - estimates.position
    errors[:, 3:6] = truth.linear_velocity - estimates.linear_velocity
    errors[known, 6:9] = log_quaternion(compose_quaternions(turn, truth.quaternion_xyzw[known]))
    errors[:, 9:12] = run.errors.accelerometer_bias - estimates.accelerometer_bias
    errors[:, 12:15] = run.errors.gyroscope_bias - estimates.gyroscope_bias
    return errors


def rms_of(estimates, run, rows=slice(1200, None)):
    """Root mean squares over rows and axes: position, velocity, attitude, two biases."""
    squares = errors_of(estimates, run)[rows] ** 2
    return np.sqrt(squares.reshape(len(squares), 5, 3).mean(axis=(0, 2)))


@pytest.fixture(scope='session')
def srs():
    platform = Platform.from_yaml('srs')
    # Section 4 of the paper has the IMU at the platform's origin, section 5 beside it.
    at_origin = replace(platform, imu=Pose(np.zeros(3), platform.imu.quaternion_xyzw))
    return SimpleNamespace(
        platform=at_origin,
        beside=platform,
        geometry=platform.geometry,
        settings=settings_of,
        errors=errors_of,
        rms=rms_of,
    )


@pytest.fixture(scope='session')
def mp1(srs):
    return simulate('MP1', 3, platform=srs.platform, duration=30.0)


@pytest.fixture(scope='session')
def mp2(srs):
    return simulate('MP2', 4, platform=srs.platform, duration=30.0)
