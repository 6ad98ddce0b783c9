# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""All six legs stop together, on one path, whoever asks for it."""

from __future__ import annotations

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
from stewart_driver.path.motion import LegMotion, Verdict


def test_silence_brings_all_legs_to_rest_on_one_path() -> None:
    interpolator = holding()
    played = play(interpolator, stream(Wave(), 1.6), cycles(3.0))

    begin = int(np.flatnonzero(played.starved)[0]) - 1
    travelled = played.strokes[begin:] - played.strokes[begin]
    ratios = travelled[1:] / played.rates[begin]
    assert np.abs(ratios - ratios[:, :1]).max() < 1e-9
    assert_smooth(played, acceleration=4.5)
    assert np.all(played.rates[-1] == 0.0)
    assert interpolator.at_rest


def test_silence_is_noticed_after_delay_and_extrapolation() -> None:
    played = play(holding(), stream(Wave(), 1.6), cycles(2.0))

    last_stamp = T0 + 1.6 - PERIOD
    begin = played.times[np.flatnonzero(played.starved)[0]]
    expected = SETTINGS.playout_delay + SETTINGS.extrapolation_time
    assert begin - last_stamp == pytest.approx(expected, abs=2 * CYCLE)


def test_a_common_stop_keeps_the_deceleration_limit() -> None:
    played = play(holding(), stream(Wave(), 1.6), cycles(3.0))

    begin = int(np.flatnonzero(played.starved)[0])
    deceleration = np.abs(played.rate_steps[begin:]).max() / CYCLE
    assert deceleration <= SETTINGS.stop_strength * LIMITS.acceleration * (1 + 1e-6)
    assert deceleration >= 0.95 * SETTINGS.stop_strength * LIMITS.acceleration


def test_nothing_moves_after_a_quick_stop_although_setpoints_continue() -> None:
    interpolator = holding()

    def stop_once(now: float) -> None:
        if abs(now - (T0 + 1.5)) < CYCLE / 2:
            interpolator.stop(SETTINGS.quick_stop_strength)

    played = play(interpolator, stream(Wave(), 4.0), cycles(4.0), stop_once)

    speed = np.abs(played.rates[1499]).max()
    rest = int(1.5 / CYCLE) + int(np.ceil(1.5 * speed / LIMITS.acceleration / CYCLE)) + 1
    assert speed > 0.1
    assert np.all(played.rates[rest:] == 0.0)
    assert np.all(played.strokes[rest:] == played.strokes[-1])
    assert (
        interpolator.counts[Verdict.START_MOVING] + interpolator.counts[Verdict.START_AWAY] > 400
    )


def test_a_quick_stop_makes_a_common_stop_harder_on_the_same_path() -> None:
    interpolator = holding()
    begin = T0 + 1.5

    def stop_twice(now: float) -> None:
        if abs(now - begin) < CYCLE / 2:
            interpolator.stop(0.1)
        if abs(now - begin - 0.1) < CYCLE / 2:
            interpolator.stop(1.0)

    played = play(interpolator, stream(Wave(), 4.0), cycles(4.0), stop_twice)

    index = int(1.5 / CYCLE) - 1
    ratios = (played.strokes[index + 1 :] - played.strokes[index]) / played.rates[index]
    assert np.abs(ratios - ratios[:, :1]).max() < 1e-9
    assert np.all(played.rates[index + 200 :] == 0.0)


def test_a_second_milder_stop_changes_nothing() -> None:
    once, twice = holding(), holding()
    arrivals = stream(Wave(), 2.0)
    first = play(once, arrivals, cycles(2.5), lambda t: once.stop(1.0) if t == T0 + 1.5 else None)

    def stop(now: float) -> None:
        if now == T0 + 1.5:
            twice.stop(1.0)
        if now == T0 + 1.52:
            twice.stop(0.1)

    second = play(twice, arrivals, cycles(2.5), stop)
    assert np.array_equal(first.strokes, second.strokes)


@pytest.mark.parametrize('room', [0.0, 1e-4, 5e-3])
def test_a_stop_ends_in_front_of_the_stroke_end(room: float) -> None:
    """The legs run towards their end at 0.3 m/s and the setpoints cease just before it."""
    top = LIMITS.stroke_upper[0]

    def setpoint(time: float) -> LegMotion:
        rate = min(1.0 * time, 0.3)
        stroke = 0.5 * time**2 if time < 0.3 else 0.045 + 0.3 * (time - 0.3)
        strokes = START.copy()
        strokes[2] = 0.1 + stroke
        return LegMotion(T0 + time, strokes, np.where(np.arange(6) == 2, rate, 0.0))

    times = np.arange(0.0, 3.0, PERIOD)
    points = [setpoint(t) for t in times]
    points = [point for point in points if point.strokes[2] <= top - room]
    start = START.copy()
    start[2] = 0.1
    interpolator = holding(start)
    played = play(interpolator, [(p.stamp, p) for p in points], cycles(3.0))

    assert played.strokes.max() <= top
    assert played.strokes[-1, 2] > top - room - 0.3 * PERIOD - 1e-3
    assert interpolator._stop.shortened_for == 3


def test_after_a_stop_only_a_path_from_rest_at_the_held_strokes_is_taken() -> None:
    interpolator = holding()
    play(interpolator, stream(Wave(), 1.6), cycles(3.0))
    held, now = interpolator.command(T0 + 3.0).strokes, T0 + 3.0
    away, fast = held.copy(), ZERO.copy()
    away[4] += 1.1 * SETTINGS.start_tolerance
    fast[1] = -1.1 * SETTINGS.start_rate_tolerance

    assert interpolator.offer(LegMotion(now, away, ZERO), now) is Verdict.START_AWAY
    assert 'leg 5' in interpolator.last_refusal
    assert interpolator.offer(LegMotion(now, held, fast), now) is Verdict.START_MOVING
    assert 'leg 2' in interpolator.last_refusal
    assert interpolator.offer(LegMotion(now, held, ZERO), now) is Verdict.ACCEPTED
