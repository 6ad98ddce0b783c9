# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""Whether a filter is as good as it says: tests of its innovations.

If model and tuning are right, the innovations of leg :math:`i`, divided by their predicted
standard deviations, are white with mean 0 and variance 1, and the normalised innovation squared
(NIS) is :math:`\chi^2` with as many degrees of freedom as legs were used. Then every figure below
has a known distribution and with it an exact band. On a long recording that band becomes so
narrow that it catches what does not matter, so each figure also has a tolerated band; a test
holds inside either.

References:
    [1] Bar-Shalom, Li, Kirubarajan, Estimation with Applications to Tracking and Navigation,
       section 5.4.
    [2] Miletovic et al. 2017, section 4.3: about 95 % of the innovations inside two sigma.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from stewart_kinematics.errors import ConfigurationError, ShapeError
from stewart_kinematics.motion import Array

Band = tuple[float, float]

LEGS = 6
LAGS = 20
"""Lags over which whiteness is judged."""

TAIL = 0.01
"""Share of NIS values that may lie above their own quantile 1 - `TAIL`."""

LEAST_ROWS = 50
"""Fewer rows than this say nothing that would be worth a verdict."""

TOLERATED: dict[str, Band] = {
    'mean': (-0.1, 0.1),
    'inside 2 sigma': (0.94, 0.97),
    'lag-1 correlation': (-0.05, 0.05),
    'memory': (0.0, 0.03),
    'mean NIS': (5.5, 6.5),
    'NIS tail': (0.002, 0.03),
    'rejected': (0.0, 0.05),
}
"""
What does not matter, whatever the length of the recording: mean of a leg's normalised innovations,
share of them inside two sigma, their correlation from one sample to the next, its root mean square
over `LAGS` lags; mean NIS counted for six legs, and the share above its 99 % quantile; share of a
leg's samples that the filter refused.
"""

HINTS = {
    'mean': (
        'measured shorter than predicted: an offset of this leg or of the geometry',
        'measured longer than predicted: an offset of this leg or of the geometry',
    ),
    'inside 2 sigma': (
        'innovations are larger than their sigmas: the filter trusts itself too much, noise is '
        'set too small, the IMU is late, or samples are faulty',
        'innovations are smaller than their sigmas: noise is set too large',
    ),
    'correlation': (
        'innovations swing to and fro: the filter follows the legs too eagerly',
        'innovations have a memory: the filter lags behind, process noise is too small, or the '
        'IMU is late',
    ),
    'NIS': (
        'smaller than it should be: noise is set too large',
        'larger than it should be: noise is set too small, the IMU is late, or samples are faulty',
    ),
    'rejected': (
        '',
        'this leg contradicts the others, and the other tests do not see what was refused: look '
        'for an offset, for its wiring and order, or for noise that is set too small',
    ),
}
"""What it means if a figure is too small, and too large."""


@dataclass(frozen=True)
class Verdict:
    """One test.

    Attributes:
        found: The figure; of the six legs the worst.
        leg: That leg, 1 to 6; None where all are tested together.
        exact: Band that holds the figure of a consistent filter with the confidence asked for.
        tolerated: Band that is good enough on any recording; None if nothing is tolerated.
        hints: What it means if the figure lies below the bands, and above them.
    """

    name: str
    found: float
    leg: int | None
    exact: Band
    tolerated: Band | None
    hints: tuple[str, str]

    @property
    def band(self) -> Band:
        """Exact and tolerated band together."""
        low, high = self.tolerated or self.exact
        return min(low, self.exact[0]), max(high, self.exact[1])

    @property
    def held(self) -> bool:
        """Whether the figure lies in the band."""
        return self.band[0] <= self.found <= self.band[1]

    @property
    def hint(self) -> str:
        """What a figure outside usually means; empty if it is inside."""
        return '' if self.held else self.hints[int(not self.found < self.band[0])]


@dataclass(frozen=True, eq=False)
class Consistency:
    """All that the innovations say.

    Attributes:
        confidence: Of every exact band [-].
        used, rejected (6,): Samples of each leg that entered the filter, and that it refused.
        normalised (n, 6): Innovations over their sigmas [-]; NaN where a leg was not used.
        nis (n,): Normalised innovation squared [-].
        correlation (`LAGS`, 6): Autocorrelation of each leg at the lags 1 to `LAGS` [-].
    """

    rows: int
    confidence: float
    used: NDArray[np.int64]
    rejected: NDArray[np.int64]
    normalised: Array = field(repr=False)
    nis: Array = field(repr=False)
    correlation: Array = field(repr=False)
    verdicts: tuple[Verdict, ...] = ()

    @property
    def broken(self) -> list[Verdict]:
        """Tests that did not hold."""
        return [verdict for verdict in self.verdicts if not verdict.held]

    @property
    def held(self) -> bool:
        """Whether every test held."""
        return not self.broken

    @property
    def mean_nis(self) -> float:
        """Mean NIS, counted for six legs; 6 where consistent."""
        return self.verdict('mean NIS').found

    @property
    def inside(self) -> float:
        """Share of all innovations inside two sigma [-]; 0.9545 where consistent."""
        known = np.isfinite(self.normalised)
        return float(np.mean(np.abs(self.normalised[known]) < 2.0))

    def verdict(self, name: str) -> Verdict:
        """Return a test by its name."""
        return next(verdict for verdict in self.verdicts if verdict.name == name)


