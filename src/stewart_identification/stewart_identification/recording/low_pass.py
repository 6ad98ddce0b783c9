# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""A zero-phase low-pass and its first two derivatives, for uniformly sampled signals.

The kernel is the ideal low-pass under a Blackman window, both written as cosine series on the
support :math:`[-T, T]`, :math:`h(t) = \sum_k c_k \cos(k \pi t / T)`. Its derivatives are exact, so
value, rate and acceleration have one and the same response :math:`H(\omega)`, times
:math:`(j\omega)^n`, and being symmetric they have no lag. Edges are not invented: the result is
shorter than the signal by `half_width` samples on either side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy  # its part for signals is loaded at the first use, and takes 0.5 s
from stewart_identification.errors import UnusableRecording
from stewart_kinematics.motion import Array

BLACKMAN = (0.42, 0.25, 0.04)
"""Blackman's window, as coefficients of exp(j k pi t / T), k = 0, 1, 2."""

SHARPER, CARRIED = 6.0, 0.15
"""Pass band in which directions are seen, in units of the derivatives' and of the sampling rate:
the less of both."""

MAIN_LOBE = 3.0
"""Half the width of the window's main lobe, in units of 1 / (2 T)."""


@dataclass(frozen=True)
class LowPass:
    """A low-pass for one sampling period.

    Attributes:
        period: Of the samples [s].
        passband: Up to here signals pass unchanged, within `ripple` [Hz].
        stopband: From here on they are gone [Hz].

    Raises:
        UnusableRecording: If the samples are too far apart for the stop band.
    """

    period: float
    passband: float
    stopband: float

    def __post_init__(self) -> None:
        """Compare the stop band with what the samples can carry."""
        if not 0.0 < self.passband < self.stopband:
            raise UnusableRecording(
                f'a low-pass needs 0 < passband < stopband, got {self.passband:.6g} Hz and '
                f'{self.stopband:.6g} Hz'
            )
        if self.stopband * self.period > 0.5:
            raise UnusableRecording(
                f'samples every {1e3 * self.period:.4g} ms carry {0.5 / self.period:.4g} Hz at '
                f'most, derivatives with a pass band of {self.passband:.4g} Hz need '
                f'{self.stopband:.4g} Hz'
            )

    @cached_property
    def half_width(self) -> int:
        """How many samples are lost at either end."""
        support = MAIN_LOBE / (self.stopband - self.passband)
        return int(np.ceil(support / self.period))

    @cached_property
    def kernels(self) -> Array:
        """Kernels of value, rate and acceleration, shape (3, 2 half_width + 1) [1, 1/s, 1/s²]."""
        half = self.half_width
        support = half * self.period
        cut = 0.5 * (self.passband + self.stopband)
        count = int(np.ceil(2.0 * support * cut)) + 1
        # The ideal low-pass under a rectangular window, sampled in frequency, then convolved
        # with the window's spectrum.
        time = np.asarray(self.period * np.arange(-half, half + 1), dtype=np.float64)
        fine = np.linspace(-support, support, 64 * count + 1)
        window = sum(
            (1 if k == 0 else 2) * a * np.cos(k * np.pi * fine / support)
            for k, a in enumerate(BLACKMAN)
        )
        shape = 2.0 * cut * np.sinc(2.0 * cut * fine) * window
        k = np.arange(count + len(BLACKMAN) + 2)
        angle = np.pi * np.outer(k, fine) / support
        weights = np.full(fine.size, fine[1] - fine[0])
        weights[[0, -1]] *= 0.5
        series = (np.cos(angle) * shape) @ weights / support
        series[0] *= 0.5
        wave = np.pi * k / support
        phase = np.outer(time, wave)
        value = np.cos(phase) @ series
        rate = -np.sin(phase) @ (wave * series)
        acceleration = -np.cos(phase) @ (wave**2 * series)
        # At its ends the window has a curvature left: a sum over samples is a trapezoidal rule.
        acceleration[[0, -1]] *= 0.5
        return self._normalised(time, value, rate, acceleration)

    def _normalised(self, time: Array, value: Array, rate: Array, acceleration: Array) -> Array:
        """Make constants, ramps and parabolas pass exactly."""
        value = value / value.sum()
        rate = rate / -(rate @ time)
        acceleration = acceleration - acceleration.sum() * value
        acceleration = acceleration * (2.0 / (acceleration @ time**2))
        kernels = np.stack([value, rate, acceleration])
        kernels.setflags(write=False)
        return kernels

    def apply(self, values: Array, *, derivatives: int = 0) -> Array:
        """Filter signals.

        Args:
            values (n, m): Samples.
            derivatives: How many derivatives are wanted beside the value, 0 to 2.

        Returns:
            (derivatives + 1, n - 2 half_width, m): Value, rate and acceleration at the inner
            samples.

        Raises:
            UnusableRecording: If there are not more than 2 half_width samples.
        """
        rows = np.asarray(values, dtype=float)
        if rows.shape[0] <= 2 * self.half_width:
            raise UnusableRecording(
                f'derivatives need more than {2 * self.half_width} samples '
                f'({2e3 * self.half_width * self.period:.0f} ms), there are {rows.shape[0]}'
            )
        # Far from zero, as leg lengths are, differences would lose digits.
        middle = rows.mean(axis=0)
        kernels = self.kernels[: derivatives + 1]
        out = np.stack(
            [
                scipy.signal.oaconvolve(rows - middle, kernel[:, None], 'valid', axes=0)
                for kernel in kernels
            ]
        )
        out[0] += middle
        return out

    def response(self, frequency: Array, derivative: int = 0) -> Array:
        """Return what becomes of sines, as a factor of the true derivative, shape (k,).

        Args:
            frequency (k,): Above 0 where `derivative` is [Hz].
            derivative: 0, 1 or 2.
        """
        time = self.period * np.arange(-self.half_width, self.half_width + 1)
        omega = 2.0 * np.pi * np.asarray(frequency)
        answer = np.exp(-1j * np.outer(omega, time)) @ self.kernels[derivative]
        return np.asarray(answer / (1j * omega) ** derivative)

    @cached_property
    def sharper(self) -> LowPass:
        """The low-pass for the rates in which dry friction changes its sign."""
        passband = min(SHARPER * self.passband, CARRIED / self.period)
        passband = max(passband, self.passband)
        return LowPass(self.period, passband, min(3.0 * passband, 0.5 / self.period))

    @cached_property
    def white_gain(self) -> float:
        """Standard deviation of filtered white noise of 1."""
        return float(np.linalg.norm(self.kernels[0]))

    @cached_property
    def ripple(self) -> float:
        """Largest deviation from 1 of the response of any derivative inside the pass band."""
        frequency = np.linspace(0.01, 1.0, 200) * self.passband
        return max(float(np.abs(self.response(frequency, n) - 1.0).max()) for n in range(3))

    def __str__(self) -> str:
        return (
            f'zero-phase Blackman-windowed low-pass, 0 lag, pass band {self.passband:.4g} Hz '
            f'within {self.ripple:.1e} for value, rate and acceleration, stop band from '
            f'{self.stopband:.4g} Hz, {1e3 * self.half_width * self.period:.0f} ms lost at '
            'either end'
        )
