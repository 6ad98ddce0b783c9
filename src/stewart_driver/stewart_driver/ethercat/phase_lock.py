# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Keep the frames at the same place in the drives' cycle, although the clocks run apart."""

from __future__ import annotations

NANOSECONDS = 1e9
# A clock of 32 bits has so many values.
SPAN = 1 << 32
GAIN = 0.02
INTEGRAL_GAIN = 0.25 * GAIN**2
# A wake-up that comes late says little about the clocks.
LARGEST_SHIFT = 0.01
# This share of a cycle away from where it shall be, a frame is far from SYNC0.
NEAR = 0.2


class SystemTime:
    """What distributed clocks show, also where they have 32 bits and begin anew every 4.3 s.

    A cycle is no part of that span: of 2 ms, frames would be pulled by half a cycle each time.
    """

    def __init__(self) -> None:
        self._time = self._shown = 0
        self._shown_at: float | None = None

    def take(self, shown: int, now: float) -> int:
        """Return the time behind what is shown [ns] at an instant of the steady clock [s]."""
        if shown >= SPAN:
            return shown
        if self._shown_at is None:
            self._time = shown
        elif shown == self._shown:
            # It stands, or no frame has asked it.
            return self._time
        else:
            passed = (shown - self._shown) % SPAN
            spans = round((NANOSECONDS * (now - self._shown_at) - passed) / SPAN)
            self._time += passed + spans * SPAN
        self._shown, self._shown_at = shown, now
        return self._time


class PhaseLock:
    """A slow control loop from the time of the distributed clocks to the grid of the cycle.

    SYNC0 fires in the middle of the cycle; the frames shall pass where it begins. Without this
    loop a drift of 20 ppm lets a frame pass on the wrong side of SYNC0 once in 50 s at 1 ms, and
    the drive then takes no new target or skips one.

    Attributes:
        error: How late the last frame was, between minus and plus half a cycle [s].
        shift: How much later the next cycle shall begin than a period after this one [s].
        near_for: How many frames in a row came about where they shall.
    """

    def __init__(self, cycle_time: float) -> None:
        self._cycle = round(1e9 * cycle_time)
        self._integral, self._clock = 0.0, -1
        self.error = self.shift = 0.0
        self.near_for = 0
        self._usual = 0.0

    def update(self, clock: int) -> None:
        """Take the time of the reference clock at the last frame [ns].

        Where it stands, its drive is lost: the others run on as they did, and so does the cycle.
        """
        stands, self._clock = clock == self._clock, clock
        phase = clock % self._cycle
        late = phase - self._cycle if 2 * phase > self._cycle else phase
        self.error = 1e-9 * late
        self.near_for = self.near_for + 1 if abs(late) < NEAR * self._cycle else 0
        if stands:
            self.shift = self._integral
            return
        most = LARGEST_SHIFT * 1e-9 * self._cycle
        self._integral = _within(self._integral - INTEGRAL_GAIN * self.error, most)
        self.shift = _within(self._integral - GAIN * self.error, most)

    def misses(self, spent: float, latest: float) -> bool:
        """Tell whether a frame comes too late for its SYNC0.

        Args:
            spent: It leaves so long after its grid point [s].
            latest: SYNC0 is this much after the usual frame [s].
        """
        later = spent - self._usual
        self._usual += GAIN * min(max(later, -latest), latest)
        return later > latest

    def align(self) -> None:
        """Let the next cycle begin where it shall, for once in one step, however far that is."""
        self.shift = -self.error


def _within(value: float, most: float) -> float:
    return min(max(value, -most), most)
