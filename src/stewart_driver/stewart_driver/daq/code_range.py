# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Codes of a converter and the volts that they stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import Array

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class CodeRange:
    """A linear range: code 0 is its lower end, code `last` its upper one.

    Attributes:
        lower, upper: Ends [V].
        last: Largest code.

    Raises:
        ConfigurationError: If the range is empty or has less than two codes.
    """

    lower: float
    upper: float
    last: int

    def __post_init__(self) -> None:
        """Check."""
        if not self.lower < self.upper:
            raise ConfigurationError('range', (self.lower, self.upper), 'lower < upper')
        if self.last < 1:
            raise ConfigurationError('last code', self.last, 'at least 1')

    @property
    def step(self) -> float:
        """What one code stands for [V]."""
        return (self.upper - self.lower) / self.last

    def volts(self, codes: Codes) -> Array:
        """Return the voltages of some codes [V]."""
        return np.asarray(self.lower + self.step * codes)

    def codes(self, volts: Array) -> Codes:
        """Return the nearest codes of some voltages.

        Args:
            volts: Voltages [V].

        Returns:
            Codes.

        Raises:
            ConfigurationError: If one lies outside the range; nothing is clipped.
        """
        # Not "outside": a NaN is refused too.
        inside = (volts >= self.lower) & (volts <= self.upper)
        if not inside.all():
            worst = float(volts[~inside].flat[0])
            raise ConfigurationError('volts', worst, f'{self.lower:g} to {self.upper:g} V')
        return np.floor((volts - self.lower) / self.step + 0.5).astype(np.int64)

    def clipped(self, volts: Array) -> Array:
        """Return the voltages, those outside moved to the end that is nearer [V]."""
        return np.asarray(np.minimum(np.maximum(volts, self.lower), self.upper))

    def __str__(self) -> str:
        return f'{self.lower:g} to {self.upper:g} V'
