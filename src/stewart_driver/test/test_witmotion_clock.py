# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Stamps under simulated delays, against the instants at which samples were truly sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
import random

import numpy as np
import pytest
from stewart_driver.witmotion.clock import Arrival, ArrivalTimes, SampleClock

Delay = Callable[[np.ndarray, np.random.Generator], np.ndarray]
BURST = 33 * 10 / 115200


def punctual(sent: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return sent + 3e-4


def usb_frames(sent: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Full-speed USB asks once a millisecond."""
    return sent + rng.uniform(0.0, 1e-3, len(sent))


def usb_latency(sent: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An adapter with its 16 ms timer: several samples come at the same instant."""
    return np.ceil((sent + BURST) / 0.016) * 0.016


def hiccups(sent: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One read in 200 comes up to 30 ms late, and with it what was sent meanwhile."""
    delay = rng.exponential(2e-4, len(sent))
    late = rng.random(len(sent)) < 0.005
    delay[late] += rng.uniform(0.0, 0.03, int(late.sum()))
    return sent + delay


def stamped(clock: SampleClock, arrivals: Iterable[float]) -> np.ndarray:
    """Return the stamps; what arrives at the same instant was read together."""
    stamps: list[float] = []
    for time, read in groupby(map(float, arrivals)):
        stamps += clock.stamp([Arrival(time) for _ in read])
    return np.array(stamps)


def errors(
    delay: Delay,
    *,
    period: float = 0.005,
    drift: float = 0.0,
    nominal: float = 0.0,
    seconds: float = 60.0,
) -> tuple[np.ndarray, np.ndarray, SampleClock]:
    """Return stamps minus truth, the stamps, and the clock [s]."""
    sent = 100.0 + np.arange(int(seconds / period)) * period * (1.0 + drift)
    arrivals = np.maximum.accumulate(delay(sent, np.random.default_rng(1)))
    clock = SampleClock(nominal or period)
    stamps = stamped(clock, arrivals)
    return stamps - sent, stamps, clock


@pytest.mark.parametrize('drift', [0.0, 1e-4, -5e-4])
@pytest.mark.parametrize(
    ('delay', 'offset', 'spread', 'worst'),
    [
        # Mean error, its standard deviation and the largest error, all after five seconds [ms].
        (punctual, 0.31, 0.01, 0.31),
        (usb_frames, 0.01, 0.01, 0.02),
        (usb_latency, 3.1, 0.33, 3.6),
        (hiccups, 0.01, 0.01, 0.02),
    ],
)
def test_stamps_lie_where_the_sensor_sent(
    delay: Delay, offset: float, spread: float, worst: float, drift: float
) -> None:
    error, stamps, clock = errors(delay, drift=drift)
    settled = 1e3 * error[1000:]

    assert settled.mean() < offset
    assert settled.std() < spread
    assert np.abs(settled).max() < worst
    assert np.diff(stamps).min() > 0.0
    assert clock.period == pytest.approx(0.005 * (1.0 + drift), rel=3e-4)
    assert (clock.gaps, clock.restarts) == (0, 0)


@pytest.mark.parametrize('delay', [usb_latency, hiccups])
def test_arrivals_alone_would_be_ten_times_worse(delay: Delay) -> None:
    error, _, _ = errors(delay)
    sent = 100.0 + np.arange(12_000) * 0.005
    arrivals = np.maximum.accumulate(delay(sent, np.random.default_rng(1)))

    assert np.std((arrivals - sent)[1000:]) > 10.0 * np.std(error[1000:])


def test_a_steady_stream_of_stamps_has_the_period_of_the_sensor() -> None:
    _, stamps, _ = errors(usb_latency)
    assert np.diff(stamps[2000:]) == pytest.approx(0.005, abs=2e-5)


@pytest.mark.parametrize(('period', 'nominal'), [(0.005, 0.01), (0.01, 0.005), (0.02, 0.005)])
def test_a_wrong_nominal_period_is_found_out(period: float, nominal: float) -> None:
    error, _, clock = errors(usb_frames, period=period, nominal=nominal, seconds=10.0)

    assert clock.period == pytest.approx(period, rel=1e-3)
    assert np.abs(error).max() < 1.1e-3


def test_a_rate_lowered_on_the_way_is_followed() -> None:
    fast = 100.0 + np.arange(2000) * 0.005
    slow = fast[-1] + 0.01 * np.arange(1, 1001)
    clock = SampleClock(0.005)
    error = stamped(clock, [*fast, *slow]) - [*fast, *slow]

    assert clock.period == pytest.approx(0.01, rel=1e-6)
    assert clock.restarts == 1
    assert np.abs(error[2400:]).max() < 1e-6


def test_lost_samples_are_counted_and_skipped() -> None:
    sent = np.delete(100.0 + np.arange(4000) * 0.005, [1500, 2500, 2501, 2502])
    rng = np.random.default_rng(3)
    clock = SampleClock(0.005)
    error = stamped(clock, sent + rng.uniform(0.0, 1e-3, len(sent))) - sent

    assert clock.gaps == 4
    assert clock.restarts == 0
    # The first sample after the first loss might have been delayed.
    assert np.flatnonzero(np.abs(error[1000:]) > 1e-3).size <= 1


@pytest.mark.parametrize('drift', [0.003, 0.01, -0.01])
@pytest.mark.parametrize('delay', [punctual, usb_frames, usb_latency])
def test_a_slow_sensor_is_not_taken_for_one_that_loses_samples(delay: Delay, drift: float) -> None:
    error, _, clock = errors(delay, drift=drift)
    settled = error[2000:]

    # A few are counted before the period is known.
    assert clock.gaps <= 3
    assert clock.restarts == 0
    assert clock.period == pytest.approx(0.005 * (1.0 + drift), rel=5e-4)
    assert settled.std() < 5e-4


@pytest.mark.parametrize('delay', [punctual, usb_frames, usb_latency])
def test_a_disturbed_line_is_forgotten(delay: Delay) -> None:
    rng = np.random.default_rng(2)
    sent = np.arange(6000) * 0.005
    sent = sent[(sent > 5.0) | (rng.random(len(sent)) > 0.03)]
    clock = SampleClock(0.005)
    arrivals = np.maximum.accumulate(delay(sent, rng))
    stamped(clock, arrivals[sent <= 8.0])
    gaps = clock.gaps
    stamped(clock, arrivals[sent > 8.0])

    assert clock.gaps == gaps > 0
    assert clock.period == pytest.approx(0.005, rel=5e-4)


def test_samples_lost_while_the_computer_was_busy_are_counted() -> None:
    sent = np.delete(100.0 + np.arange(4000) * 0.005, range(2030, 2039))
    late = np.zeros(len(sent))
    late[2000:2030] = 0.003
    clock = SampleClock(0.005)
    stamped(clock, sent + late)

    assert clock.gaps == 9
    assert clock.period == pytest.approx(0.005, rel=1e-4)


def test_after_an_outage_the_clock_starts_anew_with_its_period() -> None:
    before = 100.0 + np.arange(1000) * 0.005
    after = 130.0017 + np.arange(1000) * 0.005
    clock = SampleClock(0.005)
    error = stamped(clock, [*before, *after]) - [*before, *after]

    assert clock.restarts == 1
    assert clock.gaps == 0
    assert np.abs(error).max() < 1e-9


def test_a_computer_that_stood_still_keeps_the_clock() -> None:
    """All of 0.8 s was read at once, in two reads, and taken for a silence of the sensor."""
    sent = 100.0 + np.arange(2000) * 0.005
    arrivals = sent + 3e-4
    held = slice(1000, 1160)
    arrivals[held] = np.where(np.arange(160) < 93, sent[1160], sent[1160] + 1e-4)
    clock = SampleClock(0.005)
    error = stamped(clock, arrivals) - sent

    assert (clock.restarts, clock.gaps) == (0, 0)
    assert np.abs(error).max() < 5e-4


def test_a_frame_began_before_all_the_bytes_behind_it() -> None:
    arrivals = ArrivalTimes(115200)
    arrivals.read(33, 10.0)
    assert arrivals.of(0) == pytest.approx(10.0 - 33 * 10 / 115200)
    assert arrivals.of(22) == pytest.approx(10.0 - 11 * 10 / 115200)


def test_a_later_read_may_bound_an_earlier_byte_more_tightly() -> None:
    arrivals = ArrivalTimes(9600)
    arrivals.read(11, 10.0)
    # A hiccup delayed the first read; the bytes after it came at once, so they had been waiting.
    arrivals.read(33, 10.001)
    assert arrivals.of(0) == pytest.approx(10.001 - 33 * 10 / 9600)


@pytest.mark.parametrize('seed', [1, 10, 14])
def test_a_period_found_on_a_busy_machine_does_not_lose_samples_for_ever(seed: int) -> None:
    """Every sample comes; in the first seconds the reader often wakes up late."""
    rng = random.Random(seed)
    period, clock = 0.005 * (1.0 + rng.uniform(-3e-4, 3e-4)), SampleClock(0.005)
    quiet, number, now, gaps = rng.uniform(0.3, 2.0), 0, 0.0, 0
    while now < 12.0:
        late = rng.uniform(0.0, 2e-4)
        if now < quiet and rng.random() < 0.5:
            late = rng.expovariate(1.0 / 0.003)
        now = max((number + 1) * period, now) + late
        count = int(now / period + 1e-9) - number
        number += count
        clock.stamp([Arrival(now - 0.0029 * behind) for behind in reversed(range(count))])
        gaps = clock.gaps if now < 8.0 else gaps

    assert clock.gaps == gaps
    assert clock.period == pytest.approx(period, rel=1e-4)
