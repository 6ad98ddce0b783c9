# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Bags to test with."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest
from rosbags.typesys.store import Typestore
from stewart_bags.definitions import jazzy_typestore
from stewart_bags.writing import BagWriter, Compression, Storage

START_NS = 1_700_000_000_000_000_000
PERIOD_NS = 5_000_000
FLUSH_EVERY = 100
LEGS = [f'leg_{number}' for number in range(1, 7)]


@pytest.fixture(scope='session')
def others_bags() -> Path:
    """Recordings made by others, which are not part of this repository."""
    given = os.environ.get('STEWART_TEST_BAGS')
    path = Path(given) if given else Path(__file__).parents[4] / 'shared' / 'bags'
    if not path.is_dir():
        pytest.skip('no recordings of others: set STEWART_TEST_BAGS to their directory')
    return path


@pytest.fixture(scope='session')
def store() -> Typestore:
    return jazzy_typestore()


@pytest.fixture(scope='session')
def joint_state(store: Typestore) -> Callable[..., Any]:
    """Make a JointState of six legs, the strokes of which tell its number."""
    types = store.types

    def make(number: int, stamp_ns: int | None = None, names: list[str] | None = None) -> Any:
        stamp_ns = START_NS + number * PERIOD_NS if stamp_ns is None else stamp_ns
        stamp = types['builtin_interfaces/msg/Time'](*divmod(stamp_ns, 10**9))
        return types['sensor_msgs/msg/JointState'](
            header=types['std_msgs/msg/Header'](stamp=stamp, frame_id='base_link'),
            name=names or LEGS,
            position=number + np.arange(6) / 10,
            velocity=-number - np.arange(6) / 10,
            effort=np.empty(0),
        )

    return make


@pytest.fixture
def make_bag(
    tmp_path: Path, joint_state: Callable[..., Any], store: Typestore
) -> Callable[..., Path]:
    """Write a bag of two topics: `count` JointStates, a text with every tenth."""
    String = store.types['std_msgs/msg/String']

    def make(
        count: int = 1000,
        *,
        storage: Storage = Storage.MCAP,
        compression: Compression = Compression.NONE,
        name: str = 'bag',
    ) -> Path:
        path = tmp_path / name
        with BagWriter(path, storage=storage, compression=compression) as writer:
            for number in range(count):
                time_ns = START_NS + number * PERIOD_NS
                writer.write('/actuator_states', time_ns, joint_state(number))
                if number % 10 == 0:
                    writer.write('/note', time_ns + 1, String(f'note {number}'))
                if number % FLUSH_EVERY == FLUSH_EVERY - 1:
                    writer.flush()
        return path

    return make


@pytest.fixture
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run some lines in a process of their own, with the packages that this one sees."""
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}

    def run(lines: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, '-W', 'error', '-c', textwrap.dedent(lines), *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )

    return run


@pytest.fixture
def storage_file() -> Callable[[Path], Path]:
    """Find the one file of a bag that holds the messages."""
    return lambda bag: next(item for item in bag.iterdir() if item.name != 'metadata.yaml')
