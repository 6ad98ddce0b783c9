# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Each limit lets through what is below it and tells with numbers what is above."""

from __future__ import annotations

import numpy as np
import pytest
from stewart_driver.backend import Measurement
from stewart_driver.control import supervision
from stewart_driver.control.configuration import SupervisionSettings
from stewart_driver.control.supervision import OverrunRate, StuckDetector, Supervisor
from stewart_driver.legs import LegLimits
from stewart_driver.path.motion import LegMotion

LIMITS = LegLimits(np.zeros(6), np.full(6, 0.6), rate=0.6, acceleration=6.0)
SETTINGS = SupervisionSettings()
MIDDLE = np.full(6, 0.3)
ZERO = np.zeros(6)


@pytest.fixture
def supervisor() -> Supervisor:
    return Supervisor(LIMITS, SETTINGS)


def measured(stamp: float, leg: int = 1, change: float = 0.0, rate: float = 0.0) -> Measurement:
    one = np.arange(1, 7) == leg
    return Measurement(stamp, MIDDLE + np.where(one, change, 0.0), ZERO + np.where(one, rate, 0.0))


def test_silence_counts_from_the_last_command(supervisor: Supervisor) -> None:
    assert supervisor.silence(0.0, SETTINGS.command_timeout) is None
    assert supervisor.silence(10.0, 10.12) == (
        'no command for 0.120 s while moving, allowed are 0.1 s'
    )


def test_legs_without_power_sink_as_fast_as_the_drives_allow() -> None:
    """With a narrowed rate limit the platform's way down after `disable` was a FAULT."""
    narrow = Supervisor(LIMITS.narrowed(rate=0.06), SETTINGS, LIMITS.rate)
    for number in range(1, 50):
        at = measured(0.002 * number, change=-0.0005 * number, rate=-0.25)
        assert narrow.measurement(at, powered=False) is None
    jump = measured(0.1, change=-0.0245 - 0.004)
    assert narrow.measurement(jump, powered=False) == (
        'the measured stroke of leg 1 jumped by 4.000 mm in 2.00 ms, possible are 3.700 mm'
    )
    at = measured(0.102, change=-0.0285 - 0.0005)
    assert 'jumped by 0.500 mm' in (narrow.measurement(at) or '')


def falling(*, twice: int = -1) -> list[Measurement]:
    """Return what all legs measure of a fall from 0.6 m onto their ends, a reading twice."""
    times = 0.0025 * np.arange(1, 240)
    strokes = np.maximum(0.6 - 0.5 * 9.81 * (times - 0.1).clip(min=0.0) ** 2, -0.004)
    strokes[twice] = strokes[twice - 1]
    return [Measurement(at, np.full(6, s), ZERO) for at, s in zip(times, strokes, strict=True)]


@pytest.mark.parametrize('twice', [-1, 160])
def test_legs_without_power_may_fall(supervisor: Supervisor, twice: int) -> None:
    """It was told as a jump of an encoder, and the driver was in FAULT."""
    fall = falling(twice=twice)
    fastest = -min(np.diff([at.strokes[0] for at in fall])) / 0.0025
    assert fastest > 1.1 * SETTINGS.measured_rate_margin * LIMITS.rate
    assert not any(supervisor.measurement(at, powered=False) for at in fall)
    assert any(supervisor.measurement(at) for at in fall)


def test_a_jump_is_found_in_a_fall_and_after_it(supervisor: Supervisor) -> None:
    fall = falling()
    for instant, change, possible in ((60, 0.03, 4.6), (150, -0.03, 20.2), (-1, 0.03, 4.6)):
        supervisor.forget()
        *before, last = fall[:instant]
        for at in before:
            assert supervisor.measurement(at, powered=False) is None
        jump = last._replace(strokes=last.strokes + np.where(np.arange(6) == 3, change, 0.0))
        trouble = supervisor.measurement(jump, powered=False)
        assert 'leg 4 jumped by' in str(trouble)
        assert supervisor.lies
        back = last._replace(stamp=last.stamp + 0.0025)
        assert 'leg 4 jumped by' in str(supervisor.measurement(back, powered=False))
        allowed = float(str(trouble).split()[-2])
        assert allowed == pytest.approx(possible, abs=0.1)


