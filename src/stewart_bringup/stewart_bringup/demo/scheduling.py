# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Stand before everything else that runs on the machine, where that is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os

# Below every other real-time process of the machine.
PRIORITY = 1


@contextmanager
def real_time() -> Iterator[str]:
    """
    Give this thread, and the threads and processes it starts, a real-time priority.

    A hop of 1 ms cannot wait for its turn on a busy machine; nice values do not help, for Linux
    weighs sessions against each other and not processes. Root may do this, and users with an
    ``rtprio`` limit; for everybody else nothing changes.

    Yields
    ------
    str
        What the scheduler does with this thread, for people.

    """
    policy, before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    except PermissionError:
        yield 'ordinary: a real-time priority is not allowed to this user'
        return
    try:
        yield f'real-time, SCHED_RR {PRIORITY}'
    finally:
        os.sched_setscheduler(0, policy, before)
