# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Read what an identification needs from a bag, whole or cut off."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory

from stewart_bags.bag_files import storage_files
from stewart_bags.errors import DamagedBag, MissingTopic
from stewart_bags.reading import Bag
from stewart_bags.salvage import salvage
from stewart_bags.series import (
    DriverStateSeries,
    ImuSeries,
    JointSeries,
    read_joints,
    read_series,
    SetpointSeries,
)
from stewart_identification.recording.checks import Remark
from stewart_identification.recording.errors import UnusableRecording

ACTUATORS, COMMANDS, IMU, SETPOINT = 'actuator_states', 'joint_commands', 'imu/data', 'setpoint'
DRIVER_STATE = 'driver/state'


@dataclass(frozen=True, eq=False)
class Recording:
    """
    Topics of one bag.

    Attributes
    ----------
    path : Path
        The bag.
    sha256 : str
        Of its storage files, in the order of their names.
    begin_ns : int
        Bag time of the first message [ns].
    actuators : JointSeries or None
        Measured strokes, rates and forces of the legs.
    commands : JointSeries or None
        Commanded strokes.
    imu : ImuSeries or None
        The sensor on the platform.
    setpoints : SetpointSeries or None
        Commanded motion of the platform.
    driver_states : DriverStateSeries or None
        When the drives were on.
    remarks : tuple of Remark
        What could not be read.

    """

    path: Path
    sha256: str
    begin_ns: int
    actuators: JointSeries | None
    commands: JointSeries | None
    imu: ImuSeries | None
    setpoints: SetpointSeries | None
    driver_states: DriverStateSeries | None
    remarks: tuple[Remark, ...]


def read_recording(path: str | Path, *, required: tuple[str, ...] = (ACTUATORS,)) -> Recording:
    """
    Read a bag.

    A bag that was cut off is read up to its last readable message.

    Parameters
    ----------
    path : str or Path
        Directory or file.
    required : tuple of str
        Topics without which the bag is refused.

    Returns
    -------
    Recording
        The topics that are there.

    Raises
    ------
    MissingTopic, WrongType
        If a required topic is not there, or one carries another type.
    NotABag, UndecodableMessage
        If there is no bag, or bytes that are no message.
    UnusableRecording
        If nothing of a damaged bag can be read.

    """
    bag_path = Path(path)
    try:
        with Bag(bag_path) as bag:
            return _read(bag, bag_path, required, ())
    except DamagedBag as damage:
        with _rescued(bag_path, damage) as (whole, remarks), Bag(whole) as bag:
            return _read(bag, bag_path, required, remarks)


def _read(
    bag: Bag, path: Path, required: tuple[str, ...], remarks: tuple[Remark, ...]
) -> Recording:
    def there(topic: str) -> bool:
        try:
            bag.topic(topic)
        except MissingTopic:
            if topic in required:
                raise
            return False
        return True

    # To hash hundreds of megabytes takes a core, but not the interpreter.
    with ThreadPoolExecutor(1) as beside:
        sha256 = beside.submit(digest, path)
        return Recording(
            path=path,
            begin_ns=bag.start_ns,
            actuators=read_joints(bag, ACTUATORS) if there(ACTUATORS) else None,
            commands=read_joints(bag, COMMANDS) if there(COMMANDS) else None,
            imu=read_series(bag, IMU, ImuSeries) if there(IMU) else None,
            setpoints=read_series(bag, SETPOINT, SetpointSeries) if there(SETPOINT) else None,
            driver_states=(
                read_series(bag, DRIVER_STATE, DriverStateSeries) if there(DRIVER_STATE) else None
            ),
            remarks=remarks,
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
    """
    Return the SHA-256 of a bag's storage files, in the order of their names.

    Parameters
    ----------
    path : Path
        Directory or file.

    Returns
    -------
    str
        Hexadecimal.

    """
    found = hashlib.sha256()
    for item in sorted(storage_files(path, complete=False), key=lambda item: item.path.name):
        with item.path.open('rb') as stream:
            while block := stream.read(1 << 20):
                found.update(block)
    return found.hexdigest()
