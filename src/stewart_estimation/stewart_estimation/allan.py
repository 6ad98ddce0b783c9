# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""Noise of an IMU from a recording at rest: overlapping Allan deviation.

With :math:`\theta_k` the integral of the samples and :math:`\tau = m \tau_0` (IEEE Std 952, Riley
2008, Eq. 11)

.. math::

    \sigma^2(\tau) = \frac{1}{2 \tau^2 (N - 2m)}
        \sum_k (\theta_{k+2m} - 2 \theta_{k+m} + \theta_k)^2 .

To it is fitted :math:`3 Q^2/\tau^2 + N^2/\tau + (2 \ln 2/\pi) B^2 + K^2 \tau/3`: quantisation,
white noise of density N, bias instability B and random walk K. A sensor's low pass correlates the
samples: short averages then say too little noise, and the fit begins beyond them, without Q.

Where a share p of the samples is lost, an average over m periods holds :math:`n = m (1 - p)` of
them, wherever they are missing. Its variance is that of all m and, as samples are lost at random,
:math:`p R_0/n` of the variance :math:`R_0` of one sample; this is taken off. Nothing is put in:
interpolated linearly each lost one would raise :math:`N^2` by 1.5 p of itself.

References:
    IEEE Std 952-1997, annex C. Riley, Handbook of Frequency Stability Analysis, NIST SP 1065
    (2008), sections 5.2.4 (estimator) and 5.4.1 (degrees of freedom, white frequency noise).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import label, maximum_position, median_filter
from scipy.optimize import nnls
from scipy.stats import chi2
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.motion import Array

FLICKER = np.sqrt(2.0 * np.log(2.0) / np.pi)
"""The flat part of an Allan deviation over the bias instability, 0.664."""

PER_DECADE = 10
LEAST_SAMPLES = 200
GAP = 1.5
"""Samples, in periods, that are missing in a gap."""
AROUND, MEAN_OVER = 10, 200
"""Samples on each side of a median of stamps, and those over which a period is measured."""
ROUNDS = 10
"""The weights of the fit follow the fitted curve; it has settled after so many rounds."""
RISE = 0.15
"""Of τσ² from one τ to its double, where noise is not white: a correlation of 0.1 at lag one."""
BEYOND = 4
"""Averages are so many times longer than where τσ² last rose that much: N is right to"""
ROUGH = 0.03
"""this share [-]."""
SHARED = 1.6
"""Standard deviation of N over that of the averages which tell it, for quantisation and
instability are told by them, too, and make up for part of N: 1.3 to 1.8 in simulations."""
BRIDGED = 0.2
"""Share of lost samples that is allowed for; with more a period is no longer sure."""
UNEVEN, MOST_UNEVEN = 0.25, 0.01
"""Periods from a whole number of them, of so many steps at most where what is lost is counted."""
FLOOR = 1e-3
"""Share of a variance that is left at least when what loss adds is taken off."""
BLOCK = 16
"""Samples, or those that correlate, over which a single one scatters about its mean."""


@dataclass(frozen=True, eq=False)
class AllanDeviation:
    """Allan deviation of one channel.

    Attributes:
        tau (m,): Averaging times [s].
        deviation, lower, upper (m,): In the unit of the samples, with its interval.
        freedom (m,): Degrees of freedom of the square of the deviation.
        density: White noise, unit times √s; of one sample it is ``density / √period``.
        density_error: Standard deviation of the density, wider where the curve does not fit; where
            no averages are white noise for the most part, a bound of it.
        white_from: Shortest averages that are fitted [s]: one sample, or beyond the correlation.
        instability, instability_tau: Lowest deviation / 0.664 and where it is found [s].
        reached: Whether that is a minimum; else the recording was too short and it is a bound.
        walk: Random walk, unit per √s; 0 where the recording shows none.
    """

    tau: Array
    deviation: Array
    lower: Array
    upper: Array
    freedom: Array
    density: float
    density_error: float
    white_from: float
    instability: float
    instability_tau: float
    reached: bool
    walk: float

    def curve(self) -> Array:
        """Return the white part of the deviation, shape (m,)."""
        return np.asarray(self.density / np.sqrt(self.tau))


