# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the simulated measurements: the truth is a formula, and nobody has seen the filter."""

from __future__ import annotations

import ast
from importlib import util
from pathlib import Path

import numpy as np
import pytest
from stewart_estimation.simulated_srs import PROFILES, sensor_values, SensorErrors, simulate
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.solvers.forward import forward_batch
from stewart_kinematics.spatial import matrix_from_quaternion

SRS = Platform.from_yaml('srs')
NEUTRAL_LENGTH = 2.705


def imported_by(module: str, seen: set[str]) -> set[str]:
    """Return the modules of this package that a module imports, directly or not."""
    spec = util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    for node in ast.walk(ast.parse(Path(spec.origin).read_text('utf-8'))):
        names = []
        if isinstance(node, ast.Import):
            names = [item.name for item in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or '', *(f'{node.module}.{item.name}' for item in node.names)]
        for name in names:
            if name.startswith('stewart_estimation.') and name not in seen:
                if util.find_spec(name.rpartition('.')[0]).submodule_search_locations is None:
                    continue
                if util.find_spec(name) is None:
                    continue
                seen.add(name)
                imported_by(name, seen)
    return seen


def test_neither_simulation_nor_bound_can_know_the_filter() -> None:
    known = imported_by('stewart_estimation.simulated_srs', set())
    assert known == {'stewart_estimation.series', 'stewart_estimation.errors'}
    bound = imported_by('stewart_estimation.sensor_bound', set())
    assert bound == {*known, 'stewart_estimation.simulated_srs'}


@pytest.mark.parametrize(
    ('name', 'rate_deg', 'travel', 'tolerance'),
    [('MP1', 10.0, 0.30, 0.05), ('MP2', 7.0, 0.1, 0.01)],
)
def test_profiles_are_what_the_paper_says(name, rate_deg, travel, tolerance) -> None:
    run = simulate(name, 0, duration=60.0)
    rates = np.degrees(np.abs(run.truth.angular_velocity).max(axis=0))
    np.testing.assert_allclose(rates[:2], rate_deg, atol=0.3)
    assert abs(np.abs(run.legs.lengths - NEUTRAL_LENGTH).max() - travel) < tolerance
    MotionGuard(SRS).check(run.truth)


def test_mp1_is_the_circle_of_half_a_metre_once_in_five_seconds() -> None:
    run = simulate('MP1', 0, duration=20.0)
    full = run.legs.stamps > 10.0
    offset = run.truth.position[full] - SRS.geometry.neutral_pose.position
    np.testing.assert_allclose(np.hypot(offset[:, 0], offset[:, 1]), 0.5, atol=1e-12)
    np.testing.assert_allclose(
        np.linalg.norm(run.truth.linear_velocity[full], axis=1), 0.2 * np.pi, atol=1e-12
    )
    np.testing.assert_allclose(run.truth.position[1000:-500], run.truth.position[1500:], atol=1e-9)


@pytest.mark.parametrize('name', sorted(PROFILES))
def test_truth_has_consistent_derivatives(name) -> None:
    trajectory, time, step = (
        PROFILES[name](SRS.geometry.neutral_pose),
        np.linspace(1, 39, 300),
        1e-4,
    )
    before, now, after = (trajectory.sample(time + k * step) for k in (-1, 0, 1))
    for value, rate in (
        ('position', 'linear_velocity'),
        ('linear_velocity', 'linear_acceleration'),
        ('angular_velocity', 'angular_acceleration'),
    ):
        numeric = (getattr(after, value) - getattr(before, value)) / (2.0 * step)
        np.testing.assert_allclose(numeric, getattr(now, rate), atol=5e-8)
    left, right = (matrix_from_quaternion(item.quaternion_xyzw) for item in (before, after))
    spin = (
        (right - left)
        / (2 * step)
        @ np.swapaxes(matrix_from_quaternion(now.quaternion_xyzw), -1, -2)
    )
    numeric = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    np.testing.assert_allclose(numeric, now.angular_velocity, atol=5e-8)


