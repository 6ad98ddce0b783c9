# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A base heard live, and the platform that is kept level on it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from functools import cache
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from seas import (
    BEGIN,
    CALM,
    DELAY,
    felt,
    HEIGHT,
    left_over,
    MODEL_PERIOD,
    NOISES,
    PEAK_PERIOD,
    PERIOD,
    SCALE,
    SHIP,
    tilt,
)
from stewart_cueing.errors import BaseInputError
from stewart_cueing.ship.heaving import Heaving
from stewart_cueing.ship.live import FADE, LiveBase, LiveLevelling, SETTLING
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.trajectories.spectrum import Jonswap
from stewart_simulation.ship import at_scale, Ship

VIGO = load_platform('vigo')


def heard_for(seconds, end=BEGIN):
    base, rng = LiveBase(MODEL_PERIOD, PERIOD, 0.2), np.random.default_rng(1)
    hear(base, rng, seconds, end)
    return base, rng


def hear(base, rng, seconds, end):
    for n in range(round(seconds / PERIOD)):
        base.put(end - seconds + n * PERIOD, felt(end - seconds + n * PERIOD, rng))


@cache
def nearly_settled():
    """Of a base that will be known at `BEGIN`, a second before; it is copied, never changed."""
    return heard_for(SETTLING * MODEL_PERIOD - 1.0, BEGIN - 1.0)


def test_a_base_is_known_when_it_was_heard_for_long_enough_and_not_in_silence():
    base, rng = deepcopy(nearly_settled())
    assert base.heard(BEGIN - 1.0)
    assert not base.known(BEGIN - 1.0)
    hear(base, rng, 1.0, BEGIN)
    assert base.known(BEGIN)
    assert not base.known(BEGIN + 0.3)
    with pytest.raises(BaseInputError, match='six finite numbers'):
        base.put(BEGIN, np.full(6, np.nan))
    # A shock, or a byte that fell over: the observer would remember it for a minute.
    for axis, size in ((2, 50.0), (2, 1e300), (3, 100.0)):
        spoilt = felt(BEGIN, np.random.default_rng(2))
        spoilt[axis] = size
        before = base.predict(BEGIN, 0.06)
        with pytest.raises(BaseInputError, match='of a base at sea'):
            base.put(BEGIN, spoilt)
        np.testing.assert_array_equal(base.predict(BEGIN, 0.06), before)
    # The clock jumped, or the IMU was off: it begins anew.
    base.put(BEGIN + 5.0, felt(BEGIN, np.random.default_rng(2)))
    assert base.heard(BEGIN + 5.0)
    assert not base.known(BEGIN + 5.0)


@pytest.mark.parametrize(
    ('wrong', 'words'),
    [
        (lambda _, n: felt(BEGIN, np.random.default_rng(n < 0)), r'comes for 3\.0 s.* is frozen'),
        (lambda x, _: x - [0.0, 0.0, 9.8, 0.0, 0.0, 0.0], 'mean specific force is .* not removed'),
        (lambda x, _: x / 9.8, 'mean specific force is .* units are m/s²'),
        (lambda x, _: x * [1.0, -1.0, -1.0, 1.0, -1.0, -1.0], '° from z, allowed are 30°'),
        (lambda x, _: x[[2, 0, 1, 5, 3, 4]], '° from z, allowed are 30°'),
    ],
    ids=['frozen', 'without gravity', 'in g', 'z downwards', 'another axis up'],
)
def test_an_imu_that_does_not_tell_how_a_base_moves_is_silent_and_doubted(
    wrong: Callable[[np.ndarray, int], np.ndarray], words: str
) -> None:
    base, rng = heard_for(0.5)
    complaint = ''
    for n in range(round(3.0 / PERIOD)):
        time = BEGIN + n * PERIOD
        try:
            base.put(time, wrong(felt(time, rng), n))
        except BaseInputError as error:
            complaint = str(error)
    assert re.search(words, complaint)
    assert not base.heard(time)
    for _ in range(2 if 'frozen' in words else round(8.0 / PERIOD)):
        time += PERIOD
        with suppress(BaseInputError):
            base.put(time, felt(BEGIN, rng))
    assert base.heard(time)


def test_samples_that_are_lost_or_too_many_change_a_prediction_by_little():
    every, few = LiveBase(MODEL_PERIOD, PERIOD, 0.2), LiveBase(MODEL_PERIOD, PERIOD, 0.2)
    rng = np.random.default_rng(1)
    for n in range(round(15.0 / PERIOD)):
        sample = felt(n * PERIOD, rng)
        every.put(n * PERIOD, sample)
        if n % 10:
            few.put(n * PERIOD, sample)
            few.put(n * PERIOD + 0.2 * PERIOD, sample)
    there, guess = every.predict(15.0, 0.06)[0], few.predict(15.0, 0.06)[0]
    assert guess == pytest.approx(there, abs=2e-3)
    own = SHIP.at(15.06)
    wrong = np.array([*tilt(own.rotation), own.position[2] - CALM]) - guess
    assert (np.abs(wrong) < [3e-3, 3e-3, 0.02]).all()


