# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""Covariances and intervals that hold when the residuals are coloured.

An estimate that solves normal equations with a design A errs by :math:`P^{-1} A^\top e`, so its
covariance is :math:`P^{-1} A^\top \Sigma A P^{-1}`. Filters, drives and sampling make
:math:`\Sigma` anything but a multiple of the unit matrix: a low-pass that leaves a tenth of the
band makes textbook intervals three times too short. Here :math:`\Sigma` is taken as what it is for
a stationary disturbance, one Toeplitz matrix per pair of actuators, from the residuals' own
correlations: all samples share in estimating a few dozen lags. Pairs count where they are more
than chance, for what shakes all legs at once (a floor, a supply) is one disturbance and not six,
and looks like a mass. HAC estimators must instead estimate products of regressors and residuals,
of which ten seconds hold few independent ones, and cover too rarely for it; a bootstrap of blocks
has the same trouble and takes a thousand times longer. The window is flat-topped, its length
chosen by the rule of Politis (2003), and a spectrum that has a negative part, as a matrix of
actuators, loses it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import chdtrc, ndtri
from stewart_kinematics.motion import Array

CLEAR = 2.0
"""Autocorrelations below this many standard deviations count as nothing (Politis)."""

LEAST_SHARE = 0.1
"""Of the variance that slow noise cannot fall below."""

CHANCE = 0.01
"""Probability with which independent actuators are taken for such as share a disturbance."""

BLOCK = 4096
"""Frequencies at once, of long recordings."""

QUIET_LAGS = 5
"""So many of them in a row end the autocorrelation."""