def test_a_perfect_imu_feels_the_second_derivative_of_where_it_sits() -> None:
    trajectory, time, step = (
        PROFILES['MP1'](SRS.geometry.neutral_pose),
        np.linspace(11, 20, 90),
        1e-3,
    )
    force, rate = sensor_values(trajectory.sample(time), SRS.imu, SRS.gravity)
    now = trajectory.sample(time)
    attitude = matrix_from_quaternion(now.quaternion_xyzw) @ SRS.imu.rotation
    seats = []
    for k in (-1, 0, 1):
        motion = trajectory.sample(time + k * step)
        turn = matrix_from_quaternion(motion.quaternion_xyzw)
        seats.append(motion.position + turn @ SRS.imu.position)
    acceleration = (seats[2] - 2.0 * seats[1] + seats[0]) / step**2
    np.testing.assert_allclose(
        np.einsum('nij,nj->ni', attitude, force), acceleration - SRS.gravity, atol=2e-6
    )
    np.testing.assert_allclose(
        np.einsum('nij,nj->ni', attitude, rate), now.angular_velocity, atol=1e-12
    )


def test_at_rest_the_imu_reads_minus_gravity_with_z_down() -> None:
    run = simulate('MP1', 0, duration=0.5, errors=SensorErrors.none())
    np.testing.assert_allclose(run.imu.specific_forces[0], [0.0, 0.0, -9.80665], atol=1e-12)


def test_noises_and_biases_are_those_of_tables_2_and_3() -> None:
    run = simulate('MP2', 3, duration=200.0)
    clean = simulate('MP2', 3, duration=200.0, errors=SensorErrors.none())
    errors = SensorErrors()
    for name, deviation, bias in (
        ('specific_forces', errors.specific_force, errors.accelerometer_bias),
        ('angular_velocities', errors.angular_velocity, errors.gyroscope_bias),
    ):
        noise = getattr(run.imu, name) - getattr(clean.imu, name)
        np.testing.assert_allclose(noise.std(axis=0), deviation, rtol=0.03)
        np.testing.assert_allclose(noise.mean(axis=0), bias, atol=4e-5)
    noise = run.legs.lengths - clean.legs.lengths
    np.testing.assert_allclose(noise.std(axis=0), errors.length, rtol=0.03)
    result = forward_batch(SRS.geometry, clean.legs.lengths[:200])
    np.testing.assert_allclose(result.position, clean.truth.position[:200], atol=1e-9)


def test_a_seed_fixes_the_samples_and_another_changes_them() -> None:
    one, same, other = (simulate('MP1', seed, duration=1.0) for seed in (5, 5, 6))
    np.testing.assert_array_equal(one.legs.lengths, same.legs.lengths)
    np.testing.assert_array_equal(one.imu.specific_forces, same.imu.specific_forces)
    assert np.abs(one.legs.lengths - other.legs.lengths).max() > 1e-6


def test_rates_offset_and_delay_of_the_clocks() -> None:
    run = simulate(
        'MP1',
        0,
        duration=12.0,
        errors=SensorErrors.none(),
        imu_period=0.005,
        leg_offset=0.003,
        imu_delay=0.02,
    )
    prompt = simulate('MP1', 0, duration=12.0, errors=SensorErrors.none(), imu_period=0.005)
    np.testing.assert_allclose(np.diff(run.imu.stamps), 0.005)
    np.testing.assert_allclose(np.diff(run.legs.stamps), 0.01)
    assert run.legs.stamps[0] == 0.003
    assert run.legs.stamps[-1] <= 12.0
    np.testing.assert_allclose(
        run.imu.specific_forces[4:], prompt.imu.specific_forces[:-4], atol=1e-9
    )


def test_unknown_profiles_and_platforms_without_imu_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"one of MP1, MP2, got 'MP3'"):
        simulate('MP3', 0)
