# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the drives of a segment move: the protocol, and drives that follow with a lag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
import math
from typing import Any, NamedTuple, Protocol


class AxisCommand(NamedTuple):
    """What one drive wants of its motor.

    Attributes:
        enabled: Whether the motor is under power; otherwise friction or a brake holds it, or
            nothing.
        position: Where it shall be [count].
        velocity: How fast that moves [count/s].
        torque: Feed-forward [0.1 %].
        interpolation: The position is to be reached after this time, at the given velocity; 0: it
            is meant for now [s].
        push, pull: Largest torque in the direction of growing counts, and against it [0.1 %].
    """

    enabled: bool = False
    position: float = 0.0
    velocity: float = 0.0
    torque: float = 0.0
    interpolation: float = 0.0
    push: float = math.inf
    pull: float = math.inf


class Switches(Protocol):
    """One switch per axis."""

    def __getitem__(self, axis: int, /) -> Any:
        """Tell whether one is on."""

    def __setitem__(self, axis: int, on: bool, /) -> None:
        """Switch one."""


class DriveModel(Protocol):
    """Mechanics behind all drives of a segment, one value per axis in the order of the cable.

    Units are those of the drives: counts of the encoder, and per mille of the rated torque.
    """

    @property
    def positions(self) -> Sequence[float]:
        """Where the axes are [count]."""

    @property
    def velocities(self) -> Sequence[float]:
        """How fast they move [count/s]."""

    @property
    def torques(self) -> Sequence[float]:
        """What the motors deliver [0.1 %]."""

    @property
    def torque_off(self) -> Switches:
        """Where the safety circuit has taken the torque; a fault may change it."""

    def command(self, commands: Sequence[AxisCommand]) -> None:
        """Take what the drives want from now on."""

    def advance(self, duration: float) -> None:
        """Let some time pass [s]."""


@dataclass
class FollowingDrives:
    """Axes that approach their targets exponentially, each by itself.

    Attributes:
        positions: Where they stand [count].
        lag: Time constant [s].
        highest_velocity: What a motor can do at most [count/s].
    """

    positions: list[float]
    lag: float = 1e-3
    highest_velocity: float = 100.0 * (1 << 23)
    velocities: list[float] = field(default_factory=list)
    torques: list[float] = field(default_factory=list)
    torque_off: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Stand still, without power."""
        count = len(self.positions)
        self.torque_off = [False] * count
        self.velocities, self.torques = [0.0] * count, [0.0] * count
        self._commands: Sequence[AxisCommand] = [AxisCommand()] * count
        self._age = 0.0

    def command(self, commands: Sequence[AxisCommand]) -> None:
        """Take what the drives want from now on."""
        self._commands = commands

    def advance(self, duration: float) -> None:
        """Let some time pass [s]."""
        if duration <= 0.0:
            return
        share = 1.0 - math.exp(-duration / self.lag)
        furthest = self.highest_velocity * duration
        for axis, wanted in enumerate(self._commands):
            step = 0.0
            if wanted.enabled:
                step = share * (wanted.position - self.positions[axis])
                step = min(max(step, -furthest), furthest)
            self.positions[axis] += step
            self.velocities[axis] = step / duration
