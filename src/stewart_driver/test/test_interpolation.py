# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The command is smooth whatever the setpoints do, and all six legs stop together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from stewart_driver.configuration import InterpolationSettings
from stewart_driver.interpolation import Interpolator
from stewart_driver.legs import Array, LegLimits
from stewart_driver.setpoint import Setpoint, Verdict

T0 = 1000.0
CYCLE = 1e-3
PERIOD = 5e-3
SETTINGS = InterpolationSettings(playout_delay=0.02, extrapolation_time=0.02)
ZERO = np.zeros(6)
LIMITS = LegLimits(np.zeros(6), np.full(6, 0.6), rate=0.6, acceleration=6.0)
START = np.full(6, 0.3)
PHASES = np.array([0.0, 0.7, 1.9, 2.6, 4.0, 5.5])


@dataclass(frozen=True)
class Wave:
    """Different sines in six legs that begin at rest: the amplitude rises over one second."""

    amplitude: float = 0.08
    frequency: float = 0.5

    def setpoint(self, time: float, stamp: float) -> Setpoint:
        """Return the sample at a time since the beginning, with a stamp."""
        x = min(max(time, 0.0), 1.0)
        rise, rise_rate = x**3 * (10 - 15 * x + 6 * x**2), 30 * x**2 * (1 - x) ** 2
        omega = 2 * np.pi * self.frequency
        sine, cosine = np.sin(omega * time + PHASES), np.cos(omega * time + PHASES)
        strokes = START + self.amplitude * rise * sine
        rates = self.amplitude * (rise_rate * sine + rise * omega * cosine)
        return Setpoint(stamp, strokes, rates)


@dataclass(frozen=True, eq=False)
class Played:
    """What an interpolator commanded, cycle by cycle."""

    times: Array
    strokes: Array
    rates: Array
    starved: Array

    @property
    def stroke_steps(self) -> Array:
        """Change of the command from cycle to cycle, shape (n - 1, 6) [m]."""
        return np.diff(self.strokes, axis=0)

    @property
    def rate_steps(self) -> Array:
        """Change of the commanded rate from cycle to cycle, shape (n - 1, 6) [m/s]."""
        return np.diff(self.rates, axis=0)


def play(
    interpolator: Interpolator,
    arrivals: Sequence[tuple[float, Setpoint]],
    cycles: Array,
    during: Callable[[float], None] = lambda _now: None,
) -> Played:
    """Offer every setpoint in the first cycle after its arrival and record the commands."""
    waiting = sorted(arrivals, key=lambda item: item[0])
    commands = []
    for now in cycles:
        while waiting and waiting[0][0] <= now:
            interpolator.offer(waiting.pop(0)[1], float(now))
        during(float(now))
        commands.append(interpolator.command(float(now)))
    return Played(
        np.asarray(cycles),
        np.array([command.strokes for command in commands]),
        np.array([command.rates for command in commands]),
        np.array([command.starved for command in commands]),
    )


def holding(strokes: np.ndarray = START) -> Interpolator:
    interpolator = Interpolator(LIMITS, SETTINGS, CYCLE)
    interpolator.hold(strokes)
    return interpolator


def stream(
    wave: Wave,
    duration: float,
    delays: np.ndarray | None = None,
    lost: frozenset[int] = frozenset(),
) -> list[tuple[float, Setpoint]]:
    """Return (arrival, setpoint) pairs; the stamps are exact, the arrivals late by `delays`."""
    count = int(duration / PERIOD)
    delays = np.full(count, 1e-3) if delays is None else delays
    return [
        (T0 + i * PERIOD + delays[i], wave.setpoint(i * PERIOD, T0 + i * PERIOD))
        for i in range(count)
        if i not in lost
    ]


def assert_smooth(played: Played, acceleration: float | None = None) -> None:
    """No step of the rate above margin times acceleration times cycle; stroke follows rate."""
    acceleration = SETTINGS.margin * LIMITS.acceleration if acceleration is None else acceleration
    cycles = np.diff(played.times)[:, None]
    # Catching up adds at most the rate per second.
    assert np.all(np.abs(played.rate_steps) <= (acceleration + LIMITS.rate) * cycles)
    mean = 0.5 * (played.rates[1:] + played.rates[:-1])
    assert np.all(np.abs(played.stroke_steps - mean * cycles) <= acceleration * cycles**2 + 1e-9)


def cycles(duration: float, cycle: float = CYCLE) -> np.ndarray:
    return T0 + cycle * np.arange(int(duration / cycle))


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
    jittered = T0 + np.cumsum(CYCLE + rng.exponential(1e-4, int(duration / CYCLE)))

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
        arrivals[index] = (arrival + rng.uniform(0, 0.05), Setpoint(point.stamp, strokes, rates))

    played = play(holding(), arrivals, cycles(2.5))

    assert_smooth(played)
    assert np.all(played.strokes >= LIMITS.stroke_lower)
    assert np.all(played.strokes <= LIMITS.stroke_upper)
    assert np.abs(played.stroke_steps).max() <= SETTINGS.margin * LIMITS.rate * CYCLE + 1e-9


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

    def setpoint(time: float) -> Setpoint:
        rate = min(1.0 * time, 0.3)
        stroke = 0.5 * time**2 if time < 0.3 else 0.045 + 0.3 * (time - 0.3)
        strokes = START.copy()
        strokes[2] = 0.1 + stroke
        return Setpoint(T0 + time, strokes, np.where(np.arange(6) == 2, rate, 0.0))

    times = np.arange(0.0, 3.0, PERIOD)
    points = [setpoint(t) for t in times]
    points = [point for point in points if point.strokes[2] <= top - room]
    start = START.copy()
    start[2] = 0.1
    interpolator = holding(start)
    played = play(interpolator, [(p.stamp, p) for p in points], cycles(3.0))

    assert played.strokes.max() <= top
    assert played.strokes[-1, 2] > top - room - 0.3 * PERIOD - 1e-3
    assert interpolator.shortened_for == 3


