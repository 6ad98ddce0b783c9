# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Ways from what a vehicle does to setpoints, by name; each goes on sample after sample."""

from __future__ import annotations

from typing import Protocol

from stewart_cueing.governor import Governor
from stewart_cueing.vehicle.optimal import OptimalCueing
from stewart_cueing.vehicle.washout import Washout, WashoutSettings
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Array, Motion

METHODS = ('washout', 'optimal')


class Cueing(Protocol):
    """From a rest at the neutral pose; `governor` judges and says what limits the motion."""

    governor: Governor

    def advance(self, now: float, sample: Array) -> Motion:
        """Go on from `now` [s] with specific force and rate (6,); return the motion at `now`."""


class WashoutCueing:
    """The classical washout, followed by a governor."""

    def __init__(self, guard: MotionGuard, settings: WashoutSettings, period: float) -> None:
        centre = guard.platform.geometry.neutral_pose
        self.governor = Governor(guard, centre, period=period)
        self._washout = Washout(settings, centre, period)

    def advance(self, now: float, sample: Array) -> Motion:
        """Go on with a sample, as `Cueing` says."""
        return self.governor.advance(now, self._washout.run(sample[None])[0])


def cueing(method: str, guard: MotionGuard, settings: WashoutSettings, period: float) -> Cueing:
    """Return one of `METHODS` with rows `period` apart [s]."""
    made = {'washout': WashoutCueing, 'optimal': OptimalCueing}[method]
    return made(guard, settings, period)
