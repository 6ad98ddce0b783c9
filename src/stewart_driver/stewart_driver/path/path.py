# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The path through the setpoints, from rest to its last knot and along the tangent behind it."""

from __future__ import annotations

from collections import deque
from math import inf

import numpy as np
from stewart_driver.control.configuration import InterpolationSettings
from stewart_driver.legs import Array, LegLimits
from stewart_driver.path.common_stop import StartOffset
from stewart_driver.path.motion import LegMotion, NO_MOTION, Refusal, Verdict
from stewart_driver.path.path_clock import PathClock
from stewart_driver.path.segment import Segment, SegmentBuilder

# The start offset fades with this share of the acceleration limit.
FADE_STRENGTH = 0.1
# Segments that wait; at 200 setpoints per second those of 20 s.
CAPACITY = 4096
# So many refused setpoints, each after one that was accepted, are another source.
TURNS = 5
# Contradictions further apart in time have nothing to do with each other [s].
MEMORY = 1.0
# Rounding of strokes on their way here [m].
STROKE_ROUNDING = 1e-6


class Path:
    """Knots that arrive, and the curve through them as time goes on.

    Args:
        limits: Ends of stroke, rate and acceleration that no segment leaves.

    Attributes:
        full: Whether a setpoint was refused because too many wait.
        tangent: Whether the last command is on the tangent behind the last knot.
        waited: How far behind it [s].
        over: Whether the path has ended at rest.
    """

    def __init__(self, limits: LegLimits, settings: InterpolationSettings) -> None:
        self._limits, self._settings = limits, settings
        self._builder = SegmentBuilder(limits, settings.margin)
        self.clock = PathClock(settings.playout_delay, limits)
        self.contradictions = Contradictions(limits.acceleration)
        self._queue: deque[Segment] = deque()
        self._segment: Segment | None = None
        self._offset: StartOffset | None = None
        self._slope = self._bend = NO_MOTION
        self.clear()

    def clear(self) -> None:
        """Play no path."""
        self._queue.clear()
        self.full = self.over = self.tangent = False
        self.waited = 0.0
        self.clock.rest()

    def begin(self, held: LegMotion, setpoint: LegMotion, now: float) -> Refusal | None:
        """Start a path at a setpoint that rests where the legs are held; return why not.

        Args:
            now: Instant of the last command on the steady clock [s].
        """
        settings = self._settings
        distances = np.abs(setpoint.strokes - held.strokes)
        leg = int(distances.argmax())
        if distances[leg] > settings.start_tolerance:
            return Verdict.START_AWAY, (
                f'a path begins {distances[leg]:.6f} m from the held stroke of leg {leg + 1}, '
                f'allowed are {settings.start_tolerance:g} m'
            )
        speeds = np.abs(setpoint.rates)
        leg = int(speeds.argmax())
        if speeds[leg] > settings.start_rate_tolerance:
            return Verdict.START_MOVING, (
                f'a path begins with {speeds[leg]:.6f} m/s in leg {leg + 1}, '
                f'allowed are {settings.start_rate_tolerance:g} m/s'
            )
        # The command of this cycle will be one step after the one before.
        time = now - settings.playout_delay
        lead = setpoint.stamp - time
        if lead <= 0.0:
            return Verdict.LATE, f'a setpoint comes {-lead:.4f} s too late to be played'
        origin = setpoint.strokes - setpoint.rates * (0.5 * lead)
        segment = self._builder.build(LegMotion(time, origin, NO_MOTION, held.forces), setpoint)
        if (refusal := self._builder.refusal_of(segment)) is not None:
            return refusal
        self._segment = segment
        self.clock.start(time)
        self._slope = self._bend = NO_MOTION
        self.contradictions.forget()
        self.contradictions.accepted = True
        away = held.strokes - origin
        strength = FADE_STRENGTH * self._limits.acceleration
        self._offset = StartOffset(away, time, strength) if away.any() else None
        return None

    def append(self, setpoint: LegMotion) -> Refusal | None:
        """Continue from the last knot, or the tangent already followed; return why not."""
        if len(self._queue) >= CAPACITY:
            self.full = True
            return Verdict.TOO_MANY, f'{CAPACITY} setpoints wait already'
        time, last = self.clock.time, self._last
        first, on_tangent = last, time > last.stamp
        if on_tangent:
            late = time - setpoint.stamp
            if late >= 0.0:
                return Verdict.LATE, f'a setpoint comes {late:.4f} s too late to be played'
            strokes = last.strokes + (time - last.stamp) * last.rates
            first = LegMotion(time, strokes, last.rates, last.forces)
        segment = self._builder.build(first, setpoint)
        if (refusal := self._builder.refusal_of(segment)) is not None:
            if refusal[0] is Verdict.JUMP:
                self.contradictions.note(last, setpoint)
            return refusal
        if on_tangent:
            self._segment = segment
        else:
            self._queue.append(segment)
        self.contradictions.accepted = True
        return None

    def compare(self, setpoint: LegMotion) -> None:
        """Look whether a setpoint that comes too late to be played belongs to the path at all."""
        self.contradictions.compare(self._last, setpoint)

    def advance(self, now: float, step: float) -> LegMotion:
        """Play on by a step [s] to the cycle at `now` [s]; see `waited` and `over`, too."""
        speed = self.clock.advance(now, step, self._slope, self._bend)
        time, segment = self.clock.time, self._segment
        assert segment is not None
        while time > segment.end and self._queue:
            segment = self._queue.popleft()
        self._segment = segment
        if time > segment.end:
            strokes, rates, forces = self._behind(time, speed)
        else:
            strokes, rates, forces, self._slope, self._bend = segment.at(time, speed)
            self.tangent = False
        if self._offset is not None and self._offset.over(time):
            self._offset = None
        if self._offset is not None:
            fade, fade_rate = self._offset.at(time)
            strokes, rates = strokes + fade, rates + speed * fade_rate
        return LegMotion(now, strokes, rates, forces)

    @property
    def ends_at_rest(self) -> bool:
        """Whether nothing more needs to come: the last knot is one to rest at."""
        known = self._segment is not None
        return known and bool(np.abs(self._last.rates).max() <= self._settings.rest_rate)

    @property
    def _last(self) -> LegMotion:
        """The last knot."""
        assert self._segment is not None
        return (self._queue[-1] if self._queue else self._segment).last

    def _behind(self, time: float, speed: float) -> tuple[Array, Array, Array]:
        """Return strokes, rates and forces on the tangent behind the last knot, or at rest."""
        last = self._last
        self.waited = time - last.stamp
        self._slope, self._bend = last.rates, NO_MOTION
        if self.ends_at_rest:
            self.over = self._offset is None or self._offset.over(time)
            return last.strokes, NO_MOTION, last.forces
        self.tangent = True
        return last.strokes + self.waited * last.rates, speed * last.rates, last.forces


