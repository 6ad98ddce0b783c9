# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated time: same inputs, same seed, same bits, whatever the machine does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, ExitStack
from functools import cache
import hashlib
import os
from pathlib import Path
import subprocess
import sys
from typing import NamedTuple

import pytest

pytest.importorskip('rclpy')

from simulated_session import DURATION, EX800_DAQ, figures, session, VIGO
from stewart_bags.reading import Bag

pytestmark = [pytest.mark.ros, pytest.mark.installed, pytest.mark.timeout(600)]

SCRIPT = Path(__file__).with_name('simulated_session.py')
BUSY_LOOPS = 4
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


class Run(NamedTuple):
    """A bag, and what the report says of it."""

    bag: Path
    figures: str

    @property
    def bits(self) -> tuple[str, str]:
        """What is the same for the same seed."""
        return digest(self.bag), self.figures


def played(bag: Path, seed: int, rig: str, kept: Path) -> Run:
    """Play in this process; the bag is moved, as its path is in some messages."""
    said = figures(bag, session(bag, seed, rig))
    return Run(bag.rename(kept), said)


def played_elsewhere(bag: Path, seed: int, rig: str, kept: Path) -> Run:
    """Play in another process, whose hashes, addresses and threads are others."""
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
    words = [sys.executable, SCRIPT, bag, str(seed), rig]
    done = subprocess.run(words, env=environment, check=True, text=True, stdout=subprocess.PIPE)
    return Run(bag.rename(kept), done.stdout.splitlines()[-1])


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where every recording of this file is made, for its path is in some messages."""
    return tmp_path_factory.mktemp('simulated')


@pytest.fixture(scope='module')
def quiet(place: Path) -> Callable[[str], Run]:
    """Return what plays seed 7 on a rig here, once."""
    return cache(lambda rig: played(place / 'bag', 7, rig, place / f'quiet_{rig}'))


def test_same_seed_same_bits_in_another_process(quiet: Callable[[str], Run], place: Path) -> None:
    with Bag(quiet(EX800_DAQ).bag) as found:
        counts = {name: topic.count for name, topic in found.topics.items()}
    # Approach, fades and return take their time, too.
    moved = ('/setpoint', '/joint_commands', '/platform/pose', '/actuator_states')
    for topic in (*moved, '/simulation/truth'):
        assert counts[topic] > DURATION * RATE
    # The sensor has another speed at first, which is looked for.
    for topic in ('/imu/data', '/platform/odometry'):
        assert counts[topic] > 0.25 * DURATION * RATE
    other = played_elsewhere(place / 'bag', 7, EX800_DAQ, place / 'other')
    assert other.bits == quiet(EX800_DAQ).bits
    assert 'path error, position, max' in other.figures


@pytest.mark.slow
@pytest.mark.parametrize('rig', [VIGO, EX800_DAQ])
def test_same_seed_same_bits_on_a_quiet_and_on_a_busy_machine(
    rig: str, quiet: Callable[[str], Run], place: Path
) -> None:
    with busy_loops():
        busy = played_elsewhere(place / 'bag', 7, rig, place / f'busy_{rig}')
    assert busy.bits == quiet(rig).bits


# test_simulate.py tells seeds apart without ROS.
@pytest.mark.slow
def test_another_seed_is_another_sea(quiet: Callable[[str], Run], place: Path) -> None:
    other = played(place / 'bag', 8, EX800_DAQ, place / 'other_seed')
    assert other.bits[0] != quiet(EX800_DAQ).bits[0]
    assert other.figures != quiet(EX800_DAQ).figures
