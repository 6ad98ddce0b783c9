# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What stops the motion besides the operator: limits, each crossing told with its numbers."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray
from stewart_driver.backend import Measurement
from stewart_driver.control.configuration import SupervisionSettings
from stewart_driver.legs import Array, LegLimits, LEGS
from stewart_driver.path.leg_kernels import farthest, possible
from stewart_driver.path.motion import LegMotion

# What speeds up legs that nothing holds, as far as nothing pulls at them [m/s²].
GRAVITY = 9.81
# Below this a measured change is never a jump, however short the cycle was.
JUMP_FLOOR = 1e-4
# The share of missed cycles is taken over so long [s].
WINDOW = 1.0
# Clocks of drives shift the grid by less than this, as a share of the window.
SLACK = 0.02
# A longer pause between two looks is the observer's own delay [s].
LONGEST_DELAY = 0.1


class Supervisor:
    """Compare what the drives report with what they may do.

    Every check returns None, or one sentence with the leg, the value and its limit.

    Args:
        limits: What is allowed here.
        fastest: Rate that legs may have which the drives do not move [m/s]; at least that of the
            limits.

    Attributes:
        largest_error: Largest distance of any leg from its command so far [m].
        lies: Whether the newest measurement is none that a leg can have made.
    """

    def __init__(
        self, limits: LegLimits, settings: SupervisionSettings, fastest: float = 0.0
    ) -> None:
        self._limits, self._settings = limits, settings
        self._fastest = max(fastest, limits.rate)
        self.largest_error = 0.0
        self.widen(None)
        self.forget()

    def forget(self) -> None:
        """Forget the previous measurement, after which none is a jump."""
        self._previous: Array = np.full(LEGS, np.nan)
        self._stamp, self.lies = 0.0, False
        # Rate of the fastest leg without power, now or a moment ago [m/s].
        self._falling = 0.0

    def widen(self, strokes: Array | None) -> None:
        """Let legs be outside their strokes as far as they are, shape (6,) [m]; None ends it."""
        limits, margin = self._limits, self._settings.stroke_margin
        lower, upper = limits.stroke_lower, limits.stroke_upper
        if strokes is not None:
            lower, upper = np.minimum(lower, strokes), np.maximum(upper, strokes)
        self._ends = np.array((lower - margin, upper + margin))

    def silence(self, since: float, now: float) -> str | None:
        """Check that commands keep coming while the legs move.

        Args:
            since: Instant of the last accepted command on the steady clock [s].
        """
        silent, allowed = now - since, self._settings.command_timeout
        if silent <= allowed:
            return None
        return f'no command for {silent:.3f} s while moving, allowed are {allowed:g} s'

    def measurement(self, measured: Measurement, *, powered: bool = True) -> str | None:
        """Check that a measurement can be true, and remember it.

        Args:
            powered: Whether the drives shall hold or move the legs; without power these may rest
                on their mechanical ends, beyond their strokes, and sink as fast as drives can, or
                as a fall makes them.
        """
        self.lies, trouble = False, None
        elapsed, margin = measured.stamp - self._stamp, self._settings.measured_rate_margin
        moved, rate = 0.0, self._limits.rate
        if not powered:
            moved = farthest(measured.strokes, self._previous)
            rate = max(self._fastest, self._falling + GRAVITY * elapsed)
        allowed = margin * rate * elapsed + JUMP_FLOOR
        if possible(measured.strokes, measured.rates, self._ends, allowed, self._previous):
            self._stamp = measured.stamp
        else:
            trouble = self._impossible(measured, allowed, powered=powered)
        if elapsed > 0.0 and not self.lies:
            # A reading that comes twice is no rest in a fall.
            self._falling = max(moved / elapsed, self._falling - margin * GRAVITY * elapsed)
        return trouble

    def outside(self, strokes: Array) -> str | None:
        """Return which leg is outside its range, and how far; None if none is."""
        for leg, (value, lower, upper) in enumerate(zip(strokes, *self._ends, strict=True)):
            if not lower <= value <= upper:
                limits = self._limits
                return (
                    f'the measured stroke of leg {leg + 1} is {value:.5f} m, its range is '
                    f'{limits.stroke_lower[leg]:g} to {limits.stroke_upper[leg]:g} m'
                )
        return None

    def following(self, command: LegMotion, measured: Array) -> str | None:
        """Check that the legs are where they shall be.

        A drive lags in proportion to its rate, and so does a leg whose cycle came late; a leg that
        has lost its force is found the sooner, the less is allowed to one that hardly moves.
        """
        largest, standing = farthest(command.strokes, measured), self._settings.following_error
        self.largest_error = max(self.largest_error, largest)
        if largest <= standing:
            return None
        errors = np.abs(command.strokes - measured)
        allowed = standing + self._settings.following_lag * np.abs(command.rates)
        leg = int((errors - allowed).argmax())
        if errors[leg] <= allowed[leg]:
            return None
        return (
            f'leg {leg + 1} is {1e3 * errors[leg]:.2f} mm from its command, '
            f'allowed are {1e3 * allowed[leg]:.3g} mm'
        )

    def overruns(self, missed: float) -> str | None:
        """Check the share of the last second's cycles that were missed while a path is played."""
        allowed = self._settings.overrun_share
        if missed <= allowed:
            return None
        return (
            f'{1e2 * missed:.1f} % of the cycles of the last second were missed while moving, '
            f'allowed are {1e2 * allowed:g} %'
        )

    def tracking(self, position: float, rotation: float) -> str | None:
        """Check the Cartesian tracking error, of the platform's origin [m] and attitude [rad]."""
        settings = self._settings
        if not position <= settings.tracking_position:
            return (
                f'the platform is {1e3 * position:.2f} mm from its setpoint, '
                f'allowed are {1e3 * settings.tracking_position:g} mm'
            )
        if not rotation <= settings.tracking_rotation:
            return (
                f'the platform is turned {np.degrees(rotation):.3f} deg from its setpoint, '
                f'allowed are {np.degrees(settings.tracking_rotation):.3g} deg'
            )
        return None

    def _impossible(self, measured: Measurement, allowed: float, *, powered: bool) -> str | None:
        """Return what is wrong with a measurement that is not in order at the first look."""
        for name, values in (('stroke', measured.strokes), ('rate', measured.rates)):
            if not np.isfinite(values).all():
                leg = int(np.flatnonzero(~np.isfinite(values))[0])
                self.lies = True
                return f'the measured {name} of leg {leg + 1} is {values[leg]}'
        elapsed, self._stamp = measured.stamp - self._stamp, measured.stamp
        changes = np.abs(measured.strokes - self._previous)
        self._previous[:] = measured.strokes
        leg = int(changes.argmax())
        self.lies = bool(changes[leg] > allowed)
        if powered and (trouble := self.outside(measured.strokes)) is not None:
            return trouble
        if not self.lies:
            return None
        return (
            f'the measured stroke of leg {leg + 1} jumped by {1e3 * changes[leg]:.3f} mm in '
            f'{1e3 * elapsed:.2f} ms, possible are {1e3 * allowed:.3f} mm'
        )


