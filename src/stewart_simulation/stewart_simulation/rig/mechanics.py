# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The one plant and its time: every wire moves both on before it looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TYPE_CHECKING, TypeVar

from stewart_driver.legs import Array

if TYPE_CHECKING:
    from stewart_simulation.rigid_drives import RigidDrives
    from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor

# After a longer pause (a stopped process) the plant has missed the rest [s].
LONGEST_GAP = 0.25


class Mover(Protocol):
    """What lets the plant pass through time: the drives, or amplifiers in front of them."""

    def advance(self, duration: float) -> None:
        """Let some time pass [s]."""


D = TypeVar('D', bound=Mover)


class Mechanics(Generic[D]):
    """Drives and bodies at one instant of the steady clock.

    Args:
        now: The first instant [s].
        longest_gap: Longest step [s]; of a longer pause, of a stopped process, only this much
            passes.

    Attributes:
        drives: The plant.
        mover: What advances it; the drives themselves at first.
        sensor: Measures at instants of its own, which are kept in order with everybody else's.
        time: Up to where the plant has come [s].
    """

    def __init__(
        self,
        drives: D,
        now: float,
        on_step: Callable[[], None] = lambda: None,
        longest_gap: float = LONGEST_GAP,
    ) -> None:
        self.drives = drives
        self.mover: Mover = drives
        self.sensor: PluggedSensor | None = None
        self.time = now
        self._on_step, self._longest_gap = on_step, longest_gap

    def advance(self, now: float) -> None:
        """Bring the plant to now, and let the sensor measure on the way when it is its time."""
        sensor = self.sensor
        if sensor is not None and sensor.next_cycle <= now:
            sensor.turn(now)
        self.go(now)

    def go(self, until: float) -> None:
        """Bring the plant to an instant; one that has passed changes nothing [s]."""
        elapsed = until - self.time
        if elapsed <= 0.0:
            return
        self.mover.advance(min(elapsed, self._longest_gap))
        self.time = until
        self._on_step()


class Watched:
    """The plant as amplifiers see it that are not connected: they can look, and time passes.

    Attributes:
        strokes (6,): True strokes [m].
        on: Switches nothing.
    """

    def __init__(self, drives: RigidDrives) -> None:
        self._drives = drives
        # The drives write into this array, and never make another one.
        self.strokes: Array = drives.strokes
        self.on = False

    def command(self, strokes: Array, rates: Array, forces: Array) -> None:
        """Command nothing."""

    def advance(self, duration: float) -> None:
        """Let some time pass [s]."""
        self._drives.advance(duration)
