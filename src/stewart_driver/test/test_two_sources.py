# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Two sources on one topic are a fault with a sentence; one source never is."""

from __future__ import annotations

from cycle_rig import CYCLE, ramp, Rig, SPEEDS, START
import numpy as np
import pytest
from stewart_driver.control.state_machine import State


def two_sources(distance: float, lag: float) -> Rig:
    """Two ramps at 200 Hz, one of them this far away in leg 5 and stamped this much later."""
    rig = Rig().enabled()
    begin = rig.now
    away = np.array([0.0, 0.0, 0.0, 0.0, distance, 0.0])
    points = [(0.005 * number, 0.0 * away) for number in range(400)]
    points += [(0.005 * number + lag, away) for number in range(20, 400)]
    points.sort(key=lambda point: (point[0], point[1].any()))

    def feed(now: float) -> None:
        while points and begin + points[0][0] <= now + 1e-9:
            time, offset = points.pop(0)
            strokes, rates = ramp(time)
            rig.send(begin + time, strokes + offset, rates)

    rig.run(1.0, feed)
    return rig


@pytest.mark.parametrize('lag', [0.0, 0.0003, 0.0025, 0.0045])
@pytest.mark.parametrize('distance', [0.0005, -0.0005, 0.002, 0.005])
def test_a_second_source_beside_the_first_is_a_fault(distance: float, lag: float) -> None:
    rig = two_sources(distance, lag)

    assert rig.states[-2:] == [State.STOPPING, State.FAULT]
    assert f'by {1e3 * abs(distance):.2f} mm in leg 5: does a second source send' in rig.reason
    assert rig.backend.enabled
    travelled = (rig.targets[-1] - START) / SPEEDS
    assert travelled == pytest.approx(np.full(6, travelled[0]), rel=1e-6)


def test_a_source_whose_messages_arrive_twice_or_in_disorder_is_one_source() -> None:
    rig = Rig().enabled()
    begin = rig.now

    def feed(now: float) -> None:
        number = round((now - begin) / CYCLE)
        if number % 3:
            return
        for late in (0.0, 0.0, 0.006 if number > 5 else 0.0):
            rig.send(now - late, *ramp(now - late - begin))

    rig.run(1.5, feed)

    assert State.FAULT not in rig.states
    assert rig.cycle.state is State.ENABLED


def test_a_single_outlier_now_and_then_is_not_a_second_source() -> None:
    rig = Rig().enabled()
    begin = rig.now

    def feed(now: float) -> None:
        number = round((now - begin) / CYCLE)
        if number % 3 == 0:
            strokes, rates = ramp(now - begin)
            rig.send(now, strokes + (0.003 if number % 900 == 600 else 0.0), rates)

    rig.run(5.0, feed)

    assert State.FAULT not in rig.states
    assert rig.cycle.state is State.ENABLED
