# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Time what bags cost here against bare rosbags.

Messages are JointStates of six legs. Each of our operations runs alternately with the bare one
on the same file; the ratio of the medians is what counts.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

import argparse
from collections.abc import Callable
import json
from pathlib import Path
import shutil
import statistics
from tempfile import TemporaryDirectory
import time
from typing import Any

import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer
from stewart_bags.definitions import jazzy_typestore
from stewart_bags.reading import Bag
from stewart_bags.series import read_joints
from stewart_bags.writing import BagWriter, Storage

TOPIC, TYPE = '/actuator_states', 'sensor_msgs/msg/JointState'
PERIOD_NS = 5_000_000
PLUGINS = {Storage.MCAP: StoragePlugin.MCAP, Storage.SQLITE3: StoragePlugin.SQLITE3}


def messages(count: int) -> list[bytes]:
    """Serialise as many different messages as a bag shall hold."""
    store = jazzy_typestore()
    types: Any = store.types
    template = types[TYPE](
        types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](0, 0), 'base_link'),
        [f'leg_{number}' for number in range(1, 7)],
        np.zeros(6),
        np.zeros(6),
        np.zeros(6),
    )
    out = []
    for number in range(count):
        template.header.stamp.sec, template.header.stamp.nanosec = divmod(
            number * PERIOD_NS, 10**9
        )
        template.position[:] = number
        out.append(bytes(store.serialize_cdr(template, TYPE)))
    return out


def write_bare(path: Path, storage: Storage, data: list[bytes]) -> None:
    """Write with rosbags alone."""
    with Writer(path, version=9, storage_plugin=PLUGINS[storage]) as writer:
        connection = writer.add_connection(TOPIC, TYPE, typestore=jazzy_typestore())
        for number, item in enumerate(data):
            writer.write(connection, number * PERIOD_NS, item)


def write_ours(path: Path, storage: Storage, data: list[bytes]) -> None:
    """Write with checksums."""
    with BagWriter(path, storage=storage) as writer:
        writer.add_topic(TOPIC, TYPE)
        for number, item in enumerate(data):
            writer.write_raw(TOPIC, number * PERIOD_NS, item)


def raw_bare(path: Path) -> int:
    """Go through the bytes with rosbags alone."""
    with AnyReader([path]) as reader:
        return sum(1 for _ in reader.messages())


def raw_ours(path: Path) -> int:
    """Go through the bytes."""
    with Bag(path) as bag:
        return sum(1 for _ in bag.raw())


def decoded_bare(path: Path) -> int:
    """Decode every message with rosbags alone."""
    with AnyReader([path]) as reader:
        return sum(
            1
            for connection, _, data in reader.messages()
            if reader.deserialize(data, connection.msgtype)
        )


def decoded_ours(path: Path) -> int:
    """Decode every message."""
    with Bag(path) as bag:
        return sum(1 for item in bag.messages() if item.message)


def series_bare(path: Path) -> int:
    """Make arrays of stamps and strokes with rosbags alone."""
    stamps, strokes = [], []
    with AnyReader([path]) as reader:
        for connection, _, data in reader.messages():
            message: Any = reader.deserialize(data, connection.msgtype)
            stamps.append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)
            strokes.append(message.position)
    return len(np.array(stamps)) if np.array(strokes).shape[1] == 6 else 0


def series_ours(path: Path) -> int:
    """Make arrays of stamps, strokes, rates and forces, and examine them."""
    with Bag(path) as bag:
        return len(read_joints(bag, TOPIC))


READS: dict[str, tuple[Callable[[Path], int], Callable[[Path], int]]] = {
    'read bytes': (raw_bare, raw_ours),
    'read decoded': (decoded_bare, decoded_ours),
    'read arrays': (series_bare, series_ours),
}


def timed(work: Callable[[], Any]) -> float:
    """Return the processor time that something takes [s]."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def compare(
    bare: Callable[[], Any], ours: Callable[[], Any], repeats: int
) -> tuple[list[float], list[float]]:
    """Time both in turn."""
    pairs = [(timed(bare), timed(ours)) for _ in range(repeats)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def measure(data: list[bytes], repeats: int, folder: Path) -> list[dict[str, Any]]:
    """Measure every operation on both storages."""
    results = []
    for storage in Storage:
        path = folder / f'bag_{storage.value}'

        def fresh(
            write: Callable[[Path, Storage, list[bytes]], None],
            path: Path = path,
            storage: Storage = storage,
        ) -> None:
            shutil.rmtree(path, ignore_errors=True)
            write(path, storage, data)

        rows = {'write': compare(lambda: fresh(write_bare), lambda: fresh(write_ours), repeats)}
        for name, (bare, ours) in READS.items():
            if bare(path) != len(data) or ours(path) != len(data):
                raise RuntimeError(f'{name} of {storage.value} did not see every message')
            rows[name] = compare(lambda: bare(path), lambda: ours(path), repeats)  # noqa: B023
        for name, (bare_times, our_times) in rows.items():
            results.append(row(storage, name, len(data), bare_times, our_times))
            print(results[-1]['text'])
    return results


def row(
    storage: Storage, name: str, count: int, bare: list[float], ours: list[float]
) -> dict[str, Any]:
    """Sum one comparison up."""
    medians = statistics.median(bare), statistics.median(ours)
    ratio = medians[1] / medians[0]
    return {
        'storage': storage.value,
        'operation': name,
        'messages': count,
        'rosbags_s': bare,
        'ours_s': ours,
        'ratio_of_medians': ratio,
        'text': f'{storage.value:8} {name:13} rosbags {count / medians[0]:10,.0f}/s   '
        f'ours {count / medians[1]:10,.0f}/s   time ratio {ratio:.2f}',
    }


def main() -> None:
    """Measure, print, and write the figures down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--messages', type=int, default=200_000)
    parser.add_argument('--repeats', type=int, default=10)
    arguments = parser.parse_args()
    machine = harness.machine(('rosbags', 'numpy'))
    print(', '.join(f'{key} {value}' for key, value in machine.items()))
    with TemporaryDirectory() as folder:
        results = measure(messages(arguments.messages), arguments.repeats, Path(folder))
    harness.OUTPUT.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**machine, 'results': results}, indent=2) + '\n'
    (harness.OUTPUT / 'bags.json').write_text(text)


if __name__ == '__main__':
    main()
