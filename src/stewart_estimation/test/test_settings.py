# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import numpy as np
import pytest
from srs_study import scaled
from stewart_estimation.errors import SampleError
from stewart_estimation.samples import ImuSeries, LegSeries
from stewart_estimation.settings import (
    Adaptation,
    DelayEstimation,
    FilterSettings,
    Gate,
    ImuNoise,
)
from stewart_kinematics.errors import ConfigurationError, ShapeError


@pytest.mark.parametrize(
    ('make', 'name'),
    [
        (lambda: ImuNoise(0.0, 1e-3), 'specific_force'),
        (lambda: ImuNoise(1e-3, np.nan), 'angular_velocity'),
        (lambda: ImuNoise(1e-3, [1.0, 2.0]), 'angular_velocity'),
        (lambda: ImuNoise(1e-3, 1e-3, period=-1.0), 'period'),
        (lambda: Gate(probability=0.0), 'probability'),
        (lambda: Gate(frozen=0.0), 'frozen'),
        (lambda: Gate(drift=-1.0), 'drift'),
        (lambda: DelayEstimation(lower=0.1, upper=0.05), 'upper'),
        (lambda: DelayEstimation(start=0.5), 'start'),
        (lambda: Adaptation(window=0.0), 'window'),
        (lambda: FilterSettings(ImuNoise(1e-3, 1e-3), [1e-5] * 5), 'leg_noise'),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(make, name):
    with pytest.raises(ConfigurationError, match=name):
        make()


def test_one_number_stands_for_all_and_variances_scale():
    settings = scaled(FilterSettings(ImuNoise(1e-3, 2e-3), 1e-5), imu=4.0, legs=9.0)
    np.testing.assert_allclose(settings.imu_noise.specific_force, [2e-3] * 3)
    np.testing.assert_allclose(settings.leg_noise, [3e-5] * 6)


def test_series_refuse_what_is_no_sample():
    stamps = np.array([0.0, 1.0])
    with pytest.raises(SampleError, match='stamps'):
        ImuSeries(np.array([0.0, np.nan]), np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(SampleError, match='axis y at sample 1'):
        ImuSeries(stamps, np.array([[0, 0, 0], [0, np.inf, 0]]), np.zeros((2, 3)))
    with pytest.raises(SampleError, match='leg 2 at sample 0'):
        LegSeries(stamps, np.array([[1, -1, 1, 1, 1, 1], [1] * 6]))
    with pytest.raises(ShapeError, match='lengths'):
        LegSeries(stamps, np.ones((2, 5)))


def test_order_drops_missing_samples_and_keeps_the_last_of_one_stamp():
    forces = np.arange(12.0).reshape(4, 3)
    forces[1, 2] = np.nan
    series = ImuSeries(np.array([2.0, 0.5, 1.0, 2.0]), forces, np.zeros((4, 3))).ordered()
    np.testing.assert_array_equal(series.stamps, [1.0, 2.0])
    np.testing.assert_array_equal(series.specific_forces[:, 0], [6.0, 9.0])
