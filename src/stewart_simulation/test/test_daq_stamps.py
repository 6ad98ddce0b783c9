# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""When the inputs of the card were converted, however late the call is."""

from __future__ import annotations

import pytest
from stewart_driver.daq.card import AnalogCard
from stewart_driver.daq.options import SensorOptions
from stewart_simulation.daq_card.card import Card, CardSettings
from stewart_simulation.daq_card.library import SimulatedComedi
from stewart_simulation.daq_card.wire import Answer, Request
from stewart_simulation.daq_card.wire import InlineWire as Wire


class Hurried:
    """A wire that is late both ways, over a clock that stands meanwhile."""

    def __init__(self, ways: tuple[float, float]) -> None:
        self.now, self._ways = 100.0, ways
        self.wire = Wire(Card(CardSettings(noise_codes=0.0), lambda: 1.8e9 + self.now))

    def ask(self, request: Request) -> None:
        self.now += self._ways[0]
        self.wire.ask(request)

    def hear(self) -> Answer:
        self.now += self._ways[1]
        return self.wire.hear()

    def close(self) -> None:
        self.wire.close()

    def card(self, ahead: float = 1.8e9) -> AnalogCard:
        return AnalogCard(
            SimulatedComedi(lambda _: self),
            SensorOptions(device='bench', longest_call=1.0),
            drives=False,
            clock=lambda: self.now,
            wall=lambda: ahead + self.now,
        )


@pytest.mark.parametrize('ways', [(0.0, 0.0), (0.001, 0.02), (0.02, 0.001)])
def test_stamp_is_when_the_inputs_were_converted_however_late_the_call_is(
    ways: tuple[float, float],
) -> None:
    wire = Hurried(ways)
    analog = wire.card()
    begin = wire.now

    analog.read()

    # Half a millisecond would be 50 µm of a leg at 0.1 m/s, the converter's step is 3 µm.
    assert analog.stamp == pytest.approx(begin + ways[0], abs=2e-6)


@pytest.mark.parametrize(('ahead', 'expected'), [(1.8e9 - 60.0, 100.021), (1.8e9 + 60.0, 100.0)])
def test_stamp_lies_inside_the_call_whatever_the_wall_clock_says(
    ahead: float, expected: float
) -> None:
    wire = Hurried((0.001, 0.02))
    analog = wire.card(ahead)

    analog.read()

    assert analog.stamp == pytest.approx(expected, abs=1e-9)
