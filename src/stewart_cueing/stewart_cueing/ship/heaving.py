# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The period with which a base heaves, from the size of its specific force alone.

The observer's filter, made for a peak period eight times too long, finds heaves twenty times too
large, and a period of its own in them.
"""

from __future__ import annotations

from math import exp, pi, sqrt

MEMORY = 2.0
"""Peak periods over which the mean is learnt, before which nothing counts [-]."""


class Heaving:
    """Speed beside acceleration of what is measured.

    Speed is a leaky integral over one peak period, behind a lag that is so short that noise alone
    has the expected period: a calm base contradicts nothing.

    Args:
        peak_period: Of the sea, as it is expected [s].
        period: In which the measurement is taken [s].
        memory: Time over which squares are averaged [s].
    """

    def __init__(self, peak_period: float, period: float, memory: float) -> None:
        # Of coarse periods, too, the integral decays.
        self._period, self._leak = period, 1.0 - exp(-period / peak_period)
        self._lag = 1.0 - exp(-4.0 * pi**2 * self._leak)
        self._slowly, self._part = self._leak / MEMORY, period / memory
        self._count, self._mean = 0, 0.0
        self._pull = self._speed = 0.0
        self._pulls = self._speeds = 0.0

    def update(self, pull: float, periods: int) -> None:
        """Take the size of a specific force [m/s²] of so many periods; its mean does not count."""
        for _ in range(periods):
            self._take(pull)

    def _take(self, pull: float) -> None:
        self._count += 1
        self._mean += max(self._slowly, 1.0 / self._count) * (pull - self._mean)
        self._pull += self._lag * (pull - self._mean - self._pull)
        self._speed += self._period * self._pull - self._leak * self._speed
        if self._count * self._leak < MEMORY:
            return
        self._pulls += self._part * (self._pull**2 - self._pulls)
        self._speeds += self._part * (self._speed**2 - self._speeds)

    @property
    def moved_in(self) -> float:
        """The period of late [s]; 0 before anything has moved."""
        return 2.0 * pi * sqrt(self._speeds / self._pulls) if self._pulls else 0.0
