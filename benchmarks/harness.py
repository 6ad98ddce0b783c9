# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks share: timing, the machine, a table and a JSON file.

Import it before numpy: it holds the libraries to one thread, and they look once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from importlib.metadata import version
import json
import math
import os
from pathlib import Path
import platform
import shlex
import statistics
import sys
import time

ONE_THREAD = ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'NUMBA_NUM_THREADS')
for _name in ONE_THREAD:
    os.environ[_name] = '1'

# Some measure with what only the papers have, like the simulated SRS.
sys.path.append(str(Path(__file__).parents[1] / 'papers'))

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / 'build' / 'benchmarks'

ROUNDS = 11
"""Timed rounds of every task; the tasks take turns, so that a busy moment meets all of them."""

ROUND_SECONDS = 0.15
"""About how long one round of one task takes."""

clock = time.process_time
"""Processor time: other processes of the machine do not count, and waiting does not either."""


@dataclass(frozen=True)
class Task:
    """Something to be timed.

    Attributes:
        name: What is done, for the table.
        call: Does it once.
        samples: How many poses one call works on.
        peer: Name of the task in the same run that the limit refers to; empty without a limit.
        limit: Time over the peer's in the same round, the median, that must be kept [-].
    """

    name: str
    call: Callable[[], object]
    samples: int = 1
    peer: str = ''
    limit: float = math.inf


@dataclass(frozen=True)
class Timing:
    """Processor times of one task per sample [µs], and what they are measured against.

    `ratio` is the median over that of the first task, `to_peer` that of the ratios to the peer in
    the same round, None without one.
    """

    name: str
    median_us: float
    least_us: float
    most_us: float
    ratio: float
    rounds_us: tuple[float, ...]
    peer: str
    limit: float | None
    to_peer: float | None

    @property
    def missed(self) -> bool:
        """Whether the limit is missed."""
        return self.limit is not None and not self.to_peer <= self.limit


def measure(tasks: Sequence[Task]) -> list[Timing]:
    """Time tasks in turns.

    Args:
        tasks: The first is what the ratios refer to.

    Returns:
        One per task; a ratio is the median over the median of the first task.
    """
    calls = [_calls_per_round(task) for task in tasks]
    times: list[list[float]] = [[] for _ in tasks]
    for _ in range(ROUNDS):
        for task, count, found in zip(tasks, calls, times, strict=True):
            start = clock()
            for _ in range(count):
                task.call()
            found.append((clock() - start) / (count * task.samples) * 1e6)
    rounds = {task.name: found for task, found in zip(tasks, times, strict=True)}
    first = statistics.median(times[0])
    return [_timing(task, rounds, first) for task in tasks]


def _timing(task: Task, rounds: dict[str, list[float]], first: float) -> Timing:
    """Hold the rounds of a task against those of its peer, and against the first task's median."""
    found = rounds[task.name]
    to_peer = None
    if task.peer:
        pairs = zip(found, rounds[task.peer], strict=True)
        to_peer = statistics.median(ours / theirs for ours, theirs in pairs)
    median = statistics.median(found)
    return Timing(
        task.name,
        median,
        min(found),
        max(found),
        median / first,
        tuple(found),
        task.peer,
        task.limit if task.peer else None,
        to_peer,
    )


def _calls_per_round(task: Task) -> int:
    """Warm the task up and return how often it fits into one round."""
    task.call()
    start = clock()
    task.call()
    return max(1, int(ROUND_SECONDS / max(clock() - start, 1e-7)))


def machine(packages: Sequence[str]) -> dict[str, str]:
    """Return processor, system, versions, what was called and the day of it in UTC."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path('/proc/cpuinfo')
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding='utf-8').splitlines()
        names = [line.split(':', 1)[1].strip() for line in lines if line.startswith('model name')]
        processor = names[0] if names else processor
    load = f'{os.getloadavg()[0]:.2f} of {os.cpu_count()} cores'
    versions = {name: version(name) for name in packages}
    python = platform.python_version()
    return {
        'processor': processor,
        'load at the start': load,
        'system': platform.platform(),
        'python': python,
        **versions,
        'command': shlex.join(['python', os.path.relpath(sys.argv[0], ROOT), *sys.argv[1:]]),
        'date': datetime.now(timezone.utc).date().isoformat(),
    }


def resident(pid: int | str = 'self') -> int:
    """Return the resident memory of a process [byte]."""
    pages = Path(f'/proc/{pid}/statm').read_text(encoding='ascii').split()[1]
    return int(pages) * os.sysconf('SC_PAGE_SIZE')


def processor_time(pid: int) -> float:
    """Return what all threads of a process have used [s]; without its children."""
    fields = Path(f'/proc/{pid}/stat').read_text(encoding='utf-8').rpartition(') ')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def save(name: str, content: object) -> Path:
    """Write results as JSON where `make bench` collects them, and say where."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    path = OUTPUT / f'{name}.json'
    path.write_text(json.dumps(content, indent=2) + '\n', encoding='utf-8')
    print(f'written to {path}')
    return path


def report(
    name: str,
    timings: Sequence[Timing],
    about: dict[str, str],
    *,
    sample: str = 'pose',
    **more: object,
) -> int:
    """Print a table and write the JSON file.

    Args:
        name: Name of the benchmark and of its file.
        timings: What was measured.
        about: The machine.
        sample: What the times are counted per.
        **more: Further results for the file.

    Returns:
        Exit code: 1 if a limit was missed.
    """
    for key, value in about.items():
        print(f'{key}: {value}')
    print(f'\n{"":44s} {"median":>10s} {"least":>10s} {"most":>10s} {"ratio":>8s}')
    for timing in timings:
        print(
            f'{timing.name:44s} {timing.median_us:10.4g} {timing.least_us:10.4g} '
            f'{timing.most_us:10.4g} {timing.ratio:8.3g}'
        )
    print(f'processor time in microseconds per {sample}, ratio to the first line')
    rows = [asdict(timing) for timing in timings]
    save(name, {'machine': about, 'timings': rows, **more})
    for timing in timings:
        if timing.limit is not None:
            verdict = 'OVER' if timing.missed else 'within'
            print(
                f'{timing.name}: {timing.to_peer:.3g} of {timing.peer}, '
                f'{verdict} its limit of {timing.limit:g}'
            )
    return int(any(timing.missed for timing in timings))