def overlapping(samples: ArrayLike, period: float, sizes: NDArray[np.int64]) -> Array:
    """Return the overlapping Allan deviation.

    Args:
        samples (n,): Evenly spaced.
        period: Time between two of them [s].
        sizes (m,): Samples in an average, each below n / 2.

    Returns:
        (m,): In the unit of the samples.
    """
    values = np.asarray(samples, dtype=np.float64)
    # The mean changes nothing but the rounding of the sums.
    theta = np.concatenate([[0.0], np.cumsum(values - values.mean())]) * period
    found = []
    for size in sizes.tolist():
        second = theta[2 * size :] - 2.0 * theta[size:-size] + theta[: -2 * size]
        found.append(np.sqrt(np.mean(second**2) / 2.0) / (size * period))
    return np.array(found)


def degrees_of_freedom(count: int, sizes: NDArray[np.int64]) -> Array:
    """Return those of the Allan variances (m,) of so many samples of white noise (Riley 5.4.1)."""
    free = 3.0 * (count - 1) / (2.0 * sizes) - 2.0 * (count - 2) / count
    return np.asarray(np.maximum(free * 4.0 * sizes**2 / (4.0 * sizes**2 + 5.0), 1.0))


def allan_deviation(
    samples: ArrayLike, period: float, *, lost: float = 0.0, confidence: float = 0.95
) -> AllanDeviation:
    """Find the noise of one channel at rest.

    Args:
        samples (n,): Evenly spaced, apart from those that are lost and not among them.
        period: Time between two of them [s].
        lost: Share of all samples that is lost, at random and below 1.
        confidence: Of the interval of each deviation [-].

    Raises:
        ConfigurationError: If there are fewer than `LEAST_SAMPLES`, a sample is not finite, or
            they do not change.
    """
    values = np.asarray(samples, dtype=np.float64)
    if values.size < LEAST_SAMPLES:
        raise ConfigurationError('samples at rest', values.size, f'{LEAST_SAMPLES} or more')
    if not np.all(np.isfinite(values)):
        raise ConfigurationError('samples at rest', 'a value that is not finite', 'finite values')
    if np.ptp(values) == 0.0:
        raise ConfigurationError('samples at rest', values[0], 'values that change')
    largest = values.size // 4
    steps = int(np.ceil(PER_DECADE * np.log10(largest))) + 1
    sizes = np.unique(np.geomspace(1.0, largest, steps).round().astype(np.int64))
    first, spacing = _first_white(values), period / (1.0 - lost)
    deviation = overlapping(values, spacing, sizes)
    freedom = degrees_of_freedom(values.size, sizes)
    if lost:
        kept = 1.0 - lost * _scatter(values, max(first, BLOCK)) / (sizes * deviation**2)
        # What remains of two large figures is as uncertain as they were.
        kept = np.maximum(kept, FLOOR)
        deviation, freedom = deviation * np.sqrt(kept), np.maximum(freedom * kept**2, 1.0)
    half, tau = 0.5 * (1.0 - confidence), np.asarray(sizes * spacing, dtype=np.float64)
    lower, upper = (
        deviation * np.sqrt(freedom / chi2.ppf(part, freedom)) for part in (1.0 - half, half)
    )
    used = sizes >= first
    terms, parts = _fitted(tau[used], deviation[used] ** 2, freedom[used], first == 1)
    density, walk = np.sqrt(terms[[1, 3]])
    # The density is as certain as the averages that are white noise for the most part.
    model = parts.sum(axis=1)
    white = parts[:, 1] > 0.5 * model
    if white.any():
        missed = np.mean((deviation[used] ** 2 / model - 1.0) ** 2 * freedom[used] / 2.0)
        error = SHARED * np.sqrt(max(missed, 1.0) / (2.0 * freedom[used][white].max()))
        error = density * np.hypot(error, ROUGH * (first > 1))
    else:
        error = np.sqrt((tau * deviation**2).min())
    lowest = int(np.argmin(deviation))
    return AllanDeviation(
        tau,
        deviation,
        lower,
        upper,
        freedom,
        float(density),
        float(error),
        float(tau[used][0]),
        float(deviation[lowest] / FLICKER),
        float(tau[lowest]),
        bool(np.any(lower[lowest:] > deviation[lowest])),
        float(walk),
    )


