# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six legs: their names on every topic and what they may do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, tau

import numpy as np
from numpy.typing import ArrayLike, NDArray
from stewart_driver.errors import ConfigurationError, HomingError

Array = NDArray[np.float64]

LEGS = 6
ALL_LEGS = (1 << LEGS) - 1
"""One bit per leg."""
STANDSTILL = 2e-3
"""Slower than this is at rest: more than the noise of measured rates [m/s]."""
# Legs at rest may stand this far beyond an end of their stroke [m], and move from there where that
# is no larger part of the stroke than this.
END_MARGIN, END_SHARE = 5e-3, 1.0 / 30.0
LEG_NAMES = tuple(f'leg_{leg}' for leg in range(1, LEGS + 1))


def read_only(values: ArrayLike) -> Array:
    """Return a read-only float64 copy of `values`."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class LegLimits:
    """What the drives may do with the legs.

    Attributes:
        stroke_lower, stroke_upper (6,): Ends of the stroke, legs 1 to 6 [m].
        rate: Largest rate of any leg [m/s].
        acceleration: Largest acceleration of any leg [m/s²].
    """

    stroke_lower: Array
    stroke_upper: Array
    rate: float
    acceleration: float

    def __post_init__(self) -> None:
        for name in ('stroke_lower', 'stroke_upper'):
            array = read_only(getattr(self, name))
            if array.shape != (LEGS,) or not np.all(np.isfinite(array)):
                raise ConfigurationError(name, array.tolist(), 'six finite numbers [m]')
            object.__setattr__(self, name, array)
        if np.any(self.stroke_lower >= self.stroke_upper):
            raise ConfigurationError(
                'stroke_upper',
                self.stroke_upper.tolist(),
                f'more than stroke_lower {self.stroke_lower.tolist()} for every leg',
            )
        for name in ('rate', 'acceleration'):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise ConfigurationError(name, value, 'a positive number')

    @classmethod
    def alike(cls, lower: float, upper: float, rate: float, acceleration: float) -> LegLimits:
        """Return the limits of six legs with the same ends of stroke [m]."""
        return cls(np.full(LEGS, lower), np.full(LEGS, upper), rate, acceleration)

    def beyond(self, strokes: Array) -> Array:
        """Return how far strokes are beyond the nearer end, negative inside, (…, 6) [m]."""
        return np.maximum(self.stroke_lower - strokes, strokes - self.stroke_upper)

    @property
    def outside(self) -> Array:
        """How far beyond an end each leg may stand and yet move inside (6,) [m]."""
        return np.minimum(END_MARGIN, END_SHARE * (self.stroke_upper - self.stroke_lower))

    def within(self, lower: float, upper: float) -> LegLimits:
        """Return the limits without what of the strokes is beyond other ends [m].

        Raises:
            ConfigurationError: If nothing is left.
        """
        return replace(
            self,
            stroke_lower=np.maximum(self.stroke_lower, lower),
            stroke_upper=np.minimum(self.stroke_upper, upper),
        )

    def narrowed(
        self, *, rate: float | None = None, acceleration: float | None = None
    ) -> LegLimits:
        """Return the limits with a lower rate [m/s] or acceleration [m/s²].

        Raises:
            ConfigurationError: If a value is above the present limit: what the drives may do is
                never widened here.
        """
        for key, value, limit in (
            ('rate_limit', rate, self.rate),
            ('acceleration_limit', acceleration, self.acceleration),
        ):
            if value is not None and not 0.0 < value <= limit:
                raise ConfigurationError(
                    key, value, f'a positive number not above {limit:g}, the limit of the back end'
                )
        return replace(
            self, rate=rate or self.rate, acceleration=acceleration or self.acceleration
        )


def smoothed(
    rates: Array, before: Array, strokes: Array, elapsed: float, bandwidth: float
) -> Array:
    """Return rates behind a low pass of first order, out of two readings of strokes (6,).

    Args:
        rates (6,): Those after the reading before [m/s].
        before, strokes (6,): Reading before, and new one [m].
        elapsed: Time between the two [s]; where none has passed the rates stay.
        bandwidth: Corner frequency [Hz].
    """
    if elapsed <= 0.0:
        return rates
    share = 1.0 - exp(-tau * bandwidth * elapsed)
    return rates + share * ((strokes - before) / elapsed - rates)


def require_rest(strokes: Array, rates: Array, limits: LegLimits) -> None:
    """Raise `HomingError` if a leg moves, or stands where no absolute stroke can be."""
    leg = int(np.abs(rates).argmax())
    if abs(rates[leg]) > STANDSTILL:
        raise HomingError(f'leg {leg + 1} moves at {rates[leg]:.4f} m/s while homing')
    beyond = limits.beyond(strokes)
    leg = int(beyond.argmax())
    if beyond[leg] > END_MARGIN:
        raise HomingError(f'leg {leg + 1} stands {beyond[leg]:.4f} m outside its stroke')