def test_vibration_that_samples_come_faster_than_is_no_heave() -> None:
    base, heaves = LiveBase(MODEL_PERIOD, PERIOD, 0.2), []
    for n in range(1500):
        time = 0.2 * PERIOD * n
        shaken = 9.80665 + 2.0 * np.sin(2.0 * np.pi * 1.0025 / PERIOD * time)
        base.put(time, np.array([0.0, 0.0, shaken, 0.0, 0.0, 1e-9 * n]))
        if n % 5 == 0:
            heaves.append(base.predict(time, 0.06)[0, 2])
    # Of picked samples it was 0.48 m.
    assert np.ptp(heaves) < 2e-3


def test_an_imu_beside_the_origin_and_turned_tells_how_the_origin_moves() -> None:
    imu = Pose.from_rpy([1.0, 0.5, -1.0], (0.1, -0.2, 1.5))
    hull = at_scale(SCALE)
    away = replace(hull, arm=tuple(np.array(hull.arm) + SCALE * imu.position))
    there = Ship(Jonswap(HEIGHT, PEAK_PERIOD), 1, np.radians(150.0), away)
    bases = [LiveBase(MODEL_PERIOD, PERIOD, 0.2, imu), LiveBase(MODEL_PERIOD, PERIOD, 0.2)]
    off = []
    for n in range(700):
        time = PERIOD * n
        moved = there.at(time)
        pull = -moved.field(np.array([0.0, 0.0, -9.80665]))[:3]
        truth = np.stack([pull, moved.turn])
        bases[0].put(time, (truth @ imu.rotation).ravel())
        bases[1].put(time, truth.ravel())
        if n % 10 == 0 and n > 300:
            own = SHIP.at(time)
            known = [*tilt(own.rotation), own.position[2] - CALM]
            off.append([base.predict(time, 0.0)[0] - known for base in bases])
    mounted, taken_for_the_origin = np.sqrt(np.mean(np.square(off), axis=0))
    assert (mounted < [1.5e-3, 1.5e-3, 3e-3]).all()
    assert taken_for_the_origin[2] > 5.0 * mounted[2]


@pytest.mark.parametrize(
    ('peak_period', 'height', 'misfits', 'foretold'),
    [
        (0.8, 0.01, False, True),
        (1.1, 0.01, False, True),
        (2.0, 0.01, True, False),
        (0.5, 0.01, True, True),
        (0.2, 0.01, True, False),
        (2.0, 0.0, False, True),
    ],
)
def test_a_peak_period_that_is_not_that_of_the_waves_is_told(
    peak_period: float, height: float, misfits: bool, foretold: bool
) -> None:
    base, rng, omega = LiveBase(peak_period, 0.02, 0.2), np.random.default_rng(1), 2 * np.pi / 0.8
    for n in range(round(5.0 * peak_period / 0.02)):
        up = 9.80665 - height * omega**2 * np.sin(0.02 * omega * n)
        base.put(0.02 * n, np.array([0.0, 0.0, up, 0.0, 0.0, 0.0]) + rng.normal(0.0, NOISES))
    assert ('and peak_period is' in base.misfit()) is misfits
    assert base.foretold() is foretold
    assert ('heave cannot be predicted and is not made up for' in base.misfit()) is not foretold
    if height:
        assert base.periods() == pytest.approx([0.0, 0.0, 0.8], rel=0.35)


def test_an_imu_that_is_slower_than_setpoints_tells_the_same_period() -> None:
    base, rng, omega = LiveBase(1.0, 0.01, 0.2), np.random.default_rng(1), 2.0 * np.pi
    for time in np.arange(0.0, 12.0, 0.04).tolist():
        up = 9.80665 - 0.05 * omega**2 * np.sin(omega * time)
        base.put(time, np.array([0.0, 0.0, up, 0.0, 0.0, 0.0]) + rng.normal(0.0, NOISES))
    # It was 0.4 s, and heave was not made up for.
    assert base.periods()[2] == pytest.approx(1.0, rel=0.1)
    assert base.foretold()


def test_periods_that_are_coarse_beside_the_sea_end_nothing() -> None:
    """Of those that the parameters allow for: the integral grew until it was no number."""
    heaving = Heaving(0.2, 1.0 / 1.5, SETTLING * 0.2)
    for n in range(1000):
        heaving.update(9.8 + np.sin(n), 1)
    assert 0.0 < heaving.moved_in < 10.0


