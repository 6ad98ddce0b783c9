# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A scenario that did not come to its end: why, and what the driver said meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stewart_bags.errors import BagError
from stewart_bags.reading import Bag
from stewart_bags.series import DriverStateSeries, read_series
from stewart_bringup.demo.recording import DRIVER_STATE


@dataclass(frozen=True)
class Failure:
    """What the report says about a scenario that failed.

    Attributes:
        name, title: One word, one line.
        facts: Platform, back end, bag and the like.
        reason: Why it ended: what the driver, a node or a service said.
        driver: The states of the driver: seconds after the first one, state, reason. Empty where
            the bag does not tell.
        excuse: Why it is no error: the machine was late, as measured; empty otherwise.
    """

    name: str
    title: str
    facts: Mapping[str, str]
    reason: str
    driver: tuple[tuple[float, str, str], ...] = ()
    excuse: str = ''

    @property
    def verdict(self) -> str:
        """Return one or two words for a table."""
        return 'not kept' if self.excuse else 'FAILED'


def driver_history(path: Path) -> tuple[tuple[float, str, str], ...]:
    """Read `Failure.driver` from a bag that may be cut short or missing."""
    try:
        with Bag(path) as bag:
            said = read_series(bag, DRIVER_STATE, DriverStateSeries)
    except (BagError, OSError):
        return ()
    if not len(said):
        return ()
    seconds = (said.bag_time_ns - said.bag_time_ns[0]) / 1e9
    return tuple(zip(map(float, seconds), said.names, said.reason, strict=True))
