# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The histogram answers what the durations themselves would, to one bin."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from stewart_driver.control.cycle_statistics import bin_of, BINS, EDGES, percentile


@given(st.floats(1e-9, 10.0))
def test_a_duration_lies_in_its_bin(duration: float) -> None:
    index = bin_of(duration)

    assert 0 <= index < BINS
    assert duration <= EDGES[index] * (1 + 1e-9)
    assert index == 0 or duration >= EDGES[index - 1] * (1 - 1e-9)


@pytest.mark.parametrize('share', [0.5, 0.9, 0.99, 1.0])
def test_percentiles_are_at_most_one_bin_too_long(share: float) -> None:
    durations = np.random.default_rng(1).lognormal(-9.0, 1.0, 5000)
    counts = np.zeros(BINS, dtype=np.uint64)
    for duration in durations:
        counts[bin_of(duration)] += np.uint64(1)

    exact = np.quantile(durations, share, method='inverted_cdf')
    assert exact <= percentile(counts, share) <= 1.13 * exact


def test_nothing_counted_has_no_percentile() -> None:
    assert np.isnan(percentile(np.zeros(BINS, dtype=np.uint64), 0.5))
