# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""An observer of waves that no glitch of its IMU reaches.

A sample far from what the observer expects waits for the next ones. If `REAL` in a row are far,
the base did that, and all of them are taken as they came: nothing of a slam is lost. Else they
were glitches, and it is as if they had not come.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np
from stewart_cueing.ship.wave_observer import ACCELEROMETER_BIAS, WaveObserver
from stewart_kinematics.motion import Array

GATE, REAL = 6.0, 3
"""Largest innovation in standard deviations; so many larger ones in a row are no glitch [-]."""

MEMORY, CLIP = 100.0, 3.0
"""Samples over which the size of innovations is learnt, and of how much one counts at most [-]."""


class GatedObserver:
    """A `WaveObserver` with a gate on its innovations.

    The gate is as wide as the observer says, or as its innovations of late were, if these were
    larger: of an IMU that shakes, or on a sea of another period.

    Args:
        peak_period: Of the sea, roughly [s].
        period: Between samples [s].
        accelerometer_bias: See `WaveObserver`.

    Attributes:
        refused: Samples that were glitches.
        changes: How often far samples were taken, for they were none.
        refusal: What the last glitch was.
    """

    def __init__(
        self, peak_period: float, period: float, accelerometer_bias: float = ACCELEROMETER_BIAS
    ) -> None:
        self._made_for = peak_period, period, accelerometer_bias
        self.refused, self.changes, self.refusal = 0, 0, ''
        self.restart()

    def restart(self) -> None:
        """Forget what the base did."""
        self._observer = self._before = WaveObserver(*self._made_for)
        self._sizes = np.ones(len(self._observer.innovations(np.zeros(3), np.zeros(3))))
        self._waiting: list[Array | None] = []
        self._distance, self._changing = 0.0, False

    def coast(self) -> None:
        """Go on by one sample that did not come."""
        if self._waiting:
            self._waiting.append(None)
        self._observer.coast()

    def update(self, sample: Array) -> None:
        """Go on by one sample of specific force and rates (6,)."""
        innovations = np.abs(self._observer.innovations(sample[:3], sample[3:]))
        far = float((innovations / self._sizes).max())
        counted = np.minimum(innovations, CLIP * self._sizes)
        squares = self._sizes**2 + (counted**2 - self._sizes**2) / MEMORY
        self._sizes = np.sqrt(np.maximum(squares, 1.0))
        if far <= GATE:
            self._refuse_waiting()
        elif not self._changing:
            self._wait(sample, far)
            return
        self._changing = far > GATE
        self._observer.update(sample[:3], sample[3:])

    def _wait(self, sample: Array, far: float) -> None:
        """Coast over a far sample, or take it with those before when there are enough."""
        if not self._waiting:
            self._before = deepcopy(self._observer)
        self._waiting.append(sample)
        self._distance = max(far, self._distance)
        if sum(one is not None for one in self._waiting) < REAL:
            self._observer.coast()
            return
        self._observer = self._before
        for one in self._waiting:
            if one is None:
                self._observer.coast()
            else:
                self._observer.update(one[:3], one[3:])
        self._waiting, self._distance, self._changing = [], 0.0, True
        self.changes += 1

    def _refuse_waiting(self) -> None:
        """Tell that the far samples before were glitches."""
        glitches = [one for one in self._waiting if one is not None]
        if glitches:
            force, rates = (np.round(part, 3).tolist() for part in np.split(glitches[-1], 2))
            self.refused += len(glitches)
            self.refusal = (
                f'a glitch of {force} m/s², {rates} rad/s: {self._distance:.0f} standard '
                f'deviations from what was expected, at most {GATE:g} are'
            )
        self._waiting, self._distance = [], 0.0

    def predict(self, ahead: float) -> Array:
        """Return roll, pitch, heave with two derivatives (3, 3), see `WaveObserver`."""
        return self._observer.predict(ahead)

    @property
    def mean(self) -> Array:
        """Mean roll and pitch, as `predict` returns what moves (3, 3)."""
        return self._observer.mean
