# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Time reading a bag for identification against bare rosbags.

The bag holds 200 000 JointStates of six legs. Ours is what ``stewart identify`` does before it
differentiates: all topics as arrays, examined for what is odd, and the hash of the files. Two
peers, both rosbags alone: going through the bytes, after which nothing is known, and what it takes
to get the same stamps, strokes, rates and forces, which is to deserialise.

There is a floor above the first peer. Of what it needs in a database, under a microsecond for a
message, we can only save its merging: sqlite hands over rows one by one, whoever asks. Beside that
stand, at about half a microsecond, that all messages are laid out alike, nineteen numbers each in
arrays, and whether they are finite; the hash runs on a second core if there is one. In an mcap
file rosbags parses in Python, which takes longer than all that.
"""

from __future__ import annotations

import argparse
from functools import partial
import json
from operator import truediv
from pathlib import Path
import statistics
import sys
from tempfile import TemporaryDirectory
from typing import Any

from bags import messages, raw_bare, timed, write_bare
from harness import machine, OUTPUT
import numpy as np
from rosbags.highlevel import AnyReader
from stewart_bags.writing import Storage
from stewart_identification.recording.recordings import read_recording

OURS = 'read for identification'
LIMITS = {'bytes': 1.5, 'decoded into arrays': 0.3}
"""Most of a peer's time that ours may take [-]."""


def joints_bare(path: Path) -> int:
    """Make arrays of stamps, strokes, rates and forces with rosbags alone."""
    stamps, values = [], []
    with AnyReader([path]) as reader:
        for connection, _, data in reader.messages():
            message: Any = reader.deserialize(data, connection.msgtype)
            stamps.append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)
            values.append((message.position, message.velocity, message.effort))
    return len(np.array(stamps)) if np.array(values).shape[1:] == (3, 6) else 0


def measure(path: Path, repeats: int) -> dict[str, list[float]]:
    """Time ours and the peers in turn."""
    works = {
        'bytes': partial(raw_bare, path),
        'decoded into arrays': partial(joints_bare, path),
        OURS: partial(read_recording, path),
    }
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            times[name].append(timed(work))
    return times


def rows(storage: Storage, count: int, times: dict[str, list[float]]) -> list[dict[str, Any]]:
    """Sum the comparisons with each peer up."""
    ours = statistics.median(times[OURS])
    found = []
    for peer, values in times.items():
        if peer == OURS:
            continue
        ratio = statistics.median(map(truediv, times[OURS], values))
        found.append(
            {
                'storage': storage.value,
                'operation': OURS,
                'messages': count,
                'peer': f'rosbags, {peer}',
                'peer_s': values,
                'ours_s': times[OURS],
                'over_peer': ratio,
                'limit': LIMITS[peer],
            }
        )
        print(
            f'{storage.value:8} rosbags, {peer:20} {statistics.median(values):7.3f} s   '
            f'ours {ours:7.3f} s   time ratio {ratio:.2f}'
        )
    return found


def main() -> int:
    """Measure, print, and write the figures down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--messages', type=int, default=200_000)
    parser.add_argument('--repeats', type=int, default=10)
    arguments = parser.parse_args()
    data = messages(arguments.messages)
    results = []
    with TemporaryDirectory() as folder:
        for storage in Storage:
            path = Path(folder) / storage.value
            write_bare(path, storage, data)
            results += rows(storage, arguments.messages, measure(path, arguments.repeats))
    OUTPUT.mkdir(parents=True, exist_ok=True)
    content = {**machine(['rosbags', 'numpy']), 'results': results}
    text = json.dumps(content, indent=2) + '\n'
    (OUTPUT / 'identification_reading.json').write_text(text)
    return 0 if all(row['over_peer'] <= row['limit'] for row in results) else 1


if __name__ == '__main__':
    sys.exit(main())
