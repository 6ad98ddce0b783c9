# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Freezes of the control loop, seen by drives that hold their last target meanwhile.

What a drive does when targets cease is its own; from then on no step of its targets may break a
limit: the legs stand, and what stands speeds up from rest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from played_setpoints import LIMITS, PERIOD, SETTINGS, START, T0, Wave
import pytest
from stewart_driver.path.interpolation import Interpolator
from stewart_driver.path.motion import Verdict

# 250 mm/s in the fastest leg.
WAVE = Wave(amplitude=0.0796, frequency=0.5)
# The shortest and the longest in use; the one between them is for `make test-slow`.
CYCLES = [0.001, pytest.param(0.002, marks=pytest.mark.slow), 0.004]
FREEZES = (0.005, 0.006, 0.01, 0.02, 0.03, 0.05, 0.09, 0.15, 0.2, 0.3, 0.45, 0.5)


class Seen:
    """Targets as six drives see them, one per cycle, with those that did not come held."""

    def __init__(
        self,
        cycle: float,
        duration: float,
        missing: Callable[[float], bool],
        unanswered: Callable[[float], bool] = lambda _time: False,
    ) -> None:
        self.cycle = cycle
        self.interpolator = Interpolator(LIMITS, SETTINGS, cycle)
        self.interpolator.hold(START)
        self.troubles: list[str] = []
        targets, held, sent, answered = [START], [False], 0, True
        for number in range(round(duration / cycle)):
            time = number * cycle
            if missing(time):
                targets.append(targets[-1])
                held.append(True)
                continue
            while sent * PERIOD <= time:
                setpoint = WAVE.setpoint(sent * PERIOD, T0 + sent * PERIOD)
                self.interpolator.offer(setpoint, T0 + time)
                sent += 1
            command = self.interpolator.command(T0 + time, answered=answered)
            if self.interpolator.trouble:
                self.troubles.append(self.interpolator.trouble)
            answered = not unanswered(time)
            # A frame that is not answered may not have come either: the worse of the two.
            targets.append(command.strokes if answered else targets[-1])
            held.append(not answered)
        self.targets, self.held = np.array(targets), np.array(held)

    @property
    def rates(self) -> np.ndarray:
        """Between one target and the next, shape (n, 6) [m/s]."""
        return np.diff(self.targets, axis=0) / self.cycle

    @property
    def fastest(self) -> float:
        """Largest rate [m/s]."""
        return float(np.abs(self.rates).max())

    @property
    def hardest(self) -> float:
        """Largest acceleration but that of a drive whose targets cease [m/s²]."""
        accelerations = np.abs(np.diff(self.rates, axis=0)).max(axis=1) / self.cycle
        return float(accelerations[~self.held[2:]].max())


@pytest.mark.parametrize('cycle', CYCLES)
@pytest.mark.parametrize('freeze', FREEZES)
def test_after_a_freeze_the_path_goes_on_from_rest_within_the_limits(
    freeze: float, cycle: float
) -> None:
    for begin in (1.5, 1.7, 1.9):
        seen = Seen(cycle, 3.0, lambda t, begin=begin: begin < t <= begin + freeze)
        assert seen.held.sum() >= 1
        assert seen.fastest <= LIMITS.rate
        assert seen.hardest <= LIMITS.acceleration
        if seen.troubles:
            assert freeze >= 0.5
            assert 'no cycle has run for 0.5' in seen.troubles[0]
            assert seen.interpolator.at_rest
        else:
            assert np.abs(seen.rates[-1]).max() > 0.1


@pytest.mark.parametrize('freeze', [0.005, 0.05, 0.2])
def test_what_a_freeze_has_cost_is_caught_up_by_a_tenth(freeze: float) -> None:
    cycle, begin = 0.002, 1.5
    seen = Seen(cycle, 7.0, lambda t: begin < t <= begin + freeze)
    exact = Seen(cycle, 7.0, lambda _time: False)

    assert np.abs(seen.targets[-1] - exact.targets[-1]).max() < 1e-5
    assert abs(seen.interpolator.clock.slipped) < 1e-4
    assert seen.fastest <= 1.1 * exact.fastest + 1e-3
    assert (
        seen.interpolator.counts[Verdict.ACCEPTED] == exact.interpolator.counts[Verdict.ACCEPTED]
    )


@pytest.mark.parametrize(
    'seed', [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 10))]
)
@pytest.mark.parametrize('cycle', CYCLES)
def test_irregular_freezes_break_no_limit(seed: int, cycle: float) -> None:
    rng = np.random.default_rng(seed)
    begins = 1.2 + np.cumsum(rng.uniform(0.01, 0.3, 12))
    lengths = rng.choice([0.005, 0.01, 0.05, 0.2], 12)

    seen = Seen(cycle, 4.0, lambda t: bool(((begins < t) & (t <= begins + lengths)).any()))

    assert seen.fastest <= LIMITS.rate
    assert seen.hardest <= LIMITS.acceleration


