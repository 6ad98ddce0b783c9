# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the drives of a segment move: the protocol, and drives that follow with a lag."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any, NamedTuple, Protocol

# Of axes without a plant: time constant [s], and what a motor can do at most [count/s].
LAG, HIGHEST_VELOCITY = 1e-3, 100.0 * (1 << 23)


class AxisCommand(NamedTuple):
    """What one drive wants of its motor; if not enabled, friction or a brake has the axis.

    Attributes:
        position, velocity: Where it shall be [count], and how fast that moves [count/s].
        torque: Feed-forward [0.1 %].
        interpolation: Time in which the position is to be reached; 0: it is meant for now [s].
        push, pull: Largest torque in the direction of growing counts, and against it [0.1 %].
    """

    enabled: bool = False
    position: float = 0.0
    velocity: float = 0.0
    torque: float = 0.0
    interpolation: float = 0.0
    push: float = math.inf
    pull: float = math.inf


class DriveModel(Protocol):
    """Mechanics behind all drives of a segment, one value per axis in the order of the cable.

    Units are those of the drives: counts of the encoder, and per mille of the rated torque.

    Attributes:
        positions, velocities, torques: Of the axes [count], [count/s], [0.1 %].
        torque_off: A bool per axis: where the safety circuit has the torque; faults write it.
    """

    positions: list[float]
    velocities: list[float]
    torques: list[float]
    torque_off: Any

    def command(self, commands: Sequence[AxisCommand]) -> None:
        """Take what the drives want from now on."""

    def advance(self, duration: float) -> None:
        """Let some time pass [s]."""


class FollowingDrives:
    """Axes at some counts that approach their targets exponentially, each by itself."""

    def __init__(self, positions: list[float]) -> None:
        count = len(positions)
        self.positions, self.velocities, self.torques = positions, [0.0] * count, [0.0] * count
        self.torque_off: Any = [False] * count
        self._commands: Sequence[AxisCommand] = [AxisCommand()] * count
        self._age = 0.0

    def command(self, commands: Sequence[AxisCommand]) -> None:
        """Take what the drives want from now on."""
        self._commands = commands

    def advance(self, duration: float) -> None:
        """Let some time pass [s]."""
        if duration <= 0.0:
            return
        share = 1.0 - math.exp(-duration / LAG)
        furthest = HIGHEST_VELOCITY * duration
        for axis, wanted in enumerate(self._commands):
            step = 0.0
            if wanted.enabled:
                step = share * (wanted.position - self.positions[axis])
                step = min(max(step, -furthest), furthest)
            self.positions[axis] += step
            self.velocities[axis] = step / duration
