# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What was commanded lately, at any instant."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque

import numpy as np
from stewart_kinematics.motion import Array
from stewart_kinematics.tracking_kernels import at_rest, follow


class CommandHistory:
    """Keep the last setpoints and continue them to instants in between.

    Args:
        capacity: How many setpoints are kept.
        hold: How long a moving setpoint is continued at most [s]; one at rest holds until the
            next.
    """

    def __init__(self, capacity: int = 400, hold: float = 0.1) -> None:
        """Begin empty."""
        self._hold = hold
        self._stamps: deque[float] = deque(maxlen=capacity)
        self._motions: deque[tuple[Array, ...]] = deque(maxlen=capacity)

    def add(self, stamp: float, *motion: Array) -> None:
        """Add a setpoint.

        Args:
            stamp: When it holds [s]; one that is not later than the last begins a new history.
            *motion: One sample in C order: position, quaternion x, y, z, w, linear and angular
                velocity, linear and angular acceleration, as `Motion` has them.
        """
        if self._stamps and stamp <= self._stamps[-1]:
            self.clear()
        self._stamps.append(stamp)
        self._motions.append(motion)

    def clear(self) -> None:
        """Forget everything: the platform no longer follows what was commanded."""
        self._stamps.clear()
        self._motions.clear()

    def at(self, stamp: float) -> tuple[Array, Array] | None:
        """Return the commanded pose at an instant.

        The setpoint before it is continued with its twist and acceleration; at 200 Hz and the
        jerk of a strong sea (100 m/s³) that is within 2 µm of the motion meant.

        Args:
            stamp: Instant [s].

        Returns:
            Position, shape (3,) [m], and quaternion x, y, z, w, shape (4,); None where nothing is
            commanded.
        """
        index = bisect_right(self._stamps, stamp) - 1
        if index < 0:
            return None
        motion, step = self._motions[index], stamp - self._stamps[index]
        position, quaternion, velocity, omega, acceleration, alpha = motion
        if at_rest(velocity, omega, acceleration, alpha):
            return position, quaternion
        if step > self._hold:
            return None
        out = np.empty(7)
        follow(position, quaternion, velocity, omega, acceleration, alpha, step, out)
        return out[0:3], out[3:7]
