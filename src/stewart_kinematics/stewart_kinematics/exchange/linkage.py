# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Bodies and joints of any mechanism; all coordinates are those of the drawing in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.platform import RigidBody
from stewart_kinematics.motion import Array
from stewart_tables.errors import counted

T = TypeVar('T')

MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
"""What URDF and SDFormat call the entries of an inertia."""

Kind = Literal['slide', 'hinge', 'ball', 'fixed', 'free']


@dataclass(frozen=True, eq=False)
class Link:
    """A body.

    Attributes:
        name: For people.
        position (3,): Origin of its frame [m].
        rotation (3, 3): From its axes to those of the drawing.
        body: In the axes of its frame; massless where the file gives no mass.
    """

    name: str
    position: Array
    rotation: Array
    body: RigidBody


@dataclass(frozen=True, eq=False)
class Joint:
    """What joins two links. Several between the same two act one after the other, parent first.

    Attributes:
        kind: ``fixed`` makes one body of two, ``free`` joins nothing.
        name: For people.
        parent, child: The links.
        at_parent, at_child (3,): Its centre, as each side has it [m]; they differ where a loop is
            drawn open.
        axis (3,): Along which, or about which, the child moves when the position grows.
        position: In the drawing [m], [rad].
        limits: Lower and upper position [m], [rad].
        rate: Greatest rate [m/s].
    """

    kind: Kind
    name: str
    parent: int
    child: int
    at_parent: Array
    at_child: Array
    axis: Array
    position: float = 0.0
    limits: tuple[float, float] | None = None
    rate: float | None = None


@dataclass(eq=False)
class Linkage:
    """A mechanism.

    Attributes:
        name: Of the model.
        links: The first is what stands still.
        joints: In the order of the file, closures of loops last.
        gravity (3,): Where the file says it [m/s²].
        imu: Link that carries an inertial sensor, the sensor's position and rotation.
        title: Long name.
        numbers: What else the file says, by key of a platform file.
        ignored: What was read over or taken from elsewhere, in sentences.
    """

    name: str
    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    gravity: Array | None = None
    imu: tuple[int, Array, Array] | None = None
    title: str = ''
    numbers: dict[str, list[float]] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)


class XmlReader:
    """What readers of an XML file have in common: a linkage to fill, and errors with its name."""

    def __init__(self, path: Path, name: str | None) -> None:
        self.file, self.found = str(path), Linkage(name or path.stem)

    def refused(self, key: str, value: object, expected: str) -> ConfigurationError:
        """Return the error of a value that cannot be used."""
        return ConfigurationError(key, value, expected, self.file)

    def known(self, key: str, name: str, table: Mapping[str, T]) -> T:
        """Return what a table has for a name; raises `ConfigurationError` if nothing."""
        if name not in table:
            raise self.refused(key, name, f'one of {", ".join(table)}')
        return table[name]

    def direction(self, joint: str, axis: Array) -> Array:
        """Return the unit vector of a joint's axis; raises `ConfigurationError` if it has none."""
        length = float(np.linalg.norm(axis))
        if not length:
            raise self.refused(f'axis of {joint}', axis.tolist(), 'a direction')
        return axis / length

    def numbers(self, key: str, text: str, size: int, *, finite: bool = True) -> Array:
        """Return the numbers (size,) of a text; raises `ConfigurationError` if they are others."""
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            values = np.zeros(0)
        usable = np.isfinite(values) if finite else ~np.isnan(values)
        if values.shape != (size,) or not usable.all():
            kind = 'finite number' if finite else 'number'
            raise self.refused(key, text, counted(size, kind))
        return values


def inertia_of(entries: Sequence[float]) -> Array:
    """Return the inertia (3, 3) whose `MOMENTS` are given."""
    return np.array(entries)[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
