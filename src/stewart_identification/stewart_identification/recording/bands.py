# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Spectra of a band beyond all motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stewart_kinematics.motion import Array

Spectra = NDArray[np.complex128]
Cleaning = Callable[[int, int], Spectra]
"""Gives what motion does not explain of the spectrum of a window and a leg."""

STILL_FROM = 15.0
"""Above this a platform hardly moves [Hz]."""
BROAD, NEAR, LEAST = 4.0, 5.0 / 3.0, 1.25
"""Ends of the band that is looked at, of its part nearest the motion, and of the shortest one, in
units of its beginning."""
CYCLES, TAPER, STEPS = 38.4, 14.0, 4
"""Length of the windows, in periods of the beginning of the band, Kaiser's shape, and steps per
length: motion leaks by -105 dB, as encoders of a micrometre need."""
CLEAR = 4.0
"""Twice the gain of the log-likelihood from which on noise counts as filtered (2 sigma)."""
SLOPES = np.geomspace(1e-2, 1e4, 120)
"""Tried, of the line that the reciprocal of a filtered density is, beside what it is at 0 [-]."""


@dataclass(frozen=True)
class Band:
    """Frequencies beyond the motion.

    Attributes:
        low, high: Where it begins and ends [Hz].
        period: Of the samples that are looked at [s].
    """

    low: float
    high: float
    period: float

    @classmethod
    def beyond(
        cls, stopband: float, period: float, begins: Sequence[float] = (STILL_FROM,)
    ) -> Band | None:
        """Return the band of samples, None if they carry hardly more than the motion.

        It has the first of the beginnings that leaves a band.
        """
        for low in (*(max(begin, stopband) for begin in begins), stopband):
            if 0.5 / period >= LEAST * low:
                return cls(low, min(BROAD * low, 0.5 / period), period)
        return None

    @property
    def bins(self) -> Array:
        """Frequencies of the spectra, shape (f,) [Hz]."""
        return self._every[self._inside]

    @property
    def _length(self) -> int:
        return max(round(CYCLES / self.low / self.period), 2)

    @property
    def _every(self) -> Array:
        return np.asarray(np.fft.rfftfreq(self._length, self.period), dtype=np.float64)

    @property
    def _inside(self) -> NDArray[np.bool_]:
        """Which bins of a window's spectrum are in the band."""
        return np.asarray((self._every >= self.low) & (self._every < self.high), dtype=np.bool_)

    @property
    def next_to_motion(self) -> tuple[float, float, float]:
        """Beginning of the part nearest the motion, its end, and that of the next one [Hz]."""
        middle = min(NEAR * self.low, float(np.sqrt(self.low * self.high)))
        return self.low, middle, min(NEAR**2 * self.low, self.high)

    def values(self, parts: Sequence[Array]) -> float:
        """Return how many independent values the windows of signals hold: as their steps do."""
        samples = 0
        for part in parts:
            length = min(self._length, len(part))
            step = max(length // STEPS, 1)
            samples += step * ((len(part) - length) // step + 1)
        return 2.0 * (self.high - self.low) * samples * self.period

    def near(self, density: Array) -> Array:
        """Return the mean of a density, shape (f, ...), over the part nearest the motion."""
        return np.asarray(density[self.bins <= self.next_to_motion[1]].mean(axis=0))

    def following(self, density: Array) -> Array:
        """Return the mean of a density, shape (f, ...), over the next part."""
        _, begin, end = self.next_to_motion
        return np.asarray(density[(self.bins > begin) & (self.bins <= end)].mean(axis=0))

    def spectra(self, values: Array) -> Iterator[Spectra]:
        """Yield the spectrum of each window of signals, (n, m), shape (f, m).

        The mean of their squared magnitudes is the density, per hertz and one-sided.
        """
        length = min(self._length, len(values))
        taper = np.kaiser(length, TAPER)
        taper *= np.sqrt(2.0 * self.period / np.sum(taper**2))
        inside = self._inside
        step = max(length // STEPS, 1)
        for begin in range(0, len(values) - length + 1, step):
            part = values[begin : begin + length]
            tapered = taper[:, None] * (part - part.mean(axis=0))
            yield np.asarray(np.fft.rfft(tapered, self._length, axis=0)[inside], np.complex128)


def density_of(windows: Sequence[Spectra], clean: Cleaning | None = None) -> Array:
    """Return the mean density of windows, shape (f, m); NaN where a signal has no whole one."""
    total = np.zeros_like(windows[0], dtype=float)
    count = np.zeros(len(total.T))
    for place, window in enumerate(windows):
        for signal in np.flatnonzero(np.isfinite(window).all(axis=0)):
            left = window[:, signal] if clean is None else clean(place, int(signal))
            total[:, signal] += np.abs(left) ** 2
            count[signal] += 1.0
    return np.asarray(total / np.where(count > 0.0, count, np.nan))


def first_order(shape: Array, band: Band, values: float) -> float:
    """Return the density at 0 of noise behind a filter of first order, of its shape (f,), mean 1.

    It is 1 where `values` independent values do not tell it from white noise.
    """
    turn = 1.0 - np.cos(2.0 * np.pi * band.bins * band.period)
    falling = 1.0 / (1.0 + np.outer(SLOPES, turn))
    levels = np.mean(shape / falling, axis=1)
    gains = -np.log(levels) - np.mean(np.log(falling), axis=1)
    best = int(np.argmax(gains))
    if values * gains[best] < CLEAR:
        return 1.0
    return float(levels[best])