def test_heave_is_not_made_worse_where_the_peak_period_is_far_too_long() -> None:
    """Of a wave of 1 s and 50 mm, 0.37 m were left with 4 s for a peak period."""
    base, rng, omega = LiveBase(4.0, 0.02, 0.2), np.random.default_rng(1), 2.0 * np.pi
    follower = LiveLevelling(MotionGuard(VIGO), base, 0.02, 4.0, DELAY)
    wanted = []
    for n in range(round((SETTLING * 4.0 + FADE) / 0.02)):
        sine, cosine = np.sin(0.02 * omega * n), np.cos(0.02 * omega * n)
        force = 9.80665 * np.array([0.0, 0.05 * sine, 1.0]) - [0.0, 0.0, 0.05 * omega**2 * sine]
        sample = np.append(force, [0.05 * omega * cosine, 0.0, 0.0])
        base.put(0.02 * n, sample + rng.normal(0.0, NOISES))
        wanted.append(follower._wanted(0.02 * n))
    assert np.ptp(np.array(wanted)[:, 0, 0]) > 0.05
    assert not np.array(wanted)[:, :, 2].any()
    assert (follower.shares > 0.0).tolist() == [True, False]


@pytest.mark.parametrize(
    ('roll', 'shown', 'heave', 'unit', 'known'),
    [
        pytest.param(20.0, 1.0, 0.0, 1.0, True, marks=pytest.mark.slow),
        # High above the axis of its roll an IMU feels less tilt.
        (7.0, 0.3, 0.0, 1.0, True),
        # A raft that lies in the slope of the waves.
        pytest.param(15.0, 0.0, 1.0, 1.0, True, marks=pytest.mark.slow),
        (0.2, 1.0, 0.0, 57.3, False),
        *(
            pytest.param(roll, 1.0, 0.0, 57.3, False, marks=pytest.mark.slow)
            for roll in (1.0, 2.5)
        ),
        (1.0, 0.0, 1.0, 57.3, False),
    ],
)
def test_rates_in_degrees_per_second_are_told_by_the_specific_force(
    roll: float, shown: float, heave: float, unit: float, *, known: bool
) -> None:
    base, rng, omega = LiveBase(6.0, 0.02, 0.2), np.random.default_rng(1), 2 * np.pi / 6.0
    # Until it is known; of what has been felt so far six tenths count.
    end = SETTLING * 6.0
    for n in range(round(end / 0.02)):
        sine, cosine = np.sin(0.02 * omega * n), np.cos(0.02 * omega * n)
        angle, rate = np.radians(roll) * sine, np.radians(roll) * omega * cosine
        up = 1.0 + heave * np.radians(roll) * cosine
        force = 9.80665 * np.array([0.0, np.sin(shown * angle), up])
        sample = np.append(force, [unit * rate, 0.0, 0.0])
        with suppress(BaseInputError):
            base.put(0.02 * n, sample + rng.normal(0.0, NOISES))
    assert base.known(end) is known
    assert base.contradiction().endswith('units are rad/s') is not known


def test_what_the_legs_do_not_make_up_for_of_a_list_is_known() -> None:
    base = LiveBase(MODEL_PERIOD, PERIOD, 0.2)
    follower = LiveLevelling(MotionGuard(VIGO), base, PERIOD, MODEL_PERIOD, DELAY)
    assert follower.list_left == 0.0
    base.observer._observer.channels[1].state[-1] = -0.5
    follower._levelling.shares[0, 0] = 0.9
    assert follower.list_left == pytest.approx(0.05)


def test_platform_is_kept_level_and_in_silence_goes_to_its_neutral_pose():
    base, rng = deepcopy(nearly_settled())
    hear(base, rng, 1.0, BEGIN)
    follower = LiveLevelling(MotionGuard(VIGO), base, PERIOD, MODEL_PERIOD, DELAY)
    follower.begin = BEGIN
    judge, rows = MotionGuard(VIGO), []
    for n in range(round((FADE + 1.0 + 1.5 * MODEL_PERIOD) / PERIOD)):
        now = n * PERIOD
        base.put(BEGIN + now, felt(BEGIN + now, rng))
        follower.advance(now)
        motion = follower.plan.sample(now)
        judge.admit(motion, now)
        rows.append(left_over(SHIP.at(BEGIN + now + DELAY), motion, VIGO))
    own, left = np.sqrt(np.mean(np.square(rows[round((FADE + 1.0) / PERIOD) :]), axis=0))
    assert (left / own < [0.05, 0.05, 0.15]).all()
    for m in range(n + 1, n + round((FADE + 1.5) / PERIOD)):
        follower.advance(m * PERIOD)
        judge.admit(follower.plan.sample(m * PERIOD), m * PERIOD)
    end = follower.plan.sample(m * PERIOD)
    neutral = VIGO.geometry.neutral_pose
    assert np.abs(end.position - neutral.position).max() < 1e-3
    assert Rotation.from_quat(end.quaternion_xyzw).magnitude() < 1e-3