@pytest.mark.parametrize('leg', range(1, 7))
def test_the_following_error_names_its_leg(supervisor: Supervisor, leg: int) -> None:
    one = np.arange(1, 7) == leg
    command = LegMotion(0.0, MIDDLE, ZERO)
    assert supervisor.following(command, MIDDLE - 0.0099 * one) is None
    assert supervisor.following(command, MIDDLE - 0.0101 * one) == (
        f'leg {leg} is 10.10 mm from its command, allowed are 10 mm'
    )


def test_a_leg_that_moves_may_lag_the_others_may_not(supervisor: Supervisor) -> None:
    one = np.arange(1, 7) == 3
    allowed = SETTINGS.following_error + 0.4 * SETTINGS.following_lag
    back, forth = LegMotion(0.0, MIDDLE, -0.4 * one), LegMotion(0.0, MIDDLE, 0.4 * one)
    assert supervisor.following(back, MIDDLE + 0.99 * allowed * one) is None
    assert supervisor.following(back, MIDDLE + 1.01 * allowed * one) == (
        'leg 3 is 20.20 mm from its command, allowed are 20 mm'
    )
    assert supervisor.following(forth, MIDDLE + 0.0101 - 0.0101 * one) == (
        'leg 1 is 10.10 mm from its command, allowed are 10 mm'
    )


def test_a_cycle_that_takes_two_periods_misses_half_of_them(supervisor: Supervisor) -> None:
    rate = OverrunRate(0.002)
    share = [rate.missed(10.0 + 0.002 * number) for number in range(1000)][-1]
    assert share == pytest.approx(0.0, abs=0.01)
    shares = [rate.missed(12.0 + 0.0042 * number) for number in range(300)]
    assert shares[50] < 0.2
    assert shares[-1] == pytest.approx(0.52, abs=0.01)
    assert supervisor.overruns(0.5) is None
    assert supervisor.overruns(shares[-1]) == (
        f'{1e2 * shares[-1]:.1f} % of the cycles of the last second were missed while moving, '
        'allowed are 50 %'
    )
    rate.forget()
    assert rate.missed(20.0) == rate.missed(20.9) == 0.0


@pytest.mark.parametrize('window', [0.5, 1.0, 2.0])
def test_the_share_of_missed_cycles_is_that_of_one_window(
    monkeypatch: pytest.MonkeyPatch, window: float
) -> None:
    monkeypatch.setattr(supervision, 'WINDOW', window)
    first = window * (1.0 + supervision.SLACK)
    rate = OverrunRate(0.5 * first)
    assert rate.missed(0.0) == 0.0
    assert rate.missed(first) == pytest.approx(0.51)
    steady = OverrunRate(0.01 * window)
    shares = [steady.missed(0.02 * window * number) for number in range(500)]
    assert set(shares[:51]) == {0.0}
    assert shares[60:] == pytest.approx([0.5] * 440, abs=0.011)


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_a_measurement_must_be_finite(supervisor: Supervisor, value: float) -> None:
    assert supervisor.measurement(measured(0.0, 4, value)) == (
        f'the measured stroke of leg 4 is {value}'
    )
    assert supervisor.measurement(measured(0.0, 5, rate=value)) == (
        f'the measured rate of leg 5 is {value}'
    )


def test_what_is_no_number_is_never_near_its_command(supervisor: Supervisor) -> None:
    command = LegMotion(0.0, MIDDLE, ZERO)
    for leg in (0, 5):
        lost = np.where(np.arange(6) == leg, np.nan, MIDDLE)
        trouble = supervisor.following(command, lost)
        assert trouble is not None
        assert f'leg {leg + 1} is nan mm' in trouble


