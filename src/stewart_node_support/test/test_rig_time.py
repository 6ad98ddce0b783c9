# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Stamps for a rig in another process, whether its time is real or simulated."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy')

from node_harness import Harness
from rosgraph_msgs.msg import Clock
from stewart_interfaces.msg import DriverState
from stewart_node_support import rig_time
from stewart_node_support.qos import STATE_QOS
from stewart_node_support.rig_time import RigTime
from stewart_node_support.stamps import from_nanoseconds

pytestmark = pytest.mark.ros


def test_simulated_time_counts_while_it_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    steady = [0.0]
    monkeypatch.setattr(rig_time, 'time', SimpleNamespace(monotonic=lambda: steady[0]))
    with Harness() as harness:
        found = RigTime(harness.probe)
        own = harness.probe.get_clock()
        assert own.now() <= found.now() <= own.now()
        publisher = harness.probe.create_publisher(Clock, '/clock', 1)
        publisher.publish(Clock(clock=from_nanoseconds(12_345_000_000)))
        harness.until(lambda: found.now().nanoseconds == 12_345_000_000)
        # A rig that has ended leaves the node's own clock.
        steady[0] += rig_time.SILENCE
        assert found.now() >= own.now()


@pytest.mark.parametrize(('second', 'follows'), [(1_760_000_000, False), (10, True)])
def test_a_bag_that_is_played_beside_a_real_rig_does_not_tell_its_time(
    second: int, *, follows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rig_time, 'time', SimpleNamespace(monotonic=lambda: 0.0))
    then = 1_700_000_000 * 10**9
    with Harness() as harness:
        found = RigTime(harness.probe)
        player = harness.probe.create_publisher(Clock, '/clock', 1)
        rig = harness.probe.create_publisher(DriverState, 'driver/state', STATE_QOS)
        player.publish(Clock(clock=from_nanoseconds(then)))
        harness.until(lambda: found.now().nanoseconds == then)
        state = DriverState(state=DriverState.ENABLED)
        state.header.stamp.sec = second
        rig.publish(state)
        harness.spin(0.1)
        assert (found.now().nanoseconds == then) == follows
