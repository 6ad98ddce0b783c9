# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The process that owns the drives: it opens the back end, runs the cycle and ends it safely.

It is started by `CycleClient` with a descriptor of the shared block, its parent's process id and
the module of the back end as arguments, and finds the pickled back end and configuration on its
standard input. It imports no ROS. When its parent is gone it stops the motion, switches the drives
off and ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import gc
from importlib import import_module
import os
import pickle
import signal
import sys
import time
import traceback
from typing import Any

from stewart_driver.backend import Backend
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle import ControlLoop
from stewart_driver.control.cycle_link import STOP_SLACK
from stewart_driver.control.cycle_statistics import bin_of
from stewart_driver.control.scheduling import keep_to, lock_memory, sharpen_sleep, take_priority
from stewart_driver.control.shared_block import ProcessPhase, SharedBlock
from stewart_driver.control.state_machine import AT_REST
from stewart_driver.errors import DriverError, StewartError

# Garbage objects tolerated at rest before a collection.
LITTER = 20_000


def main() -> int:
    """Run until asked to end, until the parent is gone, or until something breaks."""
    # Ctrl-C is for the parent, which ends this process in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A terminal may be told to stop who writes from the background (stty tostop).
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    block = SharedBlock(int(sys.argv[1]))
    parent = int(sys.argv[2])
    troubles: list[BaseException] = []
    with _noting(troubles):
        # While the node makes the back end. What is not found is told when that is unpickled.
        with suppress(ImportError):
            import_module(sys.argv[3])
        backend, configuration = pickle.load(sys.stdin.buffer)
        _serve(backend, configuration, block, parent, troubles)
    for trouble in troubles:
        deliberate = isinstance(trouble, (StewartError, OSError))
        text = str(trouble) if deliberate else f'{type(trouble).__name__}: {trouble}'
        block.failures.push(text=text)
        if not deliberate:
            traceback.print_exception(trouble)
    block.words['phase'] = ProcessPhase.FAILED if troubles else ProcessPhase.ENDED
    return int(bool(troubles))


@contextmanager
def _noting(troubles: list[BaseException]) -> Iterator[None]:
    """Note what is raised, and go on: what has failed must not keep the rest from being ended."""
    try:
        yield
    except BaseException as error:
        troubles.append(error)


def _serve(
    backend: Backend,
    configuration: CycleConfiguration,
    block: SharedBlock,
    parent: int,
    troubles: list[BaseException],
) -> None:
    """Open the back end, run cycles, and end it in order whatever happens."""
    keep_to(configuration.cpu_affinity)
    refused = take_priority(configuration.realtime_priority)
    if configuration.realtime_priority and not refused:
        refused = lock_memory()
    backend.keep_within(configuration.limits)
    backend.open(time.monotonic())
    with _noting(troubles):
        loop = ControlLoop(backend, configuration, block, [refused] if refused else [])
        # What exists now stays. A collection takes as long as several cycles, so none comes by
        # itself.
        gc.collect()
        gc.freeze()
        gc.disable()
        sharpen_sleep()
        _run(loop, backend, block, parent, configuration.longest_stop + STOP_SLACK)
        backend.disable()
    # Where drives still follow, it is the back end that brings them to rest before they are off.
    backend.close()


def _run(
    loop: ControlLoop, backend: Backend, block: SharedBlock, parent: int, longest_stop: float
) -> None:
    """Step the loop on a fixed grid of the steady clock.

    The loop is told the instant of the grid, not the instant at which it woke up, so that the
    commands of a constant speed are equally far apart. A wake-up later than half a period counts
    as overrun and moves on to the nearest grid point: nothing is caught up in a burst, and no two
    frames meet the drives in one of their cycles. Where the drives have a clock of their own, the
    grid follows it.
    """
    words, period = block.words, backend.cycle_time
    terminated: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: terminated.append(number))
    deadline, give_up = time.monotonic(), float('inf')
    while loop.state not in AT_REST or give_up == float('inf'):
        woken = time.monotonic()
        lateness = woken - deadline
        if missed := max(int(lateness / period + 0.5), 0):
            words['overruns'] += missed
            deadline += missed * period
            time.sleep(max(deadline - woken, 0.0))
            woken = time.monotonic()
        if give_up == float('inf') and (reason := _reason_to_end(words, parent, terminated)):
            give_up = deadline + longest_stop
            loop.disable(reason) if words['end'] else loop.quick_stop(reason)
        loop.step(deadline)
        busy = time.monotonic() - woken
        _count(words, lateness, busy)
        words['phase'] = ProcessPhase.RUNNING
        deadline += period + backend.shift
        if deadline > give_up:
            raise DriverError(f'the legs did not come to rest within {longest_stop:.2g} s')
        if loop.state in AT_REST and gc.get_count()[0] > LITTER:
            gc.collect()
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


if __name__ == '__main__':
    sys.exit(main())
