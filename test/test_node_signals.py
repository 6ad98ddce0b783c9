# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every executable of a node ends with exit code 0 on SIGINT and SIGTERM, whenever they come."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import entry_points
import os
from pathlib import Path
import random
import signal
import subprocess
import time

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from ament_index_python.packages import get_package_prefix, PackageNotFoundError
from stewart_bags.writing import BagWriter

NODES = {entry.name: entry.value for entry in entry_points(group='stewart.nodes')}
# Processes, threads, files or sockets; of the others, all hear in the same lines of code.
WITH_MORE_TO_END = {'driver', 'identification', 'recorder', 'virtual_rig', 'web_viewer'}
# Within the start, and in the long test after it, too [s].
SOON, LATEST = 1.0, 2.0
NUMBERS = (signal.SIGINT, signal.SIGTERM)


def executable(node: str) -> Path:
    package = NODES[node].split('.')[0]
    try:
        return Path(get_package_prefix(package), 'lib', package, node)
    except PackageNotFoundError:
        pytest.skip(f'{package} is not installed here, only its sources are')


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    """Make something that a player can play for a minute."""
    with BagWriter(tmp_path / 'bag') as writer:
        text = writer.typestore.types['std_msgs/msg/String']
        for second in range(60):
            writer.write('/note', second * 1_000_000_000, text(str(second)))
    return tmp_path / 'bag'


def await_handler(process: subprocess.Popen[str]) -> None:
    """Wait for the first line of ours: before it Python has SIGTERM to itself."""
    end = time.monotonic() + 120.0
    caught = 0
    while not caught >> (signal.SIGTERM - 1) & 1:
        assert time.monotonic() < end, 'no handler of ours'
        status = Path('/proc', str(process.pid), 'status').read_text()
        caught = int(status.partition('SigCgt:')[2].split()[0], 16)
        time.sleep(0.002)


def ended(node: str, number: signal.Signals, after: float, bag: Path, run: int) -> str:
    """Start a node, signal it, and return what it did wrong; empty if nothing."""
    words = {
        'web_viewer': 'port:=0',
        'player': f'bag:={bag}',
        'recorder': f'output:={bag.parent / f"new_{run}"}',
        'virtual_rig': f'directory:={bag.parent / f"rig_{run}"}',
        # Without a calibrated card it does not configure, and ends by itself.
        'position_sensors': 'autostart:=false',
    }
    parameters = ['-p', words[node]] if node in words else []
    process = subprocess.Popen(
        [executable(node), '--ros-args', '-p', 'autostart:=true', *parameters],
        env={**os.environ, 'ROS_PYTHON_CHECK_FIELDS': '1'},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        await_handler(process)
        time.sleep(after)
        process.send_signal(number)
        # The first start of all compiles kernels, and hears of the signal after that.
        said, _ = process.communicate(timeout=150.0)
    finally:
        process.kill()
    if process.returncode == 0 and 'Traceback' not in said:
        return ''
    return f'{number.name} after {after:.2f} s: code {process.returncode}: {said}'


def faults(node: str, bag: Path, numbers: list[signal.Signals], latest: float) -> list[str]:
    rng = random.Random(node)
    with ThreadPoolExecutor(2) as pool:
        runs = [
            pool.submit(ended, node, number, rng.uniform(0.0, latest), bag, i)
            for i, number in enumerate(numbers)
        ]
    return [said for said in (run.result() for run in runs) if said]


@pytest.mark.parametrize('node', sorted(WITH_MORE_TO_END & {*NODES}))
def test_node_ends_with_0_on_a_signal(node: str, bag: Path) -> None:
    assert not faults(node, bag, [*NUMBERS], SOON)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize('node', sorted(NODES))
def test_node_ends_with_0_forty_times_out_of_forty(node: str, bag: Path) -> None:
    assert not faults(node, bag, [*NUMBERS] * 20, LATEST)
