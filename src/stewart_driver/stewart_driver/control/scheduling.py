# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a process that has to keep a cycle takes of the machine: priority, processors, memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
import ctypes
import os
import resource

from stewart_driver.errors import ConfigurationError

AS_PERMITTED = -1
"""Asks for a real-time priority where the machine grants one, and goes on without it elsewhere."""
# Before every ordinary process, and before threads that take the lowest real-time priority; below
# the kernel's own threads, without which no frame leaves. The second is for a limit of 1.
MODEST = (2, 1)
PERMISSION = 'rtprio in limits.conf, or CAP_SYS_NICE'


def take_priority(priority: int, process: int = 0) -> str:
    """Let a process go before the ordinary ones, by SCHED_FIFO; raises `ConfigurationError`.

    Args:
        priority: 1 to 99; 0 changes nothing; `AS_PERMITTED`.
        process: Its id; 0 is this one.

    Returns:
        What was not permitted, empty if nothing was refused.
    """
    if not priority:
        return ''
    for choice in MODEST if priority == AS_PERMITTED else (priority,):
        with suppress(PermissionError):
            os.sched_setscheduler(process, os.SCHED_FIFO, os.sched_param(choice))
            return ''
    if priority == AS_PERMITTED:
        return f'no real-time priority: it takes {PERMISSION}'
    raise ConfigurationError(
        'realtime_priority', priority, f'0, -1, or the permission for SCHED_FIFO ({PERMISSION})'
    )


def keep_to(processors: Sequence[int]) -> None:
    """Let this process run on some processors, if any are given; raises `ConfigurationError`."""
    if not processors:
        return
    try:
        os.sched_setaffinity(0, processors)
    except OSError as error:
        raise ConfigurationError(
            'cpu_affinity', processors, f'processors out of {sorted(os.sched_getaffinity(0))}'
        ) from error


def lock_memory() -> str:
    """Keep the memory of this process from being paged out; say if that is not permitted."""
    CURRENT, FUTURE, ON_FAULT = 1, 2, 4
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_MEMLOCK, unlimited)
    # Under a limit the memory of tomorrow could not be had at all, so that is not asked for.
    limited = resource.getrlimit(resource.RLIMIT_MEMLOCK) != unlimited
    if limited or ctypes.CDLL(None).mlockall(CURRENT | FUTURE | ON_FAULT):
        return 'memory is not locked: it takes memlock unlimited in limits.conf'
    return ''


def sharpen_sleep() -> None:
    """Ask for the finest timer slack; the default lets the kernel wake us 50 µs late."""
    PR_SET_TIMERSLACK = 29
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
