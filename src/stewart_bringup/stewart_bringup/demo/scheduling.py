# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Stand before everything else that runs on the machine, where that is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
import resource

# Below every other real-time process of the machine.
PRIORITY = 1


@contextmanager
def real_time() -> Iterator[str]:
    """Give this thread, and the threads and processes it starts, a real-time priority.

    A hop of 1 ms cannot wait for its turn on a busy machine; nice values do not help, for Linux
    weighs sessions against each other and not processes. Root may do this, and users with an
    ``rtprio`` limit; for everybody else nothing changes. Yields what the scheduler does.
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


def driver_priority() -> int:
    """Return the priority with which the drives' cycle goes before this thread and all it starts.

    Those of one priority take turns of up to 100 ms: with writer, middleware and nodes on two
    cores, a cycle of 2.5 ms would be missed ten times in a row. It is one above this thread's, as
    far as this user may go; 0 without a real-time priority.
    """
    if os.sched_getscheduler(0) not in {os.SCHED_RR, os.SCHED_FIFO}:
        return 0
    above = os.sched_getparam(0).sched_priority + 1
    limit, _ = resource.getrlimit(resource.RLIMIT_RTPRIO)
    if os.geteuid() == 0 or limit == resource.RLIM_INFINITY:
        return above
    return min(above, limit)
