# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes go on when somebody sets the clock of the machine."""

from __future__ import annotations

from pathlib import Path
import subprocess
import sys

import pytest

pytest.importorskip('rclpy')

# Tests are imported by path, and their helpers have to be found.
sys.path.insert(0, str(Path(__file__).parent))

from stepped_clock import environment
from stewart_node_support import clock_watch

pytestmark = pytest.mark.ros

# A timer of 10 ms, and one that is cancelled; nobody else wakes the executor.
TIMERS = """
import sys, time
from rclpy.node import Node
from stepped_clock import step
from stewart_node_support.executor import LoneExecutor
from stewart_node_support.running import middleware
with middleware([]):
    node, executor, ticks = Node('timers'), LoneExecutor(), []
    executor.add_node(node)
    node.create_timer(0.01, lambda: ticks.append(time.time()))
    node.create_timer(0.01, lambda: sys.exit('a cancelled timer was called')).cancel()
    def twenty_more():
        wanted, end = len(ticks) + 20, time.monotonic() + 60.0
        while len(ticks) < wanted:
            if time.monotonic() > end:
                sys.exit(f'{len(ticks)} of {wanted} ticks')
            executor.spin_once()
    twenty_more()
    begin = time.time() - time.monotonic()
    for seconds in (-3600.0, 3600.0, 3599.0):
        step(seconds)
        twenty_more()
        assert abs(time.time() - time.monotonic() - begin - seconds) < 1.0
    executor.shutdown()
"""


def test_timers_go_on_after_the_clock_was_set(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, '-c', TIMERS],
        env=environment(tmp_path) | {'PYTHONPATH': ':'.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_thread_that_was_stopped_while_it_read_the_clocks_reads_them_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steady = iter([0, 7_000_000, 7_000_000, 7_000_900])
    monkeypatch.setattr(clock_watch, 'monotonic_ns', lambda: next(steady))
    system = iter([50, 7_000_450])
    monkeypatch.setattr(clock_watch, 'time_ns', lambda: next(system))
    assert clock_watch.system_offset() == 450
