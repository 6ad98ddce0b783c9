# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The end of a bus whose legs are under power: ramps, targets, and who lets go when."""

from __future__ import annotations

import numpy as np
import pytest
from sagging_bench import Bench
from sagging_wire import CYCLE, OPERATION, SaggingDrive
from stewart_driver.ethercat.drive_group import FRAMES_TO_ACT


@pytest.mark.parametrize('speed', [0.25, -0.05])
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


@pytest.mark.parametrize('word_delay', [0, 1, 4, 7])
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
