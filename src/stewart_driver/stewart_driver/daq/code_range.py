# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Codes of a converter and the volts that they stand for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import Array

Codes = NDArray[np.int64]


class CodeRange(NamedTuple):
    """A linear range: code 0 is its lower end, code `last` its upper one [V]."""

    lower: float
    upper: float
    last: int

    @property
    def step(self) -> float:
        """What one code stands for [V]."""
        return (self.upper - self.lower) / self.last

    def volts(self, codes: Codes) -> Array:
        """Return the voltages of some codes [V]."""
        return np.asarray(self.lower + self.step * codes)

    def codes(self, volts: Array) -> Codes:
        """Return the nearest codes of some voltages [V].

        Raises:
            ConfigurationError: If one lies outside the range; nothing is clipped.
        """
        # Not "outside": a NaN is refused too.
        inside = (volts >= self.lower) & (volts <= self.upper)
        if not inside.all():
            worst = float(volts[~inside].flat[0])
            raise ConfigurationError('volts', worst, str(self))
        return np.floor((volts - self.lower) / self.step + 0.5).astype(np.int64)

    def clipped(self, volts: Array) -> Array:
        """Return the voltages, those outside moved to the end that is nearer [V]."""
        return np.asarray(np.minimum(np.maximum(volts, self.lower), self.upper))

    def __str__(self) -> str:
        return f'{self.lower:g} to {self.upper:g} V'
