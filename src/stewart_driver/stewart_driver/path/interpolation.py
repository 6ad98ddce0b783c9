# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Setpoints that arrive with jitter become a smooth command in every cycle.

The setpoints are the knots of a path, cubic between them, played a fixed delay after their
stamps. A path begins at rest where the legs are held. When setpoints stay away the last tangent
is followed for a moment, then all six legs come to rest together; only a new path that begins
there is taken. After a gap between two cycles the legs stand, and the path goes on from there;
those of amplifiers that have run on go on along the path.
"""

from __future__ import annotations

from collections import Counter
from enum import auto, Enum
from math import inf

import numpy as np
from stewart_driver.control.configuration import InterpolationSettings
from stewart_driver.legs import Array, LegLimits, STANDSTILL
from stewart_driver.path.common_stop import CommonStop
from stewart_driver.path.jog import DEAD_MAN, Jog, too_fast
from stewart_driver.path.leg_kernels import farthest
from stewart_driver.path.motion import LegMotion, NO_MOTION, Verdict
from stewart_driver.path.path import CAPACITY, Path
from stewart_driver.path.segment import ROUNDING

# A cycle that is due is not missing: clocks of drives shift the grid a little [cycles].
GAP = 1.5
# Legs that have stood for longer do not go on with an old path [s].
LONGEST_PAUSE = 0.5
# Legs that have run on for longer at one rate are too far from their path to go on with it [s].
LONGEST_RUN = 0.02


class Phase(Enum):
    """What the interpolator is doing."""

    HOLDING = auto()
    PLAYING = auto()
    STOPPING = auto()
    JOGGING = auto()


# Members of an enumeration take their time to look up.
HOLDING, PLAYING, STOPPING, JOGGING = Phase
ACCEPTED = Verdict.ACCEPTED


class Interpolator:
    """Path of the six legs, played cycle by cycle.

    Every method takes the instant `now` on the steady clock [s]; none reads a clock.

    Args:
        limits: Ends of stroke, rate and acceleration that no command leaves.
        cycle_time: Nominal time between two calls of `command` [s].
        runs_on: So long the legs run on at their last rate when the next target does not come [s].

    Attributes:
        last_refusal: Why the last refused setpoint was refused, with numbers.
        trouble: Why the last call of `command` has begun to bring the legs to rest; empty if it
            has not.
    """

    def __init__(
        self,
        limits: LegLimits,
        settings: InterpolationSettings,
        cycle_time: float,
        runs_on: float = 0.0,
    ) -> None:
        self._limits, self._settings, self._cycle_time = limits, settings, cycle_time
        self._runs_on = runs_on
        self._path = Path(limits, settings)
        self.clock = self._path.clock
        self.counts: Counter[Verdict] = Counter()
        self.last_refusal = self.trouble = ''
        self._now: float | None = None
        self._command = LegMotion(0.0, NO_MOTION, NO_MOTION)
        self._last_stamp = -inf
        self._phase = HOLDING
        self._following = False
        self._held: Array = NO_MOTION
        self._paused = 0.0
        self._stop: CommonStop | None = None
        self._stopped_for = 0.0
        self._jog: Jog | None = None

    @property
    def at_rest(self) -> bool:
        """Whether the legs are held and no path is played."""
        return self._phase is HOLDING

    @property
    def playing(self) -> bool:
        """Whether a path is played, and not yet being stopped."""
        return self._phase is PLAYING

    @property
    def held(self) -> Array:
        """Strokes at which the legs were last at rest, shape (6,) [m]."""
        return self._held

    @property
    def moving(self) -> bool:
        """Whether the command moves any leg faster than the rest rate."""
        return bool(np.abs(self._command.rates).max() > self._settings.rest_rate)

    @property
    def ends_at_rest(self) -> bool:
        """Whether the path is known to its end, where the legs rest."""
        return self._phase is PLAYING and self._path.ends_at_rest

    @property
    def contradiction(self) -> str:
        """How setpoints contradict the path that is played; empty if they do not."""
        return self._path.contradictions.sentence

    def hold(self, strokes: Array, rates: Array = NO_MOTION) -> None:
        """Hold the legs where they are measured; from now on paths that begin there are taken.

        A leg that moves is brought to rest first, and not moved otherwise.
        """
        self._rest(strokes.copy())
        moving = np.where(np.abs(rates) > STANDSTILL, rates, 0.0)
        self._command = LegMotion(0.0, self._held, moving)
        if moving.any():
            strength = self._settings.quick_stop_strength * self._limits.acceleration
            # Uncommanded motion follows no path: stop within the deceleration limit.
            self._begin_stop(CommonStop(self._held, moving, strength, None))
        # Whatever was stamped before counts no more, even if the clock was set back since.
        self._last_stamp = -inf
        self._following = True

    def release(self) -> None:
        """Take no setpoints any more."""
        self._rest(self._command.strokes)
        self._command = LegMotion(0.0, self._held, NO_MOTION)
        self._following = False

    def refuse(self, verdict: Verdict, why: str) -> Verdict:
        """Count a refusal and keep its reason."""
        self.counts[verdict] += 1
        self.last_refusal = why
        return verdict

    def offer(self, setpoint: LegMotion, now: float) -> Verdict:
        """Take a setpoint into the path, or refuse it; `last_refusal` says why with numbers."""
        if not setpoint.finite:
            return self.refuse(Verdict.NOT_FINITE, 'a setpoint holds a number that is not finite')
        if not self._following or self._phase is STOPPING or self._phase is JOGGING:
            return self.refuse(Verdict.NOT_FOLLOWING, 'the legs do not follow setpoints now')
        early = setpoint.stamp - now
        if early > self._settings.look_ahead:
            return self.refuse(Verdict.EARLY, f'a setpoint is stamped {early:.3f} s in the future')
        if setpoint.stamp <= self._last_stamp:
            return self._out_of_order(setpoint)
        if self._phase is PLAYING:
            refusal = self._path.append(setpoint)
        else:
            held = LegMotion(now, self._held, NO_MOTION, self._command.forces)
            refusal = self._path.begin(held, setpoint, now if self._now is None else self._now)
        if refusal is not None:
            return self.refuse(*refusal)
        self._phase = PLAYING
        self._last_stamp = setpoint.stamp
        self.counts[ACCEPTED] += 1
        return ACCEPTED

    def stop(self, strength: float) -> None:
        """Begin to bring all legs to rest together, from the last command on.

        Args:
            strength: Deceleration as a share of the acceleration limit, 0 to 1 [-]. A stop that is
                under way goes on along its path and becomes harder, never milder.
        """
        plan = self._plan(self._command, strength)
        if self._phase is STOPPING:
            assert self._stop is not None
            if self._stop.duration - self._stopped_for <= plan.duration:
                return
        if plan.duration <= 0.0:
            self._rest(self._command.strokes)
            return
        self._begin_stop(plan)

    def jog(self, rates: Array, sent: float) -> str:
        """Move legs that are held, or being jogged, at these rates for a tenth of a second.

        Args:
            rates (6,): At most a tenth of the rate limit [m/s].
            sent: Instant of the request on the steady clock [s].

        Returns:
            Why not; empty if they do.
        """
        if not self._following or self._phase not in {HOLDING, JOGGING}:
            return 'only legs at rest are jogged'
        if why := too_fast(rates, self._limits):
            return why
        jog = self._jog or Jog(self._held, self._limits)
        if why := jog.blocked(rates):
            return why
        self._jog, self._phase = jog, JOGGING
        jog.ask(rates, sent + DEAD_MAN)
        return ''

    def command(self, now: float, *, answered: bool = True) -> LegMotion:
        """Return what the legs shall do in the cycle at `now`.

        Args:
            answered: Whether the drives have answered the command before; if not, they may not
                know it.

        Returns:
            Continuous in stroke and rate with the one before, or beginning at rest where legs
            stand after a gap.
        """
        step = 0.0 if self._now is None else max(now - self._now, 0.0)
        self._now = now
        self.trouble = ''
        phase = self._phase
        if phase is HOLDING:
            command = LegMotion(now, self._held, NO_MOTION, self._command.forces)
        elif step > GAP * self._cycle_time or not answered:
            command = self._after_gap(now, step, answered=answered)
        elif phase is PLAYING:
            command = self._play(now, step)
        elif phase is STOPPING:
            command = self._decelerate(now, step)
        else:
            command = self._advance_jog(now, step)
        if answered:
            self._paused = 0.0
        self._command = command
        return command

    def _after_gap(self, now: float, step: float, *, answered: bool) -> LegMotion:
        """Go on from where the legs are, because their drives have heard nothing."""
        if answered and step <= self._runs_on:
            return self._run_on(now, step)
        standing = LegMotion(now, self._command.strokes, NO_MOTION, self._command.forces)
        if self._phase is not PLAYING:
            # They were on their way to rest, or are not led along a path.
            self._rest(standing.strokes)
            return standing
        self._paused += step
        if self._paused > LONGEST_PAUSE:
            what = 'no cycle has run' if answered else 'no drive has answered'
            self.trouble = f'{what} for {self._paused:.3f} s while moving: the path is given up'
            self._rest(standing.strokes)
            return standing
        self._path.clock.halt(now)
        if not answered:
            return standing
        return self._play(now, self._cycle_time)

    def _run_on(self, now: float, step: float) -> LegMotion:
        """Go on with legs that have not stood still; to throw them to rest would be a blow."""
        if self._phase is STOPPING:
            return self._decelerate(now, step)
        if self._phase is JOGGING:
            return self._advance_jog(now, step)
        if step <= LONGEST_RUN:
            return self._play(now, step)
        limits, before = self._limits, self._command
        ahead = before.strokes + step * before.rates
        there = np.clip(ahead, limits.stroke_lower, limits.stroke_upper)
        what = f'no cycle has run for {step:.3f} s while moving: the path is given up'
        self._give_up(before._replace(strokes=there), what)
        return self._decelerate(now, 0.0)

    def _rest(self, strokes: Array) -> None:
        self._phase = HOLDING
        self._held, self._jog = strokes, None
        self._path.clear()

    def _out_of_order(self, setpoint: LegMotion) -> Verdict:
        if self._phase is PLAYING:
            self._path.compare(setpoint)
        order = self._last_stamp - setpoint.stamp
        if order == 0.0:
            return self.refuse(Verdict.DUPLICATE, 'a setpoint has the stamp of the one before')
        return self.refuse(
            Verdict.OUT_OF_ORDER, f'a setpoint is {order:.4f} s older than the last'
        )

    def _play(self, now: float, step: float) -> LegMotion:
        """Advance the path by a step; where it ends without rest, bring the legs to rest."""
        path, settings = self._path, self._settings
        command = self._limited(path.advance(now, step), step)
        if path.full:
            late = path.clock.slipped
            self._give_up(command, f'{CAPACITY} setpoints wait: the path is {late:.1f} s late')
        elif path.over:
            self._rest(command.strokes)
        elif path.tangent:
            plan = self._plan(command, settings.stop_strength)
            if path.waited > settings.extrapolation_time or plan.shortened_for is not None:
                silence = 1e3 * (settings.playout_delay + settings.extrapolation_time)
                why = f'no command in time while moving ({silence:g} ms waited)'
                self._give_up(self._command, why)
                return self._decelerate(now, step)
        return command

    def _give_up(self, command: LegMotion, trouble: str) -> None:
        """Begin to bring the legs to rest from a command on, for a reason."""
        self.trouble, self._command = trouble, command
        self.stop(self._settings.stop_strength)

    def _begin_stop(self, plan: CommonStop) -> None:
        self._path.clear()
        self._jog = None
        self._stop, self._stopped_for = plan, 0.0
        self._phase = STOPPING

    def _decelerate(self, now: float, step: float) -> LegMotion:
        if self._phase is not STOPPING:
            return LegMotion(now, self._held, NO_MOTION, self._command.forces)
        assert self._stop is not None
        self._stopped_for += step
        strokes, rates = self._stop.at(self._stopped_for)
        if self._stopped_for >= self._stop.duration:
            self._rest(strokes)
        return LegMotion(now, strokes, rates, self._command.forces)

    def _advance_jog(self, now: float, step: float) -> LegMotion:
        jog = self._jog
        assert jog is not None
        if jog.advance(now, step):
            self._rest(jog.strokes)
        return LegMotion(now, jog.strokes, jog.rates, self._command.forces)

    def _plan(self, command: LegMotion, strength: float) -> CommonStop:
        limits = self._limits
        return CommonStop(command.strokes, command.rates, strength * limits.acceleration, limits)

    def _limited(self, command: LegMotion, step: float) -> LegMotion:
        """Shorten a step that is longer than the rate limit allows, in all legs alike."""
        before = self._command.strokes
        longest = farthest(command.strokes, before)
        allowed = self._limits.rate * self._settings.margin * step + ROUNDING
        if longest <= allowed:
            return command
        change = (command.strokes - before) * (allowed / longest)
        return command._replace(strokes=before + change)