@pytest.mark.parametrize('lasting', [0.002, 0.01, 0.06, 0.3])
def test_frames_without_an_answer_are_a_gap_like_any_other(lasting: float) -> None:
    begin = 1.5
    seen = Seen(0.002, 3.0, lambda _time: False, lambda t: begin < t <= begin + lasting)

    assert seen.fastest <= LIMITS.rate
    # One command may have been lost together with the answer: that much comes at once.
    restart = int(np.flatnonzero(seen.held)[-1]) + 1
    assert np.abs(seen.rates[restart]).max() <= 0.26
    accelerations = np.abs(np.diff(seen.rates[restart + 1 :], axis=0)) / seen.cycle
    assert accelerations.max() <= LIMITS.acceleration
    assert not seen.troubles


def test_single_frames_without_an_answer_never_add_up_to_silence() -> None:
    numbers = iter(range(2000))
    seen = Seen(0.004, 5.0, lambda _time: False, lambda t: t > 1.0 and next(numbers) % 5 == 0)

    assert seen.held.sum() * seen.cycle > 0.7
    assert not seen.troubles


def test_drives_that_never_answer_again_end_the_path() -> None:
    seen = Seen(0.002, 3.0, lambda _time: False, lambda t: t > 1.5)

    assert 'no drive has answered for 0.502 s while moving' in seen.troubles[0]
    assert seen.interpolator.at_rest


def test_a_wake_up_that_is_late_by_less_than_half_a_cycle_is_no_gap() -> None:
    interpolator = Interpolator(LIMITS, SETTINGS, 0.002)
    interpolator.hold(START)
    commands, sent = [], 0
    for number in range(1000):
        time = 0.002 * number + (0.0009 if number % 7 == 0 else 0.0)
        while sent * PERIOD <= time:
            interpolator.offer(WAVE.setpoint(sent * PERIOD, T0 + sent * PERIOD), T0 + time)
            sent += 1
        commands.append(interpolator.command(T0 + time))
        assert interpolator.clock.slipped == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize('freeze', [0.004, 0.1])
def test_a_freeze_while_stopping_ends_the_stop(freeze: float) -> None:
    interpolator = Interpolator(LIMITS, SETTINGS, 0.002)
    interpolator.hold(START)
    sent = 0
    for number in range(750):
        time = 0.002 * number
        while sent * PERIOD <= time:
            interpolator.offer(WAVE.setpoint(sent * PERIOD, T0 + sent * PERIOD), T0 + time)
            sent += 1
        last = interpolator.command(T0 + time)
    interpolator.stop(0.5)
    for number in range(750, 755):
        last = interpolator.command(T0 + 0.002 * number)
    assert interpolator.moving

    after = interpolator.command(T0 + 0.002 * 754 + freeze)

    assert np.array_equal(after.strokes, last.strokes)
    assert interpolator.at_rest


@pytest.mark.parametrize('late', [1, 3, 25])
def test_legs_that_run_on_are_not_thrown_to_rest(late: int) -> None:
    """Velocity amplifiers: what they hear is the rate, and they keep it until they hear again."""
    cycle, at = 0.004, 425
    interpolator = Interpolator(LIMITS, SETTINGS, cycle, np.inf)
    interpolator.hold(START)
    sent, rates, strokes, troubles, time = 0, [], [], [], 0.0
    for number in range(700):
        time += cycle * (1 + late * (number == at))
        while sent * PERIOD <= time:
            setpoint = WAVE.setpoint(sent * PERIOD, T0 + sent * PERIOD)
            interpolator.offer(setpoint, T0 + time)
            sent += 1
        command = interpolator.command(T0 + time)
        rates.append(command.rates)
        strokes.append(command.strokes)
        troubles += [interpolator.trouble] if interpolator.trouble else []
    changes = np.abs(np.diff(rates, axis=0)).max(axis=1) / cycle
    before, ran = rates[at - 1], strokes[at] - strokes[at - 1]
    assert np.abs(before).max() > 0.1
    # They are where such amplifiers have brought them, but for the bend of the path.
    np.testing.assert_allclose(ran, before * cycle * (1 + late), atol=3e-3)
    assert changes[at - 1] <= LIMITS.acceleration * (1 + late)
    assert np.delete(changes, at - 1).max() <= 1.001 * LIMITS.acceleration
    if late < 5:
        assert troubles == []
        assert np.abs(rates[-1]).max() > 0.1
    else:
        assert troubles == ['no cycle has run for 0.104 s while moving: the path is given up']
        assert interpolator.at_rest
