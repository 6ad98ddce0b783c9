# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The one plant and its time: every wire moves both on before it looks."""

from __future__ import annotations

from typing import Protocol

from stewart_driver.clock_bridge import ClockBridge
from stewart_driver.legs import Array
from stewart_simulation.rig.truth import TruthWriter
from stewart_simulation.rigid_drives import RigidDrives
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor

# After a longer pause (a stopped process) the plant has missed the rest [s].
LONGEST_GAP = 0.25


class Mover(Protocol):
    """What lets the plant pass through time: the drives, or amplifiers in front of them."""

    def advance(self, duration: float) -> None:
        """Let some time pass [s]."""


class Mechanics:
    """
    Drives and bodies at one instant of the steady clock.

    Parameters
    ----------
    drives : RigidDrives
        The plant.
    truth : TruthWriter
        Is told after every step.
    bridge : ClockBridge
        To the wall clock.
    now : float
        The first instant [s].

    Attributes
    ----------
    drives : RigidDrives
        The plant.
    mover : Mover
        What advances it; the drives themselves at first.
    sensor : PluggedSensor or None
        Measures at instants of its own, which are kept in order with everybody else's.
    time : float
        Up to where the plant has come [s].

    """

    def __init__(
        self, drives: RigidDrives, truth: TruthWriter, bridge: ClockBridge, now: float
    ) -> None:
        """Begin at rest."""
        self.drives = drives
        self.mover: Mover = drives
        self.sensor: PluggedSensor | None = None
        self.time = now
        self._truth, self._bridge = truth, bridge
        self._tell()

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
        self.mover.advance(min(elapsed, LONGEST_GAP))
        self.time = until
        self._tell()

    def _tell(self) -> None:
        drives = self.drives
        self._truth.write(
            self.time,
            self._bridge.offset,
            drives.state,
            drives.acceleration(),
            drives.strokes,
            drives.rates,
            drives.delivered,
            drives.powered,
        )


class Watched:
    """
    The plant as amplifiers see it that are not connected: they can look, and time passes.

    Parameters
    ----------
    drives : RigidDrives
        The plant.

    Attributes
    ----------
    strokes : ndarray, shape (6,)
        True strokes [m].
    on : bool
        Switches nothing.

    """

    def __init__(self, drives: RigidDrives) -> None:
        """Look at the plant."""
        self._drives = drives
        # The drives write into this array, and never make another one.
        self.strokes: Array = drives.strokes
        self.on = False

    def command(self, strokes: Array, rates: Array, forces: Array) -> None:
        """Command nothing."""

    def advance(self, duration: float) -> None:
        """Let some time pass [s]."""
        self._drives.advance(duration)