class Contradictions:
    """Whether two sources send setpoints for the same legs, which then come in turns.

    Those of the first make the path; those of the second would need jumps there and back, and are
    refused. One outlier is no second source, but outliers that keep coming between setpoints that
    fit are.

    Attributes:
        accepted: Whether a setpoint was accepted since the last contradiction; set by who accepts.
        sentence: What contradicts what, once that is sure; else empty.
    """

    def __init__(self, acceleration: float) -> None:
        self._acceleration = acceleration
        self.forget()

    def forget(self) -> None:
        """Begin anew, with a new path."""
        self.accepted, self.sentence = False, ''
        self._turns, self._last = 0, -inf

    def note(self, last: LegMotion, setpoint: LegMotion) -> None:
        """Take note of a setpoint that would be a jump from the end of the path."""
        self._count(setpoint.stamp, self._distances(last, setpoint))

    def compare(self, last: LegMotion, setpoint: LegMotion) -> None:
        """Look whether a setpoint that comes too late to be played belongs to the path at all."""
        distances = self._distances(last, setpoint)
        if (
            distances.max()
            > self._acceleration * (setpoint.stamp - last.stamp) ** 2 + STROKE_ROUNDING
        ):
            self._count(setpoint.stamp, distances)

    @staticmethod
    def _distances(last: LegMotion, setpoint: LegMotion) -> np.ndarray:
        along = (setpoint.stamp - last.stamp) * last.rates
        return np.abs(setpoint.strokes - last.strokes - along)

    def _count(self, stamp: float, distances: np.ndarray) -> None:
        if not self.accepted:
            return
        self._turns = self._turns + 1 if stamp - self._last < MEMORY else 1
        self._last, self.accepted = stamp, False
        if self._turns >= TURNS:
            leg = int(distances.argmax())
            self.sentence = (
                f'setpoints contradict each other in turns, by {1e3 * distances[leg]:.2f} mm in '
                f'leg {leg + 1}: does a second source send to joint_commands?'
            )
