# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How the frames of a back end fare that has a wire."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from stewart_driver.control.cycle_statistics import bin_of, BINS, Counts


@dataclass
class WireStatistics:
    """Counters since the start.

    Attributes:
        round_trips: Histogram of the time from sending to receiving, see `cycle_statistics`.
        longest: Longest round trip [s].
        bad_working_counters, lost_frames: Frames that not every drive has answered, and frames
            that did not come back in time.
        restarts: How often the bus was brought up again.
        emergencies: Those that drives have sent, also where no fault followed.
    """

    round_trips: Counts = field(default_factory=lambda: np.zeros(BINS, dtype=np.uint64))
    longest: float = 0.0
    bad_working_counters: int = 0
    lost_frames: int = 0
    restarts: int = 0
    emergencies: int = 0

    def count(self, duration: float) -> None:
        """Take note of a round trip [s]."""
        self.round_trips[bin_of(duration)] += np.uint64(1)
        self.longest = max(self.longest, duration)

    def write_to(self, words: Any) -> None:
        """Put all counters into the words of the shared block."""
        words['longest_round_trip'] = self.longest
        words['bad_working_counters'] = self.bad_working_counters
        words['lost_frames'] = self.lost_frames
        words['bus_restarts'] = self.restarts
        words['emergencies'] = self.emergencies
        words['round_trips'][:] = self.round_trips
