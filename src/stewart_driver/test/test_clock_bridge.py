# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Stamps cross between wall clock and steady clock once, and a set clock is noticed."""

from __future__ import annotations

import pytest
from stewart_driver.control.clock_bridge import ClockBridge


class Clocks:
    """Two clocks that advance by given delays at every reading."""

    def __init__(self, offset: float, delays: list[float]) -> None:
        self.offset, self.delays, self.now, self.count = offset, delays, 100.0, 0

    def _tick(self) -> None:
        self.now += self.delays[self.count % len(self.delays)]
        self.count += 1

    def steady(self) -> float:
        self._tick()
        return self.now

    def wall(self) -> float:
        self._tick()
        return self.now + self.offset


def bridge_over(clocks: Clocks) -> ClockBridge:
    return ClockBridge(clocks.wall, clocks.steady)


def test_stamps_go_there_and_back() -> None:
    bridge = bridge_over(Clocks(1.7e9, [1e-6]))

    assert bridge.offset == pytest.approx(1.7e9, abs=1e-6)
    assert bridge.to_wall(bridge.to_steady(1.7e9 + 123.456)) == pytest.approx(1.7e9 + 123.456)


def test_an_interrupted_reading_is_not_the_one_that_counts() -> None:
    """The second of five readings takes 10 ms more, before the wall clock was read."""
    clocks = Clocks(50.0, [1e-6] * 3 + [1e-2] + [1e-6] * 11)
    bridge = bridge_over(clocks)

    assert bridge.offset == pytest.approx(50.0, abs=2e-6)
    assert bridge.uncertainty < 2e-6


def test_a_slewed_clock_is_followed_without_alarm() -> None:
    clocks = Clocks(50.0, [1e-6])
    bridge = bridge_over(clocks)
    clocks.offset += 5e-4
    bridge.refresh()

    assert bridge.offset == pytest.approx(50.0005, abs=2e-6)
    assert bridge.steps == 0


def test_a_set_clock_is_counted() -> None:
    clocks = Clocks(50.0, [1e-6])
    bridge = bridge_over(clocks)
    clocks.offset -= 3600.0
    bridge.refresh()

    assert bridge.steps == 1
    assert bridge.to_steady(0.0) == pytest.approx(3550.0, abs=2e-6)


def test_a_look_measures_again_only_after_a_step() -> None:
    clocks = Clocks(50.0, [1e-6])
    bridge = bridge_over(clocks)
    clocks.offset += 5e-4
    bridge.look()
    assert bridge.offset == pytest.approx(50.0, abs=2e-6)

    clocks.offset -= 3600.0
    bridge.look()

    assert bridge.to_steady(clocks.wall()) == pytest.approx(clocks.steady(), abs=1e-5)
    assert bridge.steps == 1
