# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Series of a program that left its headers' stamps at zero, throughout or now and then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np
from stewart_bags.series import Series

S = TypeVar('S', bound=Series)


def stamped(series: S, tell: Callable[[str], None]) -> S:
    """Return a series with stamps: its own, or when it was received where all of them are zero.

    Good for looking at a recording. An estimate, which needs sensors to agree within
    milliseconds, has to do without.
    """
    if not len(series) or series.stamp_ns.any():
        return series
    tell(f"{series.topic}: all stamps are zero, the bag's own times are used")
    return replace(series, stamp_ns=series.bag_time_ns)


def without_unstamped(series: S) -> S:
    """Return a series, of numbers alone, without the messages that nobody stamped."""
    good, arrays = series.stamp_ns != 0, vars(series).items()
    return replace(series, **{key: v[good] for key, v in arrays if isinstance(v, np.ndarray)})
