# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A ride that comes in sample by sample: one row of a method per elapsed period."""

from __future__ import annotations

import numpy as np
from stewart_cueing.governor import Follower, ROUNDING
from stewart_cueing.vehicle.inputs import DENSE, require_of_a_vehicle
from stewart_cueing.vehicle.methods import cueing
from stewart_cueing.vehicle.washout import LEVEL, WashoutSettings
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Array

LONGEST_LINE = 0.02
"""A sample is reached along a straight line, from the one before, in this time at most [s]."""

RETURN = 0.5
"""Time in which the input goes to rest when samples stay away [s]."""


class LiveInput:
    """The newest sample of a vehicle, without steps; rest after silence.

    A sample is reached one interval of samples after it came, along a straight line: samples at
    50 Hz or faster are interpolated as `VehicleRide.at_rate` does it, one interval later. Of those
    that come faster than `DENSE` in the shortest interval, the mean over that is taken.

    Args:
        period: The shortest interval [s].
        silence: Without a sample for so long, the input goes to rest [s].
    """

    def __init__(self, period: float, silence: float) -> None:
        self._shortest, self._silence = period, silence
        self._from, self._to = LEVEL, LEVEL
        self._begin, self._span, self._heard = 0.0, period, -np.inf
        self._waiting: list[Array] = []

    def put(self, sample: Array, now: float) -> None:
        """Take a sample (6,) that came at an instant [s].

        Raises:
            VehicleInputError: If it is not six finite numbers as a person stands them; it is as if
                it had not come.
        """
        values = np.array(sample, dtype=float)
        require_of_a_vehicle(values)
        start = self.value(now)
        # The first sample after silence is reached as softly as the first one of all.
        since = np.inf if self.silent() else now - self._heard
        self._heard = now
        self._waiting.append(values)
        if since * DENSE < self._shortest and now - self._begin < self._shortest - ROUNDING:
            return
        self._go(start, np.mean(self._waiting, axis=0), now)
        self._waiting.clear()
        self._span = min(max(since, self._shortest), LONGEST_LINE)

    def value(self, now: float) -> Array:
        """Return the input (6,) at an instant [s], which must not go back."""
        if now - self._heard > self._silence:
            end = self._heard + self._silence
            self._go(self._at(end), LEVEL, end)
            self._span, self._heard = RETURN, np.inf
            self._waiting.clear()
        return self._at(now)

    def silent(self) -> bool:
        """Tell whether nothing is heard."""
        return not np.isfinite(self._heard)

    def _go(self, start: Array, end: Array, begin: float) -> None:
        self._from, self._to, self._begin = start, end, begin

    def _at(self, now: float) -> Array:
        part = min(max((now - self._begin) / self._span, 0.0), 1.0)
        return np.asarray(self._from + part * (self._to - self._from))


class LiveRide(Follower):
    """Follow a vehicle from a rest at the neutral pose.

    Args:
        period: Between its rows [s].
        silence: See `LiveInput`.
        method: One of `METHODS`.

    Attributes:
        input: Where samples are put.
    """

    def __init__(
        self,
        guard: MotionGuard,
        settings: WashoutSettings,
        period: float,
        silence: float,
        method: str = 'washout',
    ) -> None:
        self.input = LiveInput(period, silence)
        self._cueing = cueing(method, guard, settings, period)
        super().__init__(self._cueing.governor, period)

    def step(self, moment: float) -> None:
        """Go on with the newest sample."""
        self._cueing.advance(moment, self.input.value(moment))
