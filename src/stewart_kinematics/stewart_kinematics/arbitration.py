# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Who may move the platform: one source at a time, handed over only at rest and after silence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_kinematics import tracking_kernels
from stewart_kinematics.errors import ConfigurationError, StewartError
from stewart_kinematics.motion import Motion


class SourceRefused(StewartError):
    """A source speaks while the platform belongs to another."""


def at_rest(motion: Motion) -> bool:
    """Tell whether a sample neither moves nor is about to.

    Args:
        motion: One sample.

    Returns:
        True where velocity and acceleration vanish; NaN is not rest.
    """
    return tracking_kernels.at_rest(
        np.ascontiguousarray(motion.linear_velocity),
        np.ascontiguousarray(motion.angular_velocity),
        np.ascontiguousarray(motion.linear_acceleration),
        np.ascontiguousarray(motion.angular_acceleration),
    )


@dataclass(frozen=True, eq=False)
class _Latched:
    """The last setpoint that was executed."""

    source: str
    motion: Motion
    stamp: float


class SetpointArbiter:
    """Latch the source of the setpoints.

    Whoever executes setpoints asks `require` first and reports with `latch` what was executed, so
    that a setpoint refused for another reason changes nothing here.

    Args:
        silence: Time for which the present source must have been silent before another is heard
            [s].

    Raises:
        ConfigurationError: If `silence` is not positive.
    """

    def __init__(self, silence: float = 0.25) -> None:
        """Begin without a source."""
        if not silence > 0.0:
            raise ConfigurationError('silence', silence, 'a time greater than 0 s')
        self._silence = silence
        self._latched: _Latched | None = None

    @property
    def source(self) -> str | None:
        """Source that has the platform; None before the first."""
        return None if self._latched is None else self._latched.source

    def require(self, source: str, motion: Motion, stamp: float) -> None:
        """Refuse a setpoint of a source that must not move the platform now.

        Args:
            source: Who speaks.
            motion: One sample.
            stamp: When it holds [s].

        Raises:
            SourceRefused: If another source has the platform, moves it or spoke a moment ago, or
                if the new one does not begin at rest.
        """
        last = self._latched
        if last is None or last.source == source:
            return
        if not at_rest(last.motion):
            raise SourceRefused(f'{source} must wait: {last.source} is moving the platform')
        quiet = stamp - last.stamp
        if not quiet >= self._silence:
            raise SourceRefused(
                f'{source} must wait: {last.source} has been silent for {quiet:.3f} s, '
                f'needed are {self._silence:g} s'
            )
        if not at_rest(motion):
            raise SourceRefused(
                f'{source} must begin at rest to take over from {last.source}, '
                f'got a velocity of {np.abs(motion.twist).max():.3g}'
            )

    def latch(self, source: str, motion: Motion, stamp: float) -> None:
        """Remember a setpoint that was executed; arguments as for `require`."""
        self._latched = _Latched(source, motion, stamp)

    def release(self) -> None:
        """Forget the source: the platform has been brought to rest by other means."""
        self._latched = None
