# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six simulated drives that follow their targets with a lag."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

LONGEST_STEP = 1e-3


@dataclass(frozen=True, eq=False)
class DriveSettings:
    """
    What a simulated drive can do.

    Attributes
    ----------
    bandwidth : float
        Natural frequency of the position loop [Hz].
    damping : float
        Damping ratio of the position loop [-].
    rate_limit : float
        Largest rate [m/s].
    acceleration_limit : float
        Largest acceleration, by the drive's ramp or by its force [m/s²].
    hold_after : float
        A drive that hears nothing for this long stops following the rate of its last target [s].
    end_lower, end_upper : ndarray, shape (6,)
        Mechanical ends of the legs [m].

    """

    bandwidth: float
    damping: float
    rate_limit: float
    acceleration_limit: float
    hold_after: float
    end_lower: Array
    end_upper: Array


class LaggingDrives:
    r"""
    Position loops of second order, driven by target and target rate.

    .. math:: \ddot q = \omega^2 (q_t - q) + 2 \zeta \omega (\dot q_t - \dot q)

    with rate and acceleration saturated. Between two targets a drive extrapolates the last one,
    as a drive in cyclic synchronous position mode does. There is no plant: neither gravity nor
    the coupling of the legs acts on the drives.

    Parameters
    ----------
    strokes : array_like, shape (6,)
        Where the legs stand at first [m].
    settings : DriveSettings
        What the drives can do.

    Attributes
    ----------
    strokes, rates : ndarray, shape (6,)
        True motion of the legs [m], [m/s].
    on : bool
        Whether the drives follow their targets; otherwise the brakes bring them to rest.

    """

    def __init__(self, strokes: ArrayLike, settings: DriveSettings) -> None:
        """Stand still, braked."""
        self._settings = settings
        self.strokes: Array = np.array(strokes, dtype=np.float64)
        self.rates: Array = np.zeros_like(self.strokes)
        self.on = False
        self._target, self._target_rate = self.strokes, self.rates
        self._age = 0.0

    def command(
        self, strokes: Array, rates: Array, forces: Array, accelerations: Array | None = None
    ) -> None:
        """Take new targets [m], [m/s]; a force has nothing to act on, so steps do no harm."""
        self._target, self._target_rate = strokes, rates
        self._age = 0.0

    def advance(self, duration: float) -> None:
        """Let some time pass [s]."""
        if duration <= 0.0:
            return
        count = max(int(np.ceil(duration / LONGEST_STEP - 1e-6)), 1)
        for _ in range(count):
            self._step(duration / count)

    def _step(self, step: float) -> None:
        """Integrate with constant acceleration over the step."""
        settings = self._settings
        acceleration = self._following() if self.on else -self.rates / step
        self._age += step
        limit = settings.acceleration_limit
        rates = self.rates + step * _within(acceleration, -limit, limit)
        rates = _within(rates, -settings.rate_limit, settings.rate_limit)
        free = self.strokes + 0.5 * step * (self.rates + rates)
        self.strokes = _within(free, settings.end_lower, settings.end_upper)
        self.rates = np.where(free == self.strokes, rates, 0.0)

    def _following(self) -> Array:
        settings = self._settings
        omega = 2.0 * np.pi * settings.bandwidth
        heard = self._age <= settings.hold_after
        target = self._target + self._target_rate * min(self._age, settings.hold_after)
        target_rate = self._target_rate if heard else 0.0 * self._target_rate
        acceleration: Array = omega * (
            omega * (target - self.strokes) + 2.0 * settings.damping * (target_rate - self.rates)
        )
        return acceleration


def _within(values: Array, lower: Array | float, upper: Array | float) -> Array:
    """Clip; numpy's own spends most of its time on its arguments, and this runs in every cycle."""
    clipped: Array = np.minimum(np.maximum(values, lower), upper)
    return clipped
