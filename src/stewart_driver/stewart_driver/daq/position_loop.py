# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The position loop for amplifiers that take a velocity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import Array, LEGS


@dataclass(frozen=True)
class LoopSettings:
    """
    How the loop is closed.

    Attributes
    ----------
    gain : float
        Rate per distance from the target [1/s].
    integral_time : float
        Time in which the integral grows by what the gain gives [s].
    rate_limit : float
        Largest rate that is asked for [m/s].

    Raises
    ------
    ConfigurationError
        If a value is not a positive number.

    """

    gain: float
    integral_time: float
    rate_limit: float

    def __post_init__(self) -> None:
        """Check."""
        for name in ('gain', 'integral_time', 'rate_limit'):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise ConfigurationError(name, value, 'a positive number')


class PositionLoop:
    r"""
    Six proportional-integral loops with the target's rate fed forward.

    .. math:: u = \operatorname{clip}(\dot q_t + K (q_t - q) + K / T \int (q_t - q)\,dt)

    The integral is what an amplifier's own offset needs. It rests while the rate is at its limit
    and the error would push it further (anti-windup by conditional integration).

    Parameters
    ----------
    settings : LoopSettings
        How it is closed.

    """

    def __init__(self, settings: LoopSettings) -> None:
        """Start without an integral."""
        self._settings = settings
        self._integral: Array = np.zeros(LEGS)

    def reset(self) -> None:
        """Forget the integral."""
        self._integral = np.zeros(LEGS)

    def rates(
        self,
        targets: Array,
        target_rates: Array,
        measured: Array,
        trusted: NDArray[np.bool_],
        elapsed: float,
    ) -> Array:
        """
        Return what the amplifiers shall do until the next call.

        Parameters
        ----------
        targets, target_rates : ndarray, shape (6,)
            Where the legs shall be [m], [m/s].
        measured : ndarray, shape (6,)
            Where they are [m].
        trusted : ndarray of bool, shape (6,)
            Legs whose sensor is believed; the others coast on the target's rate.
        elapsed : float
            Time since the last call [s].

        Returns
        -------
        ndarray, shape (6,)
            Rates [m/s].

        """
        settings = self._settings
        limit = settings.rate_limit
        errors = np.where(trusted, targets - measured, 0.0)
        # What a false reading has wound up would go on pushing.
        self._integral = np.where(trusted, self._integral, 0.0)
        asked = target_rates + settings.gain * errors + self._integral
        rates: Array = np.minimum(np.maximum(asked, -limit), limit)
        further = (asked != rates) & (np.sign(errors) == np.sign(asked))
        growth = settings.gain / settings.integral_time * errors * elapsed
        self._integral = np.where(further, self._integral, self._integral + growth)
        return rates
