# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The end of a bus: its drives ramp down, the voltage goes, and legs without brakes sink."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from stewart_driver.ethercat.cia402.states import State
from stewart_driver.ethercat.drive_group import DriveGroup
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.leg_motion import MeasuredLegs
from stewart_driver.ethercat.wires import Wire
from stewart_driver.legs import STANDSTILL

OFF_TIMEOUT = 0.2
# A ramp of a drive takes longer than speed over deceleration by this factor at most.
RAMP_MARGIN = 1.5
# Its own deceleration is not known here: while it gets slower by this factor, it is waited for.
SLOWER, LONGEST_RAMP = 0.8, 10.0
# So long is waited for legs that sink, so that the place is saved where they will be found: 0.6 m
# at 50 mm/s take 12 s.
LONGEST_SINKING = 15.0


def longest_ramp(kind: DriveType, speed: float) -> float:
    """Return the time in which drives come from a speed [m/s] to rest, and are off [s]."""
    return RAMP_MARGIN * speed / kind.limits.acceleration + kind.brake_apply + OFF_TIMEOUT


class Ending:
    """What is done with drives before their bus is closed.

    Args:
        pace: Yields once per cycle until an instant [s].
        frame: Exchanges one at an instant [s]; tells whether it came back.
        live: Tells which motors are under voltage.
    """

    def __init__(
        self,
        wire: Wire,
        group: DriveGroup,
        legs: MeasuredLegs,
        kind: DriveType,
        pace: Callable[[float], Iterable[int]],
        frame: Callable[[float], bool],
        live: Callable[[], list[bool]],
    ) -> None:
        self._wire, self._group, self._legs, self._kind = wire, group, legs, kind
        self._pace, self._frame, self._live = pace, frame, live

    def run(self) -> None:
        """Stop what is live, take the voltage, and wait until the legs lie still."""
        if any(self._live()):
            self._group.quick_stop()
            self._until_off()
        self._group.disable()
        self._until_off()
        self._until_still()

    @property
    def _speed(self) -> float:
        """Of the fastest leg whose motor is under voltage [m/s]."""
        return float(np.abs(self._legs.rates[self._live()]).max(initial=STANDSTILL))

    def _until_off(self) -> None:
        """Send frames until no motor is under power; wait as long as legs still slow down."""
        slower = self._speed
        ramp = longest_ramp(self._kind, slower)
        limit = self._wire.now() + ramp
        for _ in self._pace(limit + LONGEST_RAMP):
            now = self._wire.now()
            if self._frame(now):
                for axis in np.flatnonzero(np.abs(self._legs.rates) < STANDSTILL):
                    if self._group.states[axis] is State.QUICK_STOP_ACTIVE:
                        self._group.rest(int(axis))
                if self._group.off:
                    break
            if self._speed < SLOWER * slower:
                slower, limit = self._speed, now + ramp
            if now > limit:
                break

    def _until_still(self) -> None:
        """Send frames until legs without brakes have sunk to where they will be found."""
        moved = self._wire.now()
        for _ in self._pace(moved + LONGEST_SINKING):
            now = self._wire.now()
            if self._frame(now) and np.abs(self._legs.rates).max() >= STANDSTILL:
                moved = now
            # Also where no frame comes back and the positions stay unknown.
            if now - moved > OFF_TIMEOUT:
                break
