# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Cards in this process, by the names under which the driver opens them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import errno
import os

from stewart_driver.daq.card_type import CallersTime
from stewart_driver.offers import Offers, PREFIX
from stewart_simulation.daq_card.inline_wire import InlineWire


@dataclass(frozen=True)
class InlineCard:
    """A card that is offered.

    Attributes:
        connect: Returns a wire to it.
        time: Its time.
    """

    connect: Callable[[], InlineWire]
    time: CallersTime

    def let_pass(self, duration: float) -> None:
        """Let a slow call take its time [s]."""
        self.time.come_to(self.time.now() + duration)


OFFERS: Offers[InlineCard] = Offers()


def find(name: str) -> InlineCard | None:
    """Return the card of a name; None for a name that is a file.

    Raises:
        OSError: If no card is offered under such a name.
    """
    card = OFFERS.find(name)
    if card is None and name.startswith(PREFIX):
        raise OSError(errno.ENODEV, os.strerror(errno.ENODEV), name)
    return card
