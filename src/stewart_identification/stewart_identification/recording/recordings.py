# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Read what an identification needs from a bag, whole or cut off, and check whose it can be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from stewart_bags.bag_files import storage_files
from stewart_bags.errors import BagError, DamagedBag
from stewart_bags.reading import Bag
from stewart_bags.salvage import salvage
from stewart_bags.series import (
    DriverStateSeries,
    JointSeries,
    PoseSeries,
    read_joints,
    read_series,
    Series,
)
from stewart_identification.errors import UnusableRecording
from stewart_identification.recording.checks import Remark
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.solvers.recognition import (
    disagreeing,
    LEAST,
    outside_limits,
    stroke_difference,
)

ACTUATORS, COMMANDS, DRIVER_STATE = 'actuator_states', 'joint_commands', 'driver/state'
POSE = 'platform/pose'

S = TypeVar('S', bound=Series)


@dataclass(frozen=True, eq=False)
class Recording:
    """Topics of one bag.

    Attributes:
        sha256: Of its storage files, in the order of their names.
        begin_ns: Bag time of the first message [ns].
        actuators: Measured strokes, rates and forces of the legs.
        commands: Commanded strokes.
        driver_states: When the drives were on.
        poses: As forward kinematics of the machine found them.
        remarks: What could not be read.
    """

    path: Path
    sha256: str
    begin_ns: int
    actuators: JointSeries
    commands: JointSeries | None
    driver_states: DriverStateSeries | None
    poses: PoseSeries | None
    remarks: tuple[Remark, ...]

    @property
    def topics(self) -> tuple[str, ...]:
        """Names of the topics that were read, as they are in the bag."""
        optional = self.commands, self.driver_states, self.poses
        return (self.actuators.topic, *(item.topic for item in optional if item is not None))


def read_recording(path: str | Path, renamed: Mapping[str, str] | None = None) -> Recording:
    """Read a bag, directory or file; one that was cut off up to its last readable message.

    `renamed` says what a topic of ours is called in it. Topics that are not needed are those
    beside the actuator states; one that cannot be read is left out.

    Raises:
        MissingTopic, WrongType, MissingJoints, UndecodableMessage: If the actuator states are not
            there, carry another type, other joints, or bytes that are no message.
        NotABag: If there is no bag.
        UnusableRecording: If nothing of a damaged bag can be read.
    """
    bag_path = Path(path)
    try:
        with Bag(bag_path, renamed) as bag:
            return _read(bag, ())
    except DamagedBag as damage:
        with _rescued(bag_path, damage) as (whole, remarks), Bag(whole, renamed) as bag:
            # Errors name the bag that was given.
            bag.path = bag_path
            return _read(bag, remarks)


def _read(bag: Bag, remarks: tuple[Remark, ...]) -> Recording:
    left_out: list[Remark] = []

    def optional(topic: str, reader: Callable[[Bag, str], S]) -> S | None:
        there = bag.beside(topic, ACTUATORS)
        if there is None:
            return None
        try:
            return reader(bag, there.name)
        except DamagedBag:
            raise
        except BagError as error:
            text = f'left out, {error.reason}'
            left_out.append(Remark(there.name, float('nan'), there.count, text))
            return None

    # To hash hundreds of megabytes takes a core, but not the interpreter.
    with ThreadPoolExecutor(1) as beside:
        sha256 = beside.submit(digest, bag.path)
        return Recording(
            path=bag.path,
            begin_ns=bag.start_ns,
            actuators=read_joints(bag, ACTUATORS),
            commands=optional(COMMANDS, read_joints),
            driver_states=optional(DRIVER_STATE, partial(read_series, kind=DriverStateSeries)),
            poses=optional(POSE, partial(read_series, kind=PoseSeries)),
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
    """Return the SHA-256 of a bag's storage files, in the order of their names, in hex."""
    found = hashlib.sha256()
    for item in sorted(storage_files(path, complete=False), key=lambda item: item.path.name):
        with item.path.open('rb') as stream:
            while block := stream.read(1 << 20):
                found.update(block)
    return found.hexdigest()


def check_platform(recording: Recording, platform: Platform) -> list[Remark]:
    """Check that a recording can be of a platform; return what makes that doubtful.

    Raises:
        UnusableRecording: If its poses and strokes are not this platform's, or most strokes lie
            outside its limits.
    """
    series, poses = recording.actuators, recording.poses
    if poses is not None:
        posed = poses.stamp_ns, poses.position, poses.quaternion_xyzw
        said = disagreeing(
            lambda geometry: stroke_difference(geometry, *posed, series.stamp_ns, series.position),
            platform.geometry,
            platform.name,
        )
        if said:
            raise UnusableRecording(
                f'{recording.path} is of another platform than {platform.name}: {said}'
            )
    outside = outside_limits(series.position, platform)
    if outside is None:
        return []
    if outside.share < LEAST:
        raise UnusableRecording(f'{recording.path}: {series.topic}: {outside.text}')
    count = round((1.0 - outside.share) * len(series))
    return [Remark(series.topic, float('nan'), count, outside.text)]
