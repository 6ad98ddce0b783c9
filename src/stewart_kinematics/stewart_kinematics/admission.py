# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which setpoints the platform executes: one source at a time, and nothing beyond its limits."""

from __future__ import annotations

from stewart_kinematics.arbitration import SetpointArbiter
from stewart_kinematics.inverse import LegMotion
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.motion_guard import MotionGuard
from stewart_kinematics.platform import Platform


class Admission:
    """Arbiter and guard of a stream of setpoints.

    Args:
        platform: Whose limits hold.
        scale: Part of the rate and acceleration limits that is allowed [-].
        silence: Silence of one source before another is heard [s].
    """

    def __init__(self, platform: Platform, *, scale: float = 1.0, silence: float = 0.25) -> None:
        """Begin without a source."""
        self._guard = MotionGuard(platform, scale=scale)
        self._arbiter = SetpointArbiter(silence)

    def admit(self, source: str, motion: Motion, stamp: float) -> LegMotion:
        """Return the motion of the legs for a setpoint, or refuse it.

        Args:
            source: Who gives it.
            motion: One sample.
            stamp: When it holds [s].

        Returns:
            Lengths, strokes, rates and accelerations, shape (6,).

        Raises:
            SourceRefused: If another source has the platform.
            MotionRefused: If the sample breaks a limit, or cannot follow the one before it.
        """
        self._arbiter.require(source, motion, stamp)
        legs = self._guard.admit(motion, stamp)
        self._arbiter.latch(source, motion, stamp)
        return legs

    def admit_run(self, source: str, motion: Motion, stamps: Array) -> LegMotion:
        """Return the motion of the legs for successive setpoints, up to the first that is refused.

        Args:
            source: Who gives them.
            motion: n samples.
            stamps (n,): When they hold [s].

        Returns:
            Shape (m, 6); if that are fewer than n, `admit` tells why.

        Raises:
            SourceRefused: If another source has the platform.
        """
        self._arbiter.require(source, motion[0], float(stamps[0]))
        legs = self._guard.admit_run(motion, stamps)
        if passed := len(legs.stroke):
            self._arbiter.latch(source, motion[passed - 1], float(stamps[passed - 1]))
        return legs

    def begin_anew(self) -> None:
        """Forget source and last setpoint: the platform was brought to rest by other means."""
        self._guard.forget()
        self._arbiter.release()