def assess(
    innovations: ArrayLike,
    sigmas: ArrayLike,
    nis: ArrayLike,
    used: ArrayLike,
    *,
    confidence: float = 0.99,
    strict: bool = False,
    sigma_error: float = 0.0,
    gate: float = 0.0,
) -> Consistency:
    """Judge the innovations of a filter.

    Args:
        innovations, sigmas (n, 6): Measured minus predicted lengths and their predicted standard
            deviations [m].
        nis (n,): Normalised innovation squared of the legs used.
        used (n, 6): Whether a leg entered the filter.
        confidence: With which the exact bands hold a consistent filter; split between six legs, so
            that it counts for the worst of them.
        strict: Let the exact bands alone decide.
        sigma_error: Relative standard deviation of the noise that the filter was told, where that
            was measured: the exact bands are wider by what it may be off.
        gate: Probability with which the filter refuses a sound sample.

    Raises:
        ShapeError: If the shapes do not agree.
        ConfigurationError: If no leg has `LEAST_ROWS` innovations, or the confidence is no
            probability.
    """
    chosen, z, square = _rows(innovations, sigmas, nis, used)
    if not 0.0 < confidence < 1.0:
        raise ConfigurationError('confidence', confidence, 'a number between 0 and 1')
    rows = chosen.any(axis=1)
    most = int(chosen.sum(axis=0).max())
    if most < LEAST_ROWS:
        raise ConfigurationError('innovations of a leg', most, f'{LEAST_ROWS} rows or more')
    z, square, chosen = z[rows], square[rows], chosen[rows]
    correlation = autocorrelation(z, LAGS)
    offered = np.isfinite(np.asarray(innovations, dtype=np.float64)).sum(axis=0)
    figures = [
        *_leg_figures(z, correlation, confidence, sigma_error),
        *_nis_figures(square, chosen.sum(axis=1), confidence, sigma_error),
        _refused_figure(offered, chosen.sum(axis=0), confidence, gate),
    ]
    verdicts = (
        Verdict(name, found, leg, band, None if strict else TOLERATED[name], HINTS[hint])
        for name, hint, found, leg, band in figures
    )
    return Consistency(
        rows=int(rows.sum()),
        confidence=confidence,
        used=chosen.sum(axis=0),
        rejected=offered - chosen.sum(axis=0),
        normalised=z,
        nis=square,
        correlation=correlation,
        verdicts=tuple(verdicts),
    )


def autocorrelation(normalised: Array, lags: int) -> Array:
    """Return how normalised innovations correlate with their own past.

    Mean 0 and variance 1 are what the filter claims and are not estimated, so the figure of a
    consistent filter has mean 0 and variance one over the number of pairs.

    Args:
        normalised (n, m): NaN where there is none; pairs without both are left out.
        lags: Greatest lag in samples.

    Returns:
        (lags, m): Mean products at the lags 1 to `lags`; NaN without a pair.
    """
    known = np.isfinite(normalised)
    z = np.where(known, normalised, 0.0)
    found = np.full((lags, z.shape[1]), np.nan)
    for lag in range(1, min(lags, len(z) - 1) + 1):
        pairs = (known[lag:] & known[:-lag]).sum(axis=0)
        products = (z[lag:] * z[:-lag]).sum(axis=0)
        np.divide(products, pairs, out=found[lag - 1], where=pairs > 0)
    return found


def _rows(
    innovations: ArrayLike, sigmas: ArrayLike, nis: ArrayLike, used: ArrayLike
) -> tuple[NDArray[np.bool_], Array, Array]:
    """Return which legs count, normalised innovations and NIS; check the shapes."""
    values, deviation = (np.asarray(item, dtype=np.float64) for item in (innovations, sigmas))
    square, flags = np.asarray(nis, dtype=np.float64), np.asarray(used, dtype=bool)
    if values.ndim != 2 or values.shape[1] != LEGS:
        raise ShapeError('innovations', '(n, 6)', values.shape)
    for name, item, shape in (
        ('sigmas', deviation, values.shape),
        ('nis', square, values.shape[:1]),
        ('used', flags, values.shape),
    ):
        if item.shape != shape:
            raise ShapeError(name, str(shape), item.shape)
    flags = flags & np.isfinite(values) & (deviation > 0.0)
    z = np.full(values.shape, np.nan)
    np.divide(values, deviation, out=z, where=flags)
    return flags, z, square