def test_after_a_stop_only_a_path_from_rest_at_the_held_strokes_is_taken() -> None:
    interpolator = holding()
    play(interpolator, stream(Wave(), 1.6), cycles(3.0))
    held, now = interpolator.command(T0 + 3.0).strokes, T0 + 3.0
    away, fast = held.copy(), ZERO.copy()
    away[4] += 1.1 * SETTINGS.start_tolerance
    fast[1] = -1.1 * SETTINGS.start_rate_tolerance

    assert interpolator.offer(Setpoint(now, away, ZERO), now) is Verdict.START_AWAY
    assert 'leg 5' in interpolator.last_refusal
    assert interpolator.offer(Setpoint(now, held, fast), now) is Verdict.START_MOVING
    assert 'leg 2' in interpolator.last_refusal
    assert interpolator.offer(Setpoint(now, held, ZERO), now) is Verdict.ACCEPTED


def test_a_path_that_begins_beside_the_held_strokes_is_joined_without_a_step() -> None:
    offset = 0.9 * SETTINGS.start_tolerance * np.array([1, -1, 0.5, 0, -0.2, 1])
    played = play(holding(START + offset), stream(Wave(), 2.0), cycles(1.9))
    exact = play(holding(START), stream(Wave(), 2.0), cycles(1.9))

    assert np.array_equal(played.strokes[0], START + offset)
    assert np.abs(played.strokes[-1] - exact.strokes[-1]).max() < 1e-12
    assert_smooth(played, acceleration=4.5)


def test_silence_at_rest_is_normal() -> None:
    interpolator = holding()
    points = [(T0 + t, Setpoint(T0 + t, START, ZERO)) for t in np.arange(0.0, 0.2, PERIOD)]
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


def test_a_stalled_process_goes_on_where_it_was() -> None:
    """50 ms without a cycle: no jump of 50 ms, then the path catches up smoothly."""
    times = cycles(2.9)
    times = times[(times < T0 + 1.5) | (times > T0 + 1.55)]
    interpolator = holding()
    played = play(interpolator, stream(Wave(), 3.0), times)

    reference = play(holding(), stream(Wave(), 3.0), cycles(2.9))
    assert np.abs(played.stroke_steps).max() <= 3.1 * np.abs(reference.stroke_steps).max()
    # The path has advanced by three cycles in the stall.
    assert np.abs(played.rate_steps).max() <= 3 * CYCLE * (4.5 + LIMITS.rate)
    assert np.abs(played.strokes[-1] - reference.strokes[-1]).max() < 1e-5
    assert abs(interpolator.slipped) < 1e-4


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
        [(T0 + t, Setpoint(T0 + t, START, ZERO)) for t in np.linspace(0.0, 1.0, 201)],
        cycles(1.0),
    )
    interpolator.offer(Setpoint(T0 + 1.0, START, ZERO), T0 + 1.0)
    good = {'stamp': T0 + 1.005, 'strokes': START, 'rates': ZERO, 'forces': ZERO}

    assert interpolator.offer(Setpoint(**{**good, **change}), T0 + 1.001) is verdict
    assert interpolator.counts[verdict] == 1
    assert interpolator.last_refusal
    assert interpolator.offer(Setpoint(**good), T0 + 1.001) is Verdict.ACCEPTED


def test_a_setpoint_that_comes_after_its_time_is_late() -> None:
    interpolator = holding()
    arrivals = stream(Wave(), 1.5)
    play(interpolator, arrivals, T0 + np.arange(0.0, 1.5 + 0.02, CYCLE))
    late = Wave().setpoint(1.5, T0 + 1.5 - 2 * CYCLE)

    assert interpolator.offer(late, T0 + 1.5 + 0.03) is Verdict.LATE


def test_nothing_is_taken_before_the_legs_are_held_and_after_release() -> None:
    interpolator = Interpolator(LIMITS, SETTINGS, CYCLE)
    point = Setpoint(T0, START, ZERO)
    assert interpolator.offer(point, T0) is Verdict.NOT_FOLLOWING

    interpolator.hold(START)
    interpolator.release()
    assert interpolator.offer(point, T0) is Verdict.NOT_FOLLOWING


def test_feed_forward_forces_are_joined_linearly_and_kept_in_a_stop() -> None:
    forces = np.arange(6.0)
    interpolator = holding()
    points = [
        Setpoint(T0 + i * PERIOD, START, ZERO, forces * i) for i in range(11)
    ]  # fmt: skip
    for point in points:
        interpolator.offer(point, T0)
    seen = [interpolator.command(T0 + k * CYCLE).forces for k in range(200)]

    middle = seen[int((SETTINGS.playout_delay + 5.4 * PERIOD) / CYCLE)]
    assert middle == pytest.approx(forces * 5.4)
    assert seen[-1] == pytest.approx(forces * 10)
