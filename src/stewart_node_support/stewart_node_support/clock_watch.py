# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Keep nodes running when the machine's clock is set back.

A timer of a node follows the node's clock. Without simulated time that is the system clock, and
rcl does not notice that somebody has set it: after a step back by an hour no timer is due for an
hour. Fast DDS, as the wheels have it, ends a wait at an instant of the system clock, so a wait
that is under way lasts an hour longer, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
import threading
from time import monotonic_ns, time_ns
from typing import Any

from rclpy.clock import ClockType

# NTP slews by 0.5 ms per second; a smaller step delays no timer by more than this [ns].
STEP_NS = 1_000_000
# How long a step goes unnoticed [s].
LOOK = 0.05


class ClockWatch:
    """Notice, from a thread, that the system clock was set back.

    Args:
        on_step: Called from the thread when it was.
    """

    def __init__(self, on_step: Callable[[], object]) -> None:
        self._on_step = on_step
        self._over, self._stepped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._watch, name='clock_watch', daemon=True)
        self._thread.start()

    def set_back(self) -> bool:
        """Tell whether the clock was set back since the last call."""
        if not self._stepped.is_set():
            return False
        self._stepped.clear()
        return True

    def close(self) -> None:
        """End the thread."""
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        offset = system_offset()
        # Python waits by the steady clock.
        while not self._over.wait(LOOK):
            before, offset = offset, system_offset()
            if offset < before - STEP_NS:
                self._stepped.set()
                self._on_step()


def system_offset() -> int:
    """Return the system clock's lead over the steady clock, to half of `STEP_NS` [ns]."""
    while True:
        before, now, after = monotonic_ns(), time_ns(), monotonic_ns()
        # A busy machine may stop a thread between two of them, which would look like a step.
        if after - before < STEP_NS // 2:
            return now - before


def follows_system_clock(timer: Any) -> bool:
    """Tell whether a timer waits for an instant of the system clock."""
    clock = timer.clock
    if clock.clock_type == ClockType.ROS_TIME:
        return not clock.ros_time_is_active
    return bool(clock.clock_type == ClockType.SYSTEM_TIME)


def restart_timers(timers: Iterable[Any]) -> None:
    """Let every timer wait for a whole period from now; those that are cancelled stay so."""
    for timer in timers:
        cancelled = timer.is_canceled()
        timer.reset()
        if cancelled:
            timer.cancel()
