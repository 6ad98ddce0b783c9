# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory that is being played, and when that is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stewart_kinematics.motion import Motion
from stewart_kinematics.trajectories import Trajectory

NANOSECONDS = 1_000_000_000
# At what is executed, within the patience.
LOOKS = 5


@dataclass(frozen=True, eq=False)
class Playback:
    """A trajectory and the instant of its time 0.

    Attributes:
        trajectory: It ends at rest, or never.
        begin: On the clock of the stamps [ns].
    """

    trajectory: Trajectory
    begin: int

    def elapsed(self, now: int) -> float:
        """Return the time of the trajectory [s] at an instant [ns]."""
        return (now - self.begin) / NANOSECONDS

    def sample(self, now: int | NDArray[np.int64]) -> Motion:
        """Return the setpoints of instants [ns]; after the end it is the end, at rest."""
        return self.trajectory.sample((now - self.begin) / NANOSECONDS)

    def over(self, now: int, executed: int) -> bool:
        """Tell whether the platform has been sent where the trajectory ends.

        Samples after the end are clamped to it, exactly at rest. They go on until one was
        executed: `executed` is the stamp of the last setpoint that was; 0: none [ns].
        """
        end = self.trajectory.duration
        return self.elapsed(now) >= end and executed >= self.begin + end * NANOSECONDS


class Hearing:
    """Whether the setpoints are executed, the longest `patience` [s] without one.

    Looks are counted: while this process gets no processor, there is nothing to execute.
    """

    def __init__(self, patience: float) -> None:
        self._pause = patience / LOOKS
        self._next, self._looks, self._executed = 0.0, 0, 0

    def begin_anew(self) -> None:
        """Look at another trajectory, which begins now."""
        self._next, self._looks = 0.0, 0

    def lost(self, elapsed: float, executed: Callable[[], int]) -> bool:
        """Tell whether none has been executed for too long, at a time of the trajectory [s].

        `executed` returns the stamp of the last setpoint that was [ns].
        """
        if elapsed < self._next:
            return False
        self._next, stamp = elapsed + self._pause, executed()
        self._looks = self._looks + 1 if stamp == self._executed else 0
        self._executed = stamp
        return self._looks > LOOKS