def _scatter(values: Array, size: int) -> float:
    """Return the variance of a sample about the mean of so many, which a walk hardly adds to."""
    size = min(size, values.size)
    blocks = values[: values.size // size * size].reshape(-1, size)
    return float(blocks.var(axis=1, ddof=1).mean())


def _first_white(values: Array) -> int:
    """Return from how many samples on the averages are white: 1 if the samples are, or unclear."""
    sizes = 2 ** np.arange(int(np.log2(values.size // 4)) + 1)
    level = sizes * overlapping(values, 1.0, sizes) ** 2
    rise = level[1:] / level[:-1] - 1.0
    flat = np.flatnonzero(rise < RISE)
    # The rise of white samples has a standard deviation of 1.5 / sqrt(n).
    if rise[0] < RISE + 4.5 / np.sqrt(values.size) or not flat.size:
        return 1
    return int(min(BEYOND * sizes[flat[0]], values.size // 16))


def _fitted(tau: Array, variance: Array, freedom: Array, quantised: bool) -> tuple[Array, Array]:
    """Fit the four squares, none below zero; return them and their parts, (m, 4)."""
    columns = np.column_stack([3.0 / tau**2, 1.0 / tau, np.full(tau.size, FLICKER**2), tau / 3.0])
    columns[:, 0] *= quantised
    model = variance
    for _ in range(ROUNDS):
        # Variance of an Allan variance: 2 σ⁴ / degrees of freedom.
        weight = np.sqrt(freedom / 2.0) / model
        scale = np.maximum(np.linalg.norm(columns * weight[:, None], axis=0), 1e-300)
        found, _ = nnls(columns * weight[:, None] / scale, variance * weight)
        terms = found / scale
        model = np.maximum(columns @ terms, 1e-6 * variance)
    return terms, columns * terms


def longest_stretch(stamps: Array) -> slice:
    """Return the longest part of ordered stamps (n,) without a gap.

    Stamps jitter, and several come at once. A gap is where samples are missing for good: from
    there on stamps, by their median, are `GAP` periods later than counted.
    """
    count, steps = len(stamps), np.diff(stamps)
    apart = min(MEAN_OVER, max(count // 8, 1))
    period = float(np.median(stamps[apart:] - stamps[:-apart])) / apart
    late = median_filter(stamps - period * np.arange(count), 2 * AROUND + 1, mode='reflect')
    shift, judged = np.zeros(steps.size), count - 2 * AROUND - 1
    if judged > 0:
        shift[AROUND : AROUND + judged] = late[2 * AROUND + 1 :] - late[:judged]
    # The medians differ from some samples before a gap to some after; its step is the longest.
    places, number = label(shift > GAP * period)
    longest = maximum_position(steps, places, range(1, number + 1)) if number else []
    wide = np.flatnonzero(~((steps >= 0.0) & (steps <= 2 * AROUND * period)))
    breaks = np.union1d(np.array(longest, np.int64).ravel(), wide) + 1
    edges = np.concatenate([[0], breaks, [count]]).astype(np.int64)
    best = int(np.argmax(np.diff(edges)))
    return slice(int(edges[best]), int(edges[best + 1]))


def bridged_stretch(stamps: Array) -> tuple[slice, int] | None:
    """Return the longest part of ordered stamps (n,) without a wide gap, and what it has lost.

    Returns:
        The part and the number of samples that single gaps in it, of up to 2 `AROUND` periods,
        have swallowed. None where stamps jitter too much to tell, or more than `BRIDGED` is lost.
    """
    steps = np.diff(stamps)
    period = float(np.median(steps))
    if not period > 0.0:
        return None
    whole = np.maximum(np.round(steps / period), 1.0)
    near = whole <= 2 * AROUND
    if not near.any():
        return None
    # The median of steps that jitter is rougher than their mean.
    period = float(steps[near].sum() / whole[near].sum())
    if np.mean(np.abs(steps[near] / period - whole[near]) > UNEVEN) > MOST_UNEVEN:
        return None
    edges = np.concatenate([[0], np.flatnonzero(~near) + 1, [len(stamps)]])
    best = int(np.argmax(np.diff(edges)))
    begin, end = int(edges[best]), int(edges[best + 1])
    periods = int(whole[begin : end - 1].sum())
    lost = periods + 1 - (end - begin)
    return (slice(begin, end), lost) if lost <= BRIDGED * (periods + 1) else None
