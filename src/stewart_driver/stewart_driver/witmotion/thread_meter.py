# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Processor time of one thread, read from another one."""

from __future__ import annotations

from collections.abc import Callable
import threading
import time


def thread_meter() -> Callable[[], float]:
    """
    Return a function that tells the processor time of the thread that calls this one [s].

    The clock's number is taken while the thread certainly lives; asked for by the thread's own
    number later, a thread that has just ended could bring the process down.

    Returns
    -------
    callable
        May be called from any thread; 0 once the thread has ended.

    """
    clock = time.pthread_getcpuclockid(threading.get_ident())

    def used() -> float:
        try:
            return time.clock_gettime(clock)
        except OSError:
            return 0.0

    return used
