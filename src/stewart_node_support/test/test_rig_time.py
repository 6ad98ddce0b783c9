# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Stamps for a rig in another process, whether its time is real or simulated."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy')

from node_harness import Harness
from rosgraph_msgs.msg import Clock
from stewart_node_support import rig_time
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