def grid(stamps: Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return each sample's place on a uniform grid, shape (n,): gaps keep their length."""
    if len(stamps) < 2:
        return np.zeros(len(stamps), dtype=np.int64)
    steps = np.diff(stamps)
    counts = np.maximum(np.rint(steps / np.median(steps)), 1.0)
    # A pause of hours is as good as one of a thousand samples: nothing correlates across.
    if counts.sum() > 4 * len(stamps) + 4000:
        counts = np.minimum(counts, 1000.0)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def crosscovariance(residuals: Array, present: Array, lags: int) -> Array:
    """Return mean products of a signal so many samples after another, shape (lags + 1, m, m).

    Args:
        residuals (n, m): Zero where absent.
        present (n, m): 1 where there is a value, else 0.
        lags: How many lags beside zero.
    """
    size = next_fast_len(len(residuals) + lags + 1, real=True)
    of_values, of_pairs = (rfft(item, size, axis=0) for item in (residuals, present))
    found = np.zeros((lags + 1, residuals.shape[1], residuals.shape[1]))
    for later in range(residuals.shape[1]):
        sums, counts = (
            irfft(item[:, later, None] * item.conj(), size, axis=0)[: lags + 1]
            for item in (of_values, of_pairs)
        )
        found[:, later] = sums / np.maximum(counts, 1.0)
    return found


def bandwidth(covariance: Array, count: int) -> int:
    """Return how many lags of autocovariances, shape (lags + 1, m), of `count` samples matter.

    After these, `QUIET_LAGS` in a row are indistinguishable from zero, pooled over the series.
    """
    total = covariance.sum(axis=1)
    if not total[0] > 0.0:
        return 0
    share = covariance / np.maximum(covariance[0], 1e-300)
    pooled = np.abs(share.mean(axis=1))
    limit = CLEAR * np.sqrt(np.log10(max(count, 10)) / (count * covariance.shape[1]))
    quiet = pooled[1:] < limit
    run = 0
    for lag, is_quiet in enumerate(quiet, 1):
        run = run + 1 if is_quiet else 0
        if run == QUIET_LAGS:
            return lag - QUIET_LAGS
    return len(quiet)


def _stationary(residuals: Array, stamps: Array, used: int) -> tuple[Array, Array]:
    """Give covariances of residuals as far as they are more than chance, shape (lags + 1, m, m).

    Corrected for the `used` parameters that have made the residuals smaller than the errors. The
    second array, shape (lags + 1,), is the window that is in them.
    """
    places = grid(stamps)
    length, actuators = int(places[-1]) + 1, residuals.shape[1]
    present = np.zeros((length, actuators))
    present[places] = np.isfinite(residuals)
    series = np.zeros((length, actuators))
    series[places] = np.nan_to_num(residuals)
    lags = min(length // 4, 400)
    covariance = crosscovariance(series, present, lags)
    chosen = bandwidth(_own(covariance), max(len(stamps), 1))
    # Flat-topped: 1 up to the chosen lag, then down to 0 at twice that.
    window = np.clip(2.0 - np.arange(lags + 1) / max(chosen, 0.5), 0.0, 1.0)
    count = int(np.count_nonzero(np.isfinite(residuals)))
    grown = covariance * window[:, None, None] * (count / max(count - used, 1))
    return np.asarray(grown), window


def _own(covariance: Array) -> Array:
    """Return the autocovariances, shape (lags + 1, m)."""
    return np.einsum('kaa->ka', covariance)


def slow_noise(residuals: Array, stamps: Array, used: int) -> Array:
    """Give the white noise that blurs slow signals as much as coloured residuals do.

    Neighbours that share an error count as less than two samples. For a motion that is slow beside
    the errors' correlation it is the sum over all lags that matters; of white residuals that is
    their variance.

    Args:
        residuals (n, m): What a fit left; NaN where absent.
        stamps (n,): Of the samples [s].
        used: Parameters that were fitted.

    Returns:
        (m,): Standard deviations per sample; 0 where there are no residuals.
    """
    covariance = _own(_stationary(residuals, stamps, used)[0])
    variance = covariance[0]
    # What filters and drives do to the errors is the same for all actuators.
    sums = 1.0 + 2.0 * covariance[1:].sum(axis=0) / np.maximum(variance, 1e-300)
    share = max(float(sums[variance > 0.0].mean()), LEAST_SHARE) if variance.any() else 1.0
    return np.asarray(np.sqrt(share * variance))


def independent(residuals: Array, stamps: Array, used: int) -> float:
    """Return of how many independent values residuals, shape (n, m), are worth in their variance.

    Args:
        residuals (n, m): NaN where absent.
        stamps (n,): Of the samples [s].
        used: Parameters that were fitted.
    """
    covariance = _own(_stationary(residuals, stamps, used)[0])
    known = covariance[0] > 0.0
    share = covariance[1:, known] / covariance[0, known]
    counts = np.isfinite(residuals).sum(axis=0)[known]
    return max(float(np.sum(counts / (1.0 + 2.0 * np.sum(share**2, axis=0)))) - used, 1.0)


def middle(design: Array, residuals: Array, stamps: Array, used: int) -> Array:
    r"""Give :math:`A^\top \Sigma A`, shape (q, q), symmetric and positive semi-definite.

    Args:
        design (n, m, q): A; rows of absent forces are zero.
        residuals (n, m): What the fit left; NaN where absent.
        stamps (n,): Of the samples [s].
        used: Parameters that were fitted: the residuals are that much too small.
    """
    places = grid(stamps)
    length, actuators = int(places[-1]) + 1, residuals.shape[1]
    covariance, window = _stationary(residuals, stamps, used)
    if not _together(covariance, window, np.isfinite(residuals).sum(axis=0)):
        covariance = covariance * np.eye(actuators)
    lags = len(covariance) - 1
    size = next_fast_len(length + lags, real=True)
    columns = np.zeros((length, actuators, design.shape[2]))
    columns[places] = design
    spectrum = rfft(columns, size, axis=0)
    # Both halves of the spectrum: all but the first (and an even length's last) count twice.
    double = np.full(len(spectrum), 2.0)
    double[0] = 1.0
    if size % 2 == 0:
        double[-1] = 1.0
    root = _root(covariance, size) * np.sqrt(double / size)[:, None, None]
    total = np.zeros((design.shape[2], design.shape[2]))
    for begin in range(0, len(root), BLOCK):
        part = slice(begin, begin + BLOCK)
        mixed = (root[part] @ spectrum[part]).reshape(-1, len(total))
        flat = np.concatenate([mixed.real, mixed.imag])
        total += flat.T @ flat
    return total


def _together(covariance: Array, window: Array, counts: NDArray[np.int_]) -> bool:
    """Tell whether actuators share more than chance makes, once in 1 / `CHANCE` experiments.

    What chance makes of the pairs costs intervals their coverage: they are estimated as well.

    Args:
        covariance (lags + 1, m, m): Of one actuator so many samples after another.
        window (lags + 1,): That is in them.
        counts (m,): Of values.
    """
    known = np.flatnonzero(_own(covariance)[0] > 0.0)
    size = np.sqrt(_own(covariance)[0, known])
    share = covariance[:, known[:, None], known] / np.outer(size, size)
    pairs = np.triu_indices(len(known), 1)
    if not len(pairs[0]):
        return False
    # Over all lags, those to the other side as well.
    squares = np.sum(share**2, axis=0) + np.sum(share[1:] ** 2, axis=0).T
    alone = _own(share).mean(axis=1)
    lags = len(alone) - 1
    both = np.concatenate([alone[:0:-1], alone])
    # Correlations of independent series are correlated themselves, from lag to lag.
    linked = np.convolve(both, both)[lags : 3 * lags + 1]
    weight = 2.0 * np.sum(window**2) - 1.0
    expected = linked[lags] * weight / counts[known].mean()
    freedoms = len(pairs[0]) * max(weight * linked[lags] ** 2 / np.sum(linked**2), 1.0)
    return bool(chdtrc(freedoms, freedoms * squares[pairs].mean() / expected) < CHANCE)


def _root(covariance: Array, size: int) -> NDArray[np.complex128]:
    """Return R of the spectrum R^H R of covariances, shape (size // 2 + 1, m, m).

    Args:
        covariance (lags + 1, m, m): Of one actuator so many samples after another.
        size: Of the Fourier transform.
    """
    lags = len(covariance) - 1
    wrapped = np.zeros((size, *covariance.shape[1:]))
    wrapped[: lags + 1] = covariance
    wrapped[size - lags :] = covariance[:0:-1].swapaxes(1, 2)
    values, vectors = np.linalg.eigh(rfft(wrapped, axis=0))
    # What is not positive semi-definite is no spectrum.
    rooted = np.sqrt(np.maximum(values, 0.0))[:, :, None] * vectors.conj().swapaxes(1, 2)
    return np.asarray(rooted, np.complex128)


def intervals(parameters: Array, sigmas: Array, level: float) -> Array:
    """Return the ends of symmetric intervals, shape (2, p), infinite where sigmas are.

    Args:
        parameters, sigmas (p,): Estimates and their standard deviations.
        level: Probability that an interval holds the true value.
    """
    reach = ndtri(0.5 + 0.5 * level) * sigmas
    return np.stack([parameters - reach, parameters + reach])