class OverrunRate:
    """Share of the last second's cycles that were missed because the one before took too long.

    Half of them are missed when a cycle takes two periods [s] on average.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self._missed: deque[tuple[float, float]] = deque()
        self._since: float | None = None
        self._last: float

    def forget(self) -> None:
        """Begin anew with the next cycle."""
        if self._since is not None:
            self._missed.clear()
            self._since = None

    def missed(self, now: float) -> float:
        """Take note of a cycle [s]; return the share, 0 before the first second is over [-]."""
        if self._since is None:
            self._since = self._last = now
        periods, self._last = (now - self._last) / self._period, now
        if periods > 1.0 + SLACK:
            self._missed.append((now, periods - 1.0))
        if not self._missed:
            return 0.0
        while self._missed and self._missed[0][0] <= now - WINDOW:
            self._missed.popleft()
        if now - self._since < WINDOW * (1.0 + SLACK):
            return 0.0
        return sum(share for _, share in self._missed) * self._period / WINDOW


class StallDetector:
    """How long a counter has stood still, as far as that was seen."""

    def __init__(self) -> None:
        self._count: int | None = None
        self._looked_at = self._stood = 0.0

    def look(self, count: int, now: float) -> float:
        """Return for how long the counter has said `count` at `now` [s], as far as was seen."""
        passed, self._looked_at = now - self._looked_at, now
        self._stood = self._stood + min(passed, LONGEST_DELAY) if count == self._count else 0.0
        self._count = count
        return self._stood


class StuckDetector:
    """A reading that stays within its noise while the command moves on is stuck.

    Args:
        band: How far a reading may move and still count as constant: more than its noise [m].
        travel: How far the command must have moved meanwhile: more than a leg may lag [m].
        cycles: For how many cycles at least, counted while the command is away from where it was.
    """

    def __init__(self, band: float, travel: float, cycles: int) -> None:
        self._band, self._travel, self._cycles = band, travel, cycles
        self.forget()

    def forget(self) -> None:
        """Begin anew, with the next reading."""
        # Of each leg: the reading that it has not left, the command then, and cycles since.
        self._legs: list[tuple[float, float, int]] = []

    def look(self, measured: Array, commanded: Array) -> NDArray[np.bool_]:
        """Take measured and commanded strokes, (6,) [m]; tell for each leg if it is stuck."""
        # Six times a few numbers: numpy takes three times as long.
        pairs, before = zip(measured.tolist(), commanded.tolist(), strict=True), self._legs
        if not before:
            self._legs = [(read, told, 0) for read, told in pairs]
            return np.zeros(LEGS, dtype=np.bool_)
        stuck = np.zeros(LEGS, dtype=np.bool_)
        self._legs = legs = []
        for leg, ((read, told), (last, begun, since)) in enumerate(
            zip(pairs, before, strict=True)
        ):
            moved = abs(read - last) > self._band
            anchor, start = (read, told) if moved else (last, begun)
            gone = abs(told - start)
            # Cycles at rest do not count.
            count = since + 1 if gone > self._band else 0
            stuck[leg] = gone > self._travel and count >= self._cycles
            legs.append((anchor, start, count))
        return stuck
