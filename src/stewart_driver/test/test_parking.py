# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Legs are brought to rest where they can be left without power, slowly, or not at all."""

from __future__ import annotations

from typing import Any, cast

from loopback import LoopbackBackend, LoopbackOptions
import numpy as np
import pytest

pytest.importorskip('rclpy')

from stewart_driver.control.state_machine import Request, State
from stewart_driver.errors import ConfigurationError
from stewart_driver.nodes.drive_session import Parking
from stewart_driver.nodes.driver_parameters import DriverParameters

RATE, PERIOD = 0.6, 0.005
PARK = np.array([0.02, 0.03, 0.02, 0.03, 0.02, 0.03])


class Legs:
    """Six legs that do what a jog asks for, unless they are stuck."""

    def __init__(self, stuck: int | None = None) -> None:
        """Stand apart."""
        self.now, self.stuck = 0.0, stuck
        self.strokes = np.linspace(0.05, 0.3, 6)
        self.rates: list[Any] = []
        self.requests: list[Request] = []

    def steady(self) -> float:
        return self.now

    def jog(self, rates: Any, stamp: float) -> None:
        self.rates.append(rates.copy())
        moved = rates * PERIOD
        if self.stuck is not None:
            moved[self.stuck] = 0.0
        self.strokes = self.strokes + moved

    def request(self, request: Request) -> tuple[bool, str]:
        self.requests.append(request)
        return True, ''

    def go(self, duration: float, state: State = State.ENABLED) -> Parking:
        parking = Parking(cast('Any', self), PARK, RATE)
        parking.begin()
        for _ in range(round(duration / PERIOD)):
            self.now += PERIOD
            parking.advance(state, self.strokes)
        return parking


def test_the_legs_go_straight_and_slowly_to_the_park_position_and_then_off() -> None:
    legs = Legs()
    parking = legs.go(12.0)

    assert not parking.active
    assert legs.strokes == pytest.approx(PARK, abs=5e-4)
    assert legs.requests == [Request.DISABLE]
    rates = np.array(legs.rates)
    assert np.abs(rates).max() <= 0.1 * RATE
    assert np.abs(rates).max() > 0.09 * RATE
    way = PARK - np.linspace(0.05, 0.3, 6)
    assert (
        np.abs(rates / np.abs(rates).max(axis=1)[:, None] - way / np.abs(way).max()).max() < 1e-6
    )


def test_legs_that_do_not_arrive_are_switched_off_where_they_are() -> None:
    legs = Legs(stuck=5)
    assert not legs.go(12.0).active
    assert legs.requests == [Request.DISABLE]


def test_another_end_is_left_alone() -> None:
    legs = Legs()
    assert not legs.go(1.0, State.FAULT).active
    assert (legs.requests, legs.rates) == ([], [])


def test_a_path_is_brought_to_rest_first() -> None:
    legs = Legs()
    assert legs.go(10.0, State.STOPPING).active
    assert (legs.requests, legs.rates) == ([], [])


@pytest.mark.parametrize('strokes', [(0.1,) * 5, (0.7,) * 6, (float('nan'),) * 6])
def test_strokes_that_no_leg_has_are_refused(strokes: tuple[float, ...]) -> None:
    with pytest.raises(ConfigurationError, match='park_strokes: expected six strokes'):
        DriverParameters(park_strokes=strokes).configuration(LoopbackBackend(LoopbackOptions()))
