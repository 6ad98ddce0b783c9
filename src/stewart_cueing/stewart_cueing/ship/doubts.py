# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What tells an IMU that does not say how the base moves: frozen, turned, or beyond any sea."""

from __future__ import annotations

from math import atan2, degrees, hypot, radians

import numpy as np
from stewart_cueing.errors import BaseInputError
from stewart_kinematics.motion import Array
from stewart_kinematics.trajectories.waves import GRAVITY

HARDEST, QUICKEST = 19.6, 3.0
"""No sea pushes or turns a base harder: largest specific force [m/s²] and rate [rad/s]."""

FROZEN = 0.3
"""The same six numbers for longer than this are no measurement [s]."""

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
