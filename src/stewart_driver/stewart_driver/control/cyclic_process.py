# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
The process that owns the drives: it opens the back end, runs the cycle and ends it safely.

It is started by `CycleClient` with a descriptor of the shared block and its parent's process id
as arguments, and finds the pickled back end and configuration on its standard input. It imports
no ROS. When its parent is gone it stops the motion, switches the drives off and ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import ctypes
import gc
import os
import pickle
import signal
import sys
import time
import traceback
from typing import Any

from stewart_driver.backend import Backend
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle import Cycle
from stewart_driver.control.cycle_statistics import bin_of
from stewart_driver.control.shared_block import encode, Phase, SharedBlock
from stewart_driver.control.state_machine import State
from stewart_driver.errors import ConfigurationError, DriverError

# A stop takes 1.5 times speed over deceleration; whatever takes longer than this hangs.
LONGEST_STOP = 0.9
SAFE = (State.DISABLED, State.FAULT)


def main() -> int:
    """Run until asked to end, until the parent is gone, or until something breaks."""
    # Ctrl-C is for the parent, which ends this process in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    block = SharedBlock(int(sys.argv[1]))
    parent = int(sys.argv[2])
    troubles: list[BaseException] = []
    with _noting(troubles):
        backend, configuration = pickle.load(sys.stdin.buffer)
        _schedule(configuration)
        _serve(backend, configuration, block, parent, troubles)
    for trouble in troubles:
        deliberate = isinstance(trouble, (DriverError, OSError))
        text = str(trouble) if deliberate else f'{type(trouble).__name__}: {trouble}'
        block.failures.push(text=encode(text))
        if not deliberate:
            traceback.print_exception(trouble)
    block.words['phase'] = Phase.FAILED if troubles else Phase.ENDED
    return int(bool(troubles))


@contextmanager
def _noting(troubles: list[BaseException]) -> Iterator[None]:
    """Note what is raised, and go on: what has failed must not keep the rest from being ended."""
    try:
        yield
    except BaseException as error:
        troubles.append(error)


def _schedule(configuration: CycleConfiguration) -> None:
    """Take the real-time priority that was asked for, or refuse to start."""
    if configuration.realtime_priority:
        try:
            priority = os.sched_param(configuration.realtime_priority)
            os.sched_setscheduler(0, os.SCHED_FIFO, priority)
        except PermissionError as error:
            raise ConfigurationError(
                'realtime_priority',
                configuration.realtime_priority,
                '0, or the permission for SCHED_FIFO (rtprio in limits.conf, or CAP_SYS_NICE)',
            ) from error


def _serve(
    backend: Backend,
    configuration: CycleConfiguration,
    block: SharedBlock,
    parent: int,
    troubles: list[BaseException],
) -> None:
    """Open the back end, run cycles, and make the outputs safe whatever happens."""
    backend.open(time.monotonic())
    with _noting(troubles):
        cycle = Cycle(backend, configuration, block)
        # What exists now stays: full collections need not look at it again.
        gc.collect()
        gc.freeze()
        _sharpen_sleep()
        _run(cycle, backend, block, parent)
    with _noting(troubles):
        backend.disable()
    backend.close()


def _run(cycle: Cycle, backend: Backend, block: SharedBlock, parent: int) -> None:
    """
    Step the cycle on a fixed grid of the steady clock.

    The cycle is told the instant of the grid, not the instant at which it woke up, so that the
    commands of a constant speed are equally far apart. A wake-up later than a period counts as
    overrun and moves on to the latest grid point: nothing is caught up in a burst. Where
    the drives have a clock of their own, the grid follows it.
    """
    words, period = block.words, backend.cycle_time
    terminated: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: terminated.append(number))
    deadline, give_up = time.monotonic(), float('inf')
    while cycle.state not in SAFE or give_up == float('inf'):
        woken = time.monotonic()
        lateness = woken - deadline
        if lateness >= period:
            missed = int(lateness / period)
            words['overruns'] += missed
            deadline += missed * period
        if give_up == float('inf') and (reason := _reason_to_end(words, parent, terminated)):
            give_up = deadline + LONGEST_STOP
            cycle.disable(reason) if words['end'] else cycle.quick_stop(reason)
        cycle.step(deadline)
        busy = time.monotonic() - woken
        _count(words, lateness, busy)
        words['phase'] = Phase.RUNNING
        deadline += period + backend.shift
        if deadline > give_up:
            raise DriverError(f'the legs did not come to rest within {LONGEST_STOP} s')
        time.sleep(max(deadline - time.monotonic(), 0.0))


def _reason_to_end(words: Any, parent: int, terminated: list[int]) -> str | None:
    if words['end']:
        return 'the driver is being cleaned up'
    if os.getppid() != parent:
        return 'the process of the driver node is gone'
    if terminated:
        return 'the cyclic process was terminated'
    return None


def _count(words: Any, lateness: float, busy: float) -> None:
    words['cycles'] += 1
    words['lateness'][bin_of(lateness)] += 1
    words['busy'][bin_of(busy)] += 1
    words['latest'] = max(words['latest'], lateness)
    words['busiest'] = max(words['busiest'], busy)


def _sharpen_sleep() -> None:
    """Ask for the finest timer slack; the default lets the kernel wake us 50 µs late."""
    PR_SET_TIMERSLACK = 29
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)


if __name__ == '__main__':
    sys.exit(main())
