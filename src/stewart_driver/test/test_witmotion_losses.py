# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Stamps of a stream that loses 5 % of its samples, against the instants of their sending."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from stewart_driver.witmotion.clock import Arrival, ArrivalTimes, SampleClock

BAUD = 115200
CYCLE = 33
SETTLED = 2.0
# One draw is enough to see a stamp go wrong; more of them are drawn by `make test-slow`.
SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))]


@dataclass(frozen=True)
class Way:
    """Between sensor and reader: ticks of the adapter, and pauses between two reads [s]."""

    tick: float
    batch_interval: float = 0.0

    def reads(self, sent: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return when a cycle's last byte was read."""
        times = sent + CYCLE * 10 / BAUD + rng.exponential(1e-4, len(sent))
        late = rng.random(len(sent)) < 0.003
        times[late] += rng.exponential(0.004, int(late.sum()))
        times = np.ceil(np.maximum.accumulate(times) / self.tick) * self.tick
        if not self.batch_interval:
            return times
        ends = [times[0]]
        while ends[-1] < times[-1]:
            end = ends[-1] + self.batch_interval + rng.exponential(2e-4)
            # The driver's reader waits for the next byte in one of eight reads.
            sharp = times[np.searchsorted(times[:-1], end)]
            ends.append(end if len(ends) % 8 else max(end, sharp))
        return np.array(ends)[np.searchsorted(ends, times)]


def unlucky(count: int, rng: np.random.Generator) -> np.ndarray:
    """Tell which 5 % of the samples never come, singly and in bursts of up to four."""
    gone = np.zeros(count, dtype=bool)
    while gone.mean() < 0.05:
        start = rng.integers(count)
        gone[start : start + (1 if rng.random() < 0.7 else rng.integers(2, 5))] = True
    return gone


def settled_errors(
    way: Way, *, period: float, drift: float, spoilt: float, seed: int
) -> np.ndarray:
    """Return errors of stamps over 60 s; of the share `spoilt` of the lost ones bytes come [s]."""
    rng = np.random.default_rng(seed)
    count = int(60.0 / period)
    sent = 100.0 + (rng.random() + np.arange(count) * (1.0 + drift)) * period
    gone = unlucky(count, rng)
    came = ~gone | (rng.random(count) < spoilt)
    reads = way.reads(sent, rng)[came]
    arrivals, clock = ArrivalTimes(BAUD), SampleClock(period)
    stamps: list[float] = []
    cycles = 0
    for time in np.unique(reads):
        cycle_numbers = np.flatnonzero(reads == time)
        arrivals.read(int(cycle_numbers[-1] + 1) * CYCLE, float(time))
        read = []
        for number in cycle_numbers:
            cycles += 1
            if not gone[came][number]:
                read.append(Arrival(arrivals.of(int(number) * CYCLE), cycles))
                cycles = 0
        stamps += clock.stamp(read) if read else []
    assert np.diff(stamps).min() > 0.0
    truth = sent[~gone]
    return (np.array(stamps) - truth)[truth > truth[0] + SETTLED]


@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize('drift', [-0.02, 0.0, 7e-4, 0.02])
@pytest.mark.parametrize('period', [0.005, pytest.param(0.01, marks=pytest.mark.slow)])
@pytest.mark.parametrize('spoilt', [pytest.param(0.0, marks=pytest.mark.slow), 0.5, 1.0])
def test_stamps_are_right_to_a_millisecond_as_samples_come(
    spoilt: float, period: float, drift: float, seed: int
) -> None:
    error = settled_errors(Way(0.001), period=period, drift=drift, spoilt=spoilt, seed=seed)

    assert np.quantile(np.abs(error), 0.99) < 1e-3
    third = len(error) // 3
    assert abs(np.median(error[-third:]) - np.median(error[:third])) < 2e-4


@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize('drift', [-0.02, 0.0, 7e-4, 0.02])
@pytest.mark.parametrize(
    ('way', 'period', 'worst'),
    [
        # With a timer of 16 ms no sample of 5 ms need ever come sooner than 1 ms late, of 10 ms
        # than 2 ms, the common measures; only a quartz that is off goes through all the delays.
        (Way(0.016), 0.005, 1.1e-3),
        pytest.param(Way(0.016), 0.01, 2.1e-3, marks=pytest.mark.slow),
        (Way(0.001, batch_interval=0.04), 0.005, 1.3e-3),
        pytest.param(Way(0.001, batch_interval=0.04), 0.01, 1.3e-3, marks=pytest.mark.slow),
    ],
)
def test_samples_read_together_are_right_where_the_spoilt_ones_left_their_bytes(
    way: Way, period: float, worst: float, drift: float, seed: int
) -> None:
    error = settled_errors(way, period=period, drift=drift, spoilt=1.0, seed=seed)

    assert np.quantile(np.abs(error), 0.99) < worst
