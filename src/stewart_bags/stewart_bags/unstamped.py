# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Series of a program that left its headers' stamps at zero: the recorder's times stand in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from stewart_bags.series import Series

S = TypeVar('S', bound=Series)


def stamped(series: S, tell: Callable[[str], None]) -> S:
    """Return a series with stamps: its own, or when it was received where all of them are zero.

    Good for looking at a recording. An estimate, which needs sensors to agree within
    milliseconds, has to do without.

    Args:
        series: As it was read.
        tell: Hears a sentence if its stamps are zero.
    """
    if not len(series) or series.stamp_ns.any():
        return series
    tell(f"{series.topic}: all stamps are zero, the bag's own times are used")
    return replace(series, stamp_ns=series.bag_time_ns)
