# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the baseline: Gauss-Newton and the Butterworth differentiator."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal
from srs_simulated import SensorErrors, simulate
from srs_study import AS_PRINTED, CUT_OFFS
from stewart_estimation.differentiator import (
    differentiate,
    from_legs,
    TRUE_25_HZ,
)
from stewart_estimation.samples import LegSeries
from stewart_kinematics.errors import ConfigurationError, ConvergenceError, ShapeError


@pytest.mark.parametrize('tau', CUT_OFFS.values())
def test_response_equals_that_of_the_continuous_filter_to_a_polygon(tau) -> None:
    time = np.arange(0.0, 3.0, 0.01)
    values = np.stack([np.sin(9.0 * time), time**2], axis=1)
    for column, found in zip(values.T, differentiate(time, values, tau).T, strict=True):
        _, expected, _ = signal.lsim(([1, 0], [tau**2, np.sqrt(2) * tau, 1]), column, time)
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_irregular_steps_change_nothing_on_a_ramp() -> None:
    time = np.cumsum(np.random.default_rng(0).uniform(0.001, 0.05, 400))
    found = differentiate(time, 3.0 * (time - time[0])[:, None], TRUE_25_HZ)
    steady = time > time[0] + 20.0 * TRUE_25_HZ
    np.testing.assert_allclose(found[steady], 3.0, atol=1e-9)


@pytest.mark.parametrize(('tau', 'cut_off'), [(TRUE_25_HZ, 25.0), (AS_PRINTED, 3.9789)])
def test_half_of_the_power_passes_at_the_cut_off(tau, cut_off) -> None:
    time = np.arange(0.0, 2.0, 1e-4)
    wave = np.sin(2.0 * np.pi * cut_off * time)[:, None]
    found = differentiate(time, wave, tau)[time > 1.0]
    gain = np.abs(found).max() / (2.0 * np.pi * cut_off)
    assert gain == pytest.approx(np.sqrt(0.5), abs=2e-4)


def test_a_circle_lags_by_root_two_tau() -> None:
    run = simulate('MP1', 0, duration=30.0, errors=SensorErrors.none())
    found = from_legs(run.platform.geometry, run.legs, TRUE_25_HZ)
    steady = run.legs.stamps > 15.0
    np.testing.assert_allclose(found.position, run.truth.position, atol=1e-9)
    error = found.linear_velocity - run.truth.linear_velocity
    expected = -np.sqrt(2.0) * TRUE_25_HZ * run.truth.linear_acceleration
    np.testing.assert_allclose(error[steady], expected[steady], atol=2e-4)
    turning = found.angular_velocity - run.truth.angular_velocity
    expected = -np.sqrt(2.0) * TRUE_25_HZ * run.truth.angular_acceleration
    np.testing.assert_allclose(turning[steady], expected[steady], atol=2e-4)


def test_a_row_without_a_leg_has_no_pose_and_does_not_disturb_the_others() -> None:
    run = simulate('MP2', 0, duration=12.0)
    lengths = run.legs.lengths.copy()
    lengths[600, 2] = np.nan
    found = from_legs(run.platform.geometry, LegSeries(run.legs.stamps, lengths))
    whole = from_legs(run.platform.geometry, run.legs)
    assert not found.converged[600]
    assert found.converged.sum() == len(lengths) - 1
    assert np.isnan(found.linear_velocity[600]).all()
    others = np.flatnonzero(found.converged)
    difference = np.abs(found.linear_velocity - whole.linear_velocity)[others].max()
    assert 0.0 < difference < 0.01


def test_what_cannot_be_differentiated_is_refused() -> None:
    time, values = np.arange(3.0), np.zeros((3, 1))
    with pytest.raises(ConfigurationError, match=r'stamps\[2\].*later than the one before'):
        differentiate([0.0, 1.0, 1.0], values, 0.1)
    with pytest.raises(ConfigurationError, match='greater than 0 s, got 0'):
        differentiate(time, values, 0.0)
    with pytest.raises(ShapeError, match=r'expected shape \(3, m\)'):
        differentiate(time, np.zeros((4, 1)), 0.1)
    run = simulate('MP1', 0, duration=0.1)
    with pytest.raises(ConvergenceError, match='none of 11 rows'):
        from_legs(run.platform.geometry, LegSeries(run.legs.stamps, run.legs.lengths + 9.0))
