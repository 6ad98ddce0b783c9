# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Time what bags cost here against bare rosbags and, where it is installed, mcap-ros2-support.

Messages are JointStates of six legs. Each of our operations runs alternately with the peers' on
the same file; what counts is the median of the ratios, and it fails if that is above the limit.
`pip install mcap-ros2-support` for one more peer, which reads mcap alone.

Reading for identification is what ``stewart identify`` does before it differentiates. Beside what
it takes rosbags to get the same numbers stands the floor: its going through the bytes. Of what
that needs in a database, under a microsecond for a message, we can only save its merging: sqlite
hands over rows one by one, whoever asks. Beside it stand, at about half a microsecond, that all
messages are laid out alike, nineteen numbers each in arrays, and whether they are finite; the hash
runs on a second core if there is one.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from operator import attrgetter, truediv
from pathlib import Path
import shutil
import statistics
import sys
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
from stewart_identification.recording.recordings import read_recording

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


def series_bare(path: Path, wanted: Callable[[Any], Any]) -> int:
    """Make arrays of stamps and of what is wanted of each message with rosbags alone."""
    stamps, values = [], []
    with AnyReader([path]) as reader:
        for connection, _, data in reader.messages():
            message: Any = reader.deserialize(data, connection.msgtype)
            stamps.append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)
            values.append(wanted(message))
    return len(np.array(stamps)) if np.array(values).shape[-1] == 6 else 0


def series_ours(path: Path) -> int:
    """Make arrays of stamps, strokes, rates and forces, and examine them."""
    with Bag(path) as bag:
        return len(read_joints(bag, TOPIC))


def recording_ours(path: Path) -> int:
    """Read all topics as arrays, examined for what is odd, and hash the files."""
    return len(read_recording(path).actuators)


def decoded_mcap(path: Path) -> int:
    """Decode every message with mcap-ros2-support."""
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    with next(path.glob('*.mcap')).open('rb') as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        return sum(1 for item in reader.iter_decoded_messages() if item[3])


def series_mcap(path: Path) -> int:
    """Make arrays of stamps and strokes with mcap-ros2-support."""
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    stamps, strokes = [], []
    with next(path.glob('*.mcap')).open('rb') as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for *_, message in reader.iter_decoded_messages():
            stamps.append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)
            strokes.append(message.position)
    return len(np.array(stamps)) if np.array(strokes).shape[1] == 6 else 0


ROSBAGS, BYTES, MCAP = 'rosbags', 'rosbags, bytes', 'mcap-ros2-support'
OURS: Mapping[str, Callable[[Path], int]] = {
    'read bytes': raw_ours,
    'read decoded': decoded_ours,
    'read arrays': series_ours,
    'read for identification': recording_ours,
}
PEERS: Mapping[str, Mapping[str, Callable[[Path], int]]] = {
    ROSBAGS: {
        'read bytes': raw_bare,
        'read decoded': decoded_bare,
        'read arrays': partial(series_bare, wanted=attrgetter('position')),
        'read for identification': partial(
            series_bare, wanted=attrgetter('position', 'velocity', 'effort')
        ),
    },
    # After which nothing is known of what is in them.
    BYTES: {'read for identification': raw_bare},
    MCAP: {'read decoded': decoded_mcap, 'read arrays': series_mcap},
}
LIMITS: Mapping[str, Mapping[str, float]] = {
    'write': {ROSBAGS: 1.3},
    'read bytes': {ROSBAGS: 1.5},
    'read decoded': {ROSBAGS: 1.1, MCAP: 1.1},
    'read arrays': {ROSBAGS: 0.5, MCAP: 0.5},
    'read for identification': {ROSBAGS: 0.3, BYTES: 1.5},
}
"""Most of a peer's time that ours may take [-]."""


def timed(work: Callable[[], Any]) -> float:
    """Return the processor time that something takes [s]."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def in_turns(works: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Return processor times of works that take turns [s]."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            times[name].append(timed(work))
    return times


def measure(data: list[bytes], repeats: int, folder: Path) -> list[dict[str, Any]]:
    """Measure every operation on both storages."""
    results = []
    for storage in Storage:
        path = folder / f'bag_{storage.value}'
        peers = [ROSBAGS, BYTES]
        if storage is Storage.MCAP and find_spec('mcap_ros2') is not None:
            peers.append(MCAP)

        def fresh(
            write: Callable[[Path, Storage, list[bytes]], None],
            path: Path = path,
            storage: Storage = storage,
        ) -> None:
            shutil.rmtree(path, ignore_errors=True)
            write(path, storage, data)

        times = in_turns(
            {'ours': partial(fresh, write_ours), ROSBAGS: partial(fresh, write_bare)}, repeats
        )
        results += rows(storage, 'write', len(data), times)
        for name, ours in OURS.items():
            chosen = {peer: PEERS[peer][name] for peer in peers if name in PEERS[peer]}
            works = {who: partial(read, path) for who, read in {'ours': ours, **chosen}.items()}
            if any(work() != len(data) for work in works.values()):
                raise RuntimeError(f'{name} of {storage.value} did not see every message')
            results += rows(storage, name, len(data), in_turns(works, repeats))
    return results


def rows(
    storage: Storage, name: str, count: int, times: Mapping[str, list[float]]
) -> list[dict[str, Any]]:
    """Sum one operation up against each of its peers."""
    found = []
    for peer, theirs in times.items():
        if peer == 'ours':
            continue
        ratio = statistics.median(map(truediv, times['ours'], theirs))
        found.append(
            {
                'storage': storage.value,
                'operation': name,
                'messages': count,
                'peer': peer,
                'peer_s': theirs,
                'ours_s': times['ours'],
                'over_peer': ratio,
                'limit': LIMITS[name][peer],
            }
        )
        print(f'{storage.value:8} {name:23} time over that of {peer}: {ratio:.2f}', flush=True)
    return found


def main() -> int:
    """Measure, print, and write the figures down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--messages', type=int, default=200_000)
    parser.add_argument('--repeats', type=int, default=10)
    arguments = parser.parse_args()
    packages = ['rosbags', 'numpy'] + [MCAP] * (find_spec('mcap_ros2') is not None)
    machine = harness.machine(packages)
    print(', '.join(f'{key} {value}' for key, value in machine.items()))
    with TemporaryDirectory() as folder:
        results = measure(messages(arguments.messages), arguments.repeats, Path(folder))
    harness.save('bags', {**machine, 'results': results})
    missed = [row for row in results if not row['over_peer'] <= row['limit']]
    for row in missed:
        print(f'over its limit: {row["storage"]}, {row["operation"]}, {row["peer"]}')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
