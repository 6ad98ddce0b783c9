# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which setpoints of which source the platform executes."""

from __future__ import annotations

import math

import numpy as np
from stewart_kinematics.errors import (
    ConfigurationError,
    MotionRefused,
    StewartError,
    Violation,
)
from stewart_kinematics.kernels import tracking as tracking_kernels
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.inverse import LegKinematics

PAUSE = 1.0
"""After so long without a setpoint the platform rests, wherever it is [s]: what moved it, a jog,
too, has ended, and the driver takes no path that begins elsewhere."""

AHEAD = 1.0
"""Setpoints stamped further ahead than this are executed by no driver: its `look_ahead` goes no
further [s]."""


class SourceRefused(StewartError):
    """A source speaks while the platform belongs to another."""


def at_rest(motion: Motion) -> bool:
    """Tell whether a sample neither moves nor is about to; NaN is not rest."""
    return tracking_kernels.at_rest(
        np.ascontiguousarray(motion.twist), np.ascontiguousarray(motion.acceleration)
    )


class SetpointArbiter:
    """Latch the source of the setpoints.

    Whoever executes setpoints asks `require` first and reports with `latch` what was executed, so
    that a setpoint refused for another reason changes nothing here. Another source is heard after
    a `silence` of the present one [s].

    Raises:
        ConfigurationError: If `silence` is not positive.
    """

    def __init__(self, silence: float = 0.25) -> None:
        if not silence > 0.0:
            raise ConfigurationError('silence', silence, 'a time greater than 0 s')
        self._silence = silence
        self._last: tuple[str, Motion, float] | None = None

    @property
    def source(self) -> str | None:
        """Source that has the platform; None before the first."""
        return None if self._last is None else self._last[0]

    def require(self, source: str, motion: Motion, stamp: float) -> None:
        """Refuse a sample, with its stamp [s], of a source that must not move the platform now.

        Raises:
            SourceRefused: If another source has the platform, moves it or spoke a moment ago, or
                if the new one does not begin at rest.
        """
        if self._last is None or self._last[0] == source:
            return
        holder, executed, when = self._last
        if not at_rest(executed):
            raise SourceRefused(f'{source} must wait: {holder} is moving the platform')
        quiet = stamp - when
        if not quiet >= self._silence:
            raise SourceRefused(
                f'{source} must wait: {holder} has been silent for {quiet:.3f} s, '
                f'needed are {self._silence:g} s'
            )
        if not at_rest(motion):
            raise SourceRefused(
                f'{source} must begin at rest to take over from {holder}, '
                f'got a velocity of {np.abs(motion.twist).max():.3g}'
            )

    def latch(self, source: str, motion: Motion, stamp: float) -> None:
        """Remember a setpoint that was executed; arguments as for `require`."""
        self._last = (source, motion, stamp)

    def release(self) -> None:
        """Forget the source: the platform has been brought to rest by other means."""
        self._last = None


class Admission:
    """Arbiter and guard of a stream of setpoints; see `SetpointArbiter` and `MotionGuard`."""

    def __init__(self, platform: Platform, *, scale: float = 1.0, silence: float = 0.25) -> None:
        self._guard = MotionGuard(platform, scale=scale)
        self._arbiter = SetpointArbiter(silence)
        self._heard = -math.inf

    def admit(
        self, source: str, motion: Motion, stamp: float, heard: float | None = None
    ) -> LegKinematics:
        """Return the motion of the legs, shape (6,), for one sample, or refuse it.

        After `PAUSE`, or where the clock was set back by as much, a sample at rest begins anew.

        Args:
            motion, stamp: The sample, and when it is to be executed [s].
            heard: When it came in, on the same clock [s]; at its stamp if not given.

        Raises:
            SourceRefused: If another source has the platform.
            MotionRefused: If the sample breaks a limit, cannot follow the one before it, or is
                stamped more than `AHEAD` after it came.
        """
        heard = stamp if heard is None else heard
        if stamp - heard > AHEAD:
            early = Violation('stamp ahead of the clock', stamp - heard, -math.inf, AHEAD, 's')
            raise MotionRefused(early)
        if not abs(heard - self._heard) <= PAUSE and at_rest(motion):
            self.begin_anew()
        self._arbiter.require(source, motion, stamp)
        legs = self._guard.admit(motion, stamp)
        self._arbiter.latch(source, motion, stamp)
        self._heard = heard
        return legs

    def admit_run(self, source: str, motion: Motion, stamps: Array) -> LegKinematics:
        """Return the motion of the legs for n successive samples, up to the first refused.

        Shape (m, 6); if m is less than n, `admit` tells why. Stamps (n,) in s.

        Raises:
            SourceRefused: If another source has the platform.
        """
        self._arbiter.require(source, motion[0], float(stamps[0]))
        legs = self._guard.admit_run(motion, stamps)
        if passed := len(legs.stroke):
            self._heard = float(stamps[passed - 1])
            self._arbiter.latch(source, motion[passed - 1], self._heard)
        return legs

    def begin_anew(self) -> None:
        """Forget source and last setpoint: the platform was brought to rest by other means."""
        self._guard.forget()
        self._arbiter.release()
