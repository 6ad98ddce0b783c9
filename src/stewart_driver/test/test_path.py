# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How a path begins, goes on, is refused and ends, setpoint by setpoint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from played_setpoints import CYCLE, LIMITS, PERIOD, SETTINGS, START, T0, ZERO
import pytest
from stewart_driver.control.configuration import InterpolationSettings
from stewart_driver.path import path as module
from stewart_driver.path.interpolation import Interpolator
from stewart_driver.path.motion import LegMotion, Verdict
from stewart_driver.path.path import Path
from stewart_driver.path.path_clock import CATCH_UP_SPEED, CAUTION, PathClock, SLEW

ONE = np.arange(6) == 2
RATE = SETTINGS.start_rate_tolerance


def begun(rate: float = 0.0) -> tuple[Path, LegMotion]:
    """Return a path that begins at T0, and its first knot, where legs of such a rate are then."""
    path, stamp = Path(LIMITS, SETTINGS), T0 - SETTINGS.playout_delay + PERIOD
    first = LegMotion(stamp, START + 0.5 * PERIOD * rate * ONE, rate * ONE)
    assert path.begin(LegMotion(T0, START, ZERO), first, T0) is None
    return path, first


def later(knot: LegMotion, periods: int, off: float = 0.0) -> LegMotion:
    """Return where the legs are some periods later, or so far off [m]."""
    time = periods * PERIOD
    return LegMotion(knot.stamp + time, knot.strokes + time * knot.rates + off, knot.rates)


def test_a_path_begins_with_an_even_acceleration_up_to_the_rate_of_its_first_setpoint() -> None:
    path, first = begun(RATE)
    for cycle in range(1, 5):
        now = T0 + cycle * CYCLE
        command = path.advance(now, CYCLE)
        share = 1.0 - (first.stamp - path.clock.time) / PERIOD
        assert 0.1 < share < 1.0
        assert np.allclose(command.rates, share * RATE * ONE, atol=1e-9)
        assert np.allclose(
            command.strokes, START + 0.5 * share**2 * PERIOD * RATE * ONE, atol=1e-9
        )


def test_a_setpoint_for_this_very_cycle_comes_too_late_to_begin_a_path() -> None:
    path, held = Path(LIMITS, SETTINGS), LegMotion(T0, START, ZERO)
    refusal = path.begin(held, LegMotion(T0 - SETTINGS.playout_delay, START, ZERO), T0)
    assert refusal == (Verdict.LATE, 'a setpoint comes -0.0000 s too late to be played')


def test_no_more_setpoints_wait_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, 'CAPACITY', 3)
    path, first = begun()
    assert [path.append(later(first, k)) for k in (1, 2, 3)] == [None, None, None]
    assert not path.full
    assert path.append(later(first, 4)) == (Verdict.TOO_MANY, '3 setpoints wait already')
    assert path.full


def test_the_tangent_ends_where_a_setpoint_comes() -> None:
    path, first = begun(RATE)
    for cycle in range(1, 9):
        command = path.advance(T0 + cycle * CYCLE, CYCLE)
    assert path.tangent
    assert path.waited == pytest.approx(path.clock.time - first.stamp)
    assert np.allclose(command.strokes, first.strokes + path.waited * first.rates, atol=1e-9)
    assert path.append(later(first, 2)) is None
    path.advance(T0 + 9 * CYCLE, CYCLE)
    assert not path.tangent
    path.clear()
    assert path.waited == 0.0


def test_five_outliers_in_turns_with_what_fits_are_a_second_source() -> None:
    path, first = begun()
    for k in range(1, 6):
        assert not path.contradictions.sentence
        for _ in range(2):
            refusal = path.append(later(first, k, 0.02))
            assert refusal is not None
            assert refusal[0] is Verdict.JUMP
        assert path.append(later(first, k)) is None
    assert 'in turns, by 20.00 mm in leg 1' in path.contradictions.sentence


