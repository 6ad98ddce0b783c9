# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""From drives that have come on to legs that the cycle commands: slowly, to rest, and settled."""

from __future__ import annotations

from math import ceil

import numpy as np
from stewart_driver.ethercat.drive_group import DriveGroup, FRAMES_TO_ACT
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.leg_motion import MeasuredLegs, StoppingRamp
from stewart_driver.legs import Array, LEGS, STANDSTILL

# A drive whose target is where its leg is slows that leg down by itself. What is left of a sag
# when it begins to follow moves on by its own delays, and some never hold quite still [m/s], [s].
SLOW, LONGEST_SLOWING = 3e-3, 0.2
# Legs that still swing this long after their stopping ramp are the cycle's to judge [s].
LONGEST_SETTLING = 0.1


class HandOver:
    """Drives that have come on follow once it is certain that they act on their targets.

    First to rest, from where their legs are and as fast as these move; those that follow already
    hold meanwhile.

    Attributes:
        done: Whether all drives follow and their legs have settled.
    """

    def __init__(self, kind: DriveType, cycle: float) -> None:
        self._kind, self._cycle = kind, cycle
        self._wait = FRAMES_TO_ACT + ceil(kind.brake_release / cycle)
        self.restart()

    def restart(self) -> None:
        """Begin anew, with drives that have yet to come on."""
        self.done = False
        self._ramp: StoppingRamp | None = None
        self._frames = self._slow_frames = 0

    def targets(self) -> Array | None:
        """Return strokes for the coming frame (6,) [m]; None where no leg is brought to rest.

        By frames: after a gap the legs go on from where their targets were.
        """
        if self._ramp is None:
            return None
        self._frames += 1
        return self._ramp.at((self._frames - 1) * self._cycle)

    def look(self, group: DriveGroup, legs: MeasuredLegs, targets: Array) -> None:
        """Take note of a frame that came back; `targets` (6,) are what holding drives have [m]."""
        if self.done:
            return
        if self._ramp is None:
            if self._ready(group, legs):
                self._ramp = self._stop(group, legs, targets)
                group.follow()
            return
        over = self._frames * self._cycle - self._ramp.duration
        still = bool((np.abs(legs.rates) < STANDSTILL).all())
        settled = over > (FRAMES_TO_ACT * self._cycle if still else LONGEST_SETTLING)
        if group.complete and settled:
            self.restart()
            self.done = True

    def _ready(self, group: DriveGroup, legs: MeasuredLegs) -> bool:
        slow = bool(np.abs(legs.rates).max() < SLOW)
        self._slow_frames = self._slow_frames + 1 if slow else 0
        if group.all_on_for < self._wait or any(map(self._kind.why_not_following, legs.inputs)):
            return False
        slowing_for = (group.all_on_for - self._wait) * self._cycle
        # A leg that turns round is slow for a moment.
        return self._slow_frames > FRAMES_TO_ACT or slowing_for > LONGEST_SLOWING

    def _stop(self, group: DriveGroup, legs: MeasuredLegs, targets: Array) -> StoppingRamp:
        hold = np.array([group.follows(axis) for axis in range(LEGS)])
        fastest = self._kind.limits.rate
        return StoppingRamp(
            np.where(hold, targets, legs.strokes),
            np.where(hold, 0.0, np.clip(legs.rates, -fastest, fastest)),
            self._kind.limits.acceleration,
        )
