# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How punctual the cycle is: histograms of durations that cost almost nothing to keep."""

from __future__ import annotations

from math import log10

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.uint64]

SHORTEST = 1e-6
BINS_PER_DECADE = 20
DECADES = 6
BINS = BINS_PER_DECADE * DECADES + 2

# Upper edges of the bins [s]: up to 1 µs, then 12 % wide each, up to 1 s, then everything longer.
EDGES = np.append(SHORTEST * 10.0 ** (np.arange(BINS - 1) / BINS_PER_DECADE), np.inf)


def bin_of(duration: float) -> int:
    """Return the bin in which a duration [s] is counted."""
    if duration <= SHORTEST:
        return 0
    return min(int(log10(duration / SHORTEST) * BINS_PER_DECADE) + 1, BINS - 1)


def percentile(counts: Counts, share: float) -> float:
    """Return the duration that a share of the counted ones does not exceed.

    Args:
        counts (BINS,): Histogram.
        share: 0 to 1; 0.99 for the 99th percentile.

    Returns:
        Upper edge of the bin, so at most 12 % too long [s]; NaN if nothing was counted.
    """
    total = int(counts.sum())
    if total == 0:
        return float('nan')
    index = int(np.searchsorted(np.cumsum(counts), np.ceil(share * total)))
    return float(EDGES[index])