def test_a_measurement_has_six_legs(supervisor: Supervisor) -> None:
    with pytest.raises(ValueError, match='broadcast'):
        supervisor.measurement(Measurement(0.0, MIDDLE[:5], ZERO[:5]))


def test_a_measurement_cannot_move_faster_than_the_legs(supervisor: Supervisor) -> None:
    possible = SETTINGS.measured_rate_margin * LIMITS.rate * 0.002
    assert supervisor.measurement(measured(0.000)) is None
    assert supervisor.measurement(measured(0.002, 2, possible)) is None
    trouble = supervisor.measurement(measured(0.004, 2, 2.1 * possible + 2e-4))
    assert trouble is not None
    assert 'leg 2 jumped by 4.160 mm in 2.00 ms' in trouble


def test_nothing_is_a_jump_after_forgetting(supervisor: Supervisor) -> None:
    assert supervisor.measurement(measured(0.000)) is None
    supervisor.forget()
    assert supervisor.measurement(measured(0.002, 2, 0.1)) is None


def test_a_measured_stroke_lies_in_its_range(supervisor: Supervisor) -> None:
    assert supervisor.measurement(measured(0.0, 6, 0.3 + 0.99 * SETTINGS.stroke_margin)) is None
    supervisor.forget()
    assert supervisor.measurement(measured(1.0, 6, -0.306)) == (
        'the measured stroke of leg 6 is -0.00600 m, its range is 0 to 0.6 m'
    )


def test_a_tracking_error_is_judged_in_position_and_attitude(supervisor: Supervisor) -> None:
    position, rotation = SETTINGS.tracking_position, SETTINGS.tracking_rotation
    assert supervisor.tracking(0.99 * position, 0.99 * rotation) is None
    for far in (1.01 * position, np.nan):
        assert 'from its setpoint, allowed are' in str(supervisor.tracking(far, 0.0))
    for turned in (1.01 * rotation, np.nan):
        assert 'the platform is turned' in str(supervisor.tracking(0.0, turned))


def test_after_a_jump_the_leg_is_where_it_was_measured(supervisor: Supervisor) -> None:
    assert supervisor.measurement(measured(0.000)) is None
    assert supervisor.measurement(measured(0.002, 2, 0.05)) is not None
    assert supervisor.lies
    assert supervisor.measurement(measured(0.004, 2, 0.05)) is None
    assert not supervisor.lies


def test_a_measurement_may_change_as_far_as_its_leg_may_go(supervisor: Supervisor) -> None:
    """In both directions, from one cycle to the next."""
    possible = SETTINGS.measured_rate_margin * LIMITS.rate * 0.002 + 1e-4
    for change in (possible, -possible):
        supervisor.forget()
        assert supervisor.measurement(measured(0.000)) is None
        assert supervisor.measurement(measured(0.002, 3, 0.999 * change)) is None
        supervisor.forget()
        assert supervisor.measurement(measured(0.000)) is None
        assert 'leg 3 jumped by' in str(supervisor.measurement(measured(0.002, 3, 1.001 * change)))


def test_a_leg_that_moved_and_then_sticks_is_found() -> None:
    stuck, read = StuckDetector(1e-4, 1e-3, 3), MIDDLE + 2e-3
    assert not stuck.look(MIDDLE, MIDDLE).any()
    assert not stuck.look(read, read).any()
    found = [stuck.look(read, read + 4e-4 * step) for step in range(1, 5)]
    assert [bool(legs.all()) for legs in found] == [False, False, True, True]


def test_a_reading_at_the_edge_of_its_noise_is_stuck_one_beyond_has_moved() -> None:
    band = 2.0**-10
    for change, expected in ((band, True), (1.01 * band, False)):
        stuck = StuckDetector(band, 2.0 * band, 3)
        # The reading goes to and fro while the command goes on.
        found = [stuck.look(ZERO + change * (k % 2), ZERO + band * k) for k in range(9)]
        assert found[-1].all() == found[-1].any() == expected
