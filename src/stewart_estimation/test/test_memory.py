# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a row of a long recording takes, and that nothing else changes where it takes less."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from stewart_estimation.estimate import EstimateSeries
from stewart_estimation.kernels.records import Rows
from stewart_estimation.replay import replay
from stewart_estimation.results import table
from stewart_estimation.settings import DelayEstimation, Gate
from stewart_estimation.smoother import smooth

COVARIANCES = {'covariance', 'rate_covariance'}


def taken(series: EstimateSeries) -> int:
    """Return the bytes of all arrays of a series, each base once."""
    bases = {}
    for item in fields(series):
        values = getattr(series, item.name)
        while isinstance(values, np.ndarray):
            values, base = values.base, values
            bases[item.name] = base
    return sum({id(base): base.nbytes for base in bases.values()}.values())


@pytest.mark.parametrize('size', [15, 16, 20])
def test_a_row_of_variances_takes_a_quarter_of_a_row_of_covariances(size: int) -> None:
    whole, lean = (Rows.empty(1000, size, whole=choice) for choice in (True, False))
    assert sum(part.nbytes for part in whole[:5]) == 1000 * 8 * 296
    assert sum(part.nbytes for part in lean[:5]) == 1000 * 8 * 80


def test_without_covariances_nothing_else_differs_in_a_bit(srs, mp1) -> None:
    settings = srs.settings(mp1, gate=Gate(), delay=DelayEstimation())
    runs = [
        replay(srs.geometry, settings, mp1.imu, mp1.legs, keep=True, whole=whole)
        for whole in (True, False)
    ]
    smoothed = [smooth(srs.geometry, settings, run) for run in runs]
    for whole, lean in (runs, smoothed):
        assert not len(lean.covariance)
        assert not len(lean.rate_covariance)
        diagonal = np.diagonal(whole.covariance, axis1=1, axis2=2)
        np.testing.assert_array_equal(lean.variances, diagonal)
        diagonal = np.diagonal(whole.rate_covariance, axis1=1, axis2=2)
        np.testing.assert_array_equal(lean.rate_variances, diagonal)
        for item in fields(whole):
            values = getattr(whole, item.name)
            if isinstance(values, np.ndarray) and item.name not in COVARIANCES:
                np.testing.assert_array_equal(getattr(lean, item.name), values)
        np.testing.assert_array_equal(table(lean), table(whole))


def test_a_series_holds_no_more_than_its_rows(srs, mp1) -> None:
    found = replay(srs.geometry, srs.settings(mp1), mp1.imu, mp1.legs, whole=False)
    # The rows, their stamps, and which legs were used.
    assert taken(found) <= len(found) * (8 * 81 + 6)
