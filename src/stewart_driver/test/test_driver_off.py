# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Off is what has no voltage: the driver says which legs are live, and what disabling leaves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip('rclpy')

from driver_graph import driver_graph, Graph
from loopback import LoopbackBackend
from stewart_driver.backend import Measurement
from stewart_driver.legs import LEGS
from stewart_driver.path.motion import LegMotion

pytestmark = pytest.mark.ros

ALL = (1 << LEGS) - 1
measure = LoopbackBackend.exchange


def exchange(self: LoopbackBackend, targets: LegMotion, now: float) -> Measurement:
    """Measure voltage on the motors of drives that are on, or that cannot be switched off."""
    live = ALL if self.enabled or self.why_live else 0
    return measure(self, targets, now)._replace(live=live)


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[Graph]:
    monkeypatch.setattr(LoopbackBackend, 'exchange', exchange)
    with driver_graph(monkeypatch) as make:
        yield make


def test_the_state_says_which_legs_are_live(graph: Graph) -> None:
    _, operator = graph()
    assert list(operator.states[-1].live) == [False] * 6
    operator.enable()
    operator.spin(0.05)
    assert list(operator.states[-1].live) == [True] * 6
    assert not operator.states[-1].holding

    answer = operator.call('disable')
    assert answer.message.startswith('coming to rest, then off; where no brake holds it')
    assert operator.wait(lambda: operator.names[-1] == 'DISABLED')
    operator.spin(0.05)
    assert list(operator.states[-1].live) == [False] * 6


def test_motors_that_keep_their_voltage_are_told(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LoopbackBackend, 'why_live', 'the card has no output for that')
    _, operator = graph()
    operator.enable()

    answer = operator.call('disable')
    assert answer.success
    assert answer.message.endswith(
        'the motors stay under voltage: the card has no output for that'
    )
    assert operator.wait(lambda: operator.names[-1] == 'DISABLED')
    operator.spin(0.05)
    state = operator.states[-1]
    assert list(state.live) == [True] * 6
    assert state.holding