def test_outliers_that_are_far_apart_in_time_are_no_second_source() -> None:
    judge, last = module.Contradictions(LIMITS.acceleration), LegMotion(T0, START, ZERO)
    for k in range(20):
        judge.accepted = True
        judge.note(last, last._replace(stamp=T0 + k * module.MEMORY, strokes=START + 0.02))
    assert not judge.sentence


def test_a_clock_that_halts_says_how_late_the_path_is_until_none_is_played() -> None:
    clock = PathClock(0.02, LIMITS)
    assert not clock.recovering
    clock.start(T0)
    assert (clock.time, clock.speed, clock.slipped) == (T0, 1.0, 0.0)
    clock.halt(T0 + 0.05)
    assert clock.slipped == pytest.approx(0.03)
    assert (clock.speed, clock.recovering) == (0.0, True)
    clock.rest()
    assert (clock.slipped, clock.recovering) == (0.0, False)


def test_legs_that_move_when_power_comes_stop_as_hard_as_a_quick_stop() -> None:
    interpolator, rates = Interpolator(LIMITS, SETTINGS, CYCLE), -0.2 * ONE
    interpolator.hold(START, rates)
    assert interpolator.moving
    assert not interpolator.at_rest
    commands = [interpolator.command(T0 + CYCLE * cycle) for cycle in range(200)]
    assert interpolator.at_rest
    assert not interpolator.moving
    # The fall of the rate is 1.5 times as steep in its middle as on average.
    duration = 1.5 * 0.2 / (SETTINGS.quick_stop_strength * LIMITS.acceleration)
    assert np.allclose(commands[-1].strokes, START + 0.5 * duration * rates, atol=1e-9)
    falls = np.diff([command.rates for command in commands], axis=0) / CYCLE
    assert np.abs(falls).max() == pytest.approx(LIMITS.acceleration, rel=0.01)


def test_a_stop_of_a_path_that_has_not_moved_yet_is_over_at_once() -> None:
    interpolator = Interpolator(LIMITS, SETTINGS, CYCLE)
    interpolator.hold(START)
    interpolator.command(T0)
    interpolator.offer(LegMotion(T0, START, ZERO), T0)
    assert interpolator.playing
    interpolator.stop(1.0)
    assert interpolator.at_rest


def test_silence_is_told_with_the_time_that_was_waited() -> None:
    interpolator = Interpolator(LIMITS, SETTINGS, CYCLE)
    interpolator.hold(START)
    interpolator.command(T0)
    assert interpolator.offer(LegMotion(T0, START, RATE * ONE), T0) is Verdict.ACCEPTED
    troubles = []
    for cycle in range(1, 60):
        interpolator.command(T0 + CYCLE * cycle)
        troubles.append(interpolator.trouble)
    waited = 1e3 * (SETTINGS.playout_delay + SETTINGS.extrapolation_time)
    assert [text for text in troubles if text] == [
        f'no command in time while moving ({waited:g} ms waited)'
    ]
    assert interpolator.clock.slipped == 0.0


def test_a_step_beyond_the_rate_limit_is_shortened_in_all_legs_alike() -> None:
    interpolator = Interpolator(LIMITS, SETTINGS, CYCLE)
    interpolator.hold(START)
    change = np.linspace(-4.0, 2.0, 6) * LIMITS.rate * SETTINGS.margin * CYCLE
    far = LegMotion(T0, START + change, ZERO)
    assert np.allclose(interpolator._limited(far, CYCLE).strokes, START + change / 4, atol=1e-8)
    near = LegMotion(T0, START + change / 4, ZERO)
    assert interpolator._limited(near, CYCLE) is near


@pytest.mark.parametrize(
    ('slope', 'bend', 'speed'),
    [
        (LIMITS.rate / 1.01, 0.0, 1.01),
        (0.0, LIMITS.acceleration / 1.01**2, 1.01),
        (0.5 * LIMITS.rate, 0.5 * LIMITS.acceleration, 1.0 + CATCH_UP_SPEED),
    ],
)
def test_a_late_path_is_caught_up_with_no_faster_than_the_hardest_leg_may(
    slope: float, bend: float, speed: float
) -> None:
    clock = PathClock(0.0, LIMITS)
    clock.start(T0 - 10.0)
    for cycle in range(1, 500):
        clock.advance(T0 + CYCLE * cycle, CYCLE, slope * ONE, bend * ONE)
    assert clock.speed == pytest.approx(speed, abs=1e-9)


