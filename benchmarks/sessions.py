# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How late a cyclic process wakes up on a busy machine, in its parent's session and in its own.

``python benchmarks/sessions.py [--seconds N] [--repeats N]``: a process works for 0.3 ms of every
2 ms, without a real-time priority. Beside it, in the session of this process, are a busy loop for
every core, and threads that keep to one core and sleep for a millisecond at a time. Linux shares
processors between sessions by groups (``/proc/sys/kernel/sched_autogroup_enabled``), so both ways
are measured, in turns.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

import argparse
from collections.abc import Iterator
from contextlib import contextmanager, ExitStack
import json
import os
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
from stewart_driver.control.child_process import APART

PERIOD, WORK = 2e-3, 3e-4
WAYS: dict[str, dict[str, Any]] = {
    "in its parent's session": APART,
    'in a session of its own': {'start_new_session': True},
}
CYCLES = f"""
import json, sys, time
begin = due = time.monotonic()
late = []
while due < begin + float(sys.argv[1]):
    time.sleep(max(due - time.monotonic(), 0.0))
    woken = time.monotonic()
    late.append(woken - due)
    while time.monotonic() < woken + {WORK}:
        pass
    due = max(due, woken) + {PERIOD}
print(json.dumps(late))
"""


@contextmanager
def busy_session() -> Iterator[None]:
    """Keep every core busy, and a thread that wakes up on each."""
    over = threading.Event()

    def wake(core: int) -> None:
        os.sched_setaffinity(threading.get_native_id(), {core})
        while not over.is_set():
            time.sleep(1e-3)

    with ExitStack() as stack:
        for core in os.sched_getaffinity(0):
            stack.callback(subprocess.Popen(['sh', '-c', 'while :; do :; done']).kill)
            threading.Thread(target=wake, args=(core,)).start()
        stack.callback(over.set)
        yield


def lateness(way: str, seconds: float) -> list[float]:
    """Return by how much a process that was started this way woke too late each time [s]."""
    command = [sys.executable, '-c', CYCLES, str(seconds)]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True, **WAYS[way]).stdout
    return list(json.loads(said))


def row(way: str, runs: list[list[float]]) -> dict[str, Any]:
    """Return what the runs of one way say."""
    every, latest = 1e3 * np.concatenate(runs), [1e3 * max(run) for run in runs]
    return {
        'process': way,
        'p50_ms': round(float(np.median(every)), 2),
        'p99_ms': round(float(np.percentile(every, 99)), 1),
        'middle_latest_ms': round(float(np.median(latest)), 1),
        'latest_ms': round(max(latest), 1),
    }


def main() -> None:
    """Measure both ways in turns."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=8.0, help='length of one run [s]')
    parser.add_argument('--repeats', type=int, default=5, help='runs of each way')
    arguments = parser.parse_args()
    late: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    with busy_session():
        for _ in range(arguments.repeats):
            for way in WAYS:
                late[way].append(lateness(way, arguments.seconds))
    wakes = [row(way, runs) for way, runs in late.items()]
    for each in wakes:
        print(
            '{process}: median {p50_ms} ms, p99 {p99_ms} ms, latest {latest_ms} ms'.format(**each)
        )
    harness.save('sessions', {'machine': harness.machine([]), 'wakes': wakes})


if __name__ == '__main__':
    main()
