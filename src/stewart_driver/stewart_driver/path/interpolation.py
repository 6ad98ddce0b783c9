# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
Setpoints that arrive with jitter become a smooth command in every cycle.

The setpoints are the knots of a path, cubic between them, played a fixed delay after their
stamps. A path begins at rest where the legs are held. When setpoints stay away the last tangent
is followed for a moment, then all six legs come to rest together; only a new path that begins
there is taken.

"""

from __future__ import annotations

from collections import Counter, deque
from enum import auto, Enum

import numpy as np
from stewart_driver.control.configuration import InterpolationSettings
from stewart_driver.legs import Array, LegLimits, LEGS, read_only
from stewart_driver.path.command import Command
from stewart_driver.path.common_stop import CommonStop
from stewart_driver.path.cubic_segment import CubicSegment
from stewart_driver.path.playout import LONGEST_STEP, Playout
from stewart_driver.path.segment_check import ROUNDING, SegmentCheck
from stewart_driver.path.setpoint import Setpoint, Verdict
from stewart_driver.path.start_offset import StartOffset

# The start offset fades with this share of the acceleration limit.
FADE_STRENGTH = 0.1
CAPACITY = 1024
GONE = read_only(np.zeros(LEGS))


class Phase(Enum):
    """What the interpolator is doing."""

    HOLDING = auto()
    PLAYING = auto()
    STOPPING = auto()


class Interpolator:
    """
    Path of the six legs, played cycle by cycle.

    Every method takes the instant `now` on the steady clock [s]; none reads a clock.

    Parameters
    ----------
    limits : LegLimits
        Ends of stroke, rate and acceleration that no command leaves.
    settings : InterpolationSettings
        Delay, tolerances and stopping.
    cycle_time : float
        Nominal time between two calls of `command` [s].

    Attributes
    ----------
    counts : Counter of Verdict
        Accepted and refused setpoints.
    last_refusal : str
        Why the last refused setpoint was refused, with numbers.

    """

    def __init__(
        self, limits: LegLimits, settings: InterpolationSettings, cycle_time: float
    ) -> None:
        """Hold nowhere until `hold` is called."""
        self._limits, self._settings = limits, settings
        self._check = SegmentCheck(limits, settings.margin)
        self._longest_step = LONGEST_STEP * cycle_time
        self.counts: Counter[Verdict] = Counter()
        self.last_refusal = ''
        self._now: float | None = None
        zero = np.zeros(LEGS)
        self._command = Command(zero, zero, zero, moving=False)
        self._last_stamp = -np.inf
        self._phase = Phase.HOLDING
        self._following = False
        self._held = zero
        self._inward: StartOffset | None = None
        self._inward_for = 0.0
        self._playout = Playout(settings.playout_delay)
        self._segment: CubicSegment | None = None
        self._knots: deque[Setpoint] = deque()
        self._offset: StartOffset | None = None
        self._forces = self._end_forces = zero
        self._stop: CommonStop | None = None
        self._stopped_for = 0.0

    @property
    def at_rest(self) -> bool:
        """Whether the legs are held and no path is played."""
        return self._phase is Phase.HOLDING

    @property
    def slipped(self) -> float:
        """How far the path is behind its schedule because cycles came late [s]."""
        return self._playout.slipped

    @property
    def shortened_for(self) -> int | None:
        """Leg whose stroke end made the last stop harder than asked."""
        return None if self._stop is None else self._stop.shortened_for

    def hold(self, strokes: Array) -> None:
        """
        Hold the legs where they are; from now on paths that begin there are taken.

        A leg that stands beyond an end of its stroke is brought to that end, smoothly, first.

        Parameters
        ----------
        strokes : ndarray, shape (6,)
            Where the legs are [m].

        """
        limits = self._limits
        self._rest(np.clip(strokes, limits.stroke_lower, limits.stroke_upper))
        beyond = strokes - self._held
        self._inward, self._inward_for = self._fading(beyond, 0.0) if beyond.any() else None, 0.0
        self._command = Command(strokes.copy(), np.zeros(LEGS), np.zeros(LEGS), moving=False)
        # Whatever was stamped before counts no more, even if the clock was set back since.
        self._last_stamp = -np.inf
        self._following = True

    def release(self) -> None:
        """Take no setpoints any more."""
        self._rest(self._command.strokes)
        self._command = Command(self._held, np.zeros(LEGS), np.zeros(LEGS), moving=False)
        self._following = False

    def refuse(self, verdict: Verdict, why: str) -> Verdict:
        """Count a refusal and keep its reason."""
        self.counts[verdict] += 1
        self.last_refusal = why
        return verdict

    def offer(self, setpoint: Setpoint, now: float) -> Verdict:
        """
        Take a setpoint into the path, or refuse it.

        Parameters
        ----------
        setpoint : Setpoint
            The next knot.
        now : float
            Instant of the call on the steady clock [s].

        Returns
        -------
        Verdict
            ACCEPTED, or why not; `last_refusal` has the numbers.

        """
        if not setpoint.finite:
            return self.refuse(Verdict.NOT_FINITE, 'a setpoint holds a number that is not finite')
        if not self._following or self._phase is Phase.STOPPING:
            return self.refuse(Verdict.NOT_FOLLOWING, 'the legs do not follow setpoints now')
        early = setpoint.stamp - now
        if early > self._settings.look_ahead:
            return self.refuse(Verdict.EARLY, f'a setpoint is stamped {early:.3f} s in the future')
        if setpoint.stamp <= self._last_stamp:
            order = self._last_stamp - setpoint.stamp
            if order == 0.0:
                return self.refuse(Verdict.DUPLICATE, 'a setpoint has the stamp of the one before')
            return self.refuse(
                Verdict.OUT_OF_ORDER, f'a setpoint is {order:.4f} s older than the last'
            )
        if self._phase is Phase.HOLDING:
            return self._begin(setpoint, now)
        if len(self._knots) >= CAPACITY:
            return self.refuse(Verdict.TOO_MANY, f'{CAPACITY} setpoints wait already')
        return self._append(setpoint)

    def stop(self, strength: float) -> None:
        """
        Begin to bring all legs to rest together, from the last command on.

        Parameters
        ----------
        strength : float
            Deceleration as a share of the acceleration limit, 0 to 1 [-]. A stop that is under way
            goes on along its path and becomes harder, never milder.

        """
        command = self._command
        plan = self._plan(command, strength)
        if self._phase is Phase.STOPPING:
            assert self._stop is not None
            if plan.duration >= self._stop.duration - self._stopped_for:
                return
        self._knots.clear()
        self._stop, self._stopped_for = plan, 0.0
        self._phase = Phase.STOPPING

    def command(self, now: float) -> Command:
        """
        Return what the legs shall do in the cycle at `now`.

        Parameters
        ----------
        now : float
            Instant of the cycle on the steady clock [s].

        Returns
        -------
        Command
            Continuous in stroke and rate with the one before.

        """
        elapsed = 0.0 if self._now is None else max(now - self._now, 0.0)
        self._now = now
        step = min(elapsed, self._longest_step)
        if self._phase is Phase.PLAYING:
            command = self._play(now, step)
        elif self._phase is Phase.STOPPING:
            command = self._decelerate(step)
        else:
            command = self._hold(step)
        self._command = self._limit_step(command, step)
        return self._command

    def _rest(self, strokes: Array) -> None:
        self._phase = Phase.HOLDING
        self._held, self._inward = strokes, None
        self._knots.clear()
        self._playout.rest()

    def _hold(self, step: float) -> Command:
        """Stay, or go on to where the stroke begins."""
        if self._inward is None:
            return Command(self._held, np.zeros(LEGS), self._command.forces, moving=False)
        self._inward_for += step
        beyond, rates = self._inward.at(self._inward_for)
        if self._inward.over(self._inward_for):
            self._inward = None
        return Command(self._held + beyond, rates, self._command.forces, moving=False)

    def _fading(self, offset: Array, since: float) -> StartOffset:
        return StartOffset(offset, since, FADE_STRENGTH * self._limits.acceleration)

    def _begin(self, setpoint: Setpoint, now: float) -> Verdict:
        """Start a path at a setpoint that rests where the legs are held."""
        settings = self._settings
        if self._inward is not None:
            return self.refuse(Verdict.START_AWAY, 'a leg is still on its way into its stroke')
        away = np.abs(setpoint.strokes - self._held)
        leg = int(away.argmax())
        if away[leg] > settings.start_tolerance:
            return self.refuse(
                Verdict.START_AWAY,
                f'a path begins {away[leg]:.6f} m from the held stroke of leg {leg + 1}, '
                f'allowed are {settings.start_tolerance:g} m',
            )
        speeds = np.abs(setpoint.rates)
        leg = int(speeds.argmax())
        if speeds[leg] > settings.start_rate_tolerance:
            return self.refuse(
                Verdict.START_MOVING,
                f'a path begins with {speeds[leg]:.6f} m/s in leg {leg + 1}, '
                f'allowed are {settings.start_rate_tolerance:g} m/s',
            )
        # The command of this cycle will be one step after the one before.
        playout = (now if self._now is None else self._now) - settings.playout_delay
        lead = setpoint.stamp - playout
        if lead <= 0.0:
            return self.refuse(
                Verdict.LATE, f'a setpoint comes {-lead:.4f} s too late to be played'
            )
        origin = setpoint.strokes - setpoint.rates * (0.5 * lead)
        segment = CubicSegment(
            playout, origin, np.zeros(LEGS), setpoint.stamp, setpoint.strokes, setpoint.rates
        )
        if (refusal := self._check.refusal_of(segment)) is not None:
            return self.refuse(*refusal)
        self._segment = segment
        self._playout.start(playout)
        self._forces, self._end_forces = self._command.forces, setpoint.forces
        self._offset = self._fading(self._held - origin, playout)
        self._phase = Phase.PLAYING
        return self._accept(setpoint)

    def _append(self, setpoint: Setpoint) -> Verdict:
        """Continue the path: from its last knot, or from the tangent already followed."""
        assert self._segment is not None
        segment = self._segment
        if self._knots:
            last = self._knots[-1]
            candidate = CubicSegment(
                last.stamp, last.strokes, last.rates,
                setpoint.stamp, setpoint.strokes, setpoint.rates,
            )  # fmt: skip
        elif self._playout.time <= segment.end:
            candidate = CubicSegment(
                segment.end, segment.strokes_end, segment.rates_end,
                setpoint.stamp, setpoint.strokes, setpoint.rates,
            )  # fmt: skip
        else:
            late = self._playout.time - setpoint.stamp
            if late >= 0.0:
                return self.refuse(
                    Verdict.LATE, f'a setpoint comes {late:.4f} s too late to be played'
                )
            candidate = CubicSegment(
                self._playout.time, *self._tangent(segment),
                setpoint.stamp, setpoint.strokes, setpoint.rates,
            )  # fmt: skip
        if (refusal := self._check.refusal_of(candidate)) is not None:
            return self.refuse(*refusal)
        if not self._knots and self._playout.time > segment.end:
            self._segment = candidate
            self._forces, self._end_forces = self._end_forces, setpoint.forces
        else:
            self._knots.append(setpoint)
        return self._accept(setpoint)

    def _accept(self, setpoint: Setpoint) -> Verdict:
        self._last_stamp = setpoint.stamp
        self.counts[Verdict.ACCEPTED] += 1
        return Verdict.ACCEPTED

    def _play(self, now: float, step: float) -> Command:
        """Advance the path by a step and evaluate it."""
        speed = self._playout.advance(now, step)
        segment, time = self._current_segment(), self._playout.time
        fade, fade_rate = self._faded(time)
        if time <= segment.end:
            share = (time - segment.start) / (segment.end - segment.start)
            strokes, rates = segment.at(time)
            forces = self._forces + share * (self._end_forces - self._forces)
            return self._moving(strokes + fade, speed * (rates + fade_rate), forces)
        strokes, rates = self._tangent(segment)
        tangent = self._moving(strokes + fade, speed * (rates + fade_rate), self._end_forces)
        if np.abs(rates).max() <= self._settings.rest_rate:
            if self._offset is not None:
                return self._moving(
                    segment.strokes_end + fade, speed * fade_rate, self._end_forces
                )
            self._rest(segment.strokes_end)
            return Command(self._held, np.zeros(LEGS), tangent.forces, moving=False)
        waited = self._playout.time - segment.end
        plan = self._plan(tangent, self._settings.stop_strength)
        if waited <= self._settings.extrapolation_time and plan.shortened_for is None:
            return tangent
        self.stop(self._settings.stop_strength)
        stopping = self._decelerate(step)
        return Command(
            stopping.strokes, stopping.rates, stopping.forces, stopping.moving, starved=True
        )

    def _faded(self, time: float) -> tuple[Array, Array]:
        """Return what is left of the offset with which the path began, and its rate."""
        if self._offset is None or self._offset.over(time):
            self._offset = None
            return GONE, GONE
        return self._offset.at(time)

    def _decelerate(self, step: float) -> Command:
        assert self._stop is not None
        self._stopped_for += step
        strokes, rates = self._stop.at(self._stopped_for)
        forces = self._command.forces
        if self._stopped_for >= self._stop.duration:
            self._rest(strokes)
            return Command(strokes, rates, forces, moving=False)
        return Command(strokes, rates, forces, moving=True)

    def _current_segment(self) -> CubicSegment:
        """Return the segment under the playout, taking knots as they are passed."""
        segment = self._segment
        assert segment is not None
        while self._playout.time > segment.end and self._knots:
            knot = self._knots.popleft()
            segment = CubicSegment(
                segment.end, segment.strokes_end, segment.rates_end,
                knot.stamp, knot.strokes, knot.rates,
            )  # fmt: skip
            self._forces, self._end_forces = self._end_forces, knot.forces
        self._segment = segment
        return segment

    def _tangent(self, segment: CubicSegment) -> tuple[Array, Array]:
        """Return strokes and rates on the tangent behind the last knot."""
        beyond = self._playout.time - segment.end
        return segment.strokes_end + beyond * segment.rates_end, segment.rates_end

    def _plan(self, command: Command, strength: float) -> CommonStop:
        return CommonStop(
            command.strokes, command.rates, strength * self._limits.acceleration, self._limits
        )

    def _moving(self, strokes: Array, rates: Array, forces: Array) -> Command:
        moving = bool(np.abs(rates).max() > self._settings.rest_rate)
        return Command(strokes, rates, forces, moving)

    def _limit_step(self, command: Command, step: float) -> Command:
        """Shorten a step that is longer than the rate limit allows, in all legs alike."""
        change = command.strokes - self._command.strokes
        longest = float(np.abs(change).max())
        allowed = self._limits.rate * self._settings.margin * step + ROUNDING
        if longest <= allowed:
            return command
        strokes = self._command.strokes + change * (allowed / longest)
        return Command(strokes, command.rates, command.forces, command.moving, command.starved)
