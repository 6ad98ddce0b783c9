# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which cards there are (entry points ``stewart.daq_cards``), and how one is opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import time
from typing import Any

from stewart_driver.daq.card import AnalogCard
from stewart_driver.daq.options import SensorOptions
from stewart_driver.errors import ConfigurationError
from stewart_driver.offers import not_stepped
from stewart_tables.installed import installed

GROUP = 'stewart.daq_cards'


@dataclass(frozen=True)
class CallersTime:
    """Time of a card in this process, which its caller lets pass.

    Attributes:
        now: Present time, which is also that of the stamps [s].
        come_to: Goes on to an instant; one that has passed changes nothing [s].
    """

    now: Callable[[], float]
    come_to: Callable[[float], None]


def machines_time(_: object) -> None:
    """Do nothing, for the card lives in the time of the machine."""


@dataclass(frozen=True)
class CardType:
    """A way to reach a card. It goes to the cyclic process with the back end, pickled.

    Attributes:
        load: Returns an object with the functions of python3-comedilib; raises `CardError` where
            they are not installed.
        time_of: Takes the file name of a card, returns its time where that is simulated, and None
            where it is the machine's.
    """

    label: str
    simulated: bool
    load: Callable[[], Any]
    time_of: Callable[[str], CallersTime | None] = machines_time


def find_card_type(name: str) -> CardType:
    """Load the card type of an entry point, for example ``comedi``; there is no fallback.

    Raises:
        ConfigurationError: If no installed package offers it; the message lists those that are.
    """
    known = {point.name: point for point in installed(GROUP)}
    if name not in known:
        raise ConfigurationError('card', name, ' or '.join(sorted(known)) or 'an installed card')
    found: CardType = known[name].load()
    return found


@dataclass(frozen=True)
class CardAccess:
    """Library and clocks; others than these only for a card that is not there.

    Attributes:
        library: With the functions of python3-comedilib; None: the one of the type that the
            options name.
        clock, wall: Steady clock, and wall clock [s].
        come_to: Lets time go on to an instant, where it is simulated [s].
    """

    library: Any = None
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    come_to: Callable[[float], None] = machines_time

    def open(self, options: SensorOptions, *, drives: bool) -> AnalogCard:
        """Open a card, which the caller closes.

        Args:
            drives: Whether its outputs are needed.

        Raises:
            CardError: If it cannot be opened, or is another one than the options say.
            ConfigurationError: If there is no such type, or the wiring is impossible.
        """
        library, clock, wall, come_to = self.library, self.clock, self.wall, self.come_to
        if library is None:
            kind = find_card_type(options.card)
            library = kind.load()
            if own := kind.time_of(options.device):
                clock, wall, come_to = own.now, own.now, own.come_to
        return AnalogCard(library, options, drives=drives, clock=clock, wall=wall, come_to=come_to)


ORDINARY = CardAccess()


def require_callers_time(options: SensorOptions) -> None:
    """Refuse a card whose time is not the caller's; raises `ConfigurationError`."""
    if find_card_type(options.card).time_of(options.device) is None:
        raise not_stepped('device', options.device)
