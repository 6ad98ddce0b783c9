# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Sensors in this process, which live in simulated time, by the names of their ports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from stewart_driver.offers import Offers
from stewart_driver.witmotion.reader import ReaderSettings, ReaderStatus, StampedSample


class SteppedReader(Protocol):
    """A reader, and the sensor that it hears, moved on by whoever has a clock."""

    @property
    def status(self) -> ReaderStatus:
        """How it is doing."""

    @property
    def due(self) -> float:
        """When there is something to do [s]."""

    def step(self) -> list[StampedSample]:
        """Do what is due by now; return the samples that are complete."""

    def end(self) -> None:
        """Close the port."""


Listen: TypeAlias = Callable[[ReaderSettings], SteppedReader]
"""Opens a port and begins to read."""

OFFERS: Offers[Listen] = Offers()
