# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Two recorders' clocks are compared by what both saw."""

from __future__ import annotations

import numpy as np
import pytest
from stewart_identification.errors import UnusableRecording
from stewart_identification.recording.clocks import clock_offset


def signals(time: np.ndarray) -> np.ndarray:
    """Two channels that do not repeat themselves within the minute."""
    return np.stack(
        [np.sin(2.1 * time) + np.sin(3.7 * time + 1.0), np.cos(1.3 * time) * np.sin(0.4 * time)],
        axis=1,
    )


@pytest.mark.parametrize('offset', [0.0, 0.037, -3.21, 11.0])
def test_offset_is_found_to_a_tenth_of_a_millisecond(offset: float) -> None:
    rng = np.random.default_rng(4)
    first, second = np.arange(0.0, 12.0, 0.01), np.arange(1.0, 10.0, 0.005)
    noise = rng.normal(0.0, 0.01, (len(second), 2))

    found = clock_offset(
        first,
        signals(first),
        second + offset,
        3.0 * signals(second) + noise,
        longest=15.0,
        where='/x',
    )

    assert found.offset == pytest.approx(offset, abs=1e-4)
    assert found.correlation > 0.99
    assert not found.ambiguous


def test_periodic_motion_takes_the_smallest_offset_and_says_so() -> None:
    time = np.arange(0.0, 20.0, 0.01)
    wave = np.sin(2.0 * np.pi * time)[:, None]

    found = clock_offset(time, wave, time + 0.04, wave, longest=5.0, where='/x')

    assert found.offset == pytest.approx(0.04, abs=1e-4)
    assert found.ambiguous


def test_what_cannot_be_compared_is_refused() -> None:
    time = np.arange(0.0, 5.0, 0.01)
    rng = np.random.default_rng(0)
    noise = rng.normal(0.0, 1.0, (2, len(time), 1))

    with pytest.raises(UnusableRecording, match=r'correlates by 0\.\d\d at best'):
        clock_offset(time, noise[0], time, noise[1], longest=1.0, where='/x')
    with pytest.raises(UnusableRecording, match='nothing moves'):
        clock_offset(time, np.ones((len(time), 1)), time, noise[1], longest=1.0, where='/x')
    for count in (60, 100, 101, 102):
        with pytest.raises(UnusableRecording, match=r'/x: two .* (0\.59|0\.99|1|1\.01) s in'):
            clock_offset(time, noise[0], time[:count], noise[0][:count], longest=30.0, where='/x')
    with pytest.raises(UnusableRecording, match='have 0 s in common'):
        clock_offset(time, noise[0], time + 100.0, noise[1], longest=1.0, where='/x')
