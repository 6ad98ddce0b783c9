# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What really happens, in memory that any process may map and only the rig writes.

One writer, any number of readers, no lock: the writer makes a number odd, writes, and makes it
even; whoever saw the same even number before and after has read one instant. It relies, as the
driver's shared block does, on stores becoming visible in program order (x86-64).
"""

from __future__ import annotations

from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
import os
from pathlib import Path
import time
from typing import Any

import numpy as np
from stewart_driver.legs import Array, LEGS, read_only
from stewart_kinematics.spatial.rotations import matrix_from_quaternion
from stewart_simulation.errors import RigError
from stewart_simulation.rig.mechanics import Mechanics
from stewart_simulation.rigid_drives import RigidDrives

# Two stamps, offset, state, accelerations, and four numbers per leg, behind a sequence number.
DOUBLES = 3 + 13 + 6 + 4 * LEGS
SIZE = 8 * (1 + DOUBLES)
# A scheduler may keep the writer from finishing for so long; between two looks [s].
PATIENCE, LOOK = 2.0, 1e-4


@dataclass(frozen=True, eq=False)
class Truth:
    """The plant at one instant, in base_link axes.

    Attributes:
        stamp, wall_offset: On the steady clock, and how much the wall clock is ahead of it [s].
        base_time: On the clock of `Ship`, which moves the base [s].
        position, quaternion_xyzw (3,), (4,): Pose of platform_link [m].
        linear_velocity, angular_velocity (3,): [m/s], [rad/s].
        linear_acceleration, angular_acceleration (3,): From the equations of motion [m/s²],
            [rad/s²].
        strokes, rates, forces (6,): Of the legs; what the drives deliver [m], [m/s], [N].
        powered (6,): Which motors are under voltage.
    """

    stamp: float
    wall_offset: float
    base_time: float
    position: Array
    quaternion_xyzw: Array
    linear_velocity: Array
    angular_velocity: Array
    linear_acceleration: Array
    angular_acceleration: Array
    strokes: Array
    rates: Array
    forces: Array
    powered: np.ndarray

    @classmethod
    def of(cls, values: Array) -> Truth:
        """Return the instant whose numbers `sample` has put in a row."""
        ends = np.cumsum([1, 1, 1, 3, 4, 3, 3, 3, 3, LEGS, LEGS, LEGS])
        parts: list[Any] = np.split(values, ends)
        parts[:3] = values[:3].tolist()
        parts[-1] = parts[-1].astype(np.bool_)
        return cls(*parts)

    @property
    def twist_in_platform(self) -> tuple[Array, Array]:
        """Linear [m/s] and angular [rad/s] velocity in platform_link axes."""
        to_platform = matrix_from_quaternion(self.quaternion_xyzw).T
        return to_platform @ self.linear_velocity, to_platform @ self.angular_velocity


def sample(mechanics: Mechanics[RigidDrives], wall_offset: float) -> Array:
    """Return the plant's present instant as one row of numbers, shape (46,)."""
    drives = mechanics.drives
    return np.concatenate(
        [
            (mechanics.time, wall_offset, drives.time),
            drives.state,
            drives.acceleration(),
            drives.strokes,
            drives.rates,
            drives.delivered,
            drives.live,
        ]
    )


def _views(memory: mmap) -> tuple[np.ndarray, Array]:
    """Return the sequence number, shape (1,), and the values behind it."""
    number = np.frombuffer(memory, dtype=np.uint64, count=1)
    return number, np.frombuffer(memory, dtype=np.float64, offset=8)


class TruthWriter:
    """The rig's end: a file at a path where none is."""

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            os.ftruncate(descriptor, SIZE)
            memory = mmap(descriptor, SIZE)
        finally:
            os.close(descriptor)
        self._number, self._values = _views(memory)

    def write(self, values: Array) -> None:
        """Write one instant, as `sample` returns it."""
        self._number[0] += np.uint64(1)
        self._values[:] = values
        self._number[0] += np.uint64(1)


class TruthReader:
    """Anybody else's end; raises `RigError` if there is no such file."""

    def __init__(self, path: Path) -> None:
        try:
            with path.open('rb') as stream:
                memory = mmap(stream.fileno(), SIZE, access=ACCESS_READ)
        except (OSError, ValueError) as error:
            raise RigError(f'no truth of a virtual rig at {path}: {error}') from error
        self._number, self._values = _views(memory)

    def read(self) -> Truth:
        """Return the last instant; raises `RigError` if there is none yet or its writer hangs."""
        begin, waited = time.monotonic(), 0.0
        while waited < PATIENCE:
            # Before the look: a reader that was kept away itself looks once more.
            waited = time.monotonic() - begin
            before = int(self._number[0])
            values = read_only(self._values)
            if before and not before & 1 and int(self._number[0]) == before:
                return Truth.of(values)
            time.sleep(LOOK)
        raise RigError('the truth of the virtual rig cannot be read: its writer has stopped')
