# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How cycles and frames fare: counters, and histograms of durations with logarithmic bins."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log10
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray
from stewart_driver.path.motion import Verdict

Counts = NDArray[np.uint64]

SHORTEST = 1e-6
BINS_PER_DECADE = 20
DECADES = 6
BINS = BINS_PER_DECADE * DECADES + 2

# Upper edges of the bins [s]: up to 1 µs, then 12 % wide each, up to 1 s, then everything longer.
EDGES = np.append(SHORTEST * 10.0 ** (np.arange(BINS - 1) / BINS_PER_DECADE), np.inf)


def no_counts() -> Counts:
    """Return an empty histogram."""
    return np.zeros(BINS, dtype=np.uint64)


def bin_of(duration: float) -> int:
    """Return the bin in which a duration [s] is counted."""
    if duration <= SHORTEST:
        return 0
    return min(int(log10(duration / SHORTEST) * BINS_PER_DECADE) + 1, BINS - 1)


def percentile(counts: Counts, share: float) -> float:
    """Return the duration that a share of the counted ones does not exceed.

    Args:
        share: 0 to 1; 0.99 for the 99th percentile.

    Returns:
        Upper edge of the bin, so at most 12 % too long [s]; NaN if nothing was counted.
    """
    total = int(counts.sum())
    if total == 0:
        return float('nan')
    return float(EDGES[np.searchsorted(np.cumsum(counts), np.ceil(share * total))])


@dataclass
class WireStatistics:
    """How the frames of a back end fare that has a wire, since the start.

    Attributes:
        round_trips: Histogram of the time from sending to receiving.
        longest_round_trip: [s].
        bad_working_counters, lost_frames: Frames that not every drive has answered, and frames
            that did not come back in time.
        bus_restarts: How often the bus was brought up again.
        emergencies: Those that drives have sent, also where no fault followed.
    """

    round_trips: Counts = field(default_factory=no_counts)
    longest_round_trip: float = 0.0
    bad_working_counters: int = 0
    lost_frames: int = 0
    bus_restarts: int = 0
    emergencies: int = 0

    def count(self, duration: float) -> None:
        """Take note of a round trip [s]."""
        self.round_trips[bin_of(duration)] += np.uint64(1)
        self.longest_round_trip = max(self.longest_round_trip, duration)

    def write_to(self, words: Any) -> None:
        """Put all counters into the words of the shared block."""
        for name, value in vars(self).items():
            words[name] = value


@dataclass(eq=False)
class CycleCounters(WireStatistics):
    """How the cyclic process, and its wire, have done since it started.

    Attributes:
        cycles, overruns: Cycles run, and periods skipped because a cycle came too late.
        lost_setpoints, lost_samples: Records that their reader was too slow for.
        latest, busiest: Worst wake-up lateness and longest work in one cycle [s].
        slipped: How far the path is behind its schedule [s].
        largest_following_error: Largest distance of any leg from its command [m].
    """

    cycles: int = 0
    overruns: int = 0
    lost_setpoints: int = 0
    latest: float = 0.0
    busiest: float = 0.0
    slipped: float = 0.0
    largest_following_error: float = 0.0
    verdicts: dict[Verdict, int] = field(default_factory=lambda: dict.fromkeys(Verdict, 0))
    lateness: Counts = field(default_factory=no_counts)
    busy: Counts = field(default_factory=no_counts)
    lost_samples: int = 0

    @classmethod
    def read(cls, words: Any, lost_samples: int) -> CycleCounters:
        """Return the counters as they are now in the words of the shared block."""
        plain: dict[str, Any] = {name: words[name].copy() for name, *_ in COUNTERS}
        singles = {name: value.item() for name, value in plain.items() if not value.ndim}
        verdicts = dict(zip(Verdict, plain['verdicts'].tolist(), strict=True))
        return cls(**{**plain, **singles, 'verdicts': verdicts}, lost_samples=lost_samples)


_WORDS: dict[Any, tuple[Any, ...]] = {
    int: ('u8',),
    float: ('f8',),
    Counts: ('u8', (BINS,)),
    dict[Verdict, int]: ('u8', (len(Verdict),)),
}
# As they stand in the words of the shared block.
COUNTERS = [
    (name, *_WORDS[kind])
    for name, kind in get_type_hints(CycleCounters).items()
    if name != 'lost_samples'
]