@pytest.mark.parametrize(('before', 'wanted', 'own'), [(0.0, 1.0, 1.0), (1.04, 0.5, 1.04**2)])
def test_a_change_of_speed_takes_the_acceleration_that_the_path_leaves(
    before: float, wanted: float, own: float
) -> None:
    slope, bend = 0.4 * LIMITS.rate * ONE, 0.5 * LIMITS.acceleration * ONE
    clock = PathClock(0.0, LIMITS)
    clock.start(T0 - 10.0)
    clock.speed, clock.scaling, clock.recovering = before, wanted, True
    change = clock.advance(T0 + CYCLE, CYCLE, slope, bend) - before
    left = CAUTION * LIMITS.acceleration - own * bend.max()
    assert change == pytest.approx(np.sign(wanted - before) * left * CYCLE / slope.max())
    assert clock.recovering


def test_a_path_that_is_up_to_speed_again_changes_it_gently_from_then_on() -> None:
    clock = PathClock(0.0, LIMITS)
    clock.start(T0)
    clock.halt(T0 + 0.3)
    for cycle in range(1, 300):
        before = clock.speed
        clock.advance(T0 + 0.3 + CYCLE * cycle, CYCLE, 0.1 * ONE, ZERO)
        assert clock.recovering == (clock.speed < 1.0 + CATCH_UP_SPEED)
        if not clock.recovering:
            break
    # Back to speed as fast as the acceleration allows: 6 m/s² at 0.1 m/s.
    assert clock.speed - before > 2.0 * SLEW * CYCLE
    clock.scaling = 0.5
    before = clock.speed
    clock.advance(T0 + 0.3 + CYCLE * (cycle + 1), CYCLE, 0.1 * ONE, ZERO)
    assert before - clock.speed == pytest.approx(SLEW * CYCLE)


def moving(settings: InterpolationSettings = SETTINGS, cycle: float = CYCLE) -> Interpolator:
    """Return an interpolator whose path has begun with a setpoint that moves one leg, at T0."""
    interpolator = Interpolator(LIMITS, settings, cycle)
    interpolator.hold(START)
    interpolator.command(T0)
    first = LegMotion(T0, START, settings.start_rate_tolerance * ONE)
    assert interpolator.offer(first, T0) is Verdict.ACCEPTED
    return interpolator


def test_a_stop_is_behind_no_schedule() -> None:
    interpolator = moving()
    for cycle in range(1, 16):
        interpolator.command(T0 + CYCLE * cycle)
    interpolator.command(T0 + CYCLE * 25)
    assert interpolator.clock.slipped > 5.0 * CYCLE
    interpolator.stop(1.0)
    assert not interpolator.at_rest
    assert interpolator.clock.slipped == 0.0


def test_a_path_of_which_no_frame_was_ever_answered_is_given_up() -> None:
    interpolator = Interpolator(LIMITS, SETTINGS, CYCLE)
    interpolator.hold(START)
    assert interpolator.offer(LegMotion(T0, START, ZERO), T0) is Verdict.ACCEPTED
    for cycle in range(600):
        interpolator.command(T0 + CYCLE * cycle, answered=False)
        if interpolator.trouble:
            break
    assert interpolator.trouble.startswith('no drive has answered for 0.50')
    assert interpolator.at_rest


def test_the_tangent_is_followed_for_the_whole_time_that_is_waited() -> None:
    cycle, wait = 2.0**-10, 2.0**-6
    settings = replace(SETTINGS, playout_delay=wait, extrapolation_time=wait)
    interpolator = moving(settings, cycle)
    # Exact in binary: the last knot is played at T0 + wait, and waited for until twice that.
    for number in range(1, 33):
        interpolator.command(T0 + cycle * number)
        assert not interpolator.trouble
    assert interpolator.clock.time == T0 + wait
    interpolator.command(T0 + cycle * 33)
    assert interpolator.trouble
