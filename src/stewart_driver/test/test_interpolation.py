# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The command is smooth whatever the setpoints do."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from played_setpoints import (
    assert_smooth,
    CYCLE,
    cycles,
    holding,
    LIMITS,
    PERIOD,
    play,
    SETTINGS,
    START,
    stream,
    T0,
    Wave,
    ZERO,
)
import pytest
from stewart_driver.path.interpolation import Interpolator
from stewart_driver.path.motion import LegMotion, Verdict


def test_a_clean_stream_is_reproduced_a_playout_delay_later() -> None:
    wave = Wave()
    played = play(holding(), stream(wave, 3.0), cycles(2.9))

    expected = np.array(
        [wave.setpoint(t - T0 - SETTINGS.playout_delay, 0.0).strokes for t in played.times]
    )
    # A cubic with exact ends is off by h⁴/384 of the fourth derivative: below 1e-10 m here, but
    # for the first second, where the polynomial rise bends harder.
    assert np.abs(played.strokes - expected)[1100:].max() < 2e-9
    assert np.abs(played.strokes - expected).max() < 1e-7


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_jitter_bursts_and_losses_leave_no_step(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wave, duration = Wave(amplitude=0.12, frequency=0.6), 2.5
    count = int(duration / PERIOD)
    delays = 3e-3 + rng.uniform(-3e-3, 3e-3, count)
    for begin in rng.integers(20, count - 20, 3):
        # A burst: what was stamped in 15 ms arrives at once.
        delays[begin : begin + 3] = (3 - np.arange(3)) * PERIOD
    lost = frozenset(rng.integers(20, count - 20, 10).tolist())
    jittered = T0 + np.cumsum(CYCLE + rng.uniform(0.0, 0.45 * CYCLE, int(duration / CYCLE)))

    played = play(
        holding(), stream(wave, duration, delays, lost), jittered[jittered < T0 + duration]
    )

    # Where many losses meet, the tangent is followed and left again, within the margin.
    assert_smooth(played)
    assert not played.starved[: int(0.9 * len(played.times))].any()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_stream_stays_within_stroke_rate_and_acceleration(seed: int) -> None:
    """Even setpoints that make no sense produce no step and never leave the stroke."""
    rng = np.random.default_rng(seed)
    arrivals = stream(Wave(amplitude=0.25, frequency=0.4), 2.0)
    for index in rng.integers(0, len(arrivals), 60):
        arrival, point = arrivals[index]
        strokes = point.strokes + rng.normal(0.0, rng.choice([1e-6, 1e-3, 0.1]), 6)
        rates = point.rates + rng.normal(0.0, rng.choice([1e-3, 0.1, 1.0]), 6)
        arrivals[index] = (arrival + rng.uniform(0, 0.05), LegMotion(point.stamp, strokes, rates))

    played = play(holding(), arrivals, cycles(2.5))

    assert_smooth(played)
    assert np.all(played.strokes >= LIMITS.stroke_lower)
    assert np.all(played.strokes <= LIMITS.stroke_upper)
    assert np.abs(played.stroke_steps).max() <= SETTINGS.margin * LIMITS.rate * CYCLE + 1e-9


def test_a_path_that_begins_beside_the_held_strokes_is_joined_without_a_step() -> None:
    offset = 0.9 * SETTINGS.start_tolerance * np.array([1, -1, 0.5, 0, -0.2, 1])
    played = play(holding(START + offset), stream(Wave(), 2.0), cycles(1.9))
    exact = play(holding(START), stream(Wave(), 2.0), cycles(1.9))

    assert np.array_equal(played.strokes[0], START + offset)
    assert np.abs(played.strokes[-1] - exact.strokes[-1]).max() < 1e-12
    assert_smooth(played, acceleration=4.5)


def test_holding_moves_no_leg_that_stands_not_even_one_outside_its_stroke() -> None:
    beyond = START.copy()
    beyond[1], beyond[4] = -0.0045, 0.603
    interpolator = holding(beyond)
    path = LegMotion(T0 + 0.01, np.clip(beyond, 0.0, 0.6), ZERO)
    assert interpolator.offer(path, T0) is Verdict.START_AWAY

    played = play(interpolator, [], cycles(0.5))

    assert np.all(played.strokes == beyond)
    assert not played.rates.any()


def test_legs_that_sag_are_brought_to_rest_within_their_limits() -> None:
    sagging = np.array([-0.05, -0.05, -0.04, 0.0, -0.001, -0.05])
    interpolator = Interpolator(LIMITS, SETTINGS, CYCLE)
    interpolator.command(T0 - CYCLE)
    interpolator.hold(START, sagging)
    played = play(interpolator, [], cycles(0.5))

    steps = np.diff(played.strokes, axis=0, prepend=[START])
    assert np.abs(steps).max() <= 0.05 * CYCLE
    rates = np.diff(steps, axis=0) / CYCLE
    assert np.abs(rates).max() <= LIMITS.acceleration * CYCLE * (1 + 1e-6)
    assert np.all(played.strokes[:, 3:5] == START[3:5])
    assert not played.rates[-1].any()
    assert interpolator.at_rest


def test_silence_at_rest_is_normal() -> None:
    interpolator = holding()
    points = [(T0 + t, LegMotion(T0 + t, START, ZERO)) for t in np.arange(0.0, 0.2, PERIOD)]
    played = play(interpolator, points, cycles(1.0))

    assert not played.starved.any()
    assert np.all(played.strokes == START)
    assert interpolator.at_rest


def test_a_gap_shorter_than_delay_and_extrapolation_is_bridged() -> None:
    gap = frozenset(range(300, 306))
    interpolator = holding()
    played = play(interpolator, stream(Wave(), 2.0, lost=gap), cycles(1.9))

    assert not played.starved.any()
    assert_smooth(played, acceleration=6.5)


@pytest.mark.parametrize(
    ('change', 'verdict'),
    [
        ({'stamp': T0 + 1.0}, Verdict.DUPLICATE),
        ({'stamp': T0 + 0.995}, Verdict.OUT_OF_ORDER),
        ({'stamp': T0 + 1.001 + SETTINGS.look_ahead + 0.01}, Verdict.EARLY),
        ({'stamp': float('nan')}, Verdict.NOT_FINITE),
        ({'strokes': np.full(6, np.inf)}, Verdict.NOT_FINITE),
        ({'rates': np.full(6, np.nan)}, Verdict.NOT_FINITE),
        ({'forces': np.full(6, np.nan)}, Verdict.NOT_FINITE),
        ({'strokes': START + 1e-3}, Verdict.JUMP),
        ({'strokes': np.full(6, 0.61)}, Verdict.OUTSIDE_STROKE),
        ({'rates': np.full(6, -0.61)}, Verdict.TOO_FAST),
    ],
    ids=lambda item: item.name if isinstance(item, Verdict) else '',
)
def test_what_cannot_be_played_is_refused_and_counted(
    change: dict[str, object], verdict: Verdict
) -> None:
    interpolator = holding()
    play(
        interpolator,
        [(T0 + t, LegMotion(T0 + t, START, ZERO)) for t in np.linspace(0.0, 1.0, 201)],
        cycles(1.0),
    )
    interpolator.offer(LegMotion(T0 + 1.0, START, ZERO), T0 + 1.0)
    good = {'stamp': T0 + 1.005, 'strokes': START, 'rates': ZERO, 'forces': ZERO}

    assert interpolator.offer(LegMotion(**{**good, **change}), T0 + 1.001) is verdict
    assert interpolator.counts[verdict] == 1
    assert interpolator.last_refusal
    assert interpolator.offer(LegMotion(**good), T0 + 1.001) is Verdict.ACCEPTED


def test_a_setpoint_that_comes_after_its_time_is_late() -> None:
    interpolator = holding()
    arrivals = stream(Wave(), 1.5)
    play(interpolator, arrivals, T0 + np.arange(0.0, 1.5 + 0.02, CYCLE))
    late = Wave().setpoint(1.5, T0 + 1.5 - 2 * CYCLE)

    assert interpolator.offer(late, T0 + 1.5 + 0.03) is Verdict.LATE


def test_nothing_is_taken_before_the_legs_are_held_and_after_release() -> None:
    interpolator = Interpolator(LIMITS, SETTINGS, CYCLE)
    point = LegMotion(T0, START, ZERO)
    assert interpolator.offer(point, T0) is Verdict.NOT_FOLLOWING

    interpolator.hold(START)
    interpolator.release()
    assert interpolator.offer(point, T0) is Verdict.NOT_FOLLOWING


def test_feed_forward_forces_are_joined_linearly_and_kept_in_a_stop() -> None:
    forces = np.arange(6.0)
    interpolator = holding()
    points = [
        LegMotion(T0 + i * PERIOD, START, ZERO, forces * i) for i in range(11)
    ]  # fmt: skip
    for point in points:
        interpolator.offer(point, T0)
    seen = [interpolator.command(T0 + k * CYCLE).forces for k in range(200)]

    middle = seen[int((SETTINGS.playout_delay + 5.4 * PERIOD) / CYCLE)]
    assert middle == pytest.approx(forces * 5.4)
    assert seen[-1] == pytest.approx(forces * 10)
