# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a figure of the innovations is held against, and what it means if it lies outside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Band = tuple[float, float]

BIASED = (
    'measured shorter than predicted: an offset of this leg or of the geometry',
    'measured longer than predicted: an offset of this leg or of the geometry',
)
SCALED = (
    'innovations are larger than their sigmas: the filter trusts itself too much, noise is set '
    'too small, the IMU is late, or samples are faulty',
    'innovations are smaller than their sigmas: noise is set too large',
)
COLOURED = (
    'innovations swing to and fro: the filter follows the legs too eagerly',
    'innovations have a memory: the filter lags behind, process noise is too small, or the IMU '
    'is late',
)
SIZED = (
    'smaller than it should be: noise is set too large',
    'larger than it should be: noise is set too small, the IMU is late, or samples are faulty',
)


@dataclass(frozen=True)
class Tolerated:
    """What does not matter, whatever the length of the recording.

    Attributes:
        mean: Mean of the normalised innovations of a leg [-].
        inside: Share of them inside two sigma [-]; exact is 0.9545.
        lag_1: Their correlation from one sample to the next [-].
        memory: Root mean square of their correlations over `LAGS` lags [-].
        nis: Mean NIS, counted for six legs [-]; exact is 6.
        tail: Share of NIS values above their 99 % quantile [-]; exact is 0.01.
    """

    mean: Band = (-0.1, 0.1)
    inside: Band = (0.94, 0.97)
    lag_1: Band = (-0.05, 0.05)
    memory: Band = (0.0, 0.03)
    nis: Band = (5.5, 6.5)
    tail: Band = (0.002, 0.03)

    @classmethod
    def nothing(cls) -> Tolerated:
        """Return bands that tolerate nothing: the exact bands alone decide."""
        return cls(*(((np.nan, np.nan),) * 6))


@dataclass(frozen=True)
class Verdict:
    """One test.

    Attributes:
        name: What was tested.
        found: The figure; of the six legs the worst.
        leg: That leg, 1 to 6; None where all are tested together.
        exact: Band that holds the figure of a consistent filter with the confidence asked for.
        tolerated: Band that is good enough on any recording; NaN where none is given.
        hint: What a figure outside usually means; empty if it is inside.
    """

    name: str
    found: float
    leg: int | None
    exact: Band
    tolerated: Band
    hint: str = ''

    @property
    def band(self) -> Band:
        """Exact and tolerated band together."""
        return _wider(self.exact, self.tolerated)

    @property
    def held(self) -> bool:
        """Whether the figure lies in the band."""
        low, high = self.band
        return bool(low <= self.found <= high)


def judged(
    name: str,
    found: float,
    leg: int | None,
    exact: Band,
    tolerated: Band,
    hints: tuple[str, str],
) -> Verdict:
    """Make a verdict.

    Args:
        name: What was tested.
        found: The figure.
        leg: 1 to 6.
        exact, tolerated: Bands.
        hints: What it means if the figure is too small, and too large.

    Returns:
        With the hint for the side on which the figure lies outside.
    """
    low, high = _wider(exact, tolerated)
    hint = hints[0] if found < low else '' if found <= high else hints[1]
    return Verdict(name, found, leg, exact, tolerated, hint)


def _wider(one: Band, other: Band) -> Band:
    """Return the hull of two bands; a band of NaN does not count."""
    return float(np.fmin(one[0], other[0])), float(np.fmax(one[1], other[1]))
