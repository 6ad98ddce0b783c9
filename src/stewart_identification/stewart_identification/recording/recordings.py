# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Read what an identification needs from a bag, whole or cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from stewart_bags.bag_files import storage_files
from stewart_bags.errors import DamagedBag, MissingTopic, UndecodableMessage, WrongType
from stewart_bags.reading import Bag
from stewart_bags.salvage import salvage
from stewart_bags.series import (
    DriverStateSeries,
    ImuSeries,
    JointSeries,
    read_joints,
    read_series,
    Series,
)
from stewart_identification.errors import UnusableRecording
from stewart_identification.recording.checks import Remark

ACTUATORS, COMMANDS, IMU = 'actuator_states', 'joint_commands', 'imu/data'
DRIVER_STATE = 'driver/state'

S = TypeVar('S', bound=Series)


@dataclass(frozen=True, eq=False)
class Recording:
    """Topics of one bag.

    Attributes:
        path: The bag.
        sha256: Of its storage files, in the order of their names.
        begin_ns: Bag time of the first message [ns].
        actuators: Measured strokes, rates and forces of the legs.
        commands: Commanded strokes.
        imu: The sensor on the platform.
        driver_states: When the drives were on.
        remarks: What could not be read.
    """

    path: Path
    sha256: str
    begin_ns: int
    actuators: JointSeries | None
    commands: JointSeries | None
    imu: ImuSeries | None
    driver_states: DriverStateSeries | None
    remarks: tuple[Remark, ...]


def read_recording(path: str | Path, *, required: tuple[str, ...] = (ACTUATORS,)) -> Recording:
    """Read a bag.

    A bag that was cut off is read up to its last readable message.

    Args:
        path: Directory or file.
        required: Topics without which the bag is refused.

    Returns:
        The topics that are there.

    Raises:
        MissingTopic, WrongType, UndecodableMessage: If a required topic is not there, carries
            another type, or bytes that are no message.
        NotABag: If there is no bag.
        UnusableRecording: If nothing of a damaged bag can be read.
    """
    bag_path = Path(path)
    try:
        with Bag(bag_path) as bag:
            return _read(bag, required, ())
    except DamagedBag as damage:
        with _rescued(bag_path, damage) as (whole, remarks), Bag(whole) as bag:
            # Errors name the bag that was given.
            bag.path = bag_path
            return _read(bag, required, remarks)


def _read(bag: Bag, required: tuple[str, ...], remarks: tuple[Remark, ...]) -> Recording:
    left_out: list[Remark] = []

    def read(topic: str, reader: Callable[[Bag, str], S]) -> S | None:
        try:
            return reader(bag, topic)
        except (MissingTopic, WrongType, UndecodableMessage) as error:
            if topic in required:
                raise
            if not isinstance(error, MissingTopic):
                there = bag.topic(topic)
                text = f'left out, {error.reason}'
                left_out.append(Remark(there.name, float('nan'), there.count, text))
            return None

    # To hash hundreds of megabytes takes a core, but not the interpreter.
    with ThreadPoolExecutor(1) as beside:
        sha256 = beside.submit(digest, bag.path)
        actuators, commands = read(ACTUATORS, read_joints), read(COMMANDS, read_joints)
        imu = read(IMU, partial(read_series, kind=ImuSeries))
        driver_states = read(DRIVER_STATE, partial(read_series, kind=DriverStateSeries))
        return Recording(
            path=bag.path,
            begin_ns=bag.start_ns,
            actuators=actuators,
            commands=commands,
            imu=imu,
            driver_states=driver_states,
            remarks=(*remarks, *left_out),
            sha256=sha256.result(),
        )


@contextmanager
def _rescued(path: Path, damage: DamagedBag) -> Iterator[tuple[Path, tuple[Remark, ...]]]:
    """Write what can be read into a bag that lives as long as the context."""
    with TemporaryDirectory(prefix='rescued_') as folder:
        report = salvage(path, Path(folder) / 'bag')
        if not report.count:
            text = f'{path}: not one message can be read ({damage.reason})'
            raise UnusableRecording(text) from damage
        first, last = report.first_ns or 0, report.last_ns or 0
        reason = str(report.damages[0]) if report.damages else 'it was not closed'
        text = f'recovered up to {(last - first) / 1e9:.3f} s, the rest cannot be read ({reason})'
        yield Path(folder) / 'bag', (Remark(str(path), float('nan'), report.count, text),)


def digest(path: Path) -> str:
    """Return the SHA-256 of a bag's storage files, in the order of their names.

    Args:
        path: Directory or file.

    Returns:
        Hexadecimal.
    """
    found = hashlib.sha256()
    for item in sorted(storage_files(path, complete=False), key=lambda item: item.path.name):
        with item.path.open('rb') as stream:
            while block := stream.read(1 << 20):
                found.update(block)
    return found.hexdigest()
