# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every parser of bags: samples, and the errors that it may raise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
import shutil

import mutations
import numpy as np
from parsers import of_file, Parse, Parser
from stewart_bags.errors import BagError
from stewart_bags.reading import Bag
from stewart_bags.salvage import salvage
from stewart_bags.series import ImuSeries, read_joints, read_series
from stewart_bags.writing import BagWriter, Storage


def _bag(place: Path, storage: Storage) -> Path:
    """Write a small bag; return its storage file."""
    target = place / 'sample'
    shutil.rmtree(target, ignore_errors=True)
    with BagWriter(target, storage=storage) as writer:
        types = writer.typestore.types
        header = types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](1, 2), 'base')
        vector = types['geometry_msgs/msg/Vector3'](1.0, 2.0, 3.0)
        turn = types['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0)
        nine = np.zeros(9)
        imu = types['sensor_msgs/msg/Imu'](header, turn, nine, vector, nine, vector, nine)
        names = [f'leg_{number}' for number in range(1, 7)]
        six = np.arange(6.0)
        joints = types['sensor_msgs/msg/JointState'](header, names, six, six, six)
        for number in range(3):
            writer.write('/imu/data', number, imu)
            writer.write('/joint_states', number, joints)
    return next(path for path in target.iterdir() if path.suffix in {'.mcap', '.db3'})


def _read_bag(path: Path) -> None:
    with Bag(path) as bag:
        for _ in bag.messages():
            pass
        for topic in bag.topics.values():
            if topic.msgtype == ImuSeries.MSGTYPE:
                read_series(bag, topic.name, ImuSeries)
            elif topic.msgtype == 'sensor_msgs/msg/JointState':
                read_joints(bag, topic.name)


def _bags(
    storage: Storage, read: Callable[[Path], object]
) -> Callable[[Path], tuple[Sequence[bytes], Parse]]:
    def opened(place: Path) -> tuple[Sequence[bytes], Parse]:
        sample = _bag(place, storage)
        return of_file([sample.read_bytes()], place / f'case{sample.suffix}', read)

    return opened


def _rescue(path: Path) -> None:
    target = path.parent / 'rescued'
    try:
        salvage(path, target)
    finally:
        shutil.rmtree(target, ignore_errors=True)


def metadata(place: Path) -> tuple[Sequence[bytes], Parse]:
    """The file beside the storage of a bag."""
    bag = _bag(place, Storage.MCAP).parent

    def read(path: Path) -> None:
        _read_bag(path.parent)

    path = bag / 'metadata.yaml'
    return of_file([path.read_bytes()], path, read)


BAGS: dict[str, Parser] = {
    'mcap bag': Parser(_bags(Storage.MCAP, _read_bag), (BagError,)),
    'sqlite3 bag': Parser(_bags(Storage.SQLITE3, _read_bag), (BagError,)),
    'bag metadata': Parser(metadata, (BagError,), mutations.of_yaml),
    'mcap rescue': Parser(_bags(Storage.MCAP, _rescue), (BagError,)),
    'sqlite3 rescue': Parser(_bags(Storage.SQLITE3, _rescue), (BagError,)),
}
