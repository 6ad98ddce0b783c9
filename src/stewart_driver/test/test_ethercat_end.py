# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The end of a bus whose legs are under power: ramps, targets, and who lets go when."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sagging_bench import Bench, KIND
from sagging_wire import CYCLE, FAULT, OPERATION, SaggingDrive
from stewart_driver.ethercat import ending
from stewart_driver.ethercat.drive_group import FRAMES_TO_ACT


@pytest.fixture(autouse=True)
def short_sinking(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without power these legs sink for ever, which is nothing that is asked about here.
    monkeypatch.setattr(ending, 'LONGEST_SINKING', 0.3)


@pytest.mark.parametrize('speed', [0.25, pytest.param(-0.05, marks=pytest.mark.slow)])
def test_the_end_of_a_moving_platform_is_the_ramp_of_its_drives(speed: float) -> None:
    """Reading 2: every end coasted, since the quick stop was never sent."""
    deceleration = 0.6
    bench = Bench(*(SaggingDrive(0.3, deceleration=deceleration) for _ in range(6)))
    bench.enable()
    for change in np.linspace(0.0, speed, 100):
        bench.step(move=float(change) * CYCLE)
    bench.step(20, move=speed * CYCLE)
    end = len(bench.wire.sent)
    rates = []

    def watched(outputs: list[bytes], exchange: object = bench.wire.exchange) -> int:
        counter: int = exchange(outputs)  # type: ignore[operator]
        rates.append(max(abs(drive.velocity) for drive in bench.wire.drives))
        return counter

    bench.wire.exchange = watched  # type: ignore[method-assign, assignment]
    bench.active.close()

    words = [frame[0][0] for frame in bench.wire.sent[end:]]
    assert words[0] == 0x02
    first_off = words.index(0x00)
    assert rates[first_off - 1] < 0.005
    assert first_off * CYCLE >= 0.9 * abs(speed) / deceleration
    # In the first frame they have the targets that they had: see below.
    targets, told = bench.targets()[end + 1 : first_off], bench.told()[end + 1 : first_off]
    np.testing.assert_allclose(targets, told, atol=1.3e-9)
    assert bench.wire.closed_at is not None


@pytest.mark.parametrize(
    'word_delay', [4, *(pytest.param(delay, marks=pytest.mark.slow) for delay in (0, 1, 7))]
)
def test_no_leg_leaps_back_by_its_lag_at_the_end_of_a_moving_platform(word_delay: int) -> None:
    """It was told to be where it was measured, some frames before it acted on the quick stop."""
    speed = 0.2
    bench = Bench(*(SaggingDrive(word_delay=word_delay, deceleration=0.6) for _ in range(6)))
    bench.enable()
    for change in np.linspace(0.0, speed, 100):
        bench.step(move=float(change) * CYCLE)
    bench.step(20, move=speed * CYCLE)
    end = len(bench.wire.sent)
    last = bench.targets()[-1]
    lags: list[float] = []

    def watched(outputs: list[bytes], exchange: object = bench.wire.exchange) -> int:
        counter: int = exchange(outputs)  # type: ignore[operator]
        lags.extend(
            drive.acted - drive.position
            for drive in bench.wire.drives
            if drive.word == OPERATION and len(bench.wire.sent) <= end + FRAMES_TO_ACT
        )
        return counter

    bench.wire.exchange = watched  # type: ignore[method-assign, assignment]
    bench.active.close()

    words = [frame[0][0] for frame in bench.wire.sent[end:]]
    assert words[:5] == [0x02] * 5
    kept = 1 + min(word_delay, FRAMES_TO_ACT - 1)
    targets, told = bench.targets()[end:], bench.told()[end:]
    assert np.abs(targets[:kept] - last).max() < 1.3e-9
    # What does not obey for so long may not be drawn to where it was to go.
    assert np.abs(targets - told)[kept : kept + 20].max() < 1.3e-9
    assert min(lags, default=0.0) > -1e-5
    assert bench.active.group.left == []


def test_at_the_end_no_leg_without_a_brake_gives_way_before_all_are_at_rest() -> None:
    """The quick one was let go while the others still ramped, and the platform tilted."""
    bench = Bench(
        *(SaggingDrive(deceleration=0.5 + 0.5 * (leg == 2), holds=True) for leg in range(6))
    )
    bench.enable()
    bench.step(60, move=0.05 * CYCLE)
    end = len(bench.wire.sent)
    bench.active.close()

    words = np.array([[word for word, *_ in frame] for frame in bench.wire.sent[end:]])
    off = (words == 0x00).argmax(axis=0)
    assert off.min() * CYCLE > 0.9 * 0.05 / 0.5
    assert np.ptp(off) == 0


@pytest.mark.parametrize(
    ('begun', 'faulty'),
    [
        (0, True),
        pytest.param(3, False, marks=pytest.mark.slow),
        pytest.param(0, False, marks=pytest.mark.slow),
        pytest.param(3, True, marks=pytest.mark.slow),
    ],
)
def test_brakes_are_applied_under_power_where_legs_stand_at_the_end(
    begun: int, faulty: bool
) -> None:
    """By a quick stop the voltage went at once, and the platform fell until the brakes held."""
    bench = Bench(kind=replace(KIND, brake_apply=0.05))
    bench.enable()
    bench.step(50)
    if faulty:
        bench.wire.drives[2].word, bench.wire.drives[2].code = FAULT, 0x7305
        bench.step(50)
    # The loop was told to switch off, and has left in the same cycle or some later.
    if not faulty:
        bench.active.disable()
        bench.step(begun)
    end = len(bench.wire.sent)
    bench.active.close()

    words = [frame[0][0] for frame in bench.wire.sent[end:]]
    assert list(dict.fromkeys(words)) == [0x0F, 0x07, 0x06, 0x00]
    assert words.count(0x07) >= 0.05 / CYCLE
    assert not any(drive.word == OPERATION for drive in bench.wire.drives)


def test_a_drive_that_does_not_leave_operation_is_stopped_the_hard_way_at_the_end() -> None:
    bench = Bench(kind=replace(KIND, brake_apply=0.05))
    bench.enable()
    bench.step(50)
    stubborn = bench.wire.drives[1]
    change = stubborn._change
    stubborn._change = lambda word: change(word if word in {0x02, 0x00} else 0x0F)  # type: ignore[method-assign]
    bench.active.close()

    assert stubborn.word != OPERATION


def test_legs_with_brakes_that_move_at_the_end_are_stopped_first() -> None:
    bench = Bench(
        *(SaggingDrive(deceleration=0.6, holds=True) for _ in range(6)),
        kind=replace(KIND, brake_apply=0.05),
    )
    bench.enable()
    bench.step(60, move=0.1 * CYCLE)
    end = len(bench.wire.sent)
    bench.active.close()

    assert bench.wire.sent[end][0][0] == 0x02
