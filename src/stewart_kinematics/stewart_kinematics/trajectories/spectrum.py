# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Wave spectra, and random seas drawn from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Array
from stewart_kinematics.trajectories.trajectory import positive
from stewart_kinematics.trajectories.waves import AiryWave

Bins = Literal['equal_energy', 'equal_frequency']

MOST_WAVES = 10_000  # more is a slip of the keyboard, and takes hours

_GRID = 20_001


@dataclass(frozen=True)
class Jonswap:
    r"""JONSWAP spectrum; with a peak enhancement of 1 the Pierson–Moskowitz spectrum.

    .. math::

       S(\omega) = C \tfrac{5}{16} H_s^2 \omega_p^4 \omega^{-5}
       e^{-\frac54(\omega_p/\omega)^4} \gamma^r, \quad
       r = e^{-(\omega/\omega_p - 1)^2/2\sigma^2}, \quad \sigma = 0.07\ |\ 0.09

    with σ below and above the peak, and C such that :math:`H_s = 4\sqrt{m_0}` holds exactly.

    Attributes:
        significant_height: H_s [m].
        peak_period: T_p [s].
        peak_enhancement: γ, 1 to 10 [-].

    Raises:
        TrajectoryError: If a value is out of range.

    References:
        K. Hasselmann et al., Measurements of wind-wave growth and swell decay during the Joint
        North Sea Wave Project, Deutsche Hydrographische Zeitschrift A8 (12), 1973.
    """

    significant_height: float
    peak_period: float
    peak_enhancement: float = 3.3

    def __post_init__(self) -> None:
        positive('significant_height', self.significant_height, 'm')
        positive('peak_period', self.peak_period, 's')
        if not 1.0 <= self.peak_enhancement <= 10.0:
            raise TrajectoryError(f'peak_enhancement must be 1 to 10, got {self.peak_enhancement}')

    @property
    def peak_frequency(self) -> float:
        """Angular frequency of the peak [rad/s]."""
        return 2.0 * np.pi / self.peak_period

    def density(self, angular_frequency: ArrayLike) -> Array:
        """Return the one-sided density (...) of the elevation [m² s/rad] at ω > 0 [rad/s]."""
        ratio = np.asarray(angular_frequency, dtype=float) / self.peak_frequency
        moment = self.significant_height**2 / 16.0
        shape = 5.0 * ratio**-5 * np.exp(-1.25 * ratio**-4)
        density = moment / self.peak_frequency * shape * self._enhancement(ratio)
        return np.asarray(density / self._normalisation())

    def components(
        self,
        count: int,
        seed: int | np.random.Generator,
        *,
        bins: Bins = 'equal_energy',
        band: tuple[float, float] = (0.5, 3.0),
    ) -> tuple[AiryWave, ...]:
        """Draw a sea: deep-water waves in ascending frequency with random phases and frequencies.

        The band, lowest and highest frequency over the peak's, is cut into `count` bins, of equal
        energy or of equal width; each gives one wave with all its energy, at a frequency drawn at
        random inside it, so that the sea does not repeat. What lies outside the band is given to
        the waves inside: H_s stays what it is. The same seed gives the same sea.

        Raises:
            TrajectoryError: If `count`, `seed`, `bins` or `band` cannot be used, or a wave would
                break.
        """
        low, high = band
        if not 1 <= count <= MOST_WAVES:
            raise TrajectoryError(f'a sea is made of 1 to {MOST_WAVES} waves, got {count}')
        if not 0.0 < low < high < np.inf:
            raise TrajectoryError(f'band must ascend from above 0, got {low} to {high}')
        if isinstance(seed, int) and seed < 0:
            raise TrajectoryError(f'seed must be at least 0, got {seed}')
        rng = np.random.default_rng(seed)
        grid = np.linspace(low, high, _GRID) * self.peak_frequency
        energy = _cumulative(self.density(grid), grid)
        if bins == 'equal_energy':
            edges = np.linspace(0.0, 1.0, count + 1)
            frequency = np.interp(rng.uniform(edges[:-1], edges[1:]), energy, grid)
            share = np.diff(edges)
        elif bins == 'equal_frequency':
            borders = np.linspace(grid[0], grid[-1], count + 1)
            frequency = rng.uniform(borders[:-1], borders[1:])
            share = np.diff(np.interp(borders, grid, energy))
        else:
            raise TrajectoryError(f'bins must be equal_energy or equal_frequency, got {bins!r}')
        amplitude = np.sqrt(2.0 * share * self.significant_height**2 / 16.0)
        phase = rng.uniform(0.0, 2.0 * np.pi, count)
        return tuple(
            AiryWave.deep_water(float(a), float(2.0 * np.pi / w), float(p))
            for a, w, p in zip(amplitude, frequency, phase, strict=True)
        )

    def _enhancement(self, ratio: Array) -> Array:
        """Return the factor that raises the peak, before normalisation [-]."""
        width = np.where(ratio <= 1.0, 0.07, 0.09)
        exponent = np.exp(-0.5 * ((ratio - 1.0) / width) ** 2)
        return np.asarray(self.peak_enhancement**exponent)

    def _normalisation(self) -> float:
        """Return the energy the enhancement adds, as a factor [-]."""
        # The Pierson-Moskowitz spectrum has the cumulative energy exp(-5/4 ratio^-4): in that
        # variable the integral has the finite range (0, 1) and a weight of 1.
        middle = (np.arange(_GRID) + 0.5) / _GRID
        return float(self._enhancement((-0.8 * np.log(middle)) ** -0.25).mean())


def significant_height(components: tuple[AiryWave, ...]) -> float:
    r"""Return :math:`H_s = 4\sqrt{m_0}` of a sum of waves [m]."""
    return 4.0 * float(np.sqrt(sum(0.5 * wave.amplitude**2 for wave in components)))


def _cumulative(density: Array, grid: Array) -> Array:
    """Return the cumulative energy over a grid, from 0 to 1, by the trapezoidal rule."""
    steps = 0.5 * (density[1:] + density[:-1]) * np.diff(grid)
    total = np.concatenate([[0.0], np.cumsum(steps)])
    return np.asarray(total / total[-1])
