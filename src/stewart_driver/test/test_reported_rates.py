# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""606Ch in the unit of whatever maker, beside the positions of the same drives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from stewart_driver.ethercat.gear import Gear
from stewart_driver.ethercat.leg_motion import MeasuredLegs
from stewart_driver.ethercat.process_data import Inputs

CYCLE, COUNTS = 0.002, 2**23 / 0.01
GEAR = Gear(2**23, 1.0, 0.01, 1, rated_torque=1.27, largest_torque=3.0)
# Units per m/s: counts per second, revolutions and tenths of them per minute, counts per
# millisecond, and a velocity of the other polarity (607Eh).
RIGHT, WRONG = COUNTS, (6000.0, 60000.0, COUNTS / 1000.0, -COUNTS)


class Legs:
    """Six legs on a way that is given by time, in drives that report rates a little later."""

    def __init__(
        self, way: Callable[[float], float], *units: float, lag: float = 0.0, origin: float = 9e9
    ) -> None:
        self.way, self.units, self.lag = way, np.array([*units, *[RIGHT] * (6 - len(units))]), lag
        self.origin, self.now = origin, 0.0
        self.legs = MeasuredLegs(GEAR, [0] * 6, 100.0, self.inputs(), 0.0)

    def rate(self, time: float) -> float:
        return (self.way(time + 1e-5) - self.way(time - 1e-5)) / 2e-5

    def inputs(self) -> list[Inputs]:
        home = 0.03 if self.now >= self.origin else 0.0
        count = round((self.way(self.now) - home) * COUNTS)
        told = self.units * self.rate(self.now - self.lag)
        return [Inputs(0x1237, count, round(item)) for item in told]

    def go(self, time: float) -> np.ndarray:
        for _ in range(round(time / CYCLE)):
            self.now += CYCLE
            self.legs.take(self.inputs(), self.now)
        return self.legs.rates


@pytest.mark.parametrize('unit', WRONG)
def test_a_velocity_in_another_unit_is_not_believed(unit: float) -> None:
    """Of a platform that falls it would say that it is at rest, and give it the voltage."""
    legs = Legs(lambda time: -0.25 * time, RIGHT, RIGHT, RIGHT, unit)
    # Not even for the first frames, in which nobody can know.
    for _ in range(200):
        rates = legs.go(CYCLE)
        assert rates[3] <= -0.25 * (1.0 - np.exp(-2.0 * np.pi * 100.0 * legs.now)) + 1e-6
    assert legs.legs.note == (
        '606Ch of leg 4 is not in counts per second: rates are made of positions'
    )


@pytest.mark.parametrize('lag', [0.0, 0.004, 0.02])
def test_a_velocity_in_counts_per_second_is_believed_after_one_way(lag: float) -> None:
    """20 ms: a drive may filter it. Differences would lag by those 2 ms of a low pass."""
    legs = Legs(lambda time: 0.03 * np.cos(4.0 * time), lag=lag)
    legs.go(1.5)

    assert legs.legs.note == ''
    assert legs.go(CYCLE) == pytest.approx(legs.rate(legs.now - lag), abs=1e-8)


def test_a_leg_that_counts_from_home_is_no_evidence() -> None:
    legs = Legs(lambda time: -0.02 * time, origin=0.2)
    legs.go(1.0)

    assert legs.legs.note == ''
    assert legs.go(CYCLE) == pytest.approx(-0.02, abs=1e-6)


def test_a_leg_that_stands_is_no_evidence() -> None:
    """An encoder swings by some counts, and a velocity may be beside zero."""
    legs = Legs(lambda time: 1e-6 * (round(time / CYCLE) % 2))
    legs.legs.take([Inputs(0x1237, 0, 0)] * 6, 0.001)
    legs.go(1.0)

    assert legs.legs.note == ''
    assert np.abs(legs.legs.rates).max() < 1e-3
