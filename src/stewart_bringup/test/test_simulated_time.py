# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated time: same inputs, same seed, same bits, whatever the machine does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, ExitStack
import hashlib
import os
from pathlib import Path
import subprocess
import sys

import pytest

pytest.importorskip('rclpy')

# Tests are imported by path, and their helpers have to be found.
sys.path.insert(0, str(Path(__file__).parent))

from simulated_session import DURATION, EX800_DAQ, session, VIGO
from stewart_bags.reading import Bag

pytestmark = [pytest.mark.ros, pytest.mark.installed, pytest.mark.timeout(600)]

SCRIPT = Path(__file__).with_name('simulated_session.py')
BUSY_LOOPS = 2
RATE = 200.0


def digest(path: Path) -> str:
    """Return the SHA-256 of all messages of a bag, in its order: topic, bag time, bytes."""
    total = hashlib.sha256()
    with Bag(path) as bag:
        for message in bag.raw():
            data = bytes(message.data)
            total.update(f'{message.topic} {message.time_ns} {len(data)} '.encode())
            total.update(data)
    return total.hexdigest()


@contextmanager
def busy_loops() -> Iterator[None]:
    """Let other processes take all cores."""
    with ExitStack() as stack:
        for _ in range(BUSY_LOOPS):
            loop = stack.enter_context(
                subprocess.Popen([sys.executable, '-c', 'while True: pass'])
            )
            stack.callback(loop.kill)
        yield


def played(bag: Path, seed: int, rig: str, kept: Path) -> Path:
    """Play in this process; the bag is moved, as its path is in some messages."""
    session(bag, seed, rig)
    bag.rename(kept)
    return kept


@pytest.mark.parametrize(
    ('rig', 'measured'),
    [(VIGO, ()), (EX800_DAQ, ('/imu/data', '/platform/odometry', '/simulation/truth'))],
)
def test_same_seed_same_bits_on_a_quiet_and_on_a_busy_machine(
    rig: str, measured: tuple[str, ...], tmp_path: Path
) -> None:
    bag = tmp_path / 'bag'
    quiet = played(bag, 7, rig, tmp_path / 'quiet')
    with Bag(quiet) as found:
        counts = {name: topic.count for name, topic in found.topics.items()}
    # Approach, fades and return take their time, too.
    moved = ('/setpoint', '/joint_commands', '/platform/pose', '/actuator_states')
    for topic in (*moved, *measured):
        assert counts[topic] > DURATION * RATE
    # In another process, too, whose hashes, addresses and threads are others.
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
    with busy_loops():
        subprocess.run([sys.executable, SCRIPT, bag, '7', rig], env=environment, check=True)
    assert digest(bag) == digest(quiet)


def test_another_seed_is_another_sea(tmp_path: Path) -> None:
    one, other = (played(tmp_path / 'bag', seed, VIGO, tmp_path / f'{seed}') for seed in (7, 8))
    assert digest(one) != digest(other)
