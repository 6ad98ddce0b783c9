# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How soon every node is ready, and the help of the command, with kernels that are compiled.

``python benchmarks/start.py [--repeats N] [NODE ...]``: every executable is started alone. It is
ready when this process sees it: a lifecycle node that starts by itself says that it is active,
another one is in the graph; so discovery is in it. The least of some repeats is judged, for a busy
machine only adds. Beside it an empty node of rclpy, which is the least that there can be. It fails
if a node takes over 1.5 s or ``stewart --help`` over 0.3 s.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import entry_points
import os
from pathlib import Path
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from ament_index_python.packages import get_package_prefix
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
import rclpy
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from stewart_bags.writing import BagWriter

MOST_NODE, MOST_HELP = 1.5, 0.3
PATIENCE = 60.0
PEER = 'empty node of rclpy'
EMPTY = 'import rclpy; rclpy.init(); rclpy.spin(rclpy.create_node("empty"))'
NODES = {entry.name: entry for entry in entry_points(group='stewart.nodes')}
# Without a calibrated card it does not configure.
BY_HAND = {'position_sensors'}


@dataclass(frozen=True)
class Start:
    """How long something took until it was ready, and its processor time until then [s]."""

    name: str
    median_s: float
    least_s: float
    processor_s: float
    limit_s: float | None

    @property
    def held(self) -> bool:
        """Whether the least is within the limit."""
        return self.limit_s is None or self.least_s <= self.limit_s


def command(name: str, folder: Path) -> Sequence[str]:
    """Return the command of a node that starts by itself."""
    package = NODES[name].value.split('.')[0]
    chosen = {
        'web_viewer': 'port:=0',
        'player': f'bag:={folder / "bag"}',
        'recorder': f'output:={folder / f"new_{time.monotonic_ns()}"}',
        'virtual_rig': f'directory:={folder / "rig"}',
    }
    executable = str(Path(get_package_prefix(package), 'lib', package, name))
    by_itself = f'autostart:={str(name not in BY_HAND).lower()}'
    words = ['-p', chosen[name]] if name in chosen else []
    return [executable, '--ros-args', '--log-level', 'error', '-p', by_itself, *words]


def write_bag(path: Path) -> None:
    """Write what a player can play for a minute."""
    with BagWriter(path) as writer:
        text = writer.typestore.types['std_msgs/msg/String']
        for second in range(60):
            writer.write('/note', second * 10**9, text(str(second)))


def in_graph(watcher: Node, name: str) -> bool:
    """Tell whether a node is in the graph."""
    return name in watcher.get_node_names()


def active(watcher: Node, name: str) -> Callable[[], bool]:
    """Return what tells whether a lifecycle node is active."""
    client = watcher.create_client(GetState, f'{name}/get_state')

    def ask() -> bool:
        if not client.service_is_ready():
            return False
        future = client.call_async(GetState.Request())
        rclpy.spin_until_future_complete(watcher, future, timeout_sec=1.0)
        answer = future.result()
        return answer is not None and answer.current_state.id == State.PRIMARY_STATE_ACTIVE

    return ask


def start(words: Sequence[str], ready: Callable[[], bool]) -> tuple[float, float]:
    """Start a process, wait until it is ready, end it; return time and processor time [s]."""
    begin = time.monotonic()
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        try:
            while not ready():
                if process.poll() is not None or time.monotonic() > begin + PATIENCE:
                    raise SystemExit(f'{" ".join(words)} was not ready within {PATIENCE:g} s')
                time.sleep(0.002)
            return time.monotonic() - begin, harness.processor_time(process.pid)
        finally:
            process.send_signal(signal.SIGINT)


def starts(names: Sequence[str], repeats: int, folder: Path) -> list[Start]:
    """Start nodes one after the other."""
    watcher = rclpy.create_node('start_watcher')
    found = []
    for name in (PEER, *names):
        seen = name if name != PEER else 'empty'
        by_itself = name != PEER and name not in BY_HAND
        if by_itself and issubclass(NODES[name].load(), LifecycleNode):
            ready = active(watcher, name)
        else:
            ready = partial(in_graph, watcher, seen)
        pairs = []
        for _ in range(repeats):
            words = [sys.executable, '-c', EMPTY] if name == PEER else command(name, folder)
            pairs.append(start(words, ready))
            # What is gone is not to be taken for the next one.
            while in_graph(watcher, seen):
                time.sleep(0.01)
        found.append(judged(name, pairs, None if name == PEER else MOST_NODE))
    return found


def judged(name: str, pairs: Sequence[tuple[float, float]], limit: float | None) -> Start:
    """Return the figures of some repeats, and print them."""
    times, used = zip(*pairs, strict=True)
    row = Start(name, statistics.median(times), min(times), min(used), limit)
    late = '' if row.held else f', over the limit of {limit:g} s'
    print(
        f'{name}: {row.median_s:.2f} s, least {row.least_s:.2f} s, '
        f'processor {row.processor_s:.2f} s{late}',
        flush=True,
    )
    return row


def ask_for_help(repeats: int) -> Start:
    """Time ``stewart --help``."""
    words = [shutil.which('stewart') or 'stewart', '--help']
    pairs = []
    for _ in range(repeats):
        begin, before = time.monotonic(), os.times()
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        used = after.children_user + after.children_system
        used -= before.children_user + before.children_system
        pairs.append((time.monotonic() - begin, used))
    return judged('stewart --help', pairs, MOST_HELP)


def main() -> int:
    """Start all, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n\n')[0])
    parser.add_argument('nodes', nargs='*', metavar='NODE', help='default: all')
    parser.add_argument('--repeats', type=int, default=3)
    chosen = parser.parse_args()
    about = {**harness.machine(('numpy', 'numba')), 'repeats': f'{chosen.repeats}'}
    # Graphs of other people on this machine are not to be seen.
    os.environ['ROS_DOMAIN_ID'] = f'{1 + os.getpid() % 100}'
    rclpy.init()
    with tempfile.TemporaryDirectory(prefix='start-') as folder:
        write_bag(Path(folder, 'bag'))
        rows = starts(chosen.nodes or sorted(NODES), chosen.repeats, Path(folder))
    rclpy.shutdown()
    rows.insert(0, ask_for_help(chosen.repeats))
    found = [{**asdict(row), 'held': row.held} for row in rows]
    harness.save('start', {'machine': about, 'starts': found})
    return 0 if all(row.held for row in rows) else 1


if __name__ == '__main__':
    sys.exit(main())
