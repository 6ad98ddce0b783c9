# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every node that holds a device makes every transition of its lifecycle, and no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import os
from pathlib import Path
import threading
from typing import Any

import pytest

pytest.importorskip('rclpy')

from driver_graph import driver_graph
from rclpy.parameter import Parameter
from stewart_driver.daq.options import SensorOptions
from stewart_driver.daq.sensors import DaqReader
from stewart_driver.nodes import position_sensors
from stewart_driver.nodes.imu import Imu
from stewart_node_support.lifecycle import state_of, take_down

pytestmark = pytest.mark.ros

# The standard's lifecycle, by hand; what fails is in other tests.
LIFECYCLE = {
    ('unconfigured', 'configure'): 'inactive',
    ('inactive', 'activate'): 'active',
    ('active', 'deactivate'): 'inactive',
    ('inactive', 'cleanup'): 'unconfigured',
    ('unconfigured', 'shutdown'): 'finalized',
    ('inactive', 'shutdown'): 'finalized',
    ('active', 'shutdown'): 'finalized',
}
STEPS = {step for _, step in LIFECYCLE}
WAYS = (
    ('shutdown',),
    ('configure', 'activate', 'deactivate', 'activate', 'shutdown'),
    ('configure', 'cleanup', 'configure', 'shutdown'),
)


class Unwired(DaqReader):
    """A reader that finds a card wherever it looks."""

    def __init__(self, options: SensorOptions) -> None:
        self._card, self.label = None, options.card

    def open(self) -> str:
        return 'a card'


@pytest.fixture(params=['driver', 'imu', 'position_sensors'])
def born(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Any]]:
    """Make a node that finds its device, or waits for it."""
    monkeypatch.setattr(position_sensors, 'DaqReader', Unwired)
    others: list[Any] = []

    def other() -> Any:
        # A port that is not there yet is waited for.
        absent = [Parameter('port', value='/dev/absent')]
        node = (
            Imu(parameter_overrides=absent)
            if request.param == 'imu'
            else position_sensors.PositionSensors()
        )
        others.append(node)
        return node

    with driver_graph(monkeypatch, real=True) as graph:
        yield (lambda: graph(up=False)[0]) if request.param == 'driver' else other
        for node in others:
            take_down(node)


def children() -> str:
    """Return the processes of this one."""
    return Path(f'/proc/self/task/{os.getpid()}/children').read_text()


def test_every_transition_of_the_lifecycle_is_made_and_no_other(
    born: Callable[[], Any],
) -> None:
    made, before_all = set(), children()
    for way in WAYS:
        node = born()
        threads = threading.active_count()
        for step in way:
            before = state_of(node)
            offered = {item[1] for item in node._state_machine.available_transitions}
            assert offered == {name for state, name in LIFECYCLE if state == before}
            for other in STEPS - offered:
                with pytest.raises(RuntimeError, match='not registered'):
                    getattr(node, f'trigger_{other}')()
                assert state_of(node) == before
            getattr(node, f'trigger_{step}')()
            assert state_of(node) == LIFECYCLE[before, step]
            made.add((before, step))
        assert state_of(node) == 'finalized'
        assert threading.active_count() == threads
        assert children() == before_all
    assert made == set(LIFECYCLE)
