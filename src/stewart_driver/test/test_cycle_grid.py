# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The grid of the cycles after a stall, on a clock that the test owns."""

from __future__ import annotations

from collections import defaultdict
import os
from typing import Any

import numpy as np
import pytest
from stewart_driver.control import cyclic_process
from stewart_driver.control.cycle_statistics import BINS
from stewart_driver.control.state_machine import State

PERIOD = 0.002


class Clock:
    """What the loop asks for the time and to sleep."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Loop:
    """A control loop that is held up in one cycle, and counts ten more."""

    def __init__(self, clock: Clock, words: dict[str, Any], stall: float) -> None:
        self.state = State.ENABLED
        self.steps: list[tuple[float, float]] = []
        self._clock, self._words, self._stall = clock, words, stall

    def step(self, now: float) -> None:
        self.steps.append((now, self._clock.now))
        if len(self.steps) == 5:
            self._clock.now += self._stall
        self._words['end'] = int(len(self.steps) == 15)

    def disable(self, _: str) -> None:
        self.state = State.DISABLED


class Drives:
    """Nothing but a period, on the clock of this computer."""

    cycle_time, shift = PERIOD, 0.0


@pytest.mark.parametrize('stall', [0.0041, 0.0055, 0.0059, 0.0205, 0.0213, 0.0217, 0.1999, 0.5])
def test_after_more_than_a_period_no_two_frames_meet_the_drives_in_one_cycle(
    monkeypatch: pytest.MonkeyPatch, stall: float
) -> None:
    clock = Clock()
    words: dict[str, Any] = defaultdict(int)
    words |= {'lateness': np.zeros(BINS), 'busy': np.zeros(BINS)}
    monkeypatch.setattr(cyclic_process, 'time', clock)
    loop: Any = Loop(clock, words, stall)
    block: Any = type('Block', (), {'words': words})
    drives: Any = Drives

    cyclic_process._run(loop, drives, block, os.getppid(), 1.0)

    told, sent = np.array(loop.steps).T
    # The drives take their targets half a period after the grid.
    assert np.abs(sent - told).max() <= 0.5 * PERIOD + 1e-9
    intervals = np.diff(np.round((told - told[0]) / PERIOD))
    assert np.abs((told - told[0]) / PERIOD - np.round((told - told[0]) / PERIOD)).max() < 1e-6
    assert intervals.min() == 1
    assert words['overruns'] == intervals.sum() - len(intervals)
