# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What tells an IMU that does not say how the base moves: frozen, turned, or beyond any sea."""

from __future__ import annotations

from math import atan2, degrees, hypot, radians, sqrt

import numpy as np
from stewart_cueing.errors import BaseInputError
from stewart_kinematics.motion import Array
from stewart_kinematics.trajectories.waves import GRAVITY

HARDEST, QUICKEST = 19.6, 3.0
"""No sea pushes or turns a base harder: largest specific force [m/s²] and rate [rad/s]."""

FROZEN = 0.3
"""The same six numbers for longer than this are no measurement [s]."""

SHOWN, SEEN = 10.0, radians(3.0)
"""Angles that are found from rates are at most so many times larger than those that the specific
force shows [-]; smaller ones are not judged [rad].

Between a base that rolls and one whose rates are in deg/s lies a factor of 57. A raft that lies in
the slope of the waves shows no tilt, but is heaved by as much.
"""

REST, TURNED = 1.0, radians(30.0)
"""The mean specific force of a base is so near to gravity [m/s²], and so near to z [rad]."""


class Doubts:
    """Look at every sample of an IMU on a base.

    Args:
        memory: Time constant of the mean specific force, some periods of the sea [s].
    """

    def __init__(self, memory: float) -> None:
        self._memory = memory
        # x, y, z and the magnitude.
        self._mean = np.array([0.0, 0.0, GRAVITY, GRAVITY])
        self._last, self._time, self._changed = np.full(6, np.nan), -np.inf, -np.inf
        # Mean squares of what moves: specific force [g], and the angles found [rad].
        self._pushed = self._turned = 0.0

    def require_sound(self, stamp: float, sample: Array, longest: float) -> None:
        """Take specific force and rates (6,) of an instant [s].

        Args:
            longest: A pause that is longer is no time in which the mean was learnt [s].

        Raises:
            BaseInputError: If they are not those of a base; the message says what they are.
        """
        hardest, quickest = (float(np.abs(part).max()) for part in (sample[:3], sample[3:]))
        if hardest > HARDEST or quickest > QUICKEST:
            raise BaseInputError(
                f'expected up to {HARDEST:g} m/s² and {QUICKEST:g} rad/s of a base at sea, '
                f'got {hardest:.3g} m/s² and {quickest:.3g} rad/s'
            )
        step, self._time = stamp - self._time, stamp
        if 0.0 < step < longest:
            force = np.append(sample[:3], np.linalg.norm(sample[:3]))
            self._mean = self._mean + min(step / self._memory, 1.0) * (force - self._mean)
        if not np.array_equal(sample, self._last) or not 0.0 <= step < longest:
            self._last, self._changed = sample, stamp
        if stamp - self._changed > FROZEN:
            raise BaseInputError(
                f'the same sample comes for {stamp - self._changed:.1f} s: the IMU is frozen'
            )
        x, y, z, size = self._mean.tolist()
        angle = atan2(hypot(x, y), z)
        if abs(size - GRAVITY) > REST:
            raise BaseInputError(
                f'the mean specific force is {size:.3g} m/s², at rest it is {GRAVITY:.3g}: units '
                'are m/s², and gravity is not removed'
            )
        if angle > TURNED:
            raise BaseInputError(
                f'the mean specific force is {degrees(angle):.0f}° from z, allowed are '
                f'{degrees(TURNED):.0f}°: base_link has z upwards, x forward'
            )

    def compare(self, force: Array, angles: Array, part: float) -> None:
        """Take what the observer has found.

        Args:
            force, angles: Specific force (3,) [m/s²], and roll and pitch (2,) without their mean
                [rad].
            part: How much it counts [-].
        """
        pushed = float(np.sum(np.square(force - self._mean[:3]))) / GRAVITY**2
        self._pushed += part * (pushed - self._pushed)
        self._turned += part * (float(np.sum(np.square(angles))) - self._turned)

    def contradiction(self) -> str:
        """Return how rates and specific force contradict each other, or an empty text."""
        turned, pushed = sqrt(self._turned), sqrt(self._pushed)
        if turned < SEEN or turned < SHOWN * pushed:
            return ''
        return (
            f'by its rates the base turns by {degrees(turned):.2g}° (RMS), by its specific force '
            f'by {degrees(pushed):.2g}°: units are rad/s'
        )
