# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Run a command again and again beside processes that take all they can get of the processor.

``python benchmarks/under_load.py [--loops L] [--at-once A] [--times N] [--add] [COMMAND ...]``,
without a command ``make demo`` beside four loops, once. For the tests: ``--loops 2 --times 20 make
test``. With --at-once 2 two of them run beside each other, too: that is harder, and sooner done.
With --add the runs of earlier calls are kept, each with the commit that it ran on. What the runs
say is in build/benchmarks/under_load, a file each. It fails if a run did not end with 0.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed, ThreadPoolExecutor
from contextlib import contextmanager, ExitStack
from dataclasses import asdict, dataclass
import json
import os
from pathlib import Path
import shlex
import subprocess
import sys
import time

LOOPS, COMMAND = 4, ('make', 'demo')
OUTPUTS = harness.OUTPUT / 'under_load'


@dataclass(frozen=True)
class Run:
    """One run; the loads are those of the last minute."""

    commit: str
    loops: int
    at_once: int
    exit_code: int
    seconds: float
    load_before: float
    load_after: float


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep some processes busy that do nothing."""
    with ExitStack() as stack:
        for _ in range(count):
            loop = subprocess.Popen([sys.executable, '-c', 'while True: pass'])
            stack.callback(loop.wait)
            stack.callback(loop.kill)
        yield


def commit() -> str:
    """Return what is checked out, with a + where something was changed."""
    words = ['git', '-C', str(harness.ROOT), 'describe', '--always', '--dirty=+', '--exclude=*']
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def run(command: Sequence[str], loops: int, at_once: int, said: Path) -> Run:
    """Run the command in the root of the checkout, and keep what it says."""
    before, begin = os.getloadavg()[0], time.monotonic()
    with said.open('wb') as file:
        done = subprocess.run(
            command, cwd=harness.ROOT, stdout=file, stderr=subprocess.STDOUT, check=False
        )
    took, after = time.monotonic() - begin, os.getloadavg()[0]
    return Run(commit(), loops, at_once, done.returncode, took, before, after)


def main() -> int:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n\n')[0])
    parser.add_argument('--loops', type=int, default=LOOPS, help='busy processes (default: 4)')
    parser.add_argument('--at-once', type=int, default=1, help='runs at a time (default: 1)')
    parser.add_argument('--times', type=int, default=1, help='runs (default: 1)')
    parser.add_argument('--add', action='store_true', help='keep the runs of earlier calls')
    parser.add_argument('command', nargs=argparse.REMAINDER, help='default: make demo')
    chosen = parser.parse_args()
    command = chosen.command or list(COMMAND)
    name = 'under_load_' + '_'.join(Path(word).name for word in command)
    path = harness.OUTPUT / f'{name}.json'
    about = harness.machine(())
    rows = json.loads(path.read_text())['under_load'] if chosen.add and path.exists() else []
    OUTPUTS.mkdir(parents=True, exist_ok=True)
    first = len(rows) + 1
    with busy(chosen.loops), ThreadPoolExecutor(chosen.at_once) as pool, ExitStack() as stack:
        # After Ctrl-C, too, which those that run hear for themselves.
        stack.callback(pool.shutdown, cancel_futures=True)
        runs = {
            pool.submit(
                run, command, chosen.loops, chosen.at_once, OUTPUTS / f'{name}_{number}.txt'
            ): number
            for number in range(first, first + chosen.times)
        }
        for done in as_completed(runs):
            found = done.result()
            rows.append(asdict(found))
            print(
                f'{shlex.join(command)} {runs[done]}: exit code {found.exit_code} after '
                f'{found.seconds:.0f} s, load {found.load_before:.1f} to {found.load_after:.1f}',
                flush=True,
            )
            # After each, so that whoever ends this keeps what there is.
            harness.save(name, {'machine': about, 'under_load': rows})
    return int(any(row['exit_code'] for row in rows))


if __name__ == '__main__':
    sys.exit(main())
