# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How whoever drives or reads gets at the card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import time
from typing import Any

from stewart_driver.daq.card import AnalogCard
from stewart_driver.daq.card_type import find_card_type
from stewart_driver.daq.options import SensorOptions
from stewart_driver.offers import not_stepped


def real_time_passes(instant: float) -> None:
    """Do nothing: whoever acts at an instant [s] has waited for it."""


@dataclass(frozen=True)
class CardAccess:
    """
    Library and clocks; others than these only for a card that is not there.

    Attributes
    ----------
    library : object
        With the functions of python3-comedilib; None: the one of the type that the options name.
    clock, wall : callable
        Steady clock, and wall clock [s].
    come_to : callable
        Lets time go on to an instant, where it is simulated [s].

    """

    library: Any = None
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    come_to: Callable[[float], None] = real_time_passes

    def open(self, options: SensorOptions, *, drives: bool) -> AnalogCard:
        """
        Open a card.

        Parameters
        ----------
        options : SensorOptions
            Which one, and what is connected to it.
        drives : bool
            Whether its outputs are needed.

        Returns
        -------
        AnalogCard
            The caller closes it.

        Raises
        ------
        CardError
            If it cannot be opened, or is another one than the options say.
        ConfigurationError
            If there is no such type, or the wiring is impossible.

        """
        library, clock, wall, come_to = self.library, self.clock, self.wall, self.come_to
        if library is None:
            kind = find_card_type(options.card)
            library = kind.load()
            time_here = kind.time_of(options.device)
            if time_here is not None:
                clock = wall = time_here.now
                come_to = time_here.come_to
        return AnalogCard(
            library,
            options.wiring(),
            drives=drives,
            clock=clock,
            longest_call=options.longest_call,
            wall=wall,
            come_to=come_to,
        )


ORDINARY = CardAccess()


def require_callers_time(options: SensorOptions) -> None:
    """Refuse a card whose time is not the caller's; raises `ConfigurationError`."""
    if find_card_type(options.card).time_of(options.device) is None:
        raise not_stepped('device', options.device)