Figure = tuple[str, str, float, int | None, Band]


def _leg_figures(
    z: Array, correlation: Array, confidence: float, sigma_error: float
) -> list[Figure]:
    """Return mean, share, correlation and memory of the worst leg, each with its exact band.

    With sigmas off by a share e the innovations scale by up to 1 + e, and what a filter with a
    wrong gain leaves in them correlates by up to e.
    """
    # A leg that was hardly used has no figures; `_refused_figure` tells of it.
    seen = np.flatnonzero(np.isfinite(z).sum(axis=0) >= LEAST_ROWS)
    z, correlation = z[:, seen], correlation[:, seen]
    samples = np.isfinite(z).sum(axis=0)
    half = 0.5 * (1.0 - confidence) / LEGS
    off = float(stats.norm.ppf(1.0 - half)) * sigma_error
    normal = stats.norm.ppf(1.0 - half) / np.sqrt(samples)
    expected = stats.chi2.cdf(4.0 * np.array([[max(1.0 - off, 0.0)], [1.0 + off]]) ** 2, 1)
    shares = stats.binom.ppf([[half], [1.0 - half]], samples, expected) / samples
    inside = (np.abs(z) < 2.0).sum(axis=0) / samples
    memory = np.sqrt(np.nanmean(correlation**2, axis=0))
    most = np.sqrt(stats.chi2.ppf(1.0 - 2.0 * half, LAGS) / (LAGS * samples))
    figures: list[Figure] = []
    for name, hint, values, (low, high) in (
        ('mean', 'mean', np.nanmean(z, axis=0), (-normal * (1.0 + off), normal * (1.0 + off))),
        ('inside 2 sigma', 'inside 2 sigma', inside, shares),
        ('lag-1 correlation', 'correlation', correlation[0], (-normal - off, normal + off)),
        ('memory', 'correlation', memory, (0.0 * most, most + off / np.sqrt(LAGS))),
    ):
        # The worst leg is the one that lies furthest out, measured by its own band.
        away = np.abs(values - 0.5 * (low + high)) / (0.5 * (high - low))
        at = int(np.argmax(away))
        band = float(low[at]), float(high[at])
        figures.append((name, hint, float(values[at]), int(seen[at]) + 1, band))
    return figures


def _refused_figure(
    offered: NDArray[np.int64], used: NDArray[np.int64], confidence: float, gate: float
) -> Figure:
    """Return the share that was refused of the worst leg, with its exact band."""
    judged = offered >= LEAST_ROWS
    shares = np.where(judged, (offered - used) / np.maximum(offered, 1), -1.0)
    leg = int(np.argmax(shares))
    # The gate tries all legs together, then each alone with a sixth of the probability.
    chance = min(gate * (1.0 + 1.0 / LEGS), 1.0)
    half = 0.5 * (1.0 - confidence) / LEGS
    most = float(stats.binom.ppf(1.0 - half, offered[leg], chance)) / float(offered[leg])
    return 'rejected', 'rejected', float(shares[leg]), leg + 1, (0.0, most)


def _nis_figures(
    nis: Array, freedom: NDArray[np.int64], confidence: float, sigma_error: float
) -> list[Figure]:
    """Return mean and tail of the normalised innovation squared, each with its exact band."""
    half, total = 0.5 * (1.0 - confidence), int(freedom.sum())
    off = float(stats.norm.ppf(1.0 - half)) * sigma_error
    scales = np.array([max(1.0 - off, 0.0), 1.0 + off]) ** 2
    low, high = LEGS * scales * stats.chi2.ppf([half, 1.0 - half], total) / total
    limit = stats.chi2.ppf(1.0 - TAIL, freedom)
    above = float(np.mean(nis > limit))
    # Mean over the rows, which may have lost legs.
    tails = [float(np.mean(stats.chi2.sf(limit / scale, freedom))) for scale in scales]
    least, most = stats.binom.ppf([half, 1.0 - half], len(nis), tails) / len(nis)
    mean = LEGS * float(nis.sum()) / total
    return [
        ('mean NIS', 'NIS', mean, None, (float(low), float(high))),
        ('NIS tail', 'NIS', above, None, (float(least), float(most))),
    ]
